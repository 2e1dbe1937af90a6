/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calling conventions: where the parameters of a function are at its entry, in the kernel's names;
 * and registers in the context of a program.
 *
 * The names are those of the kernel that sets the probe: the first parameter of a 32-bit program
 * under a 64-bit ARM kernel is in x0.
 */
#ifndef SYMBOLS_ABI_H
#define SYMBOLS_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "symbols/types.h"

#define ABI_MAX_ARGS 8

enum abi_flags {
	ABI_EVEN_PAIRS = 1 << 0,       /* what is as wide as two registers starts at an even one */
	ABI_BIG_BY_REFERENCE = 1 << 1, /* structs of more than two words are passed as pointers */
	ABI_SPLITS = 1 << 2,	       /* half in a register, half on the stack is possible */
	ABI_FLOATS_ON_STACK = 1 << 3,  /* floating point numbers are on the stack */
	ABI_RESULT_FIRST = 1 << 4,     /* where to put a big result is a hidden first parameter */
	ABI_SMALL_RESULTS = 1 << 5,    /* …and big is what is larger than one word */
	ABI_NO_BACKFILL = 1 << 6,   /* after the first parameter on the stack all others are, too */
	ABI_NO_WIDE = 1 << 7,	    /* where wide parameters are is not known here */
	ABI_UNSURE_FLOATS = 1 << 8, /* how they are passed differs from program to program */
	ABI_ARG_VARIABLES = 1 << 9, /* the kernel itself knows $arg1 … of its functions */
};

struct abi_name {
	const char *name;   /* as assemblers and people write it */
	const char *kernel; /* "" for a register that is always zero */
};

struct abi {
	const char *machine;
	unsigned int word;  /* bytes of a register */
	unsigned int entry; /* from the stack pointer to the first parameter on the stack */
	unsigned int flags;
	const char *sp;
	const char *args[ABI_MAX_ARGS + 1]; /* registers of the first parameters */
	const char *const *dwarf;	    /* registers as DWARF numbers them */
	size_t nr_dwarf;
	const struct abi_name *names; /* other names of registers; ends with a NULL */
};

/* Of functions of a kernel: "x86_64", "aarch64", …; NULL when it is not known. */
const struct abi *abi_of_kernel(const char *machine);

/* Of functions in an ELF file for that e_machine, under a kernel of that machine. */
const struct abi *abi_of_elf(unsigned int elf_machine, bool is_64, const char *kernel);

/* The kernel's name of a register, by any of its names; NULL: there is none. */
const char *abi_register(const struct abi *abi, const char *name, size_t len);

/* The place of a parameter (from 0) if all parameters before it are words. */
struct place abi_word(const struct abi *abi, size_t number);

/* Decides for all parameters that are PLACE_BY_ABI. Without an ABI they are nowhere. */
void abi_place(const struct abi *abi, struct proto *p);

/*
 * Registers in the context of kprobe, uprobe and perf_event programs: where they are in what the
 * kernel shows of struct pt_regs. All are 8 bytes.
 */

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

#endif
