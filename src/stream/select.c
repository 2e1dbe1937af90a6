// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/select.h"

#include <string.h>

#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

bool select_cpu(const struct selection *s, uint32_t cpu)
{
	if (!s->cpus)
		return true;
	return cpu < s->nr_cpus && (s->cpus[cpu / 64] >> (cpu % 64) & 1);
}

static const struct select_filters *filters_of(const struct selection *s,
					       const struct spur_trace *t)
{
	for (size_t i = 0; i < s->nr_filters; i++)
		if (s->filters[i].trace == t)
			return &s->filters[i];
	return NULL;
}

static enum filter_result test(const struct filter *f, struct event_printer *p, struct event *e,
			       const struct spur_record *r)
{
	return f ? filter_match(f, p->learned, e, r) : FILTER_NONE;
}

static bool is_stack(const struct event *e)
{
	return strcmp(e->name, "kernel_stack") == 0 && strcmp(e->system, "ftrace") == 0;
}

/* A stack is shown when the event before it on its CPU was, unless it is unwanted itself. */
static bool follow_stack(const struct selection *s, struct select_state *st, struct event *e,
			 const struct spur_record *r, bool shown, bool unwanted)
{
	if (r->cpu >= st->nr)
		return shown;
	if (is_stack(e))
		return shown || (st->shown[r->cpu] && !unwanted);
	if (s->stacks == SELECT_STACKS_FOLLOW || shown)
		st->shown[r->cpu] = shown;
	return shown;
}

static bool pass_filters(const struct selection *s, const struct select_filters *f,
			 struct select_state *st, struct event_printer *p, struct event *e,
			 const struct spur_record *r)
{
	enum filter_result want = test(f->wanted, p, e, r), not = FILTER_NONE;
	bool shown = want == FILTER_MATCH || want == FILTER_NONE;

	if (shown || s->stacks != SELECT_STACKS_PLAIN)
		not = test(f->unwanted, p, e, r);
	shown = shown && not != FILTER_MATCH;
	if (s->stacks == SELECT_STACKS_PLAIN)
		return shown;
	return follow_stack(s, st, e, r, shown, not == FILTER_MATCH);
}

void select_passed(const struct selection *s, struct select_state *st, uint32_t cpu)
{
	if (s->stacks == SELECT_STACKS_FOLLOW)
		st->shown[cpu] = false;
}

void select_prime(const struct selection *s, struct select_state *st, const struct spur_trace *t,
		  struct event_printer *p, struct event *e, const struct spur_record *r)
{
	const struct select_filters *f = filters_of(s, t);

	if (f && e && s->stacks != SELECT_STACKS_PLAIN)
		pass_filters(s, f, st, p, e, r);
}

bool select_record(const struct selection *s, struct select_state *st, const struct spur_trace *t,
		   struct event_printer *p, struct event *e, const struct spur_record *r)
{
	const struct select_filters *f;

	if (s->no_irqs || s->no_softirqs) {
		unsigned int flags = events_record_flags(t->events, r);

		if ((s->no_irqs && (flags & FLAG_HARDIRQ)) ||
		    (s->no_softirqs && (flags & FLAG_SOFTIRQ)))
			return false;
	}
	f = s->nr_filters ? filters_of(s, t) : NULL;
	if (!f)
		return true;
	return e ? pass_filters(s, f, st, p, e, r) : !f->wanted;
}
