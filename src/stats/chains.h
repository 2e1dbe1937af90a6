/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains and how often they came (`hist`): of the function tracers, of kernel stacks, and of
 * events within them.
 *
 * Every CPU is followed by itself, one after the other. Functions build up a stack per task: the
 * function tracer by a function's caller, function_graph by its depth. When a function returns, the
 * chain that led to it is counted. An event is a chain of its own: itself, called by the kernel
 * stack that follows it, or else by the functions the task is in.
 *
 * Counts and text are those of trace-cmd, also in these details: after a kernel stack was recorded,
 * it stays the task's stack; all functions without a symbol are the same one, "(null)", where a new
 * chain starts; and a second buffer continues the counts of the first.
 *
 * Memory grows with the number of distinct chains, up to a limit: further chains are only counted
 * as dropped.
 */
#ifndef STATS_CHAINS_H
#define STATS_CHAINS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "scan/trace.h"

struct call_chains;

struct call_chains_options {
	bool all_tasks;	     /* tasks are not distinguished */
	size_t memory_limit; /* 0: 512 MiB */
};

/* NULL without memory. The trace must stay open. */
struct call_chains *call_chains_new(struct spur_trace *t, const struct call_chains_options *opt,
				    struct spur_error *err);
void call_chains_free(struct call_chains *c);

/*
 * Adds a record; its event type may be NULL. The records of a CPU come together and in order of
 * time. 0 or -ENOMEM.
 */
int call_chains_record(struct call_chains *c, struct event *e, const struct spur_record *r);

/* Counts what is still open. After it, the records of another buffer may be added. 0 or -ENOMEM. */
int call_chains_end(struct call_chains *c);

/*
 * Adds all records of a buffer of the trace and calls call_chains_end(). 0, -EINTR once *stop (stop
 * may be NULL) is not zero, or another negative errno with a message.
 */
int call_chains_run(struct call_chains *c, const struct trace_buffer *b, const volatile int *stop,
		    struct spur_error *err);

/* How many records were seen, and how many chains left out beyond the memory limit. */
uint64_t call_chains_seen(const struct call_chains *c);
uint64_t call_chains_dropped(const struct call_chains *c);

/* Appends the text, the most frequent chains first. */
void call_chains_print(struct call_chains *c, struct buf *out);

#endif
