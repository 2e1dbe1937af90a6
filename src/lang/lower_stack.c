// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of the kernel and of processes as numbers, of which equal stacks have the same.
 *
 * The kernel's own map of stacks has one place for all that have the same few bits of their hash:
 * the first one keeps it. Others are kept in a second map, by a number that is made of all of their
 * frames. Those are at least STACK_MADE, the kernel's numbers are far below.
 */
#include <errno.h>
#include <string.h>

#include "lang/lower.h"

#define MORE_STACKS 4096
#define ROUND	    64 /* bytes */
#define SEED	    0x51ed270b27b4f3cfll
#define FACTOR	    0x2545f4914f6cdd1dll

static uint32_t frame_size(const struct vtype *t)
{
	return unit_has_build_ids(t) ? sizeof(struct bpf_stack_build_id) : 8;
}

uint32_t lower_stacks(struct lower *l, const struct vtype *t)
{
	int slot = -1;

	for (size_t i = 0; i < l->unit->maps.n; i++)
		if (unit_holds_stacks(l->unit->maps.at[i], t))
			return (uint32_t)i;
	return map_internal(l, &slot, "stacks",
			    unit_has_build_ids(t) ? MAP_BUILD_IDS : MAP_STACK_TRACE,
			    t->depth * frame_size(t), LOWER_STACKS);
}

static uint32_t more_stacks(struct lower *l, const struct vtype *t)
{
	int slot = -1;
	uint32_t map;

	for (size_t i = 0; i < l->unit->maps.n; i++)
		if (unit_holds_more_stacks(l->unit->maps.at[i], t))
			return (uint32_t)i;
	map = map_internal(l, &slot, unit_has_build_ids(t) ? UNIT_MORE_BUILD_IDS : UNIT_MORE_STACKS,
			   MAP_HASH, t->depth * frame_size(t), MORE_STACKS);
	l->unit->maps.at[map]->key_size = 8;
	return map;
}

/* In few rounds, because the verifier walks through all of them. */
static ir_reg hash_words(struct lower *l, struct mem m, uint32_t size)
{
	const ir_label again = ir_new_label(l->f);
	const ir_reg at = ir_new(l->f), hash = ir_new(l->f), factor = ir_const(l->f, FACTOR);
	ir_reg from, word;

	ir_set_const(l->f, at, 0);
	ir_set_const(l->f, hash, SEED);
	ir_place(l->f, again);
	from = ir_binary(l->f, IR_ADD, mem_address(l, m), at);
	for (uint32_t i = 0; i < ROUND; i += 8) {
		word = ir_binary(l->f, IR_XOR, hash, ir_load(l->f, from, i, 8, false));
		ir_set(l->f, hash, ir_binary(l->f, IR_MUL, word, factor));
	}
	ir_set(l->f, hash, ir_binary(l->f, IR_XOR, hash, ir_binary_const(l->f, IR_SHR, hash, 29)));
	ir_set(l->f, at, ir_binary_const(l->f, IR_ADD, at, ROUND));
	ir_branch_const(l->f, IR_ULT, at, size, again);
	return hash;
}

/* A stack whose place is taken: its number, or below 0. */
static void keep_elsewhere(struct lower *l, const struct vtype *t, int64_t flags, ir_reg id)
{
	const uint32_t size = t->depth * frame_size(t), map = more_stacks(l, t);
	const uint32_t whole = (size + ROUND - 1) / ROUND * ROUND;
	const ir_label known = ir_new_label(l->f), lost = ir_new_label(l->f);
	const struct mem key = mem_take(l, 8), frames = mem_take_scratch(l, whole);
	ir_reg rc, number;

	flags |= unit_has_build_ids(t) ? BPF_F_USER_BUILD_ID : 0;
	rc = IR_CALL(l->f, BPF_FUNC_get_stack, lower_ctx(l), mem_address(l, frames),
		     ir_const(l->f, size), ir_const(l->f, flags));
	ir_branch_const(l->f, IR_SLT, rc, 0, lost);
	mem_zero(l, (struct mem){frames.base, frames.offset + size}, whole - size);
	number = ir_binary_const(l->f, IR_SHR, hash_words(l, frames, whole), 2);
	number = ir_binary(l->f, IR_OR, number, ir_const(l->f, STACK_MADE));
	mem_store(l, key, 8, number);
	ir_branch_const(
		l->f, IR_NE,
		IR_CALL(l->f, BPF_FUNC_map_lookup_elem, ir_map(l->f, map), mem_address(l, key)), 0,
		known);
	rc = IR_CALL(l->f, BPF_FUNC_map_update_elem, ir_map(l->f, map), mem_address(l, key),
		     mem_address(l, frames), ir_const(l->f, BPF_ANY));
	ir_branch_const(l->f, IR_NE, rc, 0, lost);
	ir_place(l->f, known);
	ir_set(l->f, id, mem_load(l, key, 8, false));
	ir_place(l->f, lost);
}

/* What there was no room for is told at the end. */
static void count_lost(struct lower *l, ir_reg id)
{
	const ir_label kept = ir_new_label(l->f), lost = ir_new_label(l->f);

	ir_branch_const(l->f, IR_EQ, id, -EEXIST, lost);
	ir_branch_const(l->f, IR_NE, id, -ENOMEM, kept);
	ir_place(l->f, lost);
	lower_count_probe(l, &l->unit->stacks_lost, "lost_stacks");
	ir_place(l->f, kept);
}

ir_reg lower_stack_number(struct lower *l, const struct vtype *t)
{
	const int64_t flags = t->kind == V_USTACK ? BPF_F_USER_STACK : 0;
	const uint32_t stacks = lower_stacks(l, t);
	const ir_label good = ir_new_label(l->f);
	const ir_reg id = ir_new(l->f);

	ir_set(l->f, id,
	       IR_CALL(l->f, BPF_FUNC_get_stackid, lower_ctx(l), ir_map(l->f, stacks),
		       ir_const(l->f, flags)));
	ir_branch_const(l->f, IR_SGE, id, 0, good);
	/* The executor's map has room for all of them. */
	if (l->prog->runs == RUNS_IN_KERNEL) {
		const ir_label other = ir_new_label(l->f);

		ir_branch_const(l->f, IR_NE, id, -EEXIST, other);
		keep_elsewhere(l, t, flags, id);
		ir_place(l->f, other);
	}
	count_lost(l, id);
	ir_place(l->f, good);
	lower_note_depth(l, t, id, stacks);
	return id;
}
