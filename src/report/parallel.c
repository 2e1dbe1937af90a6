// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report by several threads.
 *
 * They work on consecutive slices of time. Only the thread that holds the first unfinished slice
 * (the front) writes; the others keep their text until it is their turn. A slice is emitted before
 * it is known how the previous one ends. So its thread checks, when its turn comes, that
 *
 * - every lane began in the state in which the previous slice has left it: at the same record, with
 *   the same losses before it, and, if the slice depends on it, with the same answer to whether a
 *   stack there is shown, and
 * - the earlier slices have not learned a name of a task that it lacked, nor that an array which it
 *   has shown as text is none.
 *
 * Otherwise it discards its text and emits the slice again, now as the front.
 *
 * The function tracer's lines are indented by chains of calls that depend on all function events
 * before. After the first function event the slices are chained: each waits for the chains at its
 * start, follows them to its end, passes them on and only then emits. If that is
 * impossible, because filters hide some functions or because a slice started at a wrong place, the
 * thread whose turn it is does the rest alone.
 */
#include "report/worker.h"

#include <errno.h>
#include <stdlib.h>

#include "event/handler.h"
#include "event/names.h"
#include "scan/slices.h"

#define HOLD_LIMIT (12u << 20) /* a thread with more text waits for its turn */

#define OVER 1 /* nothing failed, but another thread does the rest */

/* ---- call chains ---- */

/*
 * The call chains where one slice ends and the next begins. Following function events without
 * printing them is many times faster than printing, so a thread first does that for its slice,
 * passes the chains to the next slice, and then prints.
 */
struct chains {
	struct event_printer *of; /* per trace; only their stacks are used */
	size_t nr;
};

static int chains_init(struct chains *c, const struct report *rep)
{
	c->of = calloc(rep->nr_traces + 1, sizeof(*c->of));
	if (!c->of)
		return -ENOMEM;
	c->nr = rep->nr_traces;
	for (size_t i = 0; i < c->nr; i++)
		c->of[i].events = rep->traces[i]->events;
	return 0;
}

static void chains_free(struct chains *c)
{
	for (size_t i = 0; i < c->nr; i++)
		function_stacks_free(c->of[i].stacks);
	free(c->of);
	*c = (struct chains){0};
}

/* Copy chains: from one to another, from a worker's printers, and to them. False without memory. */
static bool chains_copy(struct chains *to, const struct chains *from)
{
	bool ok = true;

	for (size_t i = 0; i < to->nr; i++)
		ok = function_stacks_copy(&to->of[i], &from->of[i]) && ok;
	return ok;
}

static bool chains_take(struct chains *to, const struct worker *w)
{
	bool ok = true;

	for (size_t i = 0; i < to->nr; i++)
		ok = function_stacks_copy(&to->of[i], &w->emitter.traces[i].printer) && ok;
	return ok;
}

static bool chains_give(const struct chains *from, struct worker *w)
{
	bool ok = true;

	for (size_t i = 0; i < from->nr; i++)
		ok = function_stacks_copy(&w->emitter.traces[i].printer, &from->of[i]) && ok;
	return ok;
}

/* Whether a worker has printed anything that depends on them. */
static bool chains_used(const struct worker *w)
{
	for (size_t i = 0; i < w->emitter.nr_traces; i++)
		if (function_stacks_used(&w->emitter.traces[i].printer))
			return true;
	return false;
}

static struct event_printer *chains_of(struct chains *c, const struct worker *w,
				       const struct lane *l)
{
	for (size_t i = 0; i < c->nr; i++)
		if (w->rep->traces[i] == l->buffer->trace)
			return &c->of[i];
	return NULL;
}

/* A CPU's chain depends on the events of that CPU alone, so that lanes need not be merged. */
static void follow_lane(struct event_printer *p, struct lane *l, uint64_t end, bool to_end)
{
	const struct lane_pos place = lane_tell(l);

	for (; !l->ended && (to_end || l->rec.ts < end); lane_next(l)) {
		struct event *e = events_of_record(p->events, &l->rec);

		if (e && event_ready(e) != EVENT_BROKEN)
			function_stacks_track(p, e, &l->rec);
	}
	lane_seek(l, place);
	lane_next(l);
}

/*
 * Follows all function events from where the worker's lanes stand to the time `end` (or to the very
 * end), and puts the lanes back.
 */
static void chains_follow(struct chains *c, struct worker *w, uint64_t end, bool to_end)
{
	for (uint32_t i = 0; i < w->scan.nr; i++) {
		struct lane *l = &w->scan.lanes[i];
		struct event_printer *p = chains_of(c, w, l);

		if (p && !l->ended)
			follow_lane(p, l, end, to_end);
	}
	scan_restart(&w->scan);
}

