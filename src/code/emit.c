// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From IR to eBPF: one function after the other, then the calls between them, and the stack that a
 * chain of calls needs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "code/emit.h"

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
	/* By register: the one that it is a copy of, or REG_NONE; see out_forget(). */
	int8_t copy[16];
	int rc; /* the first thing that went wrong; -EAGAIN: no register was left */
};

enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 };

/* ---- single instructions, and where values are ---- */

/* Forgets what registers contain: this is the target of a jump. */
static void out_forget(struct out *o)
{
	memset(o->copy, REG_NONE, sizeof(o->copy));
}

static void overwritten(struct out *o, int reg)
{
	o->copy[reg] = REG_NONE;
	for (int r = 0; r < 16; r++)
		if (o->copy[r] == reg)
			o->copy[r] = REG_NONE;
}

/* Tracks which registers are copies of others after an instruction. */
static void note_copies(struct out *o, uint8_t op, int dst, int src)
{
	switch (BPF_CLASS(op)) {
	case BPF_JMP:
		for (int r = R0; op == (BPF_JMP | BPF_CALL) && r <= R5; r++)
			overwritten(o, r);
		break;
	case BPF_ALU:
	case BPF_ALU64:
	case BPF_LD:
	case BPF_LDX:
		overwritten(o, dst);
		if (op == (BPF_ALU64 | BPF_MOV | BPF_X))
			o->copy[dst] = (int8_t)src;
		break;
	default: break;
	}
}

static void out_insn(struct out *o, uint8_t op, int dst, int src, int32_t off, int32_t imm)
{
	struct bpf_insn *i = vec_push(&o->code->insns);
	struct span *at = vec_push(&o->code->spans);

	if (!i || !at) {
		o->rc = o->rc ? o->rc : -ENOMEM;
		return;
	}
	if (!fits_s16(off) && !o->rc)
		o->rc = error_set(o->w->err, -E2BIG,
				  "the script needs an offset of %d, which is too far", off);
	*i = (struct bpf_insn){.code = op,
			       .dst_reg = dst & 15,
			       .src_reg = src & 15,
			       .off = (int16_t)off,
			       .imm = imm};
	if (o->now < o->w->code.n)
		*at = o->w->code.at[o->now].at;
	note_copies(o, op, dst, src);
}

static void out_imm64(struct out *o, int dst, int src, int32_t low, int32_t high)
{
	out_insn(o, BPF_LD | BPF_IMM | BPF_DW, dst, src, 0, low);
	out_insn(o, 0, 0, 0, 0, high);
}

