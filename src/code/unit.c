// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates and frees units, and defines the layout of histograms for compiler, executor and printer.
 *
 * hist(x, bits) has the buckets
 *	0			negative
 *	1 to 2^bits		0 to 2^bits - 1, one value each
 *	then, for every power of two, 2^bits buckets of equal width
 */
#include "code/unit.h"

#include <linux/bpf.h>

#include "base/vec.h"

enum { UNIT_ARENA = 256 << 20 };

void unit_init(struct unit *u)
{
	*u = (struct unit){
		.config =
			{
				.max_strlen = 1024,
				.max_map_keys = 4096,
				.max_cat_bytes = 10240,
				.max_probes = 1024,
				.max_loop_rounds = 65536,
				.str_trunc_trailer = "..",
				.print_maps_on_exit = true,
				.cpp_demangle = true,
				.show_debug_info = true,
				.license = "GPL",
				.missing_probes = MISSING_UNSET,
			},
		.ring = -1,
		.packets = -1,
		.unwind = {-1, -1, -1, -1, NULL},
		.scratch = -1,
		.user_scratch = -1,
		.lost = -1,
		.stacks_lost = -1,
		.cut_off = -1,
		.off = -1,
		.syscalls = -1,
		.pids = -1,
		.depths = -1,
		.full = -1,
		.start = -1,
	};
	arena_init(&u->arena, UNIT_ARENA);
}

bool unit_has_build_ids(const struct vtype *t)
{
	return t->kind == V_USTACK && t->param[1] && !t->param[0];
}

struct map_def unit_stack_map(const struct vtype *t, enum unit_stacks which)
{
	const bool ids = unit_has_build_ids(t);
	struct map_def m = {
		.kind = MAP_HASH,
		.key_size = 8,
		.value_size = t->depth * (uint32_t)(ids ? sizeof(struct bpf_stack_build_id) : 8),
		.entries = which == STACKS_MORE ? 4096 : 16384,
	};

	switch (which) {
	case STACKS_OF_KERNEL:
		m.name = "stacks";
		m.kind = ids ? MAP_BUILD_IDS : MAP_STACK_TRACE;
		m.key_size = 4;
		break;
	case STACKS_MORE: m.name = ids ? "more_build_ids" : "more_stacks"; break;
	case STACKS_UNWOUND: m.name = "unwound"; break;
	}
	return m;
}

int unit_find_map(const struct unit *u, const struct map_def *like)
{
	for (size_t i = 0; i < u->maps.n; i++) {
		const struct map_def *m = u->maps.at[i];

		if (!m->own && m->kind == like->kind && m->value_size == like->value_size &&
		    strcmp(m->name, like->name) == 0)
			return (int)i;
	}
	return -1;
}

struct action *unit_add_action(struct unit *u, enum action_kind kind)
{
	struct action *a = arena_alloc(&u->arena, sizeof(*a));
	struct action **slot = a ? vec_push(&u->actions) : NULL;

	if (!slot)
		return NULL;
	*slot = a;
	a->kind = kind;
	a->number = (uint32_t)u->actions.n - 1;
	return a;
}

void unit_free(struct unit *u)
{
	vec_each (p, &u->progs)
		ir_prog_free(&p->ir);
	vec_free(&u->maps);
	vec_free(&u->actions);
	vec_free(&u->probes);
	vec_free(&u->progs);
	vec_free(&u->strings);
	arena_free(&u->arena);
}

uint32_t agg_hist_buckets(unsigned int bits)
{
	return ((64 - bits) << bits) + 1;
}

uint32_t agg_hist_bucket(int64_t v, unsigned int bits)
{
	const uint64_t mask = (1ull << bits) - 1;
	unsigned int shift;

	if (v < 0)
		return 0;
	if ((uint64_t)v <= mask)
		return (uint32_t)v + 1;
	shift = 63 - (unsigned int)__builtin_clzll((uint64_t)v) - bits;
	return ((shift + 1) << bits) + (uint32_t)(((uint64_t)v >> shift) & mask) + 1;
}

void agg_hist_range(uint32_t bucket, unsigned int bits, int64_t *from, int64_t *to)
{
	const uint64_t in_row = 1ull << bits;
	uint64_t index, first, shift = 0;

	if (!bucket) {
		*from = INT64_MIN;
		*to = 0;
		return;
	}
	index = bucket - 1;
	if (index < in_row) {
		first = index;
	} else {
		shift = (index >> bits) - 1;
		first = (in_row + (index & (in_row - 1))) << shift;
	}
	*from = (int64_t)first;
	if (__builtin_add_overflow(*from, (int64_t)1 << shift, to))
		*to = INT64_MAX;
}

uint32_t agg_lhist_buckets(const struct vtype *t)
{
	const uint64_t width = (uint64_t)t->param[1] - (uint64_t)t->param[0];

	/* The checker refuses wrong parameters; this makes sure that no write is out of bounds. */
	return t->param[2] > 0 && t->param[1] > t->param[0]
		       ? (uint32_t)(width / (uint64_t)t->param[2]) + 2
		       : 2;
}
