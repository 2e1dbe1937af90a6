/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which records are shown: CPUs, time range, interrupt context, filters.
 * A selection does not change while it is in use and is shared by all threads.
 */
#ifndef SCAN_SELECT_H
#define SCAN_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "event/filter.h"
#include "scan/trace.h"

/*
 * The filters of one trace: a record passes when any of `wanted` takes it and none of `unwanted`.
 */
struct select_filters {
	const struct spur_trace *trace;
	struct filter *wanted;	 /* NULL: everything */
	struct filter *unwanted; /* NULL: nothing */
};

/* What happens to stacks, of the kernel and of users, that no filter is about. */
enum select_stacks {
	SELECT_STACKS_PLAIN,  /* they are events like others */
	SELECT_STACKS_FOLLOW, /* the first one of its kind after an event that was shown on their
				 CPU is: so does trace-cmd 3.4 */
	SELECT_STACKS_LOOSE,  /* all are shown once their CPU has shown an event: so does trace-cmd
				 3.1 */
};

struct selection {
	const uint64_t *cpus; /* a bit per CPU, NULL: all */
	uint32_t nr_cpus;     /* bits in it; CPUs beyond are not wanted */
	bool no_irqs, no_softirqs;
	bool has_since, has_until;
	uint64_t since, until;		/* both inclusive */
	struct select_filters *filters; /* one per trace, or NULL */
	size_t nr_filters;
	enum select_stacks stacks;
};

/* The filters of a trace, or NULL. */
const struct select_filters *select_filters_of(const struct selection *s,
					       const struct spur_trace *t);

/* Whether select_record() may refuse a record of a trace. */
bool select_refuses(const struct selection *s, const struct spur_trace *t);

/* Whether a CPU of that number (counted through all sources) is wanted. */
bool select_cpu(const struct selection *s, uint32_t cpu);

/* Whether an event type is a stack, of the kernel or of a user. */
bool select_is_stack(const struct event *e);

/* What it depends on whether a stack is shown, one for each CPU of each buffer; false at first. */
struct select_stack {
	uint8_t shown; /* an event was: the kinds of stacks that it has not had yet */
	bool known;    /* that does not depend on what came before the records looked at */
	bool asked;    /* a stack has been decided on although it did */
};

/* Everything but CPUs and the time range, which decide what is read. */
bool select_record(const struct selection *s, struct select_stack *st, const struct spur_trace *t,
		   struct event_printer *p, struct event *e, const struct spur_record *r);

#endif
