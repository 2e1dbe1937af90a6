// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running a report, on one thread or on several.
 *
 * Several threads work on consecutive slices of time. Only the thread that holds the first
 * unfinished slice (the front) writes; the others keep their text until it is their turn. A slice
 * is emitted before it is known how the one before it ends, so its thread checks when its turn
 * comes:
 *
 * - it started where the slice before has ended, in every lane, and
 * - no task name it did not know has been learned by a slice before it.
 *
 * If either is not so, it throws its text away and does the slice again, now as the front. Text
 * that depends on everything before it (the call depth by which the function tracer's lines are
 * indented) cannot be emitted this way: the first thread that meets such a record waits until it is
 * the front and then goes on alone to the end.
 */
#include "stream/report.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "event/handler.h"
#include "event/names.h"
#include "stream/slices.h"
#include "stream/worker.h"

#define FLUSH_SIZE  (128u << 10)
#define SLICE_BYTES (1536u << 10)
#define HOLD_LIMIT  (12u << 20) /* text a thread keeps before it waits for its turn */

static bool stopped(const struct report *rep)
{
	return rep->stop && *rep->stop;
}

static int flush(struct worker *w)
{
	int rc = w->out.len ? w->rep->write(w->rep->arg, w->out.data, w->out.len) : 0;

	buf_reset(&w->out);
	return rc;
}

static void show_progress(const struct report *rep, const struct merge *m)
{
	uint64_t done = 0, total = 0;

	if (!rep->progress)
		return;
	for (uint32_t i = 0; i < m->nr; i++) {
		const struct lane *l = &m->lanes[i];

		done += l->ended ? l->nr_pages : l->page_index;
		total += l->nr_pages;
	}
	rep->progress(rep->progress_arg, done, total);
}

/* ---- one thread ---- */

static int run_alone(const struct report *rep)
{
	struct worker w;
	const struct spur_record *r;
	int rc = worker_init(&w, rep);

	if (rc < 0)
		goto out;
	if (rep->select.has_since)
		for (uint32_t i = 0; i < w.merge.nr; i++)
			lane_seek_time(&w.merge.lanes[i], rep->select.since,
				       w.merge.lanes[i].nr_pages / 2);
	merge_start(&w.merge);
	while (rc == 0 && (r = merge_next(&w.merge)) != NULL) {
		if (rep->select.has_since && r->ts < rep->select.since)
			continue;
		if (rep->select.has_until && r->ts > rep->select.until)
			break;
		worker_record(&w, r);
		if (rep->head && w.emitted >= rep->head)
			break;
		if (w.out.len >= FLUSH_SIZE) {
			rc = flush(&w);
			show_progress(rep, &w.merge);
			if (stopped(rep))
				rc = -EINTR;
		}
	}
	if (rc == 0 || rc == -EINTR) {
		int last = flush(&w);

		rc = rc ? rc : last;
	}
out:
	worker_done(&w);
	return rc;
}

/* ---- several threads ---- */

/* What the threads of one report share. */
struct crew {
	const struct report *rep;
	struct slicer slicer;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t turn;
	uint64_t front;		     /* number of the slice that may write */
	struct lane_pos *ended;	     /* per lane: where the slice before the front ended */
	struct comm_overlay **names; /* per trace: what finished slices have learned */
	int rc;
	bool alone; /* one thread has taken over the rest */
};

struct member {
	struct crew *crew;
	struct worker w;
	struct slice slice;
	struct lane_pos *started; /* per lane */
	bool front;		  /* it is this thread's turn, and its text is right */
	pthread_t thread;
};

static struct event_printer *printer_of(struct member *m, size_t trace)
{
	return &m->w.emitter.traces[trace].printer;
}

/* Starts the slice with what finished slices have learned, and nothing else. Needs the lock. */
static bool begin_names(struct member *m)
{
	bool ok = true;

	emitter_forget(&m->w.emitter);
	for (size_t i = 0; i < m->w.emitter.nr_traces; i++) {
		struct event_printer *p = printer_of(m, i);

		overlay_reset(p->learned);
		ok = overlay_adopt(p->learned, m->crew->names[i]) && ok;
		function_stacks_free(p->stacks);
		p->stacks = NULL;
	}
	return ok;
}

/* Whether a name learned by a slice before ours would have changed our text. */
static bool names_conflict(struct member *m)
{
	for (size_t i = 0; i < m->w.emitter.nr_traces; i++)
		if (overlay_stale(printer_of(m, i)->learned, m->crew->names[i]))
			return true;
	return false;
}

static bool positions_match(const struct member *m)
{
	const struct crew *c = m->crew;

	if (m->slice.number == 0)
		return true;
	for (uint32_t i = 0; i < m->w.merge.nr; i++)
		if (m->started[i].page != c->ended[i].page || m->started[i].pos != c->ended[i].pos)
			return false;
	return true;
}

static struct lane_pos lane_place(const struct lane *l)
{
	return l->ended ? (struct lane_pos){UINT64_MAX, 0} : lane_tell(l);
}

/*
 * Puts a lane on its first record in the slice, having looked at the last one before it, on which
 * it depends whether a stack is shown.
 */
