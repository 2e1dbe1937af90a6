// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls from the function_graph tracer.
 *
 * An entry has the function and its depth; an exit also when the call began and ended. An exit ends
 * the frame of its depth if the function is the same. The exits of frames inside it were lost, and
 * so was that of a frame whose depth a new entry has. With tracing_thresh there are only exits;
 * these wait until the exit of the outermost caller has come.
 */
#include "table/calls_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "table/walk.h"

#define MAX_WAITING (1u << 16) /* of all tasks */
#define NOTHING	    SIZE_MAX

/* ---- recordings that have exits only ---- */

/*
 * With tracing_thresh the kernel writes nothing but the exits of calls that took longer than that.
 *
 * A caller takes longer than what it calls, so the exits of all callers come too, each after those
 * of what it has called. They wait until the outermost one has come; then their depth and start
 * tell the caller of each. Calls that were too short to be recorded count as their caller's own
 * time, as do functions that are not traced at all.
 *
 * In a trace that has entries, an exit without one is what is left of a call of which parts were
 * lost.
 */
struct ended {
	struct call_row row;
	size_t around; /* the calling call; NOTHING: unknown */
	int64_t inner; /* time of the calls in it */
	bool doubtful; /* events were lost since it began */
};

static bool is_entry(const struct event *e)
{
	return event_named(e, "ftrace:funcgraph_entry") ||
	       event_named(e, "ftrace:fgraph_retaddr_entry");
}

/* Whether the buffer has no entries at all. */
static bool are_exits_alone(const struct calls *a)
{
	const struct walk_options all = {.stop = a->src->stop};
	const struct spur_record *r;
	struct walk w;
	bool alone = false;

	if (walk_open(&w, a->src->trace, &all, NULL) == 0) {
		for (size_t i = 0; i < a->events->nr; i++)
			if (is_entry(a->events->list[i]))
				walk_want(&w, a->events->list[i]);
		do
			r = walk_next(&w);
		while (r && r->buffer != a->src->buffer->index);
		alone = !r;
	}
	walk_close(&w);
	return alone;
}

/* ---- callers and callees ---- */

/* The innermost of the later calls, from `from` on, that contains the n-th. */
static size_t find_around(const struct waiting_calls *w, size_t n, size_t from)
{
	const struct call_row *row = &w->at[n].row;

	while (from != NOTHING &&
	       (w->at[from].row.depth >= row->depth || w->at[from].row.ts > row->ts + CALLS_SLACK))
		from = w->at[from].around;
	return from;
}

static void place(struct waiting_calls *w, size_t n)
{
	struct ended *e = &w->at[n];
	struct ended *around;

	e->around = find_around(w, n, n + 1 < w->n ? n + 1 : NOTHING);
	if (e->around == NOTHING)
		return;
	around = &w->at[e->around];
	around->inner = ns_add(around->inner, e->row.dur);
	if (around->row.depth == e->row.depth - 1) {
		e->row.parent = around->row.func;
		e->row.parent_id = around->row.id;
	}
	for (size_t i = e->around; i != NOTHING && !e->row.recursive; i = w->at[i].around)
		e->row.recursive = w->at[i].row.func == e->row.func;
}

void exits_hand_out(struct calls *a, struct calling_task *t)
{
	struct waiting_calls *w = &t->ended;

	for (size_t i = w->n; i-- > 0;)
		place(w, i);
	for (size_t i = 0; i < w->n; i++) {
		struct ended *e = &w->at[i];

		if (!e->doubtful)
			e->row.self = e->row.dur > e->inner ? e->row.dur - e->inner : 0;
		calls_hand_out(a, t, &e->row);
	}
	a->nr_waiting -= w->n;
	w->n = 0;
}

