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

/* What following stacks needs to remember per CPU; owned by the caller, all false at first. */
struct select_state {
	bool *shown; /* by CPU: the last event of it that is no stack was shown */
	uint32_t nr;
};

/* Takes note of a record that is not shown but lies just before those that are. */
void select_prime(const struct selection *s, struct select_state *st, const struct spur_trace *t,
		  struct event_printer *p, struct event *e, const struct spur_record *r);

/* Takes note that events of a CPU which no filter wants have been passed over. */
void select_passed(const struct selection *s, struct select_state *st, uint32_t cpu);

/* Whether a CPU of that number (counted through all sources) is wanted. */
bool select_cpu(const struct selection *s, uint32_t cpu);

/* Everything but CPUs and the time range, which decide what is read. */
bool select_record(const struct selection *s, struct select_state *st, const struct spur_trace *t,
		   struct event_printer *p, struct event *e, const struct spur_record *r);

#endif
