/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information: how to get from a frame of the stack to its caller's, at every
 * instruction of a program without frame pointers. It is read from .eh_frame, which all programs
 * for x86-64 have, and turned into rows that a program in the kernel can follow. DWARF expressions
 * that such rows cannot express become CFI_END, where a stack ends.
 *
 *	CFA	the stack pointer as it was before the call; the return address is below it
 *	bp, bx	the caller's values of these registers: unchanged, unless a rule has their place
 */
#ifndef SYMBOLS_CFI_H
#define SYMBOLS_CFI_H

#include "symbols/elf.h"

enum cfi_kind {
	CFI_END,    /* the outermost frame, or nothing is known */
	CFI_SP,	    /* CFA = sp + offset */
	CFI_BP,	    /* CFA = bp + offset */
	CFI_BX,	    /* CFA = bx + offset */
	CFI_DEREF,  /* CFA = what is at bp + offset: functions that align the stack */
	CFI_PLT,    /* CFA = sp + 8, and 8 more from byte `offset` on of an entry of 16 bytes */
	CFI_SIGNAL, /* sp points at the registers that were saved before a signal handler */
};

enum {
	CFI_BP_BY_CFA = 1 << 0, /* the caller's bp is at CFA + bp */
	CFI_BP_BY_BP = 1 << 1,	/* … at bp + bp */
	CFI_BX_BY_CFA = 1 << 2,
	CFI_BX_BY_BP = 1 << 3,
};

/* Programs in the kernel read it: all padding is 0. */
struct cfi_rule {
	uint8_t kind, flags;
	int16_t bp, bx;
	uint16_t unused;
	int32_t offset;
	uint32_t unused2;
};

/* A rule, from this address to the next row's. */
struct cfi_row {
	uint64_t addr;
	struct cfi_rule rule;
};

/* By address, each address once, neighbours different. Freed with vec_free(). */
struct cfi_rows {
	struct cfi_row *at;
	size_t n, cap;
};

/* Whether rows can be made for programs of this machine. */
static inline bool cfi_here(void)
{
#ifdef __x86_64__
	return true;
#else
	return false;
#endif
}

/*
 * Reads a section that is loaded at an address. An error ends the reading; rows that were read
 * before stay. False without memory.
 */
bool cfi_parse(struct cursor section, uint64_t addr, struct cfi_rows *rows);

/* The same of a file: -ENOENT when it has no such section, -ENOTSUP for other machines. */
int cfi_read(const struct binary *b, struct cfi_rows *rows, struct spur_error *err);

#endif