/* Stores a call; its row is returned with that of its outermost caller. */
static void add_exit(struct calls *a, struct calling_task *t, struct call_row *row)
{
	struct ended *e;

	if (row->depth > CALLS_DEPTH)
		return;
	row->self = row->off_cpu = row->self_off_cpu = row->parent_id = row->cpu = ROW_NULL;
	row->id = a->next_id++;
	/* A caller that contains more calls than this does not get all of them. */
	if (a->nr_waiting == MAX_WAITING)
		for (struct calling_task *any = a->tasks; any; any = any->next)
			exits_hand_out(a, any);
	e = vec_push(&t->ended);
	if (!e) {
		*a->src->failed = -ENOMEM;
		return;
	}
	*e = (struct ended){.row = *row, .doubtful = row->ts < a->losses.until};
	a->nr_waiting++;
	if (row->depth <= 0)
		exits_hand_out(a, t);
}

/* ---- entries and exits ---- */

enum what { ENTRY, RETADDR_ENTRY, EXIT, SWITCH, NR_KINDS };

static const struct {
	const char *system, *name;
} names[NR_KINDS] = {
	[ENTRY] = {"ftrace", "funcgraph_entry"},
	[RETADDR_ENTRY] = {"ftrace", "fgraph_retaddr_entry"},
	[EXIT] = {"ftrace", "funcgraph_exit"},
	[SWITCH] = {"sched", "sched_switch"},
};

struct kind {
	struct event *event; /* NULL: the trace does not have it */
	struct number func, depth, retaddr, calltime, rettime, retval, prev_pid, next_pid;
};

struct graph {
	struct kind kinds[NR_KINDS];
	bool exits_alone; /* the buffer has no entries, … */
	bool looked;	  /* … which is checked when it first matters */
};

struct graph *graph_new(struct calls *a)
{
	struct graph *g = calloc(1, sizeof(*g));

	for (size_t i = 0; g && i < NR_KINDS; i++) {
		struct event *e = events_find(a->events, names[i].system, names[i].name);

		if (!e || event_ready(e) == EVENT_BROKEN)
			continue;
		g->kinds[i] = (struct kind){.event = e,
					    .func = number_of(e, "func"),
					    .depth = number_of(e, "depth"),
					    .retaddr = number_of(e, "retaddr"),
					    .calltime = number_of(e, "calltime"),
					    .rettime = number_of(e, "rettime"),
					    .retval = number_of(e, "retval"),
					    .prev_pid = number_of(e, "prev_pid"),
					    .next_pid = number_of(e, "next_pid")};
	}
	return g;
}

void graph_free(struct graph *g)
{
	free(g);
}

static int64_t get(const struct calls *a, const struct number *n, const struct spur_record *r)
{
	return number_get(a->events, n, r);
}

/* ---- calls ---- */

static void enter(struct calls *a, const struct kind *k, const struct spur_record *r)
{
	struct calling_task *t = calls_task(a, events_record_pid(a->events, r), r);
	const uint64_t func = (uint64_t)get(a, &k->func, r);
	const int64_t depth = get(a, &k->depth, r);
	struct frame *f;

	if (!t)
		return;
	while (t->graph.n && nest_top(&t->graph)->depth >= depth)
		calls_leave_open(a, t, &t->graph, r->ts);
	f = calls_begin_frame(a, t, &t->graph, r, func, calls_function(a, func)->name, depth);
	if (!f)
		return;
	f->orphan |= t->graph.n > 1 && f[-1].depth != depth - 1;
	if (number_in(&k->retaddr, r))
		f->caller = calls_function(a, (uint64_t)get(a, &k->retaddr, r))->name;
}

static int64_t duration(const struct calls *a, const struct kind *k, const struct spur_record *r)
{
	uint64_t from, to;

	if (!number_in(&k->calltime, r) || !number_in(&k->rettime, r))
		return ROW_NULL;
	from = (uint64_t)get(a, &k->calltime, r);
	to = (uint64_t)get(a, &k->rettime, r);
	return to >= from && to - from <= INT64_MAX ? (int64_t)(to - from) : ROW_NULL;
}

