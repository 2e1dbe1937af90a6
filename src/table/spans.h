/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of what begins with one event and ends with another: system calls, interrupts, softirqs,
 * block requests.
 */
#ifndef TABLE_SPANS_H
#define TABLE_SPANS_H

#include "table/table.h"

/* ns between the two events of an entry or of an exit, at most; more than SHORT_STAY */
#define SAME_CALL 20000

/*
 * A system call, from raw_syscalls:sys_enter/sys_exit or syscalls:sys_enter_NAME/sys_exit_NAME; a
 * call with events of both kinds is one row, with the time of the later one. A call that does not
 * return (exit) stays open without a duration.
 */
struct syscall_row {
	uint64_t ts;
	int64_t dur;
	int64_t cpu; /* that it was entered on; ROW_NULL: not known */
	int64_t pid;
	const char *comm;
	const char *name;
	int64_t nr;
	/*
	 * "fd: 0x3, buf: 0x7f…, count: 0x400" as the report shows them. Unlike other texts, this
	 * one is only valid until the next record is read: callers that store a row copy it.
	 */
	const char *args;
	int64_t ret;	   /* ROW_NULL while it is open */
	const char *error; /* "ENOENT" when ret is an error */
	enum row_open open;
	const char *buffer;

	uint64_t args_id; /* no column: equal for equal texts of args */
};

/* The kernel's name of a softirq; NULL if there is no such vector. */
const char *softirq_name(int64_t vector);

/* An interrupt handler that ran, from irq_handler_entry to irq_handler_exit. */
struct irq_row {
	uint64_t ts;
	int64_t dur;
	int64_t cpu;
	int64_t irq;
	const char *name;
	int64_t handled; /* 1, 0; ROW_NULL: not known */
	int64_t pid;	 /* the task it interrupted */
	const char *comm;
	enum row_open open;
	const char *buffer;

	uint32_t depth; /* no column: handlers of its CPU that it interrupted */
};

/* A softirq that ran, from softirq_entry to softirq_exit. */
struct softirq_row {
	uint64_t ts;
	int64_t dur;
	int64_t cpu;
	int64_t vec;
	const char *name; /* "TIMER", "NET_RX", … */
	int64_t latency;  /* since softirq_raise on that CPU; ROW_NULL: not known */
	int64_t pid;
	const char *comm;
	enum row_open open;
	const char *buffer;
};

/*
 * A request to a block device, from block_rq_issue to block_rq_complete; it is queued from
 * block_rq_insert on.
 */
struct block_row {
	uint64_t ts;	/* issued */
	int64_t dur;	/* until it was complete */
	int64_t queued; /* between insert and issue; ROW_NULL: not recorded */
	int64_t cpu;
	int64_t pid;
	const char *comm;
	const char *device; /* "8,0" */
	int64_t sector;
	int64_t bytes;
	const char *rwbs;
	int64_t error;
	enum row_open open;
	const char *buffer;
};

extern const struct table syscalls_table, irqs_table, softirqs_table, block_table;

#endif
