// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of a report at some record that comes from all earlier records: names of tasks that are
 * not in the file but in scheduling events, and the chains of calls by which lines of the function
 * tracer are indented.
 *
 * A thread reads the events of these kinds once, from the beginning, when a caller first asks for
 * text that depends on them: most files have names for all tasks. It stores the names with their
 * times, and the chains at some times, from which others are computed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mutex.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "event/handler.h"
#include "event/names.h"
#include "view/answers/internal.h"

#define NAMES_LIMIT   (1u << 20)
#define CHAINS_MEMORY (16u << 20) /* bytes of stored chains, about */
#define CHAIN_BYTES   4200	  /* of a CPU */
#define CHAINS_BYTES  (32u << 10) /* and of all CPUs together */
#define CHAINS_MOST   256
#define CHAINS_STEP   16384 /* function events between two stored chains, at first */
#define PUBLISH	      4096  /* records between two checks for a stop */
#define TEXT_LIMIT    (1u << 20)

/* ---- roles ---- */

static const struct {
	const char *system, *name;
	uint8_t role;
} roles[] = {
	{"sched", "sched_switch", ROLE_NAMES},	   {"sched", "sched_wakeup", ROLE_NAMES},
	{"sched", "sched_wakeup_new", ROLE_NAMES}, {"ftrace", "function", ROLE_CHAINS},
	{"ftrace", "func_repeats", ROLE_CHAINS},   {"ftrace", "funcgraph_entry", ROLE_GRAPH},
	{"ftrace", "funcgraph_exit", ROLE_GRAPH},  {"ftrace", "fgraph_retaddr_entry", ROLE_GRAPH},
};

static uint8_t role_of(const struct event *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (strcmp(e->name, roles[i].name) == 0 && strcmp(e->system, roles[i].system) == 0)
			return roles[i].role;
	return 0;
}

static const struct spur_trace *trace_of(const struct answers_file *f)
{
	return view_file(f->answers->view, f->number)->trace;
}

const uint8_t *view_roles(struct view *v, uint32_t file)
{
	struct answers_file *f = answers_file(view_answers(v), file);
	uint8_t *known = f ? __atomic_load_n(&f->roles, __ATOMIC_ACQUIRE) : NULL, *none = NULL;
	const struct events *ev;

	if (known || !f || !trace_of(f))
		return known;
	ev = trace_of(f)->events;
	known = calloc(ev->nr + 1, sizeof(*known));
	for (size_t i = 0; known && i < ev->nr; i++)
		known[ev->list[i]->index] = role_of(ev->list[i]);
	if (known && !__atomic_compare_exchange_n(&f->roles, &none, known, false, __ATOMIC_ACQ_REL,
						  __ATOMIC_ACQUIRE)) {
		free(known);
		known = none;
	}
	return known;
}

/* ---- reading all of it once ---- */

/* The fields of an event with pids. */
struct teller {
	const struct event_field *pids[2];
};

struct lesson {
	struct answers_file *file;
	struct view_history *history;
	const uint8_t *roles;
	struct teller *tellers; /* by event index */
	struct scan scan;
	struct lane_filter filter;
	struct event_printer printer;
	struct buf text;
	size_t learned; /* names that have been published */
	uint64_t calls, step;
	size_t most; /* chains that may be stored */
	uint64_t last;
};