/* Whether the frame is the call that has ended, not an earlier call of the same function. */
static bool is_same_call(const struct calling_task *t, const struct frame_nest *n,
			 const struct call_end *end)
{
	const struct frame *f = nest_top(n);
	uint64_t seen, dur;

	if (f->gen == t->doubts)
		return true;
	if (end->dur == ROW_NULL || end->ts < f->ts)
		return false;
	seen = end->ts - f->ts;
	dur = (uint64_t)end->dur;
	if ((seen > dur ? seen - dur : dur - seen) > CALLS_SLACK)
		return false;
	for (uint32_t i = n->n; i-- > 0;) {
		n->at[i].gen = t->doubts;
		n->at[i].certain = 0;
		if (n->at[i].orphan) /* the frame around it was in doubt already */
			break;
	}
	return true;
}

/* If a reader follows the open calls, rows cannot wait for their callers. */
static bool waits_for_callers(struct calls *a)
{
	struct graph *g = a->graph;

	if (!g->looked)
		g->exits_alone = !a->both && are_exits_alone(a);
	g->looked = true;
	return g->exits_alone;
}

/*
 * An exit without an entry: the call began before the trace, or its entry was lost or not recorded.
 */
static void only_exit(struct calls *a, struct calling_task *t, uint64_t func, int64_t depth,
		      const struct call_end *end)
{
	const struct frame *around = nest_top(&t->graph);
	const bool called = around && around->gen == t->doubts && around->depth == depth - 1;
	struct call_row row = {.dur = end->dur,
			       .func = calls_function(a, func)->name,
			       .addr = (int64_t)func,
			       .depth = depth,
			       .parent = called ? around->func : NULL,
			       .retval = end->retval};

	if (end->dur == ROW_NULL)
		return;
	row.ts = end->ts > (uint64_t)end->dur ? end->ts - (uint64_t)end->dur : 0;
	if (waits_for_callers(a))
		add_exit(a, t, &row);
	else
		calls_only_end(a, t, &t->graph, &row);
}

static void leave(struct calls *a, const struct kind *k, const struct spur_record *r)
{
	struct calling_task *t = calls_task(a, events_record_pid(a->events, r), r);
	const uint64_t func = (uint64_t)get(a, &k->func, r);
	const int64_t depth = get(a, &k->depth, r);
	const struct call_end end = {
		.ts = r->ts,
		.dur = duration(a, k, r),
		.retval = number_in(&k->retval, r) ? get(a, &k->retval, r) : ROW_NULL,
	};
	const struct frame *top;

	if (!t)
		return;
	while ((top = nest_top(&t->graph)) != NULL && top->depth > depth)
		calls_leave_open(a, t, &t->graph, r->ts);
	if (top && top->depth == depth) {
		if (top->addr == func && is_same_call(t, &t->graph, &end)) {
			calls_end_frame(a, t, &t->graph, &end);
			return;
		}
		calls_leave_open(a, t, &t->graph, r->ts);
	}
	only_exit(a, t, func, depth, &end);
}

/* ---- time scheduled out ---- */

static void switch_tasks(struct calls *a, const struct kind *k, const struct spur_record *r)
{
	const int prev = (int)get(a, &k->prev_pid, r);
	const int next = (int)get(a, &k->next_pid, r);
	struct calling_task *t = calls_switched(a, prev, r);

	a->switches = true;
	if (t) {
		t->is_off = true;
		t->off_since = r->ts;
	}
	t = calls_switched(a, next, r);
	if (t && t->is_off)
		t->off += r->ts > t->off_since ? r->ts - t->off_since : 0;
	else if (t)
		t->off_gaps++;
	if (t)
		t->is_off = false;
}

bool graph_record(struct calls *a, struct event *e, const struct spur_record *r)
{
	const struct kind *k = a->graph->kinds;
	const struct kind *const end = k + NR_KINDS;

	while (k < end && k->event != e)
		k++;
	if (k == end)
		return false;
	if (k == &a->graph->kinds[SWITCH]) {
		if (number_in(&k->prev_pid, r) && number_in(&k->next_pid, r))
			switch_tasks(a, k, r);
	} else if (number_in(&k->func, r) && number_in(&k->depth, r)) {
		if (k == &a->graph->kinds[EXIT])
			leave(a, k, r);
		else
			enter(a, k, r);
	}
	return true;
}
