/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The intermediate form between the languages and eBPF: functions made of simple instructions over
 * any number of registers of 64 bits. It knows nothing of any syntax; emit.c turns it into
 * instructions that the kernel, or spur's own executor, runs.
 *
 * Rules that its writers follow, and the verifier requires:
 *  - only the program's own memory is read and written: the context at fixed offsets, the frame,
 *    values of maps after their address was compared with 0;
 *  - a register is written before it is read, on every path;
 *  - jumps go forward, except in loops whose number of rounds is bounded.
 *
 * Private to src/code.
 */
#ifndef CODE_IR_H
#define CODE_IR_H

#include "base/source.h"

typedef uint32_t ir_reg;   /* 1, 2, …; 0 is none */
typedef uint32_t ir_label; /* 1, 2, … */

enum ir_op {
	IR_CONST, /* d = imm */
	IR_MOVE,  /* d = a */
	/*
	 * d = a op b, or imm when b is 0. Shifts take their count modulo 64; x / 0 is 0, x % 0 is
	 * x.
	 */
	IR_ADD,
	IR_SUB,
	IR_MUL,
	IR_UDIV,
	IR_UMOD,
	IR_SDIV,
	IR_SMOD,
	IR_AND,
	IR_OR,
	IR_XOR,
	IR_SHL,
	IR_SHR,	 /* logical */
	IR_SAR,	 /* arithmetic */
	IR_NEG,	 /* d = -a */
	IR_SEXT, /* d = the low `size` bytes of a, sign-extended */
	IR_ZEXT,
	IR_SWAP, /* d = the low `size` bytes of a in reverse order, zero-extended */
	/* Memory: `size` bytes at a + imm. */
	IR_LOAD,       /* d = zero-extended */
	IR_STORE,      /* = b, or value when b is 0 */
	IR_ADD_ATOMIC, /* += b, or value when b is 0; size 4 or 8 */
	/* Addresses. */
	IR_ARG,	      /* d = the function's argument number imm (0: the context) */
	IR_FRAME,     /* d = address of byte imm of the function's frame */
	IR_MAP,	      /* d = the map number imm, for helpers */
	IR_MAP_VALUE, /* d = address of byte `value` of the (one) value of array map imm */
	IR_FUNC,      /* d = the function number imm of the program, for helpers that call back */
	/* Control. */
	IR_CALL,   /* d (may be 0) = helper imm of args; what is an int is sign-extended */
	IR_LABEL,  /* imm */
	IR_JUMP,   /* to label */
	IR_BRANCH, /* to label when a cond b, or value when b is 0 */
	IR_RETURN, /* a */
	IR_OPS
};

enum ir_cond {
	IR_EQ,
	IR_NE,
	IR_ULT,
	IR_ULE,
	IR_UGT,
	IR_UGE,
	IR_SLT,
	IR_SLE,
	IR_SGT,
	IR_SGE,
	IR_SET, /* a & b */
	IR_CONDS
};

#define IR_MAX_ARGS 5

struct ir_insn {
	enum ir_op op;
	enum ir_cond cond;
	uint32_t size;
	ir_reg d, a, b;
	ir_label label;
	int64_t imm, value;
	ir_reg args[IR_MAX_ARGS];
	unsigned int nr_args;
	struct span at; /* the statement it comes from */
};

struct ir_func {
	struct {
		struct ir_insn *at;
		size_t n, cap;
	} code;
	ir_reg nr_regs; /* the highest number in use */
	ir_label nr_labels;
	uint32_t frame; /* bytes */
	unsigned int nr_args;
	bool failed;	/* no memory; checked once at the end */
	struct span at; /* for instructions that are added */
};

/* One program: function 0 is where it begins, with the context as its argument. */
struct ir_prog {
	struct {
		struct ir_func **at;
		size_t n, cap;
	} funcs;
};

struct ir_func *ir_add_func(struct ir_prog *p, unsigned int nr_args); /* NULL without memory */
void ir_prog_free(struct ir_prog *p);

/* ---- building; each appends one instruction and returns its result ---- */

ir_reg ir_const(struct ir_func *f, int64_t v);
ir_reg ir_new(struct ir_func *f); /* a register that ir_set() writes */
void ir_set(struct ir_func *f, ir_reg d, ir_reg a);
void ir_set_const(struct ir_func *f, ir_reg d, int64_t v);
ir_reg ir_binary(struct ir_func *f, enum ir_op op, ir_reg a, ir_reg b);
ir_reg ir_binary_const(struct ir_func *f, enum ir_op op, ir_reg a, int64_t v);
ir_reg ir_unary(struct ir_func *f, enum ir_op op, ir_reg a, uint32_t size);
ir_reg ir_load(struct ir_func *f, ir_reg address, int64_t offset, uint32_t size, bool is_signed);
void ir_store(struct ir_func *f, ir_reg address, int64_t offset, uint32_t size, ir_reg v);
void ir_store_const(struct ir_func *f, ir_reg address, int64_t offset, uint32_t size, int64_t v);
void ir_add_atomic(struct ir_func *f, ir_reg address, int64_t offset, uint32_t size, ir_reg v);
ir_reg ir_arg(struct ir_func *f, unsigned int number);
ir_reg ir_frame(struct ir_func *f, uint32_t offset);
ir_reg ir_map(struct ir_func *f, uint32_t map);
ir_reg ir_map_value(struct ir_func *f, uint32_t map, int64_t offset);
ir_reg ir_func_address(struct ir_func *f, uint32_t func);
ir_reg ir_call(struct ir_func *f, int helper, unsigned int nr_args, const ir_reg *args);
/* The query of VM_HELPER_TASK, which only spur's own executor has. */
enum ir_task_fact {
	IR_TASK_PPID,
	IR_TASK_PCOMM,
	IR_TASK_LEADER_COMM,
	IR_TASK_LEADER_TID,
};
#define IR_CALL(f, helper, ...)                                                                    \
	ir_call(f, helper, sizeof((ir_reg[]){__VA_ARGS__}) / sizeof(ir_reg),                       \
		(ir_reg[]){__VA_ARGS__})
ir_label ir_new_label(struct ir_func *f);
void ir_place(struct ir_func *f, ir_label l);
void ir_jump(struct ir_func *f, ir_label l);
void ir_branch(struct ir_func *f, enum ir_cond cond, ir_reg a, ir_reg b, ir_label l);
void ir_branch_const(struct ir_func *f, enum ir_cond cond, ir_reg a, int64_t v, ir_label l);
void ir_return(struct ir_func *f, ir_reg v);
void ir_return_const(struct ir_func *f, int64_t v);

void ir_dump(const struct ir_prog *p, struct buf *to);

#endif
