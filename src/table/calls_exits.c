// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of a recording that has exits only: with tracing_thresh the kernel writes nothing but the
 * exits of calls that took longer than that.
 *
 * What calls another takes longer than that one, so that the exits of all callers come, too, each
 * behind those of what it has called. They wait until the outermost one has come; then who called
 * whom is told by how deep they are and when they began. Calls that were too short to be recorded
 * belong to their caller's own time, as functions do that are not traced at all.
 *
 * A trace that has entries is another matter: there an exit without one is what is left of a call
 * of which parts were lost.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/calls_parts.h"
#include "table/walk.h"

#define MAX_WAITING (1u << 16) /* of all tasks */
#define NOTHING	    SIZE_MAX

struct ended {
	struct call_row row;
	size_t around; /* the call that it was made in; NOTHING: not known */
	int64_t inner; /* what was called in it took */
	bool doubtful; /* events were lost since it began */
};

static bool is_entry(const struct event *e)
{
	return event_named(e, "ftrace:funcgraph_entry") ||
	       event_named(e, "ftrace:fgraph_retaddr_entry");
}

bool exits_alone(const struct calls *a)
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

/* ---- who called whom ---- */

/* The innermost of the calls that came later, seen from `from`, in which the n-th was made. */
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

void exits_hand_out(struct calls *a, struct task *t)
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

/* Room for one more; false without. */
static bool make_room(struct waiting_calls *w)
{
	const size_t cap = w->cap ? w->cap * 2 : 16;
	struct ended *more;

	if (w->n < w->cap)
		return true;
	more = reallocarray(w->at, cap, sizeof(*more));
	if (!more)
		return false;
	w->at = more;
	w->cap = cap;
	return true;
}

void exits_add(struct calls *a, struct task *t, struct call_row *row)
{
	struct waiting_calls *w = &t->ended;

	if (row->depth > CALLS_DEPTH)
		return;
	row->self = row->off_cpu = row->self_off_cpu = row->parent_id = row->cpu = ROW_NULL;
	row->id = a->next_id++;
	/* A caller that ends later than so many others in it does not get to know them. */
	if (a->nr_waiting == MAX_WAITING)
		for (struct task *any = a->tasks; any; any = any->next)
			exits_hand_out(a, any);
	if (!make_room(w)) {
		*a->src->failed = -ENOMEM;
		return;
	}
	w->at[w->n++] = (struct ended){.row = *row, .doubtful = row->ts < a->losses.until};
	a->nr_waiting++;
	if (row->depth <= 0)
		exits_hand_out(a, t);
}
