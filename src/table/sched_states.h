/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks with the row that is going on for each. What events mean for them is in sched_states.c.
 *
 * Rows of a task never overlap and leave no gaps, whatever the times of events are.
 */
#ifndef TABLE_SCHED_STATES_H
#define TABLE_SCHED_STATES_H

#include "table/parts.h"
#include "table/sched.h"
#include "table/sched_cpus.h"
#include "table/sched_parts.h"

struct task {
	struct list order;  /* among all tasks with a row, by when it was begun */
	struct list on_cpu; /* among those last known on the same CPU, or among the dead */
	int32_t pid;
	uint32_t cpu; /* whose list it is in */
	struct name name;

	/* The row that is going on. */
	bool begun; /* there is one */
	bool open_start;
	bool woken;  /* runnable: because it was woken, … */
	bool waking; /* … by sched_waking, and sched_wakeup is still to come */
	bool late;   /* it began before what stands before it in `order` */
	bool exited; /* it will die */
	bool held;
	enum run_state state;
	uint64_t since;
	uint32_t losses; /* when it was begun */
	int64_t row_cpu;
	const char *comm, *reason;

	struct state_row held_row;
};

struct states {
	const struct table_source *src;
	struct sched_events events;
	struct task_set tasks;
	struct list order;
	struct list dead;
	size_t nr_dead;
	size_t nr_late, nr_held; /* tasks */
	struct losses losses;
	bool wakings; /* sched_waking has been seen */
	bool reasons; /* sched_blocked_reason may come */
	bool doubts;  /* switches of some tasks were not recorded */
	bool both;    /* a row is wanted when a state begins, too */
	struct on_cpus on;
	struct list *cpus; /* tasks, by CPU; after the last one those that are on none */
	uint32_t nr_cpus;
};

/* The task of a pid, which may have no row yet; NULL without memory. */
struct task *states_task(struct states *s, int32_t pid);

/* The same of a pid that does something: not one that has died. */
struct task *states_live_task(struct states *s, int32_t pid, uint64_t ts);

/* Ends the row that is going on. */
void states_end_row(struct states *s, struct task *t, uint64_t ts, bool open_end, int64_t waker);

void states_begin_row(struct states *s, struct task *t, enum run_state state, uint64_t ts,
		      uint32_t cpu, const char *reason);

/* A row that begins earlier than the event that tells of it. */
void states_begin_late(struct states *s, struct task *t, enum run_state state, uint64_t ts,
		       uint32_t cpu);

/* Hands out the row that was held back, if there is one. */
void states_flush_held(struct states *s, struct task *t);

/* A task that can run waits for another CPU than before. */
void states_move(struct states *s, struct task *t, uint32_t cpu);

/* The task has died; it is kept until it is freed. */
void states_die(struct states *s, struct task *t, uint64_t ts, uint32_t cpu);

/* The pid is another task's from now on, or nobody's. */
void states_end_life(struct states *s, struct task *t, uint64_t ts, bool open_end);

/* What a task did is not known since then. */
void states_lose_track(struct states *s, struct task *t, uint64_t since);

/* The same of one that waits or sleeps, when it may have run where events were lost since then. */
void states_doubt_row(struct states *s, struct task *t);

#endif
