// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The chain back from a wakeup.
 *
 * Whoever woke the task had to run for that. If it slept itself when the wait began, it was woken
 * later by another one, without whom it would all have taken longer; and so on, until one has not
 * slept since the wait began, or an interrupt woke it. Each link begins before the one it explains,
 * so the chain cannot go in circles.
 */
#include <errno.h>

#include "table/sched.h"
#include "stats/why_parts.h"
#include "base/vec.h"

#define FIRST_SPAN 20000000u  /* ns */
#define BEFORE	   100000000u /* who runs when the wait begins has been switched to by then */

/* What one task did before a moment, since it slept last. */
struct history {
	const struct why_reader *r;
	const struct why_window *window;
	struct why_link *to;
	size_t seen;
	bool awake; /* it has done something since `from`, … */
	bool sure;  /* … which is what woke it, or where reading started in earnest */
	bool done;
};

static void sleeps_until(struct history *h, uint64_t ts)
{
	struct why_link *l = h->to;

	l->from = ts;
	l->ran = l->waited = l->waits = 0;
	h->awake = false;
	h->sure = true;
}

/* Adds what a task did; times after the moment do not count. */
static void add_state(struct history *h, const struct state_row *s, uint64_t end)
{
	struct why_link *l = h->to;
	/*
	 * One that was on a CPU when reading started has been there since before, but where reading
	 * started at the trace's begin.
	 */
	const bool goes_on = !h->seen && h->window->since && s->open && s->open != row_open_end;
	const uint64_t ts = goes_on ? h->window->since : s->ts;
	const uint64_t begin = ts > h->r->why->from ? ts : h->r->why->from;
	uint64_t ns;

	end = end < l->to ? end : l->to;
	ns = end > begin ? end - begin : 0;
	if (!h->awake)
		l->from = ts;
	h->awake = true;
	if (s->comm)
		l->comm = why_keep(h->r->why, s->comm);
	if (strcmp(s->state, "running") == 0) {
		l->ran += ns;
	} else {
		l->waited += ns;
		l->waits++;
	}
}

/* Also of one of which nothing is known it is not known that it was awake. */
static bool is_awake(const struct state_row *s)
{
	return strcmp(s->state, "running") == 0 || strcmp(s->state, "runnable") == 0;
}

static void take_state(void *arg, const void *row)
{
	struct history *h = arg;
	const struct state_row *s = row;

	if (s->pid != h->to->pid || !why_is_here(h->r, s->buffer) || h->done)
		return;
	if (s->phase == STATE_BEGINS) {
		/* What goes on at the moment has ended: all has been told. */
		h->done = s->ts >= h->to->to && h->seen;
		return;
	}
	if (s->ts >= h->to->to)
		return;
	if (is_awake(s))
		add_state(h, s, why_end_of(s->ts, s->dur));
	else
		sleeps_until(h, why_end_of(s->ts, s->dur));
	h->seen++;
}

static int read_history(struct history *h)
{
	return why_run_table(h->r, &states_both_table, take_state, h, h->window->since,
			     why_plus(h->to->to, WALK_REACH), &h->done);
}

/* Fills a link whose task and end are known. */
static int make_link(const struct why_reader *r, struct why_link *l)
{
	const uint64_t begin = r->why->from;
	struct why_window w = why_window(r, l->to, FIRST_SPAN, begin > BEFORE ? begin - BEFORE : 0);
	const struct why_link start = *l;
	struct history h;
	int rc;

	do {
		*l = start;
		l->from = l->to;
		h = (struct history){.r = r, .window = &w, .to = l};
		rc = read_history(&h);
	} while (rc == 0 && !h.sure && l->from > begin && why_window_grow(r, &w));
	l->earlier = rc == 0 && l->from <= begin;
	if (l->earlier)
		l->from = begin;
	return rc;
}

/* Whether there is another link; its task and end are set then. */
static bool next_link(const struct why_reader *r, const struct why_wake *w, struct why_link *next)
{
	struct why *why = r->why;

	if (!w->found)
		why->end = WHY_END_UNKNOWN;
	else if (w->context != WHY_IN_TASK)
		why->end = WHY_END_INTERRUPT;
	else if (w->pid == 0)
		why->end = WHY_END_IDLE;
	else if (w->pid == why->asked.pid)
		why->end = WHY_END_SELF;
	else if (why->links.n == WHY_LINKS)
		why->end = WHY_END_DEPTH;
	else
		why->end = WHY_END_NONE;
	*next = (struct why_link){.pid = w->pid, .comm = w->comm, .to = w->ts};
	return why->end == WHY_END_NONE;
}

int why_chain(const struct why_reader *r)
{
	struct why *w = r->why;
	const struct why_wake *wake = &w->wake;
	struct why_link link, *slot;
	int rc = 0;

	while (next_link(r, wake, &link)) {
		rc = make_link(r, &link);
		if (rc == 0 && !link.earlier)
			rc = why_wake_at(r, link.pid, link.from, &link.wake);
		slot = rc == 0 ? vec_push(&w->links) : NULL;
		if (!slot)
			return rc < 0 ? rc : -ENOMEM;
		*slot = link;
		if (link.earlier) {
			w->end = WHY_END_BEGIN;
			return 0;
		}
		wake = &slot->wake;
	}
	return 0;
}
