// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Questions about types that have the same answer whoever describes them.
 *
 * A description may be damaged on purpose: structs that contain themselves, members without end.
 * Every walk has a depth and a number of members it looks at, at most.
 */
#include "symbols/types.h"

#include <string.h>

#define MAX_DEPTH   16
#define MAX_MEMBERS 20000 /* looked at for one question */
#define MAX_LISTED  8
#define MAX_ALIGN   16

bool type_target(const struct type *t, struct type *to)
{
	return t->in && (t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY) &&
	       t->in->target(t->in, t, to);
}

static bool next_member(const struct type *t, size_t number, struct member *m, size_t *budget)
{
	if (!t->in || t->kind != TYPE_STRUCT || !*budget)
		return false;
	--*budget;
	return t->in->member(t->in, t, number, m);
}

static bool find_member(const struct type *t, const char *name, size_t len, struct member *m,
			unsigned int depth, size_t *budget)
{
	struct member inner;

	if (depth > MAX_DEPTH)
		return false;
	for (size_t i = 0; next_member(t, i, m, budget); i++) {
		if (strlen(m->name) == len && !memcmp(m->name, name, len))
			return true;
		if (m->name[0] || m->type.kind != TYPE_STRUCT)
			continue;
		if (find_member(&m->type, name, len, &inner, depth + 1, budget)) {
			inner.offset += m->offset;
			*m = inner;
			return true;
		}
	}
	return false;
}

bool type_member(const struct type *t, const char *name, size_t len, struct member *m)
{
	size_t budget = MAX_MEMBERS;

	return find_member(t, name, len, m, 0, &budget);
}

void type_list_members(const struct type *t, struct buf *to)
{
	size_t budget = MAX_MEMBERS, listed = 0;
	struct member m;

	for (size_t i = 0; next_member(t, i, &m, &budget); i++) {
		if (!m.name[0])
			continue;
		if (listed++ == MAX_LISTED) {
			buf_puts(to, ", …");
			return;
		}
		buf_printf(to, "%s%.60s", listed > 1 ? ", " : "", m.name);
	}
}

static enum type_words both(enum type_words a, enum type_words b)
{
	return a == b ? a : WORDS_UNSURE;
}

static enum type_words words_of(const struct type *t, uint64_t *largest, unsigned int depth,
				size_t *budget)
{
	enum type_words words = WORDS_UNSURE;
	struct type element;
	struct member m;

	if (depth > MAX_DEPTH)
		return WORDS_UNSURE;
	switch (t->kind) {
	case TYPE_INTEGER:
	case TYPE_POINTER:
	case TYPE_FLOAT:
		if (t->size > *largest)
			*largest = t->size;
		return t->kind == TYPE_FLOAT ? WORDS_FLOAT : WORDS_INTEGER;
	case TYPE_ARRAY:
		return type_target(t, &element) ? words_of(&element, largest, depth + 1, budget)
						: WORDS_UNSURE;
	case TYPE_STRUCT: break;
	default: return WORDS_UNSURE;
	}
	for (size_t i = 0; next_member(t, i, &m, budget); i++) {
		enum type_words w = words_of(&m.type, largest, depth + 1, budget);

		words = i ? both(words, w) : w;
	}
	return *budget ? words : WORDS_UNSURE;
}

enum type_words type_words(const struct type *t, uint64_t *largest)
{
	size_t budget = MAX_MEMBERS;

	*largest = 0;
	return words_of(t, largest, 0, &budget);
}

static uint64_t size_of(const struct type *t, unsigned int depth)
{
	struct type element;
	uint64_t size;

	if (t->size)
		return t->size;
	if (t->kind == TYPE_POINTER)
		return sizeof(long);
	if (t->kind != TYPE_ARRAY || depth > MAX_DEPTH || !type_target(t, &element) ||
	    __builtin_mul_overflow(size_of(&element, depth + 1), t->count, &size))
		return 0;
	return size;
}

uint64_t type_size(const struct type *t)
{
	return size_of(t, 0);
}

static uint64_t align_of(const struct type *t, unsigned int depth, size_t *budget)
{
	uint64_t most = 1, size;
	struct type element;
	struct member m;

	if (depth > MAX_DEPTH)
		return 1;
	switch (t->kind) {
	case TYPE_INTEGER:
	case TYPE_FLOAT:
	case TYPE_POINTER:
		size = type_size(t);
		/* A size that is no power of two is no machine's. */
		return size && size <= MAX_ALIGN && !(size & (size - 1)) ? size : 1;
	case TYPE_ARRAY:
		return type_target(t, &element) ? align_of(&element, depth + 1, budget) : 1;
	case TYPE_STRUCT: break;
	default: return 1;
	}
	if (t->in && t->in->align && t->in->align(t->in, t))
		return t->in->align(t->in, t);
	for (size_t i = 0; next_member(t, i, &m, budget); i++) {
		uint64_t align = align_of(&m.type, depth + 1, budget);

		/* What lies where it would not be aligned is packed. */
		if (align > most && !(m.offset & (align - 1)))
			most = align;
	}
	/* The struct's size is a multiple of its alignment. */
	while (most > 1 && t->size & (most - 1))
		most /= 2;
	return most;
}

uint64_t type_align(const struct type *t)
{
	size_t budget = MAX_MEMBERS;

	return align_of(t, 0, &budget);
}

/* What a name says is enough for structs and enums: a name means one type. */
static bool same(const struct type *a, const struct type *b, unsigned int depth)
{
	const char *a_name, *b_name;
	struct type at, bt;

	if (a->in == b->in && a->id == b->id && a->in && a->kind == b->kind)
		return true;
	if (a->kind != b->kind || depth > MAX_DEPTH)
		return false;
	if (a->kind == TYPE_POINTER || a->kind == TYPE_ARRAY) {
		bool known = type_target(a, &at);

		if (known != type_target(b, &bt) || a->count != b->count || a->user != b->user)
			return false;
		return !known || same(&at, &bt, depth + 1);
	}
	if (a->size != b->size || a->is_signed != b->is_signed || a->is_union != b->is_union ||
	    a->is_enum != b->is_enum || a->is_bool != b->is_bool)
		return false;
	if (a->kind != TYPE_STRUCT && !a->is_enum)
		return true;
	a_name = a->in && a->in->name ? a->in->name(a->in, a) : NULL;
	b_name = b->in && b->in->name ? b->in->name(b->in, b) : NULL;
	return a_name && b_name && *a_name && !strcmp(a_name, b_name);
}

bool type_same(const struct type *a, const struct type *b)
{
	return same(a, b, 0);
}

void member_set_bits(struct member *m, uint64_t first_bit, unsigned int bits)
{
	uint64_t container = m->type.size * 8;

	/*
	 * A type that makes no sense as a container: the field is then fetched as if it were whole.
	 */
	if (!bits || !container || container > 64 || bits > container) {
		m->offset = first_bit / 8;
		return;
	}
	m->offset = first_bit / container * m->type.size;
	m->bit = (unsigned int)(first_bit % container);
	m->bits = bits;
	if (m->bit + bits > container) {
		/* A packed struct's field that crosses its container: a larger one holds it. */
		m->offset = first_bit / 8;
		m->bit = (unsigned int)(first_bit % 8);
		while (m->bit + bits > m->type.size * 8 && m->type.size < 8)
			m->type.size *= 2;
		if (m->bit + bits > m->type.size * 8)
			m->bits = (unsigned int)m->type.size * 8 - m->bit;
	}
}
