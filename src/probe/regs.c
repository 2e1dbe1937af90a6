// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers of each machine: one table for each, and looking them up. */
#include "probe/regs.h"

#include <string.h>
#include <sys/utsname.h>

/* ---- x86-64: struct pt_regs ---- */

static const struct reg_name x86_64_names[] = {
	{"r15", 0},	{"r14", 8},  {"r13", 16}, {"r12", 24},	    {"bp", 32},	 {"bx", 40},
	{"r11", 48},	{"r10", 56}, {"r9", 64},  {"r8", 72},	    {"ax", 80},	 {"cx", 88},
	{"dx", 96},	{"si", 104}, {"di", 112}, {"orig_ax", 120}, {"ip", 128}, {"cs", 136},
	{"flags", 144}, {"sp", 152}, {"ss", 160}, {NULL, 0},
};

static const struct regs x86_64 = {
	.machine = "x86_64",
	.args = {112, 104, 96, 88, 72, 64, -1, -1},
	.retval = 80,
	.syscall = 120,
	.mode = 136, /* cs is 0x23 or 0x33 */
	.mode_bit = 0x10,
	.sp = 152,
	.ip = 128,
	.stack_args = 8,
	.names = x86_64_names,
};

/* ---- arm64: struct user_pt_regs ---- */

#define X(n)                                                                                       \
	{                                                                                          \
		"x" #n, 8 * (n)                                                                    \
	}

static const struct reg_name aarch64_names[] = {
	X(0),	     X(1),
	X(2),	     X(3),
	X(4),	     X(5),
	X(6),	     X(7),
	X(8),	     X(9),
	X(10),	     X(11),
	X(12),	     X(13),
	X(14),	     X(15),
	X(16),	     X(17),
	X(18),	     X(19),
	X(20),	     X(21),
	X(22),	     X(23),
	X(24),	     X(25),
	X(26),	     X(27),
	X(28),	     X(29),
	X(30),	     {"sp", 248},
	{"pc", 256}, {"pstate", 264},
	{NULL, 0},
};

static const struct regs aarch64 = {
	.machine = "aarch64",
	.args = {0, 8, 16, 24, 32, 40, 48, 56},
	.retval = 0,
	.syscall = 280,
	.mode = 264, /* pstate */
	.mode_bit = 0x10,
	.mode_set = true,
	.sp = 248,
	.ip = 256,
	.stack_args = 0,
	.names = aarch64_names,
};

/* ---------------------------------------------------------------------------------------- */

static const struct regs *const machines[] = {&x86_64, &aarch64};

const struct regs *regs_of(const char *machine)
{
	struct utsname u = {0};

	if (!machine && !uname(&u))
		machine = u.machine;
	for (size_t i = 0; machine && i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strcmp(machines[i]->machine, machine))
			return machines[i];
	return NULL;
}

int regs_named(const struct regs *r, const char *name)
{
	for (const struct reg_name *n = r->names; n->name; n++) {
		if (!strcmp(n->name, name))
			return n->offset;
		/* bpftrace calls those of arm64 r0 to r30. */
		if (n->name[0] == 'x' && name[0] == 'r' && !strcmp(n->name + 1, name + 1))
			return n->offset;
	}
	return -1;
}

void regs_list(const struct regs *r, struct buf *to)
{
	for (const struct reg_name *n = r->names; n->name; n++)
		buf_printf(to, "%s%s", n == r->names ? "" : ", ", n->name);
}
