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
 * The filters of one trace: a record passes if any of `wanted` matches it and none of `unwanted`
 * does.
 */
struct select_filters {
	const struct spur_trace *trace;
	struct filter *wanted;	 /* NULL: everything */
	struct filter *unwanted; /* NULL: nothing */
};

/* What happens to kernel and user stacks that no filter names. */
enum select_stacks {
	SELECT_STACKS_PLAIN, /* they are events like others */
	/* Shown: the first of its kind after a shown event of the CPU, as in trace-cmd 3.4. */
	SELECT_STACKS_FOLLOW,
	/* Shown: all, once an event of the CPU has been shown, as in trace-cmd 3.1. */
	SELECT_STACKS_LOOSE,
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

/* Whether select_record() may return false for a record of a trace. */
bool select_refuses(const struct selection *s, const struct spur_trace *t);

/* Whether a CPU of that number (counted through all sources) is wanted. */
bool select_cpu(const struct selection *s, uint32_t cpu);

/* Whether an event type is a stack, of the kernel or of a user. */
bool select_is_stack(const struct event *e);

/*
 * The state that decides whether a stack is shown, for each CPU of each buffer; all zero at first.
 */
struct select_stack {
	uint8_t shown; /* bits of the kinds of stacks that the last shown event has not had yet */
	bool known;    /* `shown` does not depend on records before those that were read */
	bool asked;    /* a stack was decided on although `shown` was not `known` */
};

/* Checks everything but CPUs and the time range, which decide what is read. */
bool select_record(const struct selection *s, struct select_stack *st, const struct spur_trace *t,
		   struct event_printer *p, struct event *e, const struct spur_record *r);

#endif