static int open_lesson(struct lesson *l, struct spur_trace *t)
{
	int rc = lane_filter_init(&l->filter, t->events);

	l->tellers = calloc(t->events->nr + 1, sizeof(*l->tellers));
	if (rc < 0 || !l->tellers)
		return -ENOMEM;
	for (size_t i = 0; i < t->events->nr; i++) {
		struct event *e = t->events->list[i];
		struct teller *teller = &l->tellers[e->index];

		if (!(l->roles[e->index] & (ROLE_NAMES | ROLE_CHAINS)))
			continue;
		lane_filter_want(&l->filter, e);
		event_ready(e);
		teller->pids[0] = event_field_find(e, "pid");
		if (!teller->pids[0]) {
			teller->pids[0] = event_field_find(e, "prev_pid");
			teller->pids[1] = event_field_find(e, "next_pid");
		}
	}
	if (rc == 0)
		rc = scan_add_trace(&l->scan, t);
	for (uint32_t i = 0; i < l->scan.nr; i++) {
		l->scan.lanes[i].filter = &l->filter;
		l->scan.lanes[i].stop = &l->file->answers->stop;
	}
	l->most = CHAINS_MEMORY / (CHAINS_BYTES + (size_t)CHAIN_BYTES * (l->scan.nr + 1));
	l->most = l->most < 8 ? 8 : l->most > CHAINS_MOST ? CHAINS_MOST : l->most;
	return rc;
}

static bool tells(struct lesson *l, const struct event *e, const struct spur_record *r)
{
	const struct teller *t = &l->tellers[e->index];
	uint64_t pid;

	for (size_t i = 0; i < 2; i++)
		if (t->pids[i] && field_number(l->printer.events, t->pids[i], r, &pid) &&
		    !overlay_known(l->printer.learned, (int)pid))
			return true;
	return false;
}

/* Stores the names that the printer has learned from a record. */
static void take_names(struct lesson *l, uint64_t ts)
{
	size_t n;
	const struct learned_comm *all = overlay_learned(l->printer.learned, &n);

	mutex_hold(&l->file->answers->lock);
	for (; l->learned < n; l->learned++) {
		const struct learned_comm *c = &all[l->learned];
		struct history_name *name =
			l->history->names.n < NAMES_LIMIT ? vec_push(&l->history->names) : NULL;

		if (!name)
			continue;
		*name = (struct history_name){
			.ts = ts, .pid = c->pid, .len = c->len, .name = strndup(c->name, c->len)};
		if (!name->name)
			l->history->names.n--;
	}
}

void history_chains_free(struct history_chains *c)
{
	function_stacks_free(c->printer->stacks);
	free(c->printer);
}

/* Removes every second one, so that the rest covers twice as much time. */
static void thin_out(struct view_history *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->chains.n; i++) {
		if (i % 2 == 0) {
			h->chains.at[kept++] = h->chains.at[i];
			continue;
		}
		history_chains_free(&h->chains.at[i]);
	}
	h->chains.n = kept;
}

static void keep_chains(struct lesson *l, uint64_t ts)
{
	struct event_printer *copy = calloc(1, sizeof(*copy));

	if (copy)
		copy->events = l->printer.events;
	mutex_hold(&l->file->answers->lock);
	if (l->history->chains.n >= l->most) {
		thin_out(l->history);
		l->step *= 2;
	}
	if (copy && (!function_stacks_copy(copy, &l->printer) ||
		     !vec_add(&l->history->chains, &(struct history_chains){ts, copy})))
		history_chains_free(&(struct history_chains){.printer = copy});
}

static void publish(struct lesson *l, uint64_t reached, bool done)
{
	mutex_hold(&l->file->answers->lock);
	l->history->reached = reached;
	l->history->done = done;
	pthread_cond_broadcast(&l->file->answers->news);
}

static void learn_from(struct lesson *l, const struct spur_record *r)
{
	struct event *e = events_of_record(l->printer.events, r);

	if (!e || event_ready(e) == EVENT_BROKEN)
		return;
	if (l->roles[e->index] & ROLE_CHAINS) {
		/* Chains are those before a time: records of one time stay together. */
		if (l->calls++ == 0 || (l->calls > l->step && r->ts > l->last)) {
			keep_chains(l, r->ts);
			l->calls = 1;
		}
		function_stacks_track(&l->printer, e, r);
	} else if (l->roles[e->index] & ROLE_NAMES && tells(l, e, r)) {
		buf_reset(&l->text);
		event_print(&l->printer, e, r, &l->text);
		take_names(l, r->ts);
	}
}

