/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/script: a script that runs over a recording. */
#ifndef SCRIPT_RUN_FILE_H
#define SCRIPT_RUN_FILE_H

#include "script/run.h"
#include "scan/scan.h"

/* Programs of one event, by its number. */
struct on_event {
	uint32_t *progs;
	uint32_t n;
};

struct interval {
	uint32_t prog;
	uint64_t period, next;
};

struct file_run {
	struct script *s;
	struct spur_trace *trace;
	struct scan scan;
	struct on_event *events; /* by the event's id */
	size_t nr_ids;
	struct interval *intervals;
	size_t nr_intervals;
	uint64_t next_interval; /* the earliest; UINT64_MAX: none */
	uint64_t skipped;	/* rounds of intervals that were left out */
	unsigned int steps;
	bool stopped;	       /* by the user */
	bool in_record;	       /* a program runs on the merge's current record */
	struct stacks *stacks; /* NULL until a program needs them */
	struct groups *groups; /* likewise */
};

/* The number of the stack that was recorded with the event that runs; negative: none. */
int64_t run_stack(struct script *s, struct vm_map *map, bool user);

/* The process of a thread, if the recording shows it; else the thread itself. */
uint32_t run_group(struct script *s, uint32_t tid);

#endif
