/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The states a task leaves its CPU in, as the print format of sched_switch spells them. */
#ifndef EVENT_TASKSTATES_H
#define EVENT_TASKSTATES_H

#include <stdint.h>

#define NR_TASK_STATES 32

struct task_states {
	char letters[NR_TASK_STATES]; /* of each bit of prev_state, or NUL */
	uint32_t bits;		      /* those that have one */
	uint32_t preempted;	      /* the bit shown as "+"; 0: the kernel does not tell */
};

/*
 * Reads the letters of this kernel: they differ between versions. Without any in the format, those
 * of Linux since 4.14.
 */
void task_states_read(struct task_states *s, const char *print_fmt);

#endif
