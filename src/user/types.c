// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Questions about types that have the same answer whoever describes them.
 *
 * A description may be damaged on purpose: structs that contain themselves, members without end.
 * Every walk has a depth and a number of members it looks at, at most.
 */
#include "user/types.h"

#include <string.h>

#define MAX_DEPTH   16
#define MAX_MEMBERS 20000 /* looked at for one question */
#define MAX_LISTED  8

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
		/* A packed struct's field that crosses its container. */
		m->offset = first_bit / 8;
		m->bit = (unsigned int)(first_bit % 8);
		if (m->bit + bits > container)
			m->bits = (unsigned int)container - m->bit;
	}
}
