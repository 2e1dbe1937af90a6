/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scheduling: which task was on which CPU, what every task did meanwhile, and who woke whom.
 *
 * One state machine over sched_switch, sched_wakeup, sched_wakeup_new, sched_waking,
 * sched_migrate_task, sched_process_fork, _exec, _exit, _free, task_rename and sched_blocked_reason
 * (missing ones are not necessary) makes the rows of three tables. A pid that is used again is
 * another task. Names are those at the time of the row.
 */
#ifndef TABLE_SCHED_H
#define TABLE_SCHED_H

#include "table/table.h"

/* A task on a CPU, from the switch to it to the switch away from it. The idle task has slices. */
struct slice_row {
	uint64_t ts;
	int64_t dur;
	int64_t cpu;
	int64_t pid;
	const char *comm;
	int64_t prio; /* the kernel's: 0…99 real time, 100…139 nice -20…19 */
	const char
		*end_state; /* letters of the state it left in: "S", "D", "R", "R+" (preempted) */
	enum row_open open;
	const char *buffer;
};

/*
 * Whether it begins with a switch to the task. Otherwise it begins with another record of the task.
 */
static inline bool slice_is_switched_to(const struct slice_row *s)
{
	return !(s->open & ROW_OPEN_START);
}

enum run_state {
	RUN_UNKNOWN,
	RUN_RUNNING,
	RUN_RUNNABLE,
	RUN_SLEEPING,
	RUN_BLOCKED,
	RUN_STOPPED,
	RUN_DEAD,
};
extern const char *const run_state_names[]; /* "unknown", "running", … */

/* What a task did: consecutive rows without gaps, from its first to its last event. */
struct state_row {
	uint64_t ts;
	int64_t dur;
	int64_t pid;
	const char *comm;
	enum run_state state;
	/*
	 * runnable: "woken", "preempted", "new", "yielded" (gave up the CPU while running);
	 * sleeping, blocked: the kernel function it waits in, where sched_blocked_reason tells, or
	 * "iowait"; NULL: not known.
	 */
	const char *reason;
	int64_t cpu;   /* that it runs on, waits for, or ran on last */
	int64_t waker; /* pid of the task that ended a sleep, else ROW_NULL */
	enum row_open open;
	const char *buffer;

	/* No column, and only of use with states_both_table. */
	enum state_phase {
		STATE_ENDS,   /* the whole row */
		STATE_BEGINS, /* ts, pid, state and cpu are known by then */
		STATE_OF_CPU, /* of no task: a time for which it is unknown what the CPU did */
	} phase;
};

/* The reason of a task that was preempted. Compare the pointer. */
extern const char state_preempted[];

/* A wakeup and how long it took until the task ran. */
struct wakeup_row {
	uint64_t ts;
	int64_t latency; /* until it ran; ROW_NULL: it never did, or that was lost */
	int64_t pid;	 /* woken */
	const char *comm;
	int64_t prio;
	int64_t waker_pid;
	const char *waker_comm;
	int64_t waker_cpu;
	int64_t target_cpu;
	int64_t run_cpu;      /* where it ran then; differs after a migration */
	int64_t in_interrupt; /* 1: woken by an interrupt or softirq, not by the task it hit */
	int64_t is_new;	      /* 1: the first wakeup of a new task */
	enum row_open open;   /* end: it has not run yet at the end, or events were lost */
	const char *buffer;
};

extern const struct table slices_table, states_table, wakeups_table;

/*
 * The same with an additional row when a state begins, for readers that must know the current
 * states.
 */
extern const struct table states_both_table;

#endif
