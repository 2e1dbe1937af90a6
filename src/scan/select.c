// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Selecting records: by the interrupt flags, then by the filters. A stack that no filter is about
 * depends on the event before it on its CPU.
 */
#include "scan/select.h"

#include <string.h>

#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

#define KERNEL_STACK 1u
#define USER_STACK   2u

bool select_cpu(const struct selection *s, uint32_t cpu)
{
	if (!s->cpus)
		return true;
	return cpu < s->nr_cpus && (s->cpus[cpu / 64] >> (cpu % 64) & 1);
}

const struct select_filters *select_filters_of(const struct selection *s,
					       const struct spur_trace *t)
{
	for (size_t i = 0; i < s->nr_filters; i++)
		if (s->filters[i].trace == t)
			return &s->filters[i];
	return NULL;
}

bool select_refuses(const struct selection *s, const struct spur_trace *t)
{
	return s->no_irqs || s->no_softirqs || select_filters_of(s, t);
}

static enum filter_result test(const struct filter *f, struct event_printer *p, struct event *e,
			       const struct spur_record *r)
{
	return f ? filter_match(f, p->learned, e, r) : FILTER_NONE;
}

/* The kind of a stack, as a bit of select_stack.shown; 0 if the event is no stack. */
static uint8_t stack_kind(const struct event *e)
{
	if (strcmp(e->system, "ftrace") != 0)
		return 0;
	if (strcmp(e->name, "kernel_stack") == 0)
		return KERNEL_STACK;
	return strcmp(e->name, "user_stack") == 0 ? USER_STACK : 0;
}

bool select_is_stack(const struct event *e)
{
	return stack_kind(e) != 0;
}

/*
 * A stack that no filter selects is shown if the event before it was shown, unless it is unwanted.
 */
static bool follow_stack(const struct selection *s, struct select_stack *st, const struct event *e,
			 bool shown, bool unwanted)
{
	const uint8_t kind = stack_kind(e);

	if (!kind) {
		st->shown |= shown ? KERNEL_STACK | USER_STACK : 0;
		st->known |= shown;
		return shown;
	}
	/* Then a stack that a filter selects is an event of the CPU like others. */
	if (shown && s->stacks == SELECT_STACKS_LOOSE)
		st->shown = KERNEL_STACK | USER_STACK;
	if (shown || unwanted)
		return shown;
	st->asked |= !st->known;
	shown = st->shown & kind;
	if (s->stacks == SELECT_STACKS_FOLLOW)
		st->shown &= (uint8_t)~kind;
	return shown;
}

static bool pass_filters(const struct selection *s, const struct select_filters *f,
			 struct select_stack *st, struct event_printer *p, struct event *e,
			 const struct spur_record *r)
{
	enum filter_result want = test(f->wanted, p, e, r), not = FILTER_NONE;
	bool shown = want == FILTER_MATCH || want == FILTER_NONE;

	if (shown || s->stacks != SELECT_STACKS_PLAIN)
		not = test(f->unwanted, p, e, r);
	shown = shown && not != FILTER_MATCH;
	if (s->stacks == SELECT_STACKS_PLAIN)
		return shown;
	return follow_stack(s, st, e, shown, not == FILTER_MATCH);
}

bool select_record(const struct selection *s, struct select_stack *st, const struct spur_trace *t,
		   struct event_printer *p, struct event *e, const struct spur_record *r)
{
	const struct select_filters *f;

	if (s->no_irqs || s->no_softirqs) {
		unsigned int flags = events_record_flags(t->events, r);

		if ((s->no_irqs && (flags & FLAG_HARDIRQ)) ||
		    (s->no_softirqs && (flags & FLAG_SOFTIRQ)))
			return false;
	}
	f = s->nr_filters ? select_filters_of(s, t) : NULL;
	if (!f)
		return true;
	return e ? pass_filters(s, f, st, p, e, r) : !f->wanted;
}
