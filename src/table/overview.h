/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What there is in a trace: its tasks, CPUs, losses, and the file itself. */
#ifndef TABLE_OVERVIEW_H
#define TABLE_OVERVIEW_H

#include "table/table.h"

/* A task: one use of a pid. */
struct task_row {
	uint64_t ts; /* first seen, or when it was forked */
	int64_t dur; /* until it exited or was seen last */
	int64_t pid;
	const char *comm; /* the last one */
	const char *first_comm;
	int64_t ppid; /* of its creator or its parent process; ROW_NULL: not known */
	int64_t tgid; /* its process; ROW_NULL: not known */
	int64_t events;
	int64_t switches; /* how often it got a CPU */
	int64_t running;  /* time; ROW_NULL without sched_switch */
	enum row_open open;
	const char *buffer;
};

struct cpu_row {
	uint64_t ts; /* first event; of a CPU without any, the trace's */
	int64_t dur; /* until the last one */
	int64_t cpu;
	int64_t events;
	int64_t lost; /* known number */
	int64_t gaps; /* places where events were lost, the number being known or not */
	int64_t switches;
	/* Up to the end of the trace, as slices; ROW_NULL without sched_switch. */
	int64_t busy; /* time with a task */
	int64_t idle;
	int64_t unknown; /* time in which its task is not known */
	const char *buffer;
};

struct lost_row {
	uint64_t ts;   /* of the first event after the loss, or when a cut recording ends */
	int64_t since; /* time of the last one before it; ROW_NULL: none */
	int64_t cpu;
	int64_t events; /* how many; ROW_NULL: not known */
	enum row_open
		open; /* end: no event of the CPU comes after the loss; start: none before it */
	const char *buffer;
};

/* Whether the row is the loss at the end of a CPU's data in a cut recording. */
bool lost_at_end(const struct lost_row *row);

/* Calls a function with each such row of one buffer. */
void lost_by_cut(const struct spur_trace *t, uint32_t buffer,
		 void (*take)(void *arg, const void *row), void *arg);

struct file_row {
	uint64_t ts; /* first event */
	int64_t dur;
	const char *name;
	const char *host; /* uname */
	int64_t version;
	int64_t bytes;
	int64_t cpus;
	int64_t events;
	int64_t lost;
	const char *clock;
	const char *compression;
};

extern const struct table tasks_table, cpus_table, lost_table, files_table;

#endif