/* ---- threads ---- */

/* The state of a lane at the start and at the end of a slice. */
struct lane_state {
	struct lane_pos pos;
	uint8_t shown; /* kinds of stacks that would be */
};

/* What the threads of one report share. */
struct crew {
	const struct report *rep;
	struct slicer slicer;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t turn;
	uint64_t front;		     /* number of the slice that may write */
	struct lane_state *ended;    /* per lane: at the end of the slice before the front */
	struct comm_overlay **names; /* per trace: what finished slices have learned */
	struct array_forms *arrays;  /* the same about arrays of characters */
	bool chained;		     /* function events have been met */
	struct chains next;	     /* the call chains at the start of slice next_of */
	struct chains left;	     /* …and at the end of the slice before the front */
	uint64_t next_of;
	int rc;
	bool alone; /* one thread has taken over the rest */
};

struct member {
	struct crew *crew;
	struct worker w;
	struct slice slice;
	struct lane_state *started; /* per lane */
	struct chains end;	    /* the call chains at the end of a prepared slice */
	bool chained;		    /* the crew is, as far as this slice is concerned */
	bool prepared;		    /* it starts with the chains of the previous slice */
	bool lost;		    /* the start of the slice could not be found */
	bool front;		    /* it is this thread's turn, and its text is right */
	pthread_t thread;
};

static struct event_printer *printer_of(const struct member *m, size_t trace)
{
	return &m->w.emitter.traces[trace].printer;
}

/* Starts the slice with only what finished slices have learned. Needs the lock. */
static bool begin_learned(struct member *m)
{
	bool ok = true;

	emitter_forget(&m->w.emitter);
	for (size_t i = 0; i < m->w.emitter.nr_traces; i++) {
		struct event_printer *p = printer_of(m, i);

		overlay_reset(p->learned);
		ok = overlay_adopt(p->learned, m->crew->names[i]) && ok;
		array_forms_reset(&p->arrays);
		ok = array_forms_adopt(&p->arrays, &m->crew->arrays[i]) && ok;
		function_stacks_free(p->stacks);
		p->stacks = NULL;
	}
	return ok;
}

/* Whether something that an earlier slice has learned would have changed our text. */
static bool learned_conflict(const struct member *m)
{
	for (size_t i = 0; i < m->w.emitter.nr_traces; i++)
		if (overlay_stale(printer_of(m, i)->learned, m->crew->names[i]) ||
		    array_forms_stale(&printer_of(m, i)->arrays, &m->crew->arrays[i]))
			return true;
	return false;
}

static bool states_match(const struct member *m)
{
	for (uint32_t i = 0; i < m->w.scan.nr; i++) {
		const struct lane_state *a = &m->started[i], *b = &m->crew->ended[i];

		if (!slice_same_place(a->pos, b->pos) ||
		    (m->w.stacks[i].asked && a->shown != b->shown))
			return false;
	}
	return true;
}

/* Whether lines of the slice should have been indented by chains that it did not have. */
static bool chains_missed(const struct member *m)
{
	return m->crew->chained && !m->prepared && chains_used(&m->w);
}

/* Whether the text made ahead of the slice's turn is what it would be now. */
static bool text_is_right(const struct member *m)
{
	return m->slice.number == 0 ||
	       (!m->lost && states_match(m) && !learned_conflict(m) && !chains_missed(m));
}

/* The state of a lane; `shown` is that before the records of the slice. */
static struct lane_state state_of(const struct member *m, const struct lane *l, uint8_t shown)
{
	const struct select_stack *st = &m->w.stacks[l->index];

	return (struct lane_state){
		.pos = slice_place(l),
		.shown = st->known ? st->shown : shown,
	};
}

static void prime(void *member, const struct lane *l)
{
	worker_prime(&((struct member *)member)->w, l);
}

/* Whether a stack is shown depends on the last record before the slice. */
static bool enter_lane(struct member *m, struct lane *l)
{
	const bool stacks = m->w.rep->select.stacks != SELECT_STACKS_PLAIN && m->slice.number;

	m->w.stacks[l->index] = (struct select_stack){.known = !m->slice.number};
	return slice_enter(&m->slice, l, stacks ? prime : NULL, m);
}

