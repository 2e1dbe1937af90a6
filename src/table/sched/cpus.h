/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who runs on the CPUs of a buffer. Private to src/table; others use sched.h.
 *
 * A CPU has consecutive stretches without gaps, from its first record on, or from the trace's start
 * on if the CPU is silent then (see walk.h). A stretch belongs to a task, or it is unknown.
 *
 * A task's stretch begins with the switch to it, or with the first record that shows it on the CPU.
 * It ends with the switch away from it. When a record shows another task without such a switch, it
 * ends with the last record before that, and what lies in between is unknown.
 */
#ifndef TABLE_SCHED_CPUS_H
#define TABLE_SCHED_CPUS_H

#include "table/table.h"
#include "table/walk.h"

struct stretch {
	uint64_t since;
	bool begun;	 /* there is a stretch */
	bool known;	 /* it belongs to a task: */
	int32_t pid;	 /* its pid */
	bool open_start; /* it may have begun earlier */
	bool outside;	 /* it began before the range that is read */
};

struct on_cpus {
	struct stretch *at; /* by CPU */
	uint32_t nr;
	/* A CPU had another task than the last switch said: a switch is missing. */
	bool contradicted;
	/*
	 * Called when a stretch ends. open_end: it may have lasted longer. Unknown stretches have a
	 * duration, that of a task may be 0.
	 */
	void (*ends)(void *arg, uint32_t cpu, const struct stretch *s, uint64_t ts, bool open_end);
	void *arg;
};

/* `arg` is that of ends(). 0 or -ENOMEM. */
int on_cpus_init(struct on_cpus *o, const struct table_source *src,
		 void (*ends)(void *arg, uint32_t cpu, const struct stretch *s, uint64_t ts,
			      bool open_end),
		 void *arg);
void on_cpus_free(struct on_cpus *o);

/*
 * To be called by a table's evidence(). Afterwards the stretch of e->cpu belongs to the task,
 * unless it is gone.
 */
void on_cpus_evidence(struct on_cpus *o, const struct walk_evidence *e);

/* A switch, with both pids from the record. */
void on_cpus_switch(struct on_cpus *o, uint32_t cpu, int32_t prev, int32_t next, uint64_t ts);

/* To be called by a table's losing(): the CPU is unknown from then on. */
void on_cpus_losing(struct on_cpus *o, uint32_t cpu, uint64_t from);

/* The trace ends; so do all stretches. */
void on_cpus_end(struct on_cpus *o, uint64_t ts);

/* Whether a stretch that began at or before ts has not ended. */
bool on_cpus_pending(const struct on_cpus *o, uint64_t ts);

#endif
