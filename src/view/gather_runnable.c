// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many tasks can run, those that do included: an interval for every change.
 *
 * Changes are told when records tell of them, and a few records tell of what was before: that a
 * task which leaves a CPU has been on it since the trace began. Changes therefore wait until some
 * thousand more have come; one that comes later than that counts from where the others are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/gather.h"

static bool begin(struct gather *g, struct runnable *r, uint32_t buffer)
{
	r->at = malloc(2 * COUNT_WINDOW * sizeof(*r->at));
	r->row = r->at ? row_of_counter(&g->x->rows, buffer) : UINT32_MAX;
	if (r->row != UINT32_MAX)
		return true;
	index_fail(g->x, -ENOMEM);
	return false;
}

static struct runnable *runnable_of(struct gather *g, uint32_t buffer)
{
	if (!g->runnable)
		g->runnable = calloc(g->x->trace->nr_buffers, sizeof(*g->runnable));
	if (!g->runnable) {
		index_fail(g->x, -ENOMEM);
		return NULL;
	}
	if (!g->runnable[buffer].at && !begin(g, &g->runnable[buffer], buffer))
		return NULL;
	return &g->runnable[buffer];
}

/* All changes up to the last one have been taken: the interval before it is complete. */
static void end_interval(struct gather *g, struct runnable *r)
{
	if (r->last > r->since)
		gather_put(g, &r->track, r->row, VIEW_COUNTER,
			   (struct view_interval){.start = r->since,
						  .dur = r->last - r->since,
						  .value = r->shown > 0 ? (uint32_t)r->shown : 0});
	r->since = r->last;
	r->shown = r->value;
}

static void take_first(struct gather *g, struct runnable *r)
{
	const struct change c = r->at[r->first++];

	r->n--;
	if (!r->any)
		r->since = r->last = c.ts;
	r->any = true;
	if (c.ts > r->last) {
		if (r->value != r->shown)
			end_interval(g, r);
		r->last = c.ts;
	}
	r->value += c.by;
}

void runnable_change(struct gather *g, uint32_t buffer, uint64_t ts, int by)
{
	struct runnable *r = runnable_of(g, buffer);
	uint32_t at;

	if (!r)
		return;
	if (r->n == COUNT_WINDOW)
		take_first(g, r);
	if (r->first + r->n == 2 * COUNT_WINDOW) {
		memmove(r->at, r->at + r->first, r->n * sizeof(*r->at));
		r->first = 0;
	}
	ts = r->any && ts < r->last ? r->last : ts;
	for (at = r->first + r->n; at > r->first && r->at[at - 1].ts > ts; at--)
		r->at[at] = r->at[at - 1];
	r->at[at] = (struct change){ts, by};
	r->n++;
}

void runnable_rest(struct gather *g)
{
	for (uint32_t i = 0; g->runnable && i < g->x->trace->nr_buffers; i++) {
		struct runnable *r = &g->runnable[i];

		while (r->n)
			take_first(g, r);
		/* With the trace all states end: the last change is the last of all. */
		end_interval(g, r);
	}
}

void runnable_free(struct gather *g)
{
	for (uint32_t i = 0; g->runnable && i < g->x->trace->nr_buffers; i++)
		free(g->runnable[i].at);
	free(g->runnable);
}
