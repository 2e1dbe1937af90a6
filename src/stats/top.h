/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was going on, in sums: per task, per CPU and per interrupt. Rows that are open on one side
 * count with what is known of them.
 */
#ifndef STATS_TOP_H
#define STATS_TOP_H

#include "base/vec.h"
#include "table/analysis.h"
#include "table/walk.h"

/* The same sums for a task and for a CPU; times in nanoseconds. */
struct top_sums {
	int64_t running, runnable, blocked, sleeping;
	int64_t unknown;     /* of a task: what it did; of a CPU: who had it */
	uint64_t switches;   /* a CPU: to a task, idle not counted */
	uint64_t migrations; /* a CPU: tasks that came from another */
	uint64_t wakeups;
	int64_t worst; /* latency from a wakeup to running; 0: none is known */
	uint64_t worst_at;
	uint64_t syscalls;
	int64_t syscall_time;
	uint64_t requests, bytes; /* of block devices */
};

struct top_task {
	int64_t pid;
	const char *comm;
	int64_t last_cpu;
	struct top_sums sums;
};

struct top_cpu {
	int64_t cpu;
	int64_t idle;
	uint64_t irqs, softirqs;
	int64_t irq_time, softirq_time;
	struct top_sums sums;
};

struct top_irq {
	bool soft;
	int64_t number; /* or vector */
	const char *name;
	uint64_t count, timed; /* timed: those seen from beginning to end */
	int64_t time, longest;
};

struct top {
	vec_of(struct top_task *) tasks;
	vec_of(struct top_cpu *) cpus;
	vec_of(struct top_irq *) irqs;
	/* Which of the sums are from events that the trace describes. */
	bool has_sched, has_wakeups, has_syscalls, has_irqs, has_block;
	bool ticks;    /* the clock does not count nanoseconds: nor do times */
	uint64_t open; /* rows whose begin or end is not in the trace */
	bool full;     /* more tasks than memory was allowed for: the rest is not counted */

	/* Where the lists' elements are, by number. */
	struct slots task_slots, cpu_slots, irq_slots;
	struct intern names;
};

struct top_options {
	struct walk_options walk;
	/* Whether a task counts; NULL: all do. */
	bool (*wanted)(const void *arg, int64_t pid, const char *comm);
	void *arg;
};

/* Reads the trace; 0, -EINTR after a stop (with what there was until then), -ENOMEM. */
int top_make(struct top *top, struct spur_trace *t, const struct top_options *opt,
	     struct spur_error *err);
void top_free(struct top *top);

#endif
