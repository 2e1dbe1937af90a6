/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random programs in the intermediate form that the kernel's verifier accepts: arithmetic on a few
 * variables, branches, loops, the frame, maps, callbacks. What they compute goes to map 0, an array
 * of one value of NR_RESULTS words; map 1 is a hash with keys and values of 8 bytes.
 */
#ifndef TEST_IR_RANDOM_H
#define TEST_IR_RANDOM_H

#include <linux/bpf.h>

#include "ir_frame.h"

enum { NR_RESULTS = 32, NR_CTX = 4, MAX_VARS = 24, FRAME_BYTES = 48, NR_KEYS = 8 };

struct random_ir {
	uint64_t state;
	struct ir_prog *prog;
	struct ir_func *f;
	ir_reg vars[MAX_VARS];
	unsigned int nr_vars;
	uint32_t frame, key, value; /* offsets */
	unsigned int depth;
	bool callbacks; /* there may be some */
	bool in_loop;
};

static inline uint64_t random_next(struct random_ir *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state * 0x2545f4914f6cdd1dull;
}

static inline unsigned int random_below(struct random_ir *r, unsigned int n)
{
	return (unsigned int)(random_next(r) >> 33) % n;
}

static inline int64_t random_const(struct random_ir *r)
{
	static const int64_t edges[] = {0,	   1,	      -1,	 2,
					7,	   63,	      64,	 255,
					-128,	   INT32_MAX, INT32_MIN, UINT32_MAX,
					INT64_MAX, INT64_MIN, 1ll << 32, 1000000007};

	switch (random_below(r, 3)) {
	case 0: return (int64_t)random_next(r) >> random_below(r, 64);
	case 1: return (int64_t)random_below(r, 100) - 50;
	default: return edges[random_below(r, sizeof(edges) / sizeof(*edges))];
	}
}

static inline ir_reg random_var(struct random_ir *r)
{
	return r->vars[random_below(r, r->nr_vars)];
}

static inline ir_reg random_expr(struct random_ir *r, unsigned int depth)
{
	static const uint32_t sizes[] = {1, 2, 4, 8};
	const uint32_t size = sizes[random_below(r, 4)];
	const unsigned int kind = depth ? random_below(r, 10) : random_below(r, 4);
	const enum ir_op op = IR_ADD + random_below(r, IR_SAR - IR_ADD + 1);

	switch (kind) {
	case 0: return ir_const(r->f, random_const(r));
	case 1:
	case 2: return random_var(r);
	case 3: {
		const uint32_t at = size * random_below(r, FRAME_BYTES / size);

		if (random_below(r, 2))
			return ir_load(r->f, ir_frame(r->f, r->frame + at), 0, size, size % 3);
		return ir_load(r->f, ir_frame(r->f, r->frame), at, size, size == 4);
	}
	case 4: return ir_unary(r->f, IR_NEG + random_below(r, 4), random_expr(r, depth - 1), size);
	case 5:
	case 6: return ir_binary_const(r->f, op, random_expr(r, depth - 1), random_const(r));
	default: {
		const ir_reg a = random_expr(r, depth - 1);

		return ir_binary(r->f, op, a, random_expr(r, depth - 1));
	}
	}
}

static inline void random_block(struct random_ir *r, unsigned int statements);

static inline void random_if(struct random_ir *r)
{
	const ir_label other = ir_new_label(r->f), end = ir_new_label(r->f);
	const enum ir_cond cond = random_below(r, IR_CONDS);

	if (random_below(r, 2))
		ir_branch(r->f, cond, random_expr(r, 1), random_expr(r, 1), other);
	else
		ir_branch_const(r->f, cond, random_expr(r, 2), random_const(r), other);
	random_block(r, 3);
	if (random_below(r, 2))
		ir_jump(r->f, end);
	ir_place(r->f, other);
	if (random_below(r, 2))
		random_block(r, 2);
	ir_place(r->f, end);
}

static inline void random_loop(struct random_ir *r)
{
	const ir_label again = ir_new_label(r->f), end = ir_new_label(r->f);
	const ir_reg i = ir_new(r->f);

	ir_set_const(r->f, i, 0);
	ir_place(r->f, again);
	ir_branch_const(r->f, IR_UGE, i, 1 + random_below(r, 4), end);
	r->in_loop = true;
	random_block(r, 3);
	r->in_loop = false;
	ir_set(r->f, i, ir_binary_const(r->f, IR_ADD, i, 1));
	ir_jump(r->f, again);
	ir_place(r->f, end);
}

/* The address of a key of map 1, on the frame. */
static inline ir_reg random_key(struct random_ir *r)
{
	ir_store(r->f, ir_frame(r->f, r->key), 0, 8,
		 ir_binary_const(r->f, IR_UMOD, random_var(r), NR_KEYS));
	return ir_frame(r->f, r->key);
}

static inline void random_map(struct random_ir *r)
{
	const ir_label none = ir_new_label(r->f);
	ir_reg v;

	switch (random_below(r, 4)) {
	case 0:
		ir_store(r->f, ir_frame(r->f, r->value), 0, 8, random_expr(r, 1));
		v = IR_CALL(r->f, BPF_FUNC_map_update_elem, ir_map(r->f, 1), random_key(r),
			    ir_frame(r->f, r->value), ir_const(r->f, random_below(r, 3)));
		/* What it returns when it fails is the same everywhere. */
		ir_set(r->f, random_var(r), v);
		break;
	case 1:
		v = IR_CALL(r->f, BPF_FUNC_map_delete_elem, ir_map(r->f, 1), random_key(r));
		ir_set(r->f, random_var(r), v);
		break;
	default:
		v = IR_CALL(r->f, BPF_FUNC_map_lookup_elem, ir_map(r->f, 1), random_key(r));
		ir_branch_const(r->f, IR_EQ, v, 0, none);
		if (random_below(r, 2))
			ir_add_atomic(r->f, v, 0, 8, random_var(r));
		else
			ir_store(r->f, v, 4, 4, random_expr(r, 1));
		ir_set(r->f, random_var(r),
		       ir_load(r->f, ir_binary_const(r->f, IR_ADD, v, 2), 2, 4, true));
		ir_place(r->f, none);
		break;
	}
}

