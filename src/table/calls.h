/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Function calls with their times: from the function_graph tracer's funcgraph_entry and
 * funcgraph_exit, and from pairs of probes at the entry and the return of functions (kprobes and
 * uprobes: an event with __probe_ip and one with __probe_ret_ip and __probe_func).
 */
#ifndef TABLE_CALLS_H
#define TABLE_CALLS_H

#include "table/table.h"

#define CALL_ID_BITS 40 /* of ids; what is above them is the buffer's number */

struct call_row {
	uint64_t ts;
	int64_t dur;
	int64_t self;	 /* dur without the calls it made; ROW_NULL if one of these is unknown */
	int64_t off_cpu; /* of dur: the task was scheduled out; ROW_NULL without sched events */
	int64_t self_off_cpu; /* of self: the same */
	int64_t cpu;	      /* it began on; ROW_NULL: not known */
	int64_t pid;
	const char *comm;
	const char *func;
	int64_t addr;
	int64_t depth;	    /* ROW_NULL: not known */
	const char *parent; /* the function that called it; NULL: not known */
	/*
	 * Counts calls from 1 in order of their entries (of exits, where only these were recorded);
	 * in the buffer n > 0 from n << 40 on.
	 */
	int64_t id;
	int64_t parent_id; /* ROW_NULL: the caller is not in the trace */
	int64_t retval;	   /* where recorded */
	int64_t recursive; /* 1: within another call of the same function */
	enum row_open open;
	const char *buffer;

	/* No column, and only of use with calls_both_table. */
	enum call_phase {
		CALL_ONLY_END, /* the row is all there is of the call */
		CALL_BEGINS,   /* what is known at the begin; unknown times are ROW_NULL */
		CALL_ENDS,     /* the whole row of a call that has begun */
	} phase;
};

extern const struct table calls_table;

/* The same with an additional row when a call begins, for readers that must know the open calls. */
extern const struct table calls_both_table;

#endif