static void read_all(struct lesson *l)
{
	const struct spur_record *r;
	uint64_t n = 0;

	scan_start(&l->scan);
	while ((r = scan_next(&l->scan)) != NULL && !l->file->answers->stop) {
		if (++n % PUBLISH == 0)
			publish(l, r->ts, false);
		learn_from(l, r);
		l->last = r->ts;
	}
}

static void *lesson_main(void *file)
{
	struct answers_file *f = file;
	struct lesson l = {.file = f, .history = &f->history, .step = CHAINS_STEP};
	const struct view_file *vf = view_file(f->answers->view, f->number);

	l.roles = f->roles;
	scan_init(&l.scan, NULL);
	buf_init(&l.text, TEXT_LIMIT);
	if (event_printer_init(&l.printer, vf->trace->events) == 0 &&
	    open_lesson(&l, vf->trace) == 0)
		read_all(&l);
	publish(&l, UINT64_MAX, true);
	scan_free(&l.scan);
	lane_filter_free(&l.filter);
	event_printer_done(&l.printer);
	free(l.tellers);
	buf_free(&l.text);
	return NULL;
}

/* Needs the lock. */
static void start(struct answers_file *f)
{
	if (f->history.started || f->answers->stop || !f->roles)
		return;
	f->history.started = pthread_create(&f->history.thread, NULL, lesson_main, f) == 0;
	/* Without a thread the state will never be known. */
	if (!f->history.started) {
		f->history.done = true;
		f->history.reached = UINT64_MAX;
	}
}

/* ---- using it ---- */

static struct answers_file *file_of(const struct view_cursor *c, size_t source)
{
	struct answers_file *f = answers_file(view_answers(c->view), c->sources->at[source].file);

	return f && view_roles(c->view, f->number) ? f : NULL;
}

static struct event_printer *printer_of(struct view_cursor *c, size_t source)
{
	for (size_t i = 0; i < c->emitter.nr_traces; i++)
		if (c->emitter.traces[i].trace == c->sources->at[source].emit.buffer->trace)
			return &c->emitter.traces[i].printer;
	return NULL;
}

static void forget(struct event_printer *p)
{
	overlay_reset(p->learned);
	array_forms_reset(&p->arrays);
	function_stacks_free(p->stacks);
	p->stacks = NULL;
}

static void give_names(const struct view_history *h, struct event_printer *p, uint64_t before)
{
	for (size_t i = 0; i < h->names.n && h->names.at[i].ts < before; i++)
		overlay_learn(p->learned, h->names.at[i].pid, h->names.at[i].name,
			      h->names.at[i].len);
}

/* Sets the last stored chains at or before a time; false if there are no calls before it. */
static bool give_chains(const struct view_history *h, struct event_printer *p, uint64_t before,
			uint64_t *from)
{
	size_t i = h->chains.n;

	while (i && h->chains.at[i - 1].ts > before)
		i--;
	if (!i || !function_stacks_copy(p, h->chains.at[i - 1].printer))
		return false;
	*from = h->chains.at[i - 1].ts;
	return true;
}

/* Follows the calls of one lane over [from, start), and puts it back to its first record. */
static void follow_lane(const struct view_cursor *c, struct event_printer *p, struct lane *l,
			const struct lane_filter *filter, uint64_t from)
{
	lane_seek_time(l, from, l->page_index);
	l->filter = filter;
	while (lane_next(l) && l->rec.ts < c->start) {
		struct event *e = l->rec.ts >= from ? events_of_record(p->events, &l->rec) : NULL;

		if (e && event_ready(e) != EVENT_BROKEN)
			function_stacks_track(p, e, &l->rec);
	}
	l->filter = NULL;
	lane_seek_time(l, c->start, l->page_index);
	while (lane_next(l) && l->rec.ts < c->start)
		;
}

