/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records are shown: CPUs, time range, interrupt context, filters.
 * A selection does not change while it is in use and is shared by all threads.
 */
#ifndef STREAM_SELECT_H
#define STREAM_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "event/filter.h"
#include "stream/trace.h"

/*
 * The filters of one trace: a record passes when any of `wanted` takes it and none of `unwanted`.
 */
struct select_filters {
	const struct spur_trace *trace;
	struct filter *wanted;	 /* NULL: everything */
	struct filter *unwanted; /* NULL: nothing */
};

/* What happens to kernel stacks that no filter is about. */
enum select_stacks {
	SELECT_STACKS_PLAIN,  /* they are events like others */
	SELECT_STACKS_FOLLOW, /* they go with the event before them on their CPU */
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

/* Whether a CPU of that number (counted through all sources) is wanted. */
bool select_cpu(const struct selection *s, uint32_t cpu);

/*
 * Everything but CPUs and the time range, which decide what is read. *shown is all that stacks
 * following their events need to know, one for each CPU of each buffer: whether the last event of
 * it that is no stack was shown. False at first.
 */
bool select_record(const struct selection *s, bool *shown, const struct spur_trace *t,
		   struct event_printer *p, struct event *e, const struct spur_record *r);

#endif