static void out_move(struct out *o, int dst, int src)
{
	if (dst != src && o->copy[dst] != src && o->copy[src] != dst)
		out_insn(o, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void out_const(struct out *o, int dst, int64_t v)
{
	if (fits_s32(v))
		out_insn(o, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, (int32_t)v);
	else if (v == (int64_t)(uint32_t)v)
		out_insn(o, BPF_ALU | BPF_MOV | BPF_K, dst, 0, 0, (int32_t)v);
	else
		out_imm64(o, dst, 0, (int32_t)v, (int32_t)(v >> 32));
}

static int32_t slot_offset(const struct out *o, const struct vreg *v)
{
	return -(int32_t)(o->frame + 8 * v->slot);
}

/* Writes the value of a register of the IR, wherever it is, to one of eBPF. */
static void out_load(struct out *o, int dst, ir_reg r)
{
	const struct vreg *v = &o->w->regs[r];

	if (v->reg != REG_NONE) {
		out_move(o, dst, v->reg);
		return;
	}
	switch (v->kind) {
	case VREG_CONST: out_const(o, dst, v->imm); break;
	case VREG_FRAME:
		out_move(o, dst, R10);
		out_insn(o, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, (int32_t)(v->imm - o->frame));
		break;
	case VREG_MAP: out_imm64(o, dst, BPF_PSEUDO_MAP_FD, (int32_t)v->imm, 0); break;
	case VREG_MAP_VALUE:
		out_imm64(o, dst, BPF_PSEUDO_MAP_VALUE, (int32_t)v->imm, (int32_t)v->value);
		break;
	/* The function's number; where it begins is known when all are written. */
	case VREG_FUNC: out_imm64(o, dst, BPF_PSEUDO_FUNC, (int32_t)v->imm, 0); break;
	case VREG_VALUE:
		out_insn(o, BPF_LDX | BPF_MEM | BPF_DW, dst, R10, slot_offset(o, v), 0);
		break;
	case VREG_UNUSED:
		if (!o->rc)
			o->rc = error_set(
				o->w->err, -EINVAL,
				"internal error: the compiled script reads what it has not "
				"written");
		break;
	}
}

static int out_scratch(struct out *o)
{
	const uint16_t busy = o->taken | o->w->busy[o->now];

	for (int reg = 0; reg < NR_REGS; reg++)
		if (!(busy & 1 << reg)) {
			o->taken |= (uint16_t)(1u << reg);
			return reg;
		}
	o->rc = o->rc ? o->rc : -EAGAIN;
	return R0;
}

/* The register a value is in; if it is in none, it is loaded into a free one. */
static int out_use(struct out *o, ir_reg r)
{
	int reg = o->w->regs[r].reg;

	if (reg == REG_NONE) {
		reg = out_scratch(o);
		out_load(o, reg, r);
	}
	return reg;
}

/* The register for a result: its own, or a free one that out_done() stores on the stack. */
static int out_result(struct out *o, ir_reg d)
{
	return o->w->regs[d].reg != REG_NONE ? o->w->regs[d].reg : out_scratch(o);
}

static void out_done(struct out *o, ir_reg d, int reg)
{
	const struct vreg *v = &o->w->regs[d];

	if (v->reg != REG_NONE)
		out_move(o, v->reg, reg);
	else if (v->slot)
		out_insn(o, BPF_STX | BPF_MEM | BPF_DW, R10, reg, slot_offset(o, v), 0);
}

/*
 * Moves that happen all at once. from and to have nr entries; from[n] REG_NONE: none. spare has a
 * bit for each register that may be written on the way, if it is not one of these.
 */
static void out_parallel(struct out *o, const int *to, const int *from, unsigned int nr,
			 uint16_t spare)
{
	int at[16]; /* where the value of each register is now */
	uint32_t pending = 0;

	for (int r = 0; r < 16; r++)
		at[r] = r;
	for (unsigned int n = 0; n < nr; n++)
		if (from[n] != REG_NONE) {
			pending |= from[n] != to[n] ? 1u << n : 0;
			spare &= (uint16_t) ~(1u << to[n]);
		}
	while (pending) {
		uint32_t needed = 0;
		bool moved = false;

		for (unsigned int n = 0; n < nr; n++)
			if (pending & 1u << n)
				needed |= 1u << at[from[n]];
		for (unsigned int n = 0; n < nr; n++)
			if (pending & 1u << n && !(needed & 1u << to[n])) {
				out_move(o, to[n], at[from[n]]);
				pending &= ~(1u << n);
				moved = true;
				break;
			}
		if (!moved) {
			/*
			 * A cycle of moves. The arguments of a call never use r0, and a function
			 * has fewer arguments than there are registers.
			 */
			const int first = __builtin_ctz(pending),
				  temp = __builtin_ctz(spare & ~needed);

			out_move(o, temp, at[from[first]]);
			at[from[first]] = temp;
		}
	}
}

static const uint8_t alu_ops[IR_OPS] = {
	[IR_ADD] = BPF_ADD,  [IR_SUB] = BPF_SUB,  [IR_MUL] = BPF_MUL,  [IR_UDIV] = BPF_DIV,
	[IR_UMOD] = BPF_MOD, [IR_SDIV] = BPF_DIV, [IR_SMOD] = BPF_MOD, [IR_AND] = BPF_AND,
	[IR_OR] = BPF_OR,    [IR_XOR] = BPF_XOR,  [IR_SHL] = BPF_LSH,  [IR_SHR] = BPF_RSH,
	[IR_SAR] = BPF_ARSH,
};

static const uint8_t jump_ops[IR_CONDS] = {
	[IR_EQ] = BPF_JEQ,   [IR_NE] = BPF_JNE,	  [IR_ULT] = BPF_JLT,  [IR_ULE] = BPF_JLE,
	[IR_UGT] = BPF_JGT,  [IR_UGE] = BPF_JGE,  [IR_SLT] = BPF_JSLT, [IR_SLE] = BPF_JSLE,
	[IR_SGT] = BPF_JSGT, [IR_SGE] = BPF_JSGE, [IR_SET] = BPF_JSET,
};

static uint8_t width(uint32_t size)
{
	return size == 1 ? BPF_B : size == 2 ? BPF_H : size == 4 ? BPF_W : BPF_DW;
}

/* ---- one function for each kind of instruction ---- */

static void emit_const(struct out *o, const struct ir_insn *i)
{
	int d = o->w->regs[i->d].reg;

	if (i->op == IR_MOVE && d == REG_NONE) {
		d = out_use(o, i->a);
	} else if (i->op == IR_MOVE) {
		out_load(o, d, i->a);
	} else {
		d = out_result(o, i->d);
		out_const(o, d, i->imm);
	}
	out_done(o, i->d, d);
}

/* A value that is recomputed at each use, but is written more than once, or has a register. */
static void emit_address(struct out *o, const struct ir_insn *i)
{
	struct vreg *v = &o->w->regs[i->d];
	const struct vreg was = *v;
	static const uint8_t kinds[IR_OPS] = {
		[IR_FRAME] = VREG_FRAME,
		[IR_MAP] = VREG_MAP,
		[IR_FUNC] = VREG_FUNC,
		[IR_MAP_VALUE] = VREG_MAP_VALUE,
	};
	int d;

	if (was.kind == VREG_MAP_VALUE && was.reg == REG_NONE)
		return;
	d = out_result(o, i->d);
	*v = (struct vreg){.kind = kinds[i->op], .imm = i->imm, .value = i->value, .reg = REG_NONE};
	out_load(o, d, i->d);
	*v = was;
	out_done(o, i->d, d);
}

static void alu(struct out *o, const struct ir_insn *i, int d, int b)
{
	const int16_t is_signed = i->op == IR_SDIV || i->op == IR_SMOD;

	if (i->b)
		out_insn(o, BPF_ALU64 | BPF_X | alu_ops[i->op], d, b, is_signed, 0);
	else
		out_insn(o, BPF_ALU64 | BPF_K | alu_ops[i->op], d, 0, is_signed, (int32_t)i->imm);
}

static void emit_binary(struct out *o, const struct ir_insn *i)
{
	int d = out_result(o, i->d), b = i->b ? out_use(o, i->b) : REG_NONE;

	if (b != d || !i->b) {
		out_load(o, d, i->a);
		alu(o, i, d, b);
	} else if (work_is_commutative(i->op)) {
		alu(o, i, d, out_use(o, i->a));
	} else {
		d = out_scratch(o);
		out_load(o, d, i->a);
		alu(o, i, d, b);
	}
	out_done(o, i->d, d);
}

static void emit_unary(struct out *o, const struct ir_insn *i)
{
	const int d = out_result(o, i->d);
	const int32_t rest = 64 - 8 * (int32_t)i->size;
	const uint8_t order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? BPF_TO_BE : BPF_TO_LE;

	if (i->op == IR_ZEXT && i->size == 4) {
		out_insn(o, BPF_ALU | BPF_MOV | BPF_X, d, out_use(o, i->a), 0, 0);
		out_done(o, i->d, d);
		return;
	}
	out_load(o, d, i->a);
	if (i->op == IR_NEG) {
		out_insn(o, BPF_ALU64 | BPF_NEG, d, 0, 0, 0);
	} else if (i->op == IR_SWAP && i->size > 1) {
		out_insn(o, BPF_ALU | BPF_END | order, d, 0, 0, 8 * (int32_t)i->size);
	} else if (i->op == IR_SEXT && rest) {
		out_insn(o, BPF_ALU64 | BPF_LSH | BPF_K, d, 0, 0, rest);
		out_insn(o, BPF_ALU64 | BPF_ARSH | BPF_K, d, 0, 0, rest);
	} else if (i->op != IR_SEXT && rest) {
		out_insn(o, BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, (1 << 8 * i->size) - 1);
	}
	out_done(o, i->d, d);
}

/* The register and offset of an access to memory; the frame needs no register. */
static int address(struct out *o, const struct ir_insn *i, int32_t *offset)
{
	const struct vreg *a = &o->w->regs[i->a];

	*offset = (int32_t)i->imm;
	if (a->kind != VREG_FRAME)
		return out_use(o, i->a);
	*offset += (int32_t)a->imm - (int32_t)o->frame;
	return R10;
}

/* Offsets always fit the instruction: emit_prepare.c makes sure of it. */
static void emit_load(struct out *o, const struct ir_insn *i)
{
	int32_t offset;
	const int a = address(o, i, &offset), d = out_result(o, i->d);

	out_insn(o, BPF_LDX | BPF_MEM | width(i->size), d, a, offset, 0);
	out_done(o, i->d, d);
}

static void emit_store(struct out *o, const struct ir_insn *i)
{
	int32_t offset;
	const int a = address(o, i, &offset);

	if (i->op == IR_ADD_ATOMIC)
		out_insn(o, BPF_STX | BPF_ATOMIC | width(i->size), a, out_use(o, i->b), offset,
			 BPF_ADD);
	else if (i->b)
		out_insn(o, BPF_STX | BPF_MEM | width(i->size), a, out_use(o, i->b), offset, 0);
	else
		out_insn(o, BPF_ST | BPF_MEM | width(i->size), a, 0, offset, (int32_t)i->value);
}

static void emit_call(struct out *o, const struct ir_insn *i)
{
	int to[IR_MAX_ARGS], from[IR_MAX_ARGS];

	for (unsigned int n = 0; n < i->nr_args; n++) {
		to[n] = (int)n + 1;
		from[n] = o->w->regs[i->args[n]].reg;
	}
	out_parallel(o, to, from, i->nr_args, 1 << R0);
	for (unsigned int n = 0; n < i->nr_args; n++)
		if (from[n] == REG_NONE)
			out_load(o, to[n], i->args[n]);
	out_insn(o, BPF_JMP | BPF_CALL, 0, 0, 0, (int32_t)i->imm);
	if (i->d)
		out_done(o, i->d, R0);
}

static void emit_jump(struct out *o, const struct ir_insn *i)
{
	struct fixup *fix;
	const int a = i->a ? out_use(o, i->a) : 0, b = i->b ? out_use(o, i->b) : 0;

	fix = vec_push(&o->fixups);
	if (!fix) {
		o->rc = -ENOMEM;
		return;
	}
	*fix = (struct fixup){.insn = (uint32_t)o->code->insns.n, .label = i->label};
	if (i->op == IR_JUMP)
		out_insn(o, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	else if (i->b)
		out_insn(o, BPF_JMP | BPF_X | jump_ops[i->cond], a, b, 0, 0);
	else
		out_insn(o, BPF_JMP | BPF_K | jump_ops[i->cond], a, 0, 0, (int32_t)i->value);
}

static void emit_return(struct out *o, const struct ir_insn *i)
{
	out_load(o, R0, i->a);
	out_insn(o, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

typedef void (*emit_fn)(struct out *o, const struct ir_insn *i);

static const emit_fn emitters[IR_OPS] = {
	[IR_CONST] = emit_const,
	[IR_MOVE] = emit_const,
	[IR_ADD... IR_SAR] = emit_binary,
	[IR_NEG... IR_SWAP] = emit_unary,
	[IR_LOAD] = emit_load,
	[IR_STORE] = emit_store,
	[IR_ADD_ATOMIC] = emit_store,
	[IR_FRAME... IR_FUNC] = emit_address,
	[IR_CALL] = emit_call,
	[IR_JUMP] = emit_jump,
	[IR_BRANCH] = emit_jump,
	[IR_RETURN] = emit_return,
};

/* ---- a function ---- */

/* Arguments go to where they are wanted: first those that go to memory. */
static void emit_entry(struct out *o)
{
	int to[IR_MAX_ARGS], from[IR_MAX_ARGS];
	unsigned int nr = 0;

	for (int n = 0; n < IR_MAX_ARGS; n++) {
		const ir_reg r = o->w->args[n];

		if (!r)
			continue;
		if (o->w->regs[r].reg == REG_NONE) {
			out_done(o, r, n + 1);
			continue;
		}
		to[nr] = o->w->regs[r].reg;
		from[nr++] = n + 1;
	}
	/* Nothing else is there yet. */
	out_parallel(o, to, from, nr, 0x3ff);
}

static void fix_jumps(struct out *o)
{
	vec_each (f, &o->fixups) {
		const uint32_t target = o->insn_at[o->w->label_at[f->label]];
		const int64_t off = (int64_t)target - f->insn - 1;

		if (!fits_s16(off) && !o->rc)
			o->rc = error_set(o->w->err, -E2BIG,
					  "the script is too long: a jump over %lld instructions",
					  (long long)off);
		o->code->insns.at[f->insn].off = (int16_t)off;
	}
}

static int emit_code(struct out *o)
{
	const struct work *w = o->w;

	out_forget(o);
	emit_entry(o);
	for (o->now = 0; o->now < w->code.n && !o->rc; o->now++) {
		const struct ir_insn *i = &w->code.at[o->now];

		o->insn_at[o->now] = (uint32_t)o->code->insns.n;
		o->taken = 0;
		if (i->op == IR_LABEL)
			out_forget(o);
		if (emitters[i->op])
			emitters[i->op](o, i);
		if (o->rc && o->rc != -EAGAIN)
			o->w->at = i->at;
	}
	if (!o->rc)
		fix_jumps(o);
	return o->rc;
}

static int emit_func(struct work *w, struct bpf_code *code, uint32_t *stack)
{
	/* Registers that stay free for what is on the stack, when the first try found none. */
	static const uint16_t reserve[] = {0, 1 << R0 | 1 << R5};
	const size_t begin = code->insns.n;
	int rc = -EAGAIN;

	for (size_t n = 0; n < ARRAY_SIZE(reserve) && rc == -EAGAIN; n++) {
		struct out o = {.w = w, .code = code, .frame = (w->ir->frame + 7) & ~7u};

		code->insns.n = code->spans.n = begin;
		rc = work_allocate(w, reserve[n]);
		o.insn_at = calloc(w->code.n + 1, sizeof(*o.insn_at));
		if (!rc)
			rc = o.insn_at ? 0 : -ENOMEM;
		*stack = o.frame + 8 * w->nr_slots;
		if (!rc && *stack <= BPF_STACK_LIMIT)
			rc = emit_code(&o);
		free(o.insn_at);
		vec_free(&o.fixups);
	}
	return rc;
}

static void work_free(struct work *w)
{
	vec_free(&w->code);
	for (ir_reg r = 0; w->regs && r <= w->nr_regs; r++)
		vec_free(&w->regs[r].ranges);
	free(w->regs);
	free(w->label_at);
	free(w->depth);
	free(w->busy);
}

/* ---- the program ---- */

/* How far the context is read; if its address is stored, any access could be one to it. */
static void note_context(const struct work *w, struct bpf_code *code)
{
	const ir_reg ctx = w->ir == w->prog->funcs.at[0] ? w->args[0] : 0;

	vec_each (i, &w->code) {
		const int64_t end = i->imm + i->size;

		if (ctx &&
		    ((i->op == IR_STORE && i->b == ctx) || (i->op == IR_MOVE && i->a == ctx)))
			code->ctx_leaks = true;
		if (i->op != IR_LOAD || end < 0)
			continue;
		if (ctx && i->a == ctx && end > code->ctx_end)
			code->ctx_end = (uint32_t)end;
		if (w->regs[i->a].kind != VREG_FRAME && end > code->any_end)
			code->any_end = (uint32_t)end;
	}
}

static bool is_func_reference(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW) && i->src_reg == BPF_PSEUDO_FUNC;
}

/* The program while its functions are joined; by number in the IR. */
struct whole {
	const struct ir_prog *prog;
	struct bpf_code *code;
	struct func {
		bool wanted, written;
		uint32_t begin, end; /* instructions */
		uint32_t stack;
	} * funcs;
};

/*
 * The stack of the longest chain of calls from a function on; the kernel rounds up each function's
 * part.
 */
static uint32_t chain(const struct whole *w, size_t func, unsigned int depth)
{
	const struct func *f = &w->funcs[func];
	uint32_t deepest = 0;

	for (size_t n = f->begin; n < f->end && depth < 8; n++) {
		const struct bpf_insn *i = &w->code->insns.at[n];

		if (is_func_reference(i)) {
			const uint32_t d = chain(w, (size_t)i->imm, depth + 1);

			deepest = d > deepest ? d : deepest;
		}
	}
	return deepest + (w->code->funcs.n > 1 ? (f->stack + 31) / 32 * 32 : f->stack);
}

/* References to functions, as distances from the next instruction. */
static void link_funcs(struct whole *w)
{
	for (size_t n = 0; n < w->code->insns.n; n++) {
		struct bpf_insn *i = &w->code->insns.at[n];

		if (is_func_reference(i))
			i->imm = (int32_t)(w->funcs[i->imm].begin - n - 1);
	}
}

static int emit_one(struct whole *whole, size_t number, struct bpf_features *f, struct span *at,
		    struct spur_error *err)
{
	struct func *func = &whole->funcs[number];
	struct work w = {.prog = whole->prog,
			 .ir = whole->prog->funcs.at[number],
			 .features = f,
			 .err = err};
	uint32_t *begin = vec_push(&whole->code->funcs);
	int rc = begin ? 0 : -ENOMEM;

	w.at = w.ir->at;
	func->begin = (uint32_t)whole->code->insns.n;
	if (!rc) {
		*begin = func->begin;
		rc = work_prepare(&w);
	}
	if (!rc)
		rc = work_live(&w);
	if (!rc) {
		note_context(&w, whole->code);
		rc = emit_func(&w, whole->code, &func->stack);
	}
	func->end = (uint32_t)whole->code->insns.n;
	func->written = true;
	for (size_t n = func->begin; n < func->end; n++)
		if (is_func_reference(&whole->code->insns.at[n]))
			whole->funcs[whole->code->insns.at[n].imm].wanted = true;
	if (at)
		*at = w.at;
	work_free(&w);
	return rc;
}

/* Only what is referred to: the verifier refuses functions that are not called. */
static int emit_all(struct whole *w, struct bpf_features *f, struct span *at,
		    struct spur_error *err)
{
	bool more = true;
	int rc = 0;

	w->funcs[0].wanted = true;
	while (more && !rc) {
		more = false;
		for (size_t n = 0; n < w->prog->funcs.n && !rc; n++)
			if (w->funcs[n].wanted && !w->funcs[n].written) {
				rc = emit_one(w, n, f, at, err);
				more = true;
			}
	}
	return rc;
}

int bpf_emit(const struct ir_prog *p, struct bpf_features *f, struct bpf_code *out, struct span *at,
	     struct spur_error *err)
{
	struct whole w = {
		.prog = p, .code = out, .funcs = calloc(p->funcs.n + 1, sizeof(*w.funcs))};
	int rc = -ENOMEM;

	*out = (struct bpf_code){0};
	if (w.funcs && p->funcs.n)
		rc = emit_all(&w, f, at, err);
	if (!rc) {
		if (out->ctx_leaks)
			out->ctx_end = out->any_end;
		out->stack = chain(&w, 0, 0);
		if (out->stack > BPF_STACK_LIMIT)
			rc = error_set(
				err, -E2BIG,
				"the script needs %u bytes of stack, of which the kernel has %u",
				out->stack, BPF_STACK_LIMIT);
		else
			link_funcs(&w);
	}
	if (rc == -ENOMEM)
		rc = error_set(err, rc, "not enough memory to compile the script");
	free(w.funcs);
	if (rc)
		bpf_code_free(out);
	return rc;
}

void bpf_code_free(struct bpf_code *c)
{
	vec_free(&c->insns);
	vec_free(&c->spans);
	vec_free(&c->funcs);
}

struct bpf_insn *bpf_code_link(const struct bpf_code *c, const int *fds)
{
	struct bpf_insn *insns = malloc(c->insns.n * sizeof(*insns) + 1);

	if (!insns)
		return NULL;
	memcpy(insns, c->insns.at, c->insns.n * sizeof(*insns));
	for (size_t n = 0; n < c->insns.n; n++) {
		struct bpf_insn *i = &insns[n];

		if (i->code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (i->src_reg == BPF_PSEUDO_MAP_FD || i->src_reg == BPF_PSEUDO_MAP_VALUE)
			i->imm = fds[i->imm];
		n++;
	}
	return insns;
}
