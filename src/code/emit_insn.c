// SPDX-License-Identifier: GPL-2.0-or-later
/* Single instructions, and getting values to where they are needed. */
#include "code/emit_insn.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"

void out_forget(struct out *o)
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

/* Which registers are copies of others after an instruction. */
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

void out_insn(struct out *o, uint8_t op, int dst, int src, int32_t off, int32_t imm)
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

void out_imm64(struct out *o, int dst, int src, int32_t low, int32_t high)
{
	out_insn(o, BPF_LD | BPF_IMM | BPF_DW, dst, src, 0, low);
	out_insn(o, 0, 0, 0, 0, high);
}

void out_move(struct out *o, int dst, int src)
{
	if (dst != src && o->copy[dst] != src && o->copy[src] != dst)
		out_insn(o, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

void out_const(struct out *o, int dst, int64_t v)
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

void out_load(struct out *o, int dst, ir_reg r)
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

int out_scratch(struct out *o)
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

int out_use(struct out *o, ir_reg r)
{
	int reg = o->w->regs[r].reg;

	if (reg == REG_NONE) {
		reg = out_scratch(o);
		out_load(o, reg, r);
	}
	return reg;
}

int out_result(struct out *o, ir_reg d)
{
	return o->w->regs[d].reg != REG_NONE ? o->w->regs[d].reg : out_scratch(o);
}

void out_done(struct out *o, ir_reg d, int reg)
{
	const struct vreg *v = &o->w->regs[d];

	if (v->reg != REG_NONE)
		out_move(o, v->reg, reg);
	else if (v->slot)
		out_insn(o, BPF_STX | BPF_MEM | BPF_DW, R10, reg, slot_offset(o, v), 0);
}

void out_parallel(struct out *o, const int *to, const int *from, unsigned int nr, uint16_t spare)
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
			 * A circle. Of a call's arguments none goes through r0, and there are more
			 * registers than arguments that a function begins with.
			 */
			const int first = __builtin_ctz(pending),
				  temp = __builtin_ctz(spare & ~needed);

			out_move(o, temp, at[from[first]]);
			at[from[first]] = temp;
		}
	}
}