static void enter_lane(struct member *m, struct lane *l)
{
	const bool stacks = m->w.rep->select.stacks != SELECT_STACKS_PLAIN;
	const struct lane_filter *filter = l->filter;
	uint64_t page = m->slice.pages[l->index];
	bool primed = m->slice.number == 0 || !stacks;

	l->filter = NULL;
	for (;;) {
		lane_seek(l, (struct lane_pos){.page = page});
		for (lane_next(l); !l->ended && l->rec.ts < m->slice.begin; lane_next(l)) {
			if (stacks)
				worker_prime(&m->w, l);
			primed = true;
		}
		if (primed || page == 0)
			break;
		page--;
	}
	lane_set_filter(l, filter);
}

/* Puts the lanes on the slice's first records. */
static void enter_slice(struct member *m)
{
	struct merge *mg = &m->w.merge;

	for (uint32_t i = 0; i < mg->nr; i++) {
		enter_lane(m, &mg->lanes[i]);
		m->started[i] = lane_place(&mg->lanes[i]);
	}
	merge_restart(mg);
}

/* The same, from the places where the slice before has really ended. */
static void enter_again(struct member *m)
{
	struct merge *mg = &m->w.merge;

	for (uint32_t i = 0; i < mg->nr; i++)
		lane_seek(&mg->lanes[i], m->crew->ended[i]);
	merge_start(mg);
	begin_names(m);
	m->w.emitted = 0;
	buf_reset(&m->w.out);
}

enum turn {
	TURN_NEVER, /* the report is over for this thread */
	TURN_VALID, /* it is the front, and its text is right */
	TURN_REDO,  /* it is the front and stands at the start of its slice again, its text gone */
};

/* Waits until the slices before are finished and checks the text made meanwhile. */
static enum turn become_front(struct member *m)
{
	struct crew *c = m->crew;
	enum turn turn = TURN_NEVER;

	pthread_mutex_lock(&c->lock);
	while (c->front != m->slice.number && !c->rc && !c->alone)
		pthread_cond_wait(&c->turn, &c->lock);
	if (!c->rc && !c->alone) {
		turn = positions_match(m) && !names_conflict(m) ? TURN_VALID : TURN_REDO;
		if (turn == TURN_REDO)
			enter_again(m);
		m->front = true;
	}
	pthread_mutex_unlock(&c->lock);
	return turn;
}

/* From here on this thread reads to the end by itself; it is the front. */
static void go_alone(struct member *m)
{
	struct crew *c = m->crew;

	slicer_stop(&c->slicer);
	pthread_mutex_lock(&c->lock);
	c->alone = true;
	pthread_cond_broadcast(&c->turn);
	pthread_mutex_unlock(&c->lock);
	m->slice.last = true;
}

static bool needs_order(const struct member *m)
{
	for (size_t i = 0; i < m->w.emitter.nr_traces; i++)
		if (function_stacks_used(&m->w.emitter.traces[i].printer))
			return true;
	return false;
}

#define OVER 1 /* nothing failed, but another thread does the rest */

/* What is to be done between two records. 0 to go on. */
static int between(struct member *m)
{
	struct worker *w = &m->w;

	if (__builtin_expect(needs_order(m), 0) && !m->slice.last) {
		enum turn turn = m->front ? TURN_VALID : become_front(m);

		if (turn == TURN_NEVER)
			return OVER;
		if (turn == TURN_VALID)
			go_alone(m);
	}
	if (m->front && w->out.len >= FLUSH_SIZE) {
		int rc = flush(w);

		show_progress(w->rep, &w->merge);
		return rc ? rc : stopped(w->rep) ? -EINTR : 0;
	}
	if (!m->front && w->out.len >= HOLD_LIMIT)
		return become_front(m) == TURN_NEVER ? OVER : 0;
	return 0;
}

static int emit_slice(struct member *m)
{
	struct merge *mg = &m->w.merge;
	const struct spur_record *r;
	int rc = 0;

	while (rc == 0) {
		const struct lane *next = merge_first(mg);

		if (!next || (!m->slice.last && next->rec.ts >= m->slice.end))
			break;
		if (m->w.rep->select.has_until && next->rec.ts > m->w.rep->select.until)
			break;
		r = merge_next(mg);
		worker_record(&m->w, r);
		rc = between(m);
	}
	return rc;
}

/* Publishes how the slice ended and lets the next one have its turn. */
static void leave_slice(struct member *m)
{
	struct crew *c = m->crew;

	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < m->w.merge.nr; i++)
		c->ended[i] = lane_place(&m->w.merge.lanes[i]);
	for (size_t i = 0; i < m->w.emitter.nr_traces; i++)
		if (!overlay_adopt(c->names[i], printer_of(m, i)->learned))
			c->rc = -ENOMEM;
	c->front++;
	pthread_cond_broadcast(&c->turn);
	pthread_mutex_unlock(&c->lock);
	m->front = false;
}

static void fail(struct crew *c, int rc)
{
	slicer_stop(&c->slicer);
	pthread_mutex_lock(&c->lock);
	if (!c->rc)
		c->rc = rc;
	pthread_cond_broadcast(&c->turn);
	pthread_mutex_unlock(&c->lock);
}

