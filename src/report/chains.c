// SPDX-License-Identifier: GPL-2.0-or-later
/* Following the calls of a slice of time without printing them: see chains.h. */
#include "report/chains.h"

#include <errno.h>
#include <stdlib.h>

#include "event/handler.h"

int chains_init(struct chains *c, const struct report *rep)
{
	c->of = calloc(rep->nr_traces + 1, sizeof(*c->of));
	if (!c->of)
		return -ENOMEM;
	c->nr = rep->nr_traces;
	for (size_t i = 0; i < c->nr; i++)
		c->of[i].events = rep->traces[i]->events;
	return 0;
}

void chains_free(struct chains *c)
{
	for (size_t i = 0; i < c->nr; i++)
		function_stacks_free(c->of[i].stacks);
	free(c->of);
	*c = (struct chains){0};
}

bool chains_copy(struct chains *to, const struct chains *from)
{
	bool ok = true;

	for (size_t i = 0; i < to->nr; i++)
		ok = function_stacks_copy(&to->of[i], &from->of[i]) && ok;
	return ok;
}

bool chains_take(struct chains *to, const struct worker *w)
{
	bool ok = true;

	for (size_t i = 0; i < to->nr; i++)
		ok = function_stacks_copy(&to->of[i], &w->emitter.traces[i].printer) && ok;
	return ok;
}

bool chains_give(const struct chains *from, struct worker *w)
{
	bool ok = true;

	for (size_t i = 0; i < from->nr; i++)
		ok = function_stacks_copy(&w->emitter.traces[i].printer, &from->of[i]) && ok;
	return ok;
}

bool chains_used(const struct worker *w)
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

void chains_follow(struct chains *c, struct worker *w, uint64_t end, bool to_end)
{
	for (uint32_t i = 0; i < w->scan.nr; i++) {
		struct lane *l = &w->scan.lanes[i];
		struct event_printer *p = chains_of(c, w, l);

		if (p && !l->ended)
			follow_lane(p, l, end, to_end);
	}
	scan_restart(&w->scan);
}
