// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types of C: queries that do not depend on what describes a type, derived types, and names of
 * types.
 *
 * A description may be damaged on purpose: structs that contain themselves, endless members. Every
 * walk has a limit of depth and of members.
 */
#include "symbols/types.h"

#include <string.h>

#include "symbols/names.h"

#define MAX_DEPTH   16
#define MAX_MEMBERS 20000 /* visited for one query */
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

		/* A member that is not aligned is packed. */
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

/* Structs and enums are compared by name: a name means one type. */
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

	/* A container that makes no sense: the field is fetched as if it were not a bit field. */
	if (!bits || !container || container > 64 || bits > container) {
		m->offset = first_bit / 8;
		return;
	}
	m->offset = first_bit / container * m->type.size;
	m->bit = (unsigned int)(first_bit % container);
	m->bits = bits;
	if (m->bit + bits > container) {
		/* A field of a packed struct that crosses its container: uses a larger one. */
		m->offset = first_bit / 8;
		m->bit = (unsigned int)(first_bit % 8);
		while (m->bit + bits > m->type.size * 8 && m->type.size < 8)
			m->type.size *= 2;
		if (m->bit + bits > m->type.size * 8)
			m->bits = (unsigned int)m->type.size * 8 - m->bit;
	}
}

/* ---- derived types, and names ---- */

/*
 * A name is written from its middle outwards, as C does it: "int (*[4])[2]" is an array of pointers
 * to arrays. Only the parts without a name of their own are written this way.
 */

#define MAX_STEPS	 16
#define MAX_NAME	 1024
#define MAX_ENUMERATORS	 20000
#define MAX_NEAR_MEMBERS 5000
#define MAX_NEAR_DEPTH	 8

/* ---- pointers and arrays that no description has ---- */

struct made {
	struct types types; /* first: its address is that of the whole struct */
	struct type target;
};

static bool made_target(const struct types *in, const struct type *t, struct type *to)
{
	*to = ((const struct made *)in)->target;
	return true;
}

static bool no_member(const struct types *in, const struct type *t, size_t number, struct member *m)
{
	return false;
}

static bool make(const struct type *t, struct arena *arena, struct type *to)
{
	struct made *made = arena_alloc(arena, sizeof(*made));
	struct type target = *t; /* *t may be overwritten by the result */

	*to = (struct type){0};
	if (!made)
		return false;
	made->types = (struct types){.target = made_target, .member = no_member};
	made->target = target;
	to->in = &made->types;
	return true;
}

bool type_pointer_to(const struct type *t, struct arena *arena, struct type *to)
{
	if (!make(t, arena, to))
		return false;
	to->kind = TYPE_POINTER;
	to->size = sizeof(long);
	return true;
}

bool type_array_of(const struct type *t, uint64_t count, struct arena *arena, struct type *to)
{
	uint64_t size = type_size(t);

	if (!make(t, arena, to))
		return false;
	to->kind = TYPE_ARRAY;
	to->count = count;
	if (__builtin_mul_overflow(size, count, &to->size))
		to->size = 0;
	return true;
}

/* ---- names ---- */

static const char *own_name(const struct type *t)
{
	const char *name = t->in && t->in->name ? t->in->name(t->in, t) : NULL;

	return name ? name : "";
}

static void put_base(const struct type *t, struct buf *to)
{
	const char *name = own_name(t);

	switch (t->kind) {
	case TYPE_VOID: buf_puts(to, "void"); return;
	case TYPE_STRUCT:
		buf_puts(to, t->is_union ? "union" : "struct");
		buf_printf(to, " %s", *name ? name : "{…}");
		return;
	case TYPE_INTEGER:
		if (t->is_enum)
			buf_printf(to, "enum %s", *name ? name : "{…}");
		else if (*name)
			buf_puts(to, name);
		else if (t->is_bool)
			buf_puts(to, "bool");
		else if (t->is_char)
			buf_puts(to, "char");
		else
			buf_printf(to, "%sint%u", t->is_signed ? "" : "u",
				   (unsigned int)(t->size > 16 ? 0 : t->size * 8));
		return;
	case TYPE_FLOAT: buf_puts(to, *name ? name : t->size == 4 ? "float" : "double"); return;
	case TYPE_TEXT: buf_puts(to, "char[]"); return;
	default: buf_puts(to, *name ? name : "?"); return;
	}
}

