// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types, functions and enumerators by their names.
 *
 * BTF has each string once. A name is therefore looked for in the strings first, which is a search
 * in some megabytes of text, and the types are then compared with its offset. This takes less than
 * a millisecond and no memory. Only who asks for many functions gets an index of them.
 */
#include <stdlib.h>
#include <string.h>

#include "symbols/btf_parts.h"

#define MAX_PLACES	16 /* of one name in the strings, should they be there more than once */
#define FEW_LOOKUPS	16 /* without an index */
#define MAX_ENUMERATORS 1000000

/* ---- names in the strings --------------------------------------------------------------- */

/* The next place of a name in the strings of one BTF, from offset `from` on; 0: none. */
static uint32_t next_place(const struct btf *b, const char *name, size_t len, size_t from)
{
	const char *end = b->strings + b->strings_len, *p = b->strings + from;

	/* The terminator is part of what is looked for, the one before the name is checked. */
	while (p < end && (p = memmem(p, (size_t)(end - p), name, len + 1))) {
		if (p > b->strings && !p[-1])
			return (uint32_t)(p - b->strings);
		p++;
	}
	return 0;
}

/* Offsets, as types use them, of a name in the strings of b and of what it builds on. */
struct places {
	uint32_t at[MAX_PLACES];
	size_t n;
};

static void find_places(const struct btf *b, const char *name, struct places *places)
{
	size_t len = strlen(name), from = 1;
	uint32_t at;

	if (!len)
		return;
	if (b->base)
		find_places(b->base, name, places);
	while (places->n < MAX_PLACES && from < b->strings_len &&
	       (at = next_place(b, name, len, from))) {
		places->at[places->n++] = b->first_string + at;
		from = at + len + 1;
	}
}

static uint32_t load32(const struct btf *b, size_t at)
{
	return (uint32_t)load_uint(b->section + at, 4, b->big_endian);
}

uint32_t btf_find(const struct btf *b, const char *name, uint32_t kinds)
{
	struct places places = {0};

	find_places(b, name, &places);
	for (size_t p = 0; p < places.n; p++) {
		for (size_t i = 0; i < b->where.n; i++) {
			if (load32(b, b->where.at[i]) != places.at[p])
				continue;
			if (kinds & BTF_KIND_BIT(load32(b, b->where.at[i] + 4) >> 24 & 0x1f))
				return b->first + (uint32_t)i;
		}
	}
	return 0;
}

/* ---- types ------------------------------------------------------------------------------ */

static const uint32_t wanted[] = {
	[BTF_WANT_STRUCT] = BTF_KIND_BIT(BTF_STRUCT),
	[BTF_WANT_UNION] = BTF_KIND_BIT(BTF_UNION),
	[BTF_WANT_ENUM] = BTF_KIND_BIT(BTF_ENUM) | BTF_KIND_BIT(BTF_ENUM64),
	[BTF_WANT_TYPEDEF] =
		BTF_KIND_BIT(BTF_TYPEDEF) | BTF_KIND_BIT(BTF_INT) | BTF_KIND_BIT(BTF_FLOAT),
};

bool btf_type(const struct btf *b, enum btf_want want, const char *name, struct type *t)
{
	uint32_t id = btf_find(b, name, wanted[want]);

	if (!id)
		return b->base && btf_type(b->base, want, name, t);
	*t = btf_view(b, id);
	return true;
}

bool btf_names(const struct btf *b, enum btf_want want, bool (*each)(void *arg, const char *name),
	       void *arg)
{
	if (b->base && !btf_names(b->base, want, each, arg))
		return false;
	for (size_t i = 0; i < b->where.n; i++) {
		uint32_t at = b->where.at[i];
		const char *name;

		if (!(wanted[want] & BTF_KIND_BIT(load32(b, at + 4) >> 24 & 0x1f)))
			continue;
		name = btf_string(b, load32(b, at));
		if (*name && !each(arg, name))
			return false;
	}
	return true;
}

static bool try_name(void *near, const char *name)
{
	nearest_try(near, name, strlen(name));
	return true;
}

void btf_nearest(const struct btf *b, enum btf_want want, struct nearest *near)
{
	btf_names(b, want, try_name, near);
}

/* ---- enumerators ------------------------------------------------------------------------ */

/* The enum that has an enumerator whose name stands at that offset; 0: none. */
static uint32_t enum_with(const struct btf *b, uint32_t name, size_t *number)
{
	for (size_t i = 0; i < b->where.n; i++) {
		uint32_t at = b->where.at[i], info = load32(b, at + 4), kind = info >> 24 & 0x1f;
		uint32_t each = kind == BTF_ENUM ? 8 : 12;

		if (kind != BTF_ENUM && kind != BTF_ENUM64)
			continue;
		for (uint32_t j = 0; j < (info & 0xffff); j++) {
			if (load32(b, at + 12 + j * each) == name) {
				*number = j;
				return b->first + (uint32_t)i;
			}
		}
	}
	return 0;
}

bool btf_enumerator(const struct btf *b, const char *name, int64_t *value, struct type *in)
{
	struct places places = {0};
	struct enumerator e;
	size_t number;

	find_places(b, name, &places);
	for (size_t p = 0; p < places.n; p++) {
		uint32_t id = enum_with(b, places.at[p], &number);

		if (!id)
			continue;
		*in = btf_view(b, id);
		if (!in->in->enumerator(in->in, in, number, &e))
			return false;
		*value = e.value;
		return true;
	}
	return b->base && btf_enumerator(b->base, name, value, in);
}

