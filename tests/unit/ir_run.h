/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the intermediate form as it stands, slowly and simply: what code made from it must agree
 * with. Maps are user-space maps, helpers those of them.
 */
#ifndef TEST_IR_RUN_H
#define TEST_IR_RUN_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/umap.h"

struct ir_run {
	const struct ir_prog *prog;
	struct vm_map **maps;
	uint64_t steps; /* left */
};

static uint64_t ir_run_func(struct ir_run *r, size_t func, const uint64_t *args);

static inline uint64_t ir_sdiv(int64_t a, int64_t b)
{
	return !b ? 0 : b == -1 ? -(uint64_t)a : (uint64_t)(a / b);
}

static inline uint64_t ir_smod(int64_t a, int64_t b)
{
	return !b ? (uint64_t)a : b == -1 ? 0 : (uint64_t)(a % b);
}

static inline uint64_t ir_alu(enum ir_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case IR_ADD: return a + b;
	case IR_SUB: return a - b;
	case IR_MUL: return a * b;
	case IR_UDIV: return b ? a / b : 0;
	case IR_UMOD: return b ? a % b : a;
	case IR_SDIV: return ir_sdiv((int64_t)a, (int64_t)b);
	case IR_SMOD: return ir_smod((int64_t)a, (int64_t)b);
	case IR_AND: return a & b;
	case IR_OR: return a | b;
	case IR_XOR: return a ^ b;
	case IR_SHL: return a << (b & 63);
	case IR_SHR: return a >> (b & 63);
	default: return (uint64_t)((int64_t)a >> (b & 63));
	}
}

static inline uint64_t ir_cut(uint64_t v, uint32_t size)
{
	return size == 8 ? v : v & ((1ull << 8 * size) - 1);
}

static inline uint64_t ir_one(enum ir_op op, uint64_t a, uint32_t size)
{
	const unsigned int rest = 64 - 8 * size;

	switch (op) {
	case IR_NEG: return -a;
	case IR_SEXT: return (uint64_t)((int64_t)(a << rest) >> rest);
	case IR_ZEXT: return ir_cut(a, size);
	default: return __builtin_bswap64(a) >> rest;
	}
}

static inline bool ir_holds(enum ir_cond c, uint64_t a, uint64_t b)
{
	const int64_t x = (int64_t)a, y = (int64_t)b;
	const bool all[IR_CONDS] = {
		[IR_EQ] = a == b,
		[IR_NE] = a != b,
		[IR_ULT] = a<b, [IR_ULE] = a <= b, [IR_UGT] = a> b,
		[IR_UGE] = a >= b,
		[IR_SLT] = x<y, [IR_SLE] = x <= y, [IR_SGT] = x> y,
		[IR_SGE] = x >= y,
		[IR_SET] = (a & b) != 0,
	};

	return all[c];
}

static inline uint64_t ir_helper(struct ir_run *r, int64_t helper, const uint64_t *a)
{
	struct vm_map *m = (struct vm_map *)(uintptr_t)a[0];
	void *key = (void *)(uintptr_t)a[1];
	uint64_t at = 0, n = 0;
	const void *k;
	void *v;

	switch (helper) {
	case BPF_FUNC_map_lookup_elem: return (uint64_t)(uintptr_t)m->ops->lookup(m, key);
	case BPF_FUNC_map_update_elem:
		return (uint64_t)m->ops->update(m, key, (void *)(uintptr_t)a[2], a[3]);
	case BPF_FUNC_map_delete_elem: return (uint64_t)m->ops->remove(m, key);
	case BPF_FUNC_loop:
		while (n < a[0] && !ir_run_func(r, a[1], (uint64_t[5]){n++, a[2]}))
			;
		return n;
	case BPF_FUNC_for_each_map_elem:
		while (m->ops->next(m, &at, &k, &v)) {
			n++;
			if (ir_run_func(r, a[1],
					(uint64_t[5]){a[0], (uintptr_t)k, (uintptr_t)v, a[2]}))
				break;
		}
		return n;
	default: abort();
	}
}

/* The instruction's result. */
static inline uint64_t ir_value(struct ir_run *r, const struct ir_insn *i, const uint64_t *regs,
				uint8_t *frame, const uint64_t *args)
{
	void *p = (void *)(uintptr_t)(regs[i->a] + (uint64_t)i->imm);
	const uint64_t b = i->b ? regs[i->b] : (uint64_t)i->value;
	uint64_t v = 0, given[5] = {0};

	switch (i->op) {
	case IR_CONST: return (uint64_t)i->imm;
	case IR_MOVE: return regs[i->a];
	case IR_ADD ... IR_SAR: return ir_alu(i->op, regs[i->a], i->b ? b : (uint64_t)i->imm);
	case IR_NEG ... IR_SWAP: return ir_one(i->op, regs[i->a], i->size);
	case IR_LOAD: memcpy(&v, p, i->size); return v;
	case IR_STORE: memcpy(p, &b, i->size); return 0;
	case IR_ADD_ATOMIC:
		memcpy(&v, p, i->size);
		v += b;
		memcpy(p, &v, i->size);
		return 0;
	case IR_ARG: return args[i->imm];
	case IR_FRAME: return (uint64_t)(uintptr_t)(frame + i->imm);
	case IR_MAP: return (uint64_t)(uintptr_t)r->maps[i->imm];
	case IR_MAP_VALUE:
		return (uint64_t)(uintptr_t)r->maps[i->imm]->ops->value(r->maps[i->imm]) +
		       (uint64_t)i->value;
	case IR_FUNC: return (uint64_t)i->imm;
	case IR_CALL:
		for (unsigned int n = 0; n < i->nr_args; n++)
			given[n] = regs[i->args[n]];
		return ir_helper(r, i->imm, given);
	default: return 0;
	}
}

static inline size_t ir_find(const struct ir_func *f, ir_label l)
{
	for (size_t n = 0; n < f->code.n; n++)
		if (f->code.at[n].op == IR_LABEL && f->code.at[n].imm == l)
			return n;
	abort();
}

static uint64_t ir_run_func(struct ir_run *r, size_t func, const uint64_t *args)
{
	const struct ir_func *f = r->prog->funcs.at[func];
	uint64_t *regs = calloc(f->nr_regs + 1, sizeof(*regs)), result = 0;
	uint8_t *frame = calloc(1, f->frame + 8);

	if (!regs || !frame)
		abort();
	for (size_t n = 0; n < f->code.n && r->steps--; n++) {
		const struct ir_insn *i = &f->code.at[n];
		const uint64_t v = ir_value(r, i, regs, frame, args);

		if (i->d)
			regs[i->d] = v;
		if (i->op == IR_RETURN) {
			result = regs[i->a];
			break;
		}
		if (i->op == IR_JUMP ||
		    (i->op == IR_BRANCH &&
		     ir_holds(i->cond, regs[i->a], i->b ? regs[i->b] : (uint64_t)i->value)))
			n = ir_find(f, i->label);
	}
	free(regs);
	free(frame);
	return result;
}

#endif
