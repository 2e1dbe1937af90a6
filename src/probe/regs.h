/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers in the context of kprobe, uprobe and perf_event programs: where they are in what the
 * kernel shows of struct pt_regs. All are 8 bytes.
 */
#ifndef PROBE_REGS_H
#define PROBE_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define REGS_MAX_ARGS 8

struct regs {
	const char *machine;
	int args[REGS_MAX_ARGS]; /* offsets of arg0 …; -1: there are no more */
	int retval, sp, ip;
	int syscall; /* in the kernel's own struct pt_regs: the number of the system call */
	int mode;    /* there as well: whether the process runs 32-bit code, by this bit */
	uint32_t mode_bit;
	bool mode_set;	/* … which is set then, or clear */
	int stack_args; /* from the stack pointer to sarg0 when a function is entered */
	const struct reg_name {
		const char *name;
		int offset;
	} * names; /* ends with a NULL */
};

/* Of a machine as uname(2) has it; NULL: this one. NULL when it is not known. */
const struct regs *regs_of(const char *machine);

/* The offset of a register by its name, as reg("ip") says it; -1 when there is none. */
int regs_named(const struct regs *r, const char *name);

/* The names, separated by commas, for messages. */
void regs_list(const struct regs *r, struct buf *to);

#endif