/* Puts the lanes on the slice's first records. */
static void enter_slice(struct member *m)
{
	struct scan *mg = &m->w.scan;

	m->lost = false;
	for (uint32_t i = 0; i < mg->nr && !m->lost; i++) {
		m->lost = !enter_lane(m, &mg->lanes[i]);
		m->started[i] = state_of(m, &mg->lanes[i], false);
		m->w.stacks[i].asked = false;
	}
	scan_restart(mg);
}

/* The same, from the places where the previous slice has really ended. Needs the lock. */
static bool enter_again(struct member *m)
{
	struct scan *mg = &m->w.scan;

	for (uint32_t i = 0; i < mg->nr; i++) {
		lane_seek(&mg->lanes[i], m->crew->ended[i].pos);
		m->w.stacks[i] =
			(struct select_stack){.shown = m->crew->ended[i].shown, .known = true};
	}
	scan_start(mg);
	m->w.emitted = 0;
	buf_reset(&m->w.out);
	return begin_learned(m) && (!m->crew->chained || chains_give(&m->crew->left, &m->w));
}

/* From here on this thread, the front, reads to the end by itself. Needs the lock. */
static void take_over(struct member *m)
{
	struct crew *c = m->crew;

	slicer_stop(&c->slicer);
	c->alone = true;
	pthread_cond_broadcast(&c->turn);
	m->slice.last = true;
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
	struct worker *w = &m->w;
	enum turn turn = TURN_NEVER;

	pthread_mutex_lock(&c->lock);
	while (c->front != m->slice.number && !c->rc && !c->alone)
		pthread_cond_wait(&c->turn, &c->lock);
	if (!c->rc && !c->alone) {
		/* Chains that were followed from a wrong place are wrong from here on. */
		const bool astray = m->prepared && !states_match(m);

		turn = text_is_right(m) ? TURN_VALID : TURN_REDO;
		if (turn == TURN_REDO && !enter_again(m))
			c->rc = -ENOMEM;
		m->front = true;
		w->scan.opt.progress = c->rep->progress;
		w->scan.opt.progress_arg = c->rep->progress_arg;
		if (astray)
			take_over(m);
	}
	pthread_mutex_unlock(&c->lock);
	return turn;
}

/* Whether the chains can be followed without knowing which records are shown. */
static bool can_follow(const struct selection *s)
{
	return !s->nr_filters && !s->cpus && !s->no_irqs && !s->no_softirqs;
}

/* The front has met the first function event. */
static void begin_chains(struct member *m)
{
	struct crew *c = m->crew;

	pthread_mutex_lock(&c->lock);
	if (can_follow(&c->rep->select))
		c->chained = true;
	else
		take_over(m);
	pthread_mutex_unlock(&c->lock);
}

/* Called between two records. 0 to continue. */
static int between(struct member *m)
{
	struct worker *w = &m->w;

	if (__builtin_expect(!m->chained && !m->slice.last && chains_used(w), 0)) {
		enum turn turn = m->front ? TURN_VALID : become_front(m);

		if (turn == TURN_NEVER)
			return OVER;
		if (turn == TURN_VALID)
			begin_chains(m);
		m->chained = true;
	}
	if (m->front && w->out.len >= WORKER_FLUSH)
		return worker_flush(w);
	if (!m->front && w->out.len >= HOLD_LIMIT)
		return become_front(m) == TURN_NEVER ? OVER : 0;
	return 0;
}

static int emit_slice(struct member *m)
{
	struct scan *mg = &m->w.scan;
	const struct spur_record *r;
	int rc = 0;

	while (rc == 0) {
		const struct lane *next = scan_first(mg);

		if (!next || (!m->slice.last && next->rec.ts >= m->slice.end))
			break;
		if (m->w.rep->select.has_until && next->rec.ts > m->w.rep->select.until)
			break;
		/*
		 * Lanes that were stopped count as ended, so the records of other lanes are not the
		 * next ones.
		 */
		if (scan_stopped(&m->w.scan))
			return -EINTR;
		r = scan_next(mg);
		worker_record(&m->w, r);
		rc = between(m);
	}
	return rc == 0 && scan_stopped(&m->w.scan) ? -EINTR : rc;
}

/* Passes the chains at the end of the slice on. Needs the lock. */
static bool leave_chains(struct member *m)
{
	struct crew *c = m->crew;

	if ((m->prepared || chains_used(&m->w)) && !chains_take(&c->left, &m->w))
		return false;
	if (m->prepared)
		return true;
	c->next_of = m->slice.number + 1;
	return chains_copy(&c->next, &c->left);
}

