/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that read call frame information share. Others use cfi.h. */
#ifndef SYMBOLS_CFI_PARTS_H
#define SYMBOLS_CFI_PARTS_H

#include "symbols/cfi.h"

enum { CFI_RETURN_ADDRESS = 16 }; /* the number DWARF has for it on x86-64 */

/* Where what a register held is. */
enum cfi_where {
	WHERE_SAME,    /* still in the register */
	WHERE_AT_CFA,  /* in memory, at CFA + offset */
	WHERE_AT_BP,   /* at bp + offset */
	WHERE_UNKNOWN, /* what a row cannot express */
	WHERE_LOST,    /* DWARF's "undefined": of the return address, the outermost frame */
};

struct cfi_saved {
	enum cfi_where where;
	int64_t offset;
};

/* One row of DWARF's table, of the registers that matter. */
struct cfi_state {
	enum cfi_kind kind;
	int64_t offset;
	struct cfi_saved bp, bx, ra;
};

/* A CIE. */
struct cfi_common {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of the addresses of its functions */
	bool has_data;	  /* functions have bytes in front of their instructions */
	bool is_signal;
	struct cursor program;
	struct cfi_state start; /* what it leaves */
};

uint64_t cfi_uleb(struct cursor *c);
int64_t cfi_sleb(struct cursor *c);
/* A pointer as DW_EH_PE_… says; fails when that is not known. */
uint64_t cfi_pointer(struct cursor *c, uint8_t encoding);

/* Runs the instructions of the CIE. */
void cfi_start(struct cfi_common *common);

/*
 * Runs the instructions of a function, calling back with each row, addresses increasing; false when
 * that returned false.
 */
typedef bool cfi_each(void *arg, uint64_t addr, const struct cfi_rule *rule);
bool cfi_run(const struct cfi_common *common, struct cursor program, uint64_t from, uint64_t to,
	     cfi_each *each, void *arg);

#endif