/* Known, not known, or known to be none only to a verifier that is clever. */
static inline ir_reg random_rounds(struct random_ir *r)
{
	ir_reg n = ir_new(r->f);

	switch (random_below(r, 3)) {
	case 0: return ir_const(r->f, random_below(r, 20));
	case 1: return ir_binary_const(r->f, IR_AND, random_var(r), 7);
	default:
		ir_set_const(r->f, n, 4);
		ir_set(r->f, n, ir_binary_const(r->f, IR_SUB, n, 4));
		return n;
	}
}

/* A function that adds to the number its context points at. */
static inline void random_callback(struct random_ir *r)
{
	const bool each = random_below(r, 2);
	struct ir_func *f = ir_add_func(r->prog, each ? 4 : 2);
	const uint32_t number = (uint32_t)r->prog->funcs.n - 1;
	const ir_reg to = ir_arg(f, each ? 3 : 1);
	ir_reg v = each ? ir_load(f, ir_arg(f, 2), 0, 8, false) : ir_arg(f, 0), func, at;

	v = ir_binary_const(f, IR_MUL, v, random_const(r));
	if (random_below(r, 2))
		v = ir_binary_const(f, IR_SDIV, v, random_const(r));
	ir_store(f, to, 0, 8, ir_binary(f, IR_ADD, ir_load(f, to, 0, 8, false), v));
	ir_return_const(f, 0);

	func = ir_func_address(r->f, number);
	at = ir_frame(r->f, r->frame + 8 * random_below(r, FRAME_BYTES / 8));
	if (each)
		IR_CALL(r->f, BPF_FUNC_for_each_map_elem, ir_map(r->f, 1), func, at,
			ir_const(r->f, 0));
	else
		IR_CALL(r->f, BPF_FUNC_loop, random_rounds(r), func, at, ir_const(r->f, 0));
}

static inline void random_statement(struct random_ir *r)
{
	static const uint32_t sizes[] = {1, 2, 4, 8};
	const uint32_t size = sizes[random_below(r, 4)];
	const uint32_t at = size * random_below(r, FRAME_BYTES / size);
	const bool simple = r->depth >= 2 || r->in_loop;

	switch (random_below(r, 12)) {
	case 0:
	case 1:
		if (!simple) {
			r->depth++;
			random_if(r);
			r->depth--;
			break;
		}
		/* fall through */
	case 2: ir_store(r->f, ir_frame(r->f, r->frame + at), 0, size, random_expr(r, 2)); break;
	case 3: ir_store_const(r->f, ir_frame(r->f, r->frame), at, size, random_const(r)); break;
	case 4:
		if (!simple) {
			r->depth++;
			random_loop(r);
			r->depth--;
			break;
		}
		/* fall through */
	case 5:
	case 6: random_map(r); break;
	case 7:
		ir_store(r->f, ir_map_value(r->f, 0, 8 * random_below(r, NR_RESULTS)), 0, size,
			 random_expr(r, 2));
		break;
	case 8:
		if (r->callbacks && !r->in_loop && r->prog->funcs.n < 4)
			random_callback(r);
		break;
	case 9: ir_set_const(r->f, random_var(r), random_const(r)); break;
	default: ir_set(r->f, random_var(r), random_expr(r, 3)); break;
	}
}

static inline void random_block(struct random_ir *r, unsigned int statements)
{
	for (unsigned int n = 1 + random_below(r, statements); n > 0; n--)
		random_statement(r);
}

static inline void random_prog(struct ir_prog *p, uint64_t seed, bool callbacks)
{
	struct random_ir r = {.state = seed * 0x9e3779b97f4a7c15ull + 1, .prog = p};
	ir_reg results;

	r.f = ir_add_func(p, 1);
	r.callbacks = callbacks;
	r.frame = ir_frame_room(r.f, FRAME_BYTES, 8);
	r.key = ir_frame_room(r.f, 8, 8);
	r.value = ir_frame_room(r.f, 8, 8);
	for (uint32_t n = 0; n < FRAME_BYTES; n += 8)
		ir_store_const(r.f, ir_frame(r.f, r.frame), n, 8, random_const(&r));
	r.nr_vars = 2 + random_below(&r, MAX_VARS - 2);
	for (unsigned int n = 0; n < r.nr_vars; n++) {
		r.vars[n] = ir_new(r.f);
		if (random_below(&r, 2))
			ir_set(r.f, r.vars[n],
			       ir_load(r.f, ir_arg(r.f, 0), 8 * random_below(&r, NR_CTX), 8,
				       false));
		else
			ir_set_const(r.f, r.vars[n], random_const(&r));
	}
	random_block(&r, 14);
	results = ir_map_value(r.f, 0, 0);
	for (unsigned int n = 0; n < r.nr_vars; n++)
		ir_store(r.f, results, 8 * n, 8, r.vars[n]);
	ir_return(r.f, ir_unary(r.f, IR_ZEXT, random_var(&r), 4));
}

#endif
