/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a trace holds, counted: events by type, CPU and task, times, losses. Lanes are independent
 * for counting, so they are counted side by side.
 */
#ifndef SCAN_SUMMARY_H
#define SCAN_SUMMARY_H

#include "scan/lane.h"

struct summary_task {
	int pid;
	uint64_t events;
};

struct summary_lane {
	const struct trace_buffer *buffer;
	const struct dat_cpu *cpu;
	uint64_t events, unknown; /* unknown: of types the trace does not describe */
	uint64_t first, last;	  /* times, when there are events */
	uint64_t lost;		  /* events that are known to be lost */
	uint64_t gaps;		  /* places where an unknown number was */
};

struct summary {
	struct summary_lane *lanes;
	size_t nr_lanes;
	uint64_t *by_event;	    /* by event index */
	struct summary_task *tasks; /* busiest first */
	size_t nr_tasks;
	uint64_t events, lost, gaps, unknown;
	uint64_t first, last;
};

/*
 * Counts all of it. 0, -ENOMEM, or -EINTR once *stop has become non-zero; stop may be NULL.
 * summary_free() is due in any case.
 */
int summary_make(struct spur_trace *t, unsigned int threads, const volatile int *stop,
		 struct summary *out);
void summary_free(struct summary *s);

#endif
