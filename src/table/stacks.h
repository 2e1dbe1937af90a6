/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks that were recorded with events (kernel_stack, user_stack and what the stacktrace option or
 * a recorder writes), each with its event, which is an earlier one on the same CPU.
 */
#ifndef TABLE_STACKS_H
#define TABLE_STACKS_H

#include "table/table.h"

enum stack_kind { STACK_KERNEL, STACK_USER };

struct stack_row {
	uint64_t ts;
	int64_t cpu;
	int64_t pid;
	const char *comm;
	enum stack_kind kind;
	const char *event;  /* that it belongs to */
	const char *system; /* of that; no column */
	int64_t depth;
	const char *top;   /* the innermost function */
	const char *stack; /* "outer;…;inner", as flame graphs fold them */
	const char *buffer;
};

/* One row for each event that has stacks: the user's and then the kernel's. */
struct sample_row {
	uint64_t ts;
	int64_t cpu;
	int64_t pid;
	const char *comm;
	const char *event;
	const char *system; /* of that; no column */
	int64_t depth;
	const char *stack; /* "outer;…;inner"; functions of the kernel end with "_[k]" */
	const char *buffer;
};

extern const struct table stacks_table, samples_table;

#endif