/* ---- functions -------------------------------------------------------------------------- */

/* When memory runs out, what is not in the index is not found. */
static void build_index(const struct btf *b)
{
	struct btf_index *index = b->index;

	index->built = true;
	index->seed = hash_seed_new();
	for (size_t i = 0; i < b->where.n; i++) {
		uint32_t at = b->where.at[i];
		const char *name;

		if ((load32(b, at + 4) >> 24 & 0x1f) != BTF_FUNC)
			continue;
		name = btf_string(b, load32(b, at));
		if (*name &&
		    !map_set(&index->functions, hash_bytes(&index->seed, name, strlen(name)),
			     (void *)(uintptr_t)(b->first + i)))
			return;
	}
}

static uint32_t find_function(const struct btf *b, const char *name)
{
	struct btf_index *index = b->index;
	uint32_t id;
	struct btf_record r;

	if (!index->built && ++index->lookups <= FEW_LOOKUPS)
		return btf_find(b, name, BTF_KIND_BIT(BTF_FUNC));
	if (!index->built)
		build_index(b);
	id = (uint32_t)(uintptr_t)map_get(&index->functions,
					  hash_bytes(&index->seed, name, strlen(name)));
	/* Two names of the same hash: one of them is then not found. */
	return id && btf_read(b, id, &r) && !strcmp(btf_string(b, r.name), name) ? id : 0;
}

bool btf_function_record(const struct btf *b, const char *name, const struct btf **in,
			 struct btf_record *r)
{
	for (; b; b = b->base) {
		uint32_t id = find_function(b, name);

		if (id) {
			*in = b;
			return btf_read(b, id, r);
		}
	}
	return false;
}

uint32_t btf_function_id(const struct btf *b, const char *name, bool *own)
{
	uint32_t id = find_function(b, name);

	*own = id != 0;
	return id || !b->base ? id : find_function(b->base, name);
}

bool btf_proto(const struct btf *b, uint32_t id, uint32_t skip, struct arena *arena,
	       struct proto *p)
{
	struct btf_record proto;
	uint32_t n;

	if (!btf_read(b, id, &proto) || proto.kind != BTF_FUNC_PROTO)
		return false;
	n = proto.count < PROTO_MAX_PARAMS ? proto.count : PROTO_MAX_PARAMS;
	*p = (struct proto){.ret = btf_view(b, proto.size)};
	p->at = arena_array(arena, n ? n : 1, sizeof(*p->at));
	if (!p->at)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t word = cursor_u32(&proto.tail), type = cursor_u32(&proto.tail);

		if (!word && !type)
			break; /* "…" */
		if (i < skip)
			continue;
		p->at[p->n].name = btf_string(b, word);
		p->at[p->n++].type = btf_view(b, type);
	}
	return !cursor_failed(&proto.tail);
}

bool btf_function(const struct btf *b, const char *name, struct arena *arena, struct proto *p)
{
	struct btf_record r;

	return btf_function_record(b, name, &b, &r) && btf_proto(b, r.size, 0, arena, p);
}

/* ---- raw tracepoints -------------------------------------------------------------------- */

/*
 * The type of what is called at a tracepoint tells what it is given, without names. The functions
 * that the kernel makes for each tracepoint have them, in those versions that describe these.
 * All of them take something private first.
 */
static bool named_params(const struct btf *b, const char *name, struct arena *arena,
			 struct proto *p)
{
	static const char *const makes[] = {"__probestub_", "__traceiter_"};
	struct btf_record r;
	struct buf full;
	bool found = false;

	buf_init(&full, 256);
	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]) && !found; i++) {
		const struct btf *in = b;

		buf_reset(&full);
		buf_printf(&full, "%s%s", makes[i], name);
		found = !buf_full(&full) && btf_function_record(b, buf_str(&full), &in, &r) &&
			btf_proto(in, r.size, 1, arena, p);
	}
	buf_free(&full);
	return found;
}

static bool typedef_params(const struct btf *b, const char *name, struct arena *arena,
			   struct proto *p)
{
	struct type fn, target;
	struct buf full;
	bool found;

	buf_init(&full, 256);
	buf_printf(&full, "btf_trace_%s", name);
	found = !buf_full(&full) && btf_type(b, BTF_WANT_TYPEDEF, buf_str(&full), &fn) &&
		fn.kind == TYPE_POINTER && type_target(&fn, &target) &&
		target.kind == TYPE_FUNCTION &&
		btf_proto((const struct btf *)target.in, (uint32_t)target.id, 1, arena, p);
	buf_free(&full);
	return found;
}

bool btf_raw_tracepoint(const struct btf *b, const char *name, struct arena *arena, struct proto *p)
{
	struct proto named;

	if (!typedef_params(b, name, arena, p))
		return named_params(b, name, arena, p);
	if (named_params(b, name, arena, &named) && named.n == p->n)
		*p = named;
	return true;
}

uint32_t btf_raw_tracepoint_id(const struct btf *b, const char *name)
{
	struct buf full;
	uint32_t id;

	buf_init(&full, 256);
	buf_printf(&full, "btf_trace_%s", name);
	id = buf_full(&full) ? 0 : btf_find(b, buf_str(&full), BTF_KIND_BIT(BTF_TYPEDEF));
	buf_free(&full);
	return id;
}