static void follow_chains(struct view_cursor *c, const struct spur_trace *t,
			  struct event_printer *p, const uint8_t *role, uint64_t from)
{
	struct lane_filter filter;

	if (lane_filter_init(&filter, t->events) < 0)
		return;
	for (size_t i = 0; i < t->events->nr; i++)
		if (role[t->events->list[i]->index] & ROLE_CHAINS)
			lane_filter_want(&filter, t->events->list[i]);
	for (uint32_t i = 0; i < c->scan.nr; i++)
		if (c->scan.lanes[i].buffer->trace == t)
			follow_lane(c, p, &c->scan.lanes[i], &filter, from);
	lane_filter_free(&filter);
	scan_restart(&c->scan);
}

/* The same for one file. */
static bool give(struct view_cursor *c, struct answers_file *f, const struct spur_trace *t,
		 struct event_printer *p)
{
	const struct view_index *x = view_file(c->view, f->number)->index;
	uint64_t from = 0;
	bool known, calls = false;

	forget(p);
	if (x && c->start <= view_index_origin(x))
		return true;
	pthread_mutex_lock(&f->answers->lock);
	known = f->history.reached >= c->start;
	if (known) {
		give_names(&f->history, p, c->start);
		calls = give_chains(&f->history, p, c->start, &from);
	}
	pthread_mutex_unlock(&f->answers->lock);
	if (calls)
		follow_chains(c, t, p, f->roles, from);
	return known;
}

bool view_history_give(struct view_cursor *c)
{
	bool known = true;

	for (size_t i = 0; i < c->sources->n; i++) {
		const struct trace_buffer *b = c->sources->at[i].emit.buffer;
		struct answers_file *f = b == &b->trace->buffers[0] ? file_of(c, i) : NULL;
		struct event_printer *p = f ? printer_of(c, i) : NULL;

		if (p)
			known = give(c, f, b->trace, p) && known;
	}
	return known;
}

bool view_history_names_matter(const struct view_cursor *c)
{
	for (size_t i = 0; i < c->emitter.nr_traces; i++) {
		const struct event_printer *p = &c->emitter.traces[i].printer;
		size_t unknown, learned;

		overlay_unknown(p->learned, &unknown);
		overlay_learned(p->learned, &learned);
		if (unknown || learned)
			return true;
	}
	return false;
}

bool view_history_matters(const struct view_cursor *c)
{
	for (size_t i = 0; i < c->emitter.nr_traces; i++)
		if (function_stacks_used(&c->emitter.traces[i].printer))
			return true;
	return view_history_names_matter(c);
}

bool view_history_wait(struct view_cursor *c, uint64_t ts, int ms)
{
	const struct timespec end =
		ns_to_timespec(clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)ms * NS_PER_MS);
	bool known = true;

	for (size_t i = 0; i < c->sources->n; i++) {
		struct answers_file *f = file_of(c, i);

		if (!f)
			continue;
		pthread_mutex_lock(&f->answers->lock);
		start(f);
		while (f->history.reached < ts && !f->answers->stop && !(c->stop && *c->stop))
			if (pthread_cond_timedwait(&f->answers->news, &f->answers->lock, &end) != 0)
				break;
		known = known && f->history.reached >= ts;
		pthread_mutex_unlock(&f->answers->lock);
	}
	return known;
}

bool view_history_names(struct view_cursor *c)
{
	while (!view_history_wait(c, UINT64_MAX, 200))
		if ((c->stop && *c->stop) || view_answers(c->view)->stop)
			return false;
	for (size_t i = 0; i < c->sources->n; i++) {
		struct answers_file *f = file_of(c, i);
		struct event_printer *p = f ? printer_of(c, i) : NULL;

		if (!p)
			continue;
		overlay_reset(p->learned);
		pthread_mutex_lock(&f->answers->lock);
		give_names(&f->history, p, UINT64_MAX);
		pthread_mutex_unlock(&f->answers->lock);
	}
	return true;
}