/* Publishes how the slice ended and lets the next one have its turn. */
static void leave_slice(struct member *m)
{
	struct crew *c = m->crew;

	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < m->w.scan.nr; i++)
		c->ended[i] = state_of(m, &m->w.scan.lanes[i], c->ended[i].shown);
	for (size_t i = 0; i < m->w.emitter.nr_traces; i++)
		if (!overlay_adopt(c->names[i], printer_of(m, i)->learned) ||
		    !array_forms_adopt(&c->arrays[i], &printer_of(m, i)->arrays))
			c->rc = -ENOMEM;
	if (c->chained && !leave_chains(m))
		c->rc = -ENOMEM;
	c->front++;
	pthread_cond_broadcast(&c->turn);
	pthread_mutex_unlock(&c->lock);
	m->front = false;
	m->w.scan.opt.progress = NULL;
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

/* Waits for the chains at the start of the slice, follows them to its end and passes them on. */
static int prepare_chains(struct member *m)
{
	struct crew *c = m->crew;
	struct chains *end = &m->end;
	bool ok = true, over;

	pthread_mutex_lock(&c->lock);
	while (c->next_of != m->slice.number && !c->rc && !c->alone)
		pthread_cond_wait(&c->turn, &c->lock);
	over = c->rc || c->alone;
	if (!over)
		ok = chains_copy(end, &c->next) && chains_give(&c->next, &m->w);
	pthread_mutex_unlock(&c->lock);
	if (over || !ok)
		return over ? OVER : -ENOMEM;
	chains_follow(end, &m->w, m->slice.end, m->slice.last);
	pthread_mutex_lock(&c->lock);
	ok = chains_copy(&c->next, end);
	c->next_of = m->slice.number + 1;
	pthread_cond_broadcast(&c->turn);
	pthread_mutex_unlock(&c->lock);
	m->prepared = true;
	return ok ? 0 : -ENOMEM;
}

/* Emits the slice ahead of its turn. */
static int emit_ahead(struct member *m)
{
	int rc = 0;
	bool ok;

	pthread_mutex_lock(&m->crew->lock);
	ok = begin_learned(m);
	m->chained = m->crew->chained;
	m->prepared = false;
	pthread_mutex_unlock(&m->crew->lock);
	if (!ok)
		return -ENOMEM;
	enter_slice(m);
	if (m->lost)
		return 0;
	if (m->chained)
		rc = prepare_chains(m);
	return rc ? rc : emit_slice(m);
}

/* One slice from entering to leaving; false when this thread's work is over. */
static bool work_on(struct member *m)
{
	int rc = emit_ahead(m);

	if (rc == 0 && !m->front) {
		enum turn turn = become_front(m);

		if (turn == TURN_NEVER)
			return false;
		if (turn == TURN_REDO)
			rc = emit_slice(m);
	}
	if (m->front && (rc == 0 || rc == -EINTR)) {
		int last = worker_flush(&m->w);

		rc = rc ? rc : last;
		scan_progress(&m->w.scan);
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
	if (rc == 0)
		rc = chains_init(&m->end, c->rep);
	m->started = calloc(m->w.scan.nr + 1, sizeof(*m->started));
	return rc < 0 ? rc : m->started ? 0 : -ENOMEM;
}

static void member_done(struct member *m)
{
	slice_free(&m->slice);
	chains_free(&m->end);
	free(m->started);
	worker_done(&m->w);
}

static int crew_init(struct crew *c, const struct report *rep)
{
	int rc;

	*c = (struct crew){.rep = rep};
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->turn, NULL);
	rc = slicer_init(&c->slicer, worker_add_lanes, rep,
			 rep->select.has_since ? rep->select.since : 0,
			 rep->select.has_until ? rep->select.until : UINT64_MAX,
			 rep->slice_bytes ? rep->slice_bytes : SLICE_BYTES);
	c->ended = calloc(c->slicer.scouts.nr + 1, sizeof(*c->ended));
	c->names = calloc(rep->nr_traces + 1, sizeof(*c->names));
	c->arrays = calloc(rep->nr_traces + 1, sizeof(*c->arrays));
	if (rc == 0)
		rc = chains_init(&c->next, rep);
	if (rc == 0)
		rc = chains_init(&c->left, rep);
	if (rc < 0 || !c->ended || !c->names || !c->arrays)
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
	for (size_t i = 0; c->arrays && i < c->rep->nr_traces; i++)
		array_forms_free(&c->arrays[i]);
	chains_free(&c->next);
	chains_free(&c->left);
	free(c->names);
	free(c->arrays);
	free(c->ended);
	pthread_cond_destroy(&c->turn);
	pthread_mutex_destroy(&c->lock);
}

int crew_run(const struct report *rep, unsigned int threads)
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
