/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing single instructions, and where values are while a function is written; private to
 * emit*.c.
 */
#ifndef CODE_EMIT_INSN_H
#define CODE_EMIT_INSN_H

#include "code/emit_parts.h"

struct out {
	struct work *w;
	struct bpf_code *code;
	struct {
		struct fixup {
			uint32_t insn;
			ir_label label;
		} * at;
		size_t n, cap;
	} fixups;
	uint32_t *insn_at; /* by index in the IR's code */
	size_t now;	   /* index in the IR's code */
	uint16_t taken;	   /* scratch registers of this instruction */
	uint32_t frame;	   /* bytes, without slots */
	int8_t copy
		[16]; /* by register: the one that it is a copy of, or REG_NONE; see out_forget() */
	int rc;	      /* the first thing that went wrong; -EAGAIN: no register was left */
};

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

/* Nothing is known about registers: others may jump here. */
void out_forget(struct out *o);
void out_insn(struct out *o, uint8_t op, int dst, int src, int32_t off, int32_t imm);
void out_imm64(struct out *o, int dst, int src, int32_t low, int32_t high);
void out_move(struct out *o, int dst, int src);
void out_const(struct out *o, int dst, int64_t v);

/* Writes the value of a register of the IR, wherever it is, to one of eBPF. */
void out_load(struct out *o, int dst, ir_reg r);
/* The register a value is in; if it is in none, it is loaded into a free one. */
int out_use(struct out *o, ir_reg r);
int out_scratch(struct out *o);
/* Where the result goes: its register, or a free one that out_done() brings to the stack. */
int out_result(struct out *o, ir_reg d);
void out_done(struct out *o, ir_reg d, int reg);

/*
 * Moves that happen all at once. from and to have nr entries; from[n] REG_NONE: none. spare has a
 * bit for each register that may be written on the way, if it is not one of these.
 */
void out_parallel(struct out *o, const int *to, const int *from, unsigned int nr, uint16_t spare);

#endif
