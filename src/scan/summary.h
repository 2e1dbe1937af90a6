/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts of a trace: events by type, CPU and task; times; losses. Lanes do not depend on each
 * other, so several threads count them.
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
	uint64_t lost;		  /* lost events, where their number is known */
	uint64_t gaps;		  /* places where an unknown number was lost */
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
 * Counts the whole trace. 0, -ENOMEM, or -EINTR once *stop is non-zero; stop may be NULL. Call
 * summary_free() in any case.
 */
int summary_make(struct spur_trace *t, unsigned int threads, const volatile int *stop,
		 struct summary *out);
void summary_free(struct summary *s);

#endif