/* One slice from entering to leaving; false when this thread's work is over. */
static bool work_on(struct member *m)
{
	int rc;

	pthread_mutex_lock(&m->crew->lock);
	begin_names(m);
	pthread_mutex_unlock(&m->crew->lock);
	enter_slice(m);
	rc = emit_slice(m);
	if (rc == 0 && !m->front) {
		enum turn turn = become_front(m);

		if (turn == TURN_NEVER)
			return false;
		if (turn == TURN_REDO)
			rc = emit_slice(m);
	}
	if (rc == 0 || rc == -EINTR) {
		int last = flush(&m->w);

		rc = rc ? rc : last;
	}
	if (rc < 0)
		fail(m->crew, rc);
	if (rc)
		return false;
	leave_slice(m);
	return !m->slice.last;
}

static void *member_main(void *arg)
{
	struct member *m = arg;

	while (slicer_next(&m->crew->slicer, &m->slice))
		if (!work_on(m))
			break;
	return NULL;
}

static int member_init(struct member *m, struct crew *c)
{
	int rc;

	m->crew = c;
	rc = worker_init(&m->w, c->rep);
	if (rc == 0)
		rc = slice_init(&m->slice, &c->slicer);
	m->started = calloc(m->w.merge.nr + 1, sizeof(*m->started));
	return rc < 0 ? rc : m->started ? 0 : -ENOMEM;
}

static void member_done(struct member *m)
{
	slice_free(&m->slice);
	free(m->started);
	worker_done(&m->w);
}

static int crew_init(struct crew *c, const struct report *rep)
{
	int rc;

	*c = (struct crew){.rep = rep};
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->turn, NULL);
	rc = slicer_init(&c->slicer, worker_add_lanes, (void *)rep,
			 rep->select.has_since ? rep->select.since : 0,
			 rep->slice_bytes ? rep->slice_bytes : SLICE_BYTES);
	c->ended = calloc(c->slicer.scouts.nr + 1, sizeof(*c->ended));
	c->names = calloc(rep->nr_traces + 1, sizeof(*c->names));
	if (rc < 0 || !c->ended || !c->names)
		return rc < 0 ? rc : -ENOMEM;
	for (size_t i = 0; i < rep->nr_traces; i++) {
		c->names[i] = overlay_new(rep->traces[i]->events->comms);
		if (!c->names[i])
			return -ENOMEM;
	}
	return 0;
}

static void crew_done(struct crew *c)
{
	slicer_free(&c->slicer);
	for (size_t i = 0; c->names && i < c->rep->nr_traces; i++)
		overlay_free(c->names[i]);
	free(c->names);
	free(c->ended);
	pthread_cond_destroy(&c->turn);
	pthread_mutex_destroy(&c->lock);
}

static int run_crew(const struct report *rep, unsigned int threads)
{
	struct member *members = calloc(threads, sizeof(*members));
	unsigned int ready = 0, running = 0;
	struct crew c;
	int rc = members ? crew_init(&c, rep) : -ENOMEM;

	if (!members)
		return rc;
	for (; rc == 0 && ready < threads; ready++)
		rc = member_init(&members[ready], &c);
	/* The calling thread is the first member; fewer helpers than wished are fine. */
	for (running = 1; rc == 0 && running < threads; running++)
		if (pthread_create(&members[running].thread, NULL, member_main, &members[running]))
			break;
	if (rc == 0)
		member_main(&members[0]);
	for (unsigned int i = 1; rc == 0 && i < running; i++)
		pthread_join(members[i].thread, NULL);
	for (unsigned int i = 0; i < ready; i++)
		member_done(&members[i]);
	free(members);
	rc = rc ? rc : c.rc;
	crew_done(&c);
	return rc;
}

/* Data too small to be worth a second thread, or options under which lines depend on each other. */
static bool one_thread_only(const struct report *rep)
{
	const struct emit_options *o = &rep->options;
	uint64_t bytes = 0;

	if (rep->threads < 2 || rep->head || rep->watch || o->ts_diff || o->debug ||
	    rep->select.stacks == SELECT_STACKS_LOOSE)
		return true;
	for (size_t i = 0; i < rep->nr_sources; i++)
		for (uint32_t k = 0; k < rep->sources[i].buffer->data->nr_cpus; k++)
			bytes += rep->sources[i].buffer->data->cpus[k].size;
	return !rep->slice_bytes && bytes < SLICE_BYTES / 8;
}

static int write_begin(const struct report *rep)
{
	struct buf head;
	int rc;

	if (!rep->emit->begin)
		return 0;
	buf_init(&head, FLUSH_SIZE);
	rep->emit->begin(&rep->options, &head);
	rc = rep->write(rep->arg, head.data, head.len);
	buf_free(&head);
	return rc;
}

int report_run(const struct report *rep, struct spur_error *err)
{
	int rc = write_begin(rep);

	if (rc == 0)
		rc = one_thread_only(rep) ? run_alone(rep) : run_crew(rep, rep->threads);

	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