void type_name(const struct type *t, struct buf *to)
{
	struct type at = *t, next;
	bool pointer = false;
	struct buf middle;

	buf_init(&middle, MAX_NAME);
	for (unsigned int i = 0; i < MAX_STEPS; i++) {
		if ((at.kind == TYPE_ARRAY || at.kind == TYPE_FUNCTION) && pointer) {
			buf_put_front(&middle, "(");
			buf_putc(&middle, ')');
		}
		pointer = at.kind == TYPE_POINTER;
		if (pointer)
			buf_put_front(&middle, "*");
		else if (at.kind == TYPE_ARRAY)
			buf_printf(&middle, "[%llu]", (unsigned long long)at.count);
		else if (at.kind == TYPE_FUNCTION)
			buf_puts(&middle, "()");
		if (at.kind == TYPE_FUNCTION || !type_target(&at, &next))
			break;
		at = next;
	}
	if (at.kind == TYPE_FUNCTION || at.kind == TYPE_POINTER || at.kind == TYPE_ARRAY)
		at.kind = TYPE_VOID; /* what follows is not known */
	put_base(&at, to);
	if (middle.len && middle.data[0] != '[')
		buf_putc(to, ' ');
	buf_put(to, middle.data, middle.len);
	buf_free(&middle);
}

/* ---- enumerators ---- */

static bool next_enumerator(const struct type *t, size_t number, struct enumerator *e)
{
	return t->is_enum && t->in && t->in->enumerator && number < MAX_ENUMERATORS &&
	       t->in->enumerator(t->in, t, number, e);
}

const char *type_enumerator_name(const struct type *t, int64_t value)
{
	/* The description of the enum and the value may differ in their signs. */
	uint64_t bits = t->size && t->size < 8 ? (1ull << t->size * 8) - 1 : UINT64_MAX;
	struct enumerator e;

	for (size_t i = 0; next_enumerator(t, i, &e); i++)
		if (!(((uint64_t)e.value ^ (uint64_t)value) & bits))
			return e.name;
	return NULL;
}

/* ---- members that are nearly called so ---- */

/*
 * A renamed member often has a word of its old name: "nr_running" became "nr_queued". Such names
 * are offered if there is no typing error.
 */
struct akin {
	const char *word;
	struct {
		const char *name;
		unsigned int score;
	} best[NEAREST_MAX];
	size_t n;
};

static size_t part_len(const char *s)
{
	return strcspn(s, "_");
}

static bool has_part(const char *name, const char *part, size_t len)
{
	while (*name) {
		size_t n = part_len(name);

		if (n == len && !memcmp(name, part, len))
			return true;
		name += n;
		name += *name == '_';
	}
	return false;
}

/* Letters of the words both have, a little less for each letter that only one has. */
static unsigned int score_of(const char *wanted, const char *name)
{
	size_t common = 0, all = strlen(wanted), other = strlen(name), apart;

	for (const char *s = wanted; *s;) {
		size_t n = part_len(s);

		if (n >= 2 && has_part(name, s, n))
			common += n;
		s += n;
		s += *s == '_';
	}
	apart = all > other ? all - other : other - all;
	return common && apart < 20 ? (unsigned int)(common * 20 - apart) : 0;
}

static void akin_try(struct akin *a, const char *name)
{
	unsigned int score = score_of(a->word, name);
	size_t at = a->n;

	while (at && a->best[at - 1].score < score)
		at--;
	if (!score || at == NEAREST_MAX)
		return;
	if (a->n < NEAREST_MAX)
		a->n++;
	memmove(&a->best[at + 1], &a->best[at], (a->n - 1 - at) * sizeof(a->best[0]));
	a->best[at].name = name;
	a->best[at].score = score;
}

struct search {
	struct nearest near;
	struct akin akin;
	size_t budget;
};

static void try_members(const struct type *t, struct search *s, unsigned int depth)
{
	struct member m;

	if (depth > MAX_NEAR_DEPTH || !t->in || t->kind != TYPE_STRUCT)
		return;
	for (size_t i = 0; s->budget && t->in->member(t->in, t, i, &m); i++) {
		s->budget--;
		if (m.name[0]) {
			nearest_try(&s->near, m.name, strlen(m.name));
			akin_try(&s->akin, m.name);
		} else {
			try_members(&m.type, s, depth + 1);
		}
	}
}

void type_near_members(const struct type *t, const char *name, struct buf *to)
{
	struct search s = {.near = nearest_to(name, strlen(name)),
			   .akin.word = name,
			   .budget = MAX_NEAR_MEMBERS};

	try_members(t, &s, 0);
	for (size_t i = 0; i < s.near.n; i++)
		buf_printf(to, "%s%s", i ? ", " : "", s.near.best[i].name);
	if (s.near.n)
		return;
	for (size_t i = 0; i < s.akin.n; i++)
		buf_printf(to, "%s%.60s", i ? ", " : "", s.akin.best[i].name);
	if (!s.akin.n)
		type_list_members(t, to);
}
