/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/code: one function on its way from IR to eBPF. In order:
 *	prepare	  checks and copies the code, removes what is not needed, folds constants
 *	live	  computes where each register of the IR is live
 *	allocate  assigns each a register of eBPF, or a place on the stack
 *	emit	  writes instructions
 *
 * Instruction i of the code reads its operands at position 2 * (i + 1) and writes its result one
 * later; arguments are written at position 1. A call destroys r0 to r5 at the position of its
 * result.
 */
#ifndef CODE_EMIT_H
#define CODE_EMIT_H

#include "code/code.h"

#define POSITION(i) (2 * ((uint32_t)(i) + 1))

enum { NR_REGS = 10, REG_NONE = -1, MAX_HINTS = 4 };

/* The kind of a register of the IR. All but VREG_VALUE are recomputed wherever they are used … */
enum vreg_kind {
	VREG_UNUSED,
	VREG_VALUE,
	VREG_CONST,
	VREG_FRAME,
	VREG_MAP,
	VREG_FUNC,
	VREG_MAP_VALUE, /* … this one only when there is no register for it */
};

struct range {
	uint32_t from, to; /* positions, to is not included */
};

struct vreg {
	enum vreg_kind kind;
	int64_t imm, value; /* as in the IR, of all that are no VREG_VALUE */
	struct {
		struct range *at; /* while they are collected: the last one first */
		size_t n, cap;
	} ranges;
	int reg;		   /* of eBPF, or REG_NONE: it is on the stack, or not needed */
	uint32_t slot;		   /* on the stack: 1, 2, …; 0: none yet */
	uint64_t cost;		   /* of not being in a register */
	int8_t hints[MAX_HINTS];   /* registers of eBPF that would save a move */
	ir_reg friends[MAX_HINTS]; /* registers of the IR that it is copied from or to */
	uint8_t nr_hints, nr_friends;
	bool crosses_call;
};

struct work {
	const struct ir_prog *prog;
	const struct ir_func *ir;
	struct bpf_features *features;
	struct {
		struct ir_insn *at;
		size_t n, cap;
	} code;
	ir_reg nr_regs;
	ir_label nr_labels;
	struct vreg *regs;	  /* by number, 0 is not used */
	ir_reg args[IR_MAX_ARGS]; /* the registers arguments arrive in, 0: never used */
	uint32_t *label_at;	  /* by label: index in code */
	uint32_t *depth;	  /* of loops, by index in code */
	uint32_t nr_slots;
	uint16_t *busy; /* by index in code: registers of eBPF that are in use */
	struct span at; /* of the error */
	struct spur_error *err;
};

/* 0 or a negative errno; the caller adds a message to -ENOMEM. */
int work_prepare(struct work *w);
int work_live(struct work *w);
/* reserved: registers that must stay free, a bit each. */
int work_allocate(struct work *w, uint16_t reserved);

/*
 * Calls back with each register that an instruction reads; late: it is needed until the result is
 * there.
 */
typedef void (*work_use_fn)(struct work *w, ir_reg *r, bool late, void *arg);
void work_uses(struct work *w, struct ir_insn *i, work_use_fn each, void *arg);

bool work_is_commutative(enum ir_op op);
bool work_is_binary(enum ir_op op);

static inline bool fits_s32(int64_t v)
{
	return v == (int32_t)v;
}

static inline bool fits_s16(int64_t v)
{
	return v == (int16_t)v;
}

#endif
