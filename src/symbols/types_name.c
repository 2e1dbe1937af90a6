// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types that are put together from others, and what types are called.
 *
 * A name is written from its middle outwards, as C does it: "int (*[4])[2]" is an array of pointers
 * to arrays. Only the parts without a name of their own are written this way.
 */
#include <string.h>

#include "symbols/nearest.h"
#include "symbols/types.h"

#define MAX_STEPS	 16
#define MAX_NAME	 1024
#define MAX_ENUMERATORS	 20000
#define MAX_NEAR_MEMBERS 5000
#define MAX_NEAR_DEPTH	 8

/* ---- pointers and arrays that nobody describes ------------------------------------------ */

struct made {
	struct types types; /* first: a pointer to it is one to the whole */
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
	struct type target = *t; /* which may be where the answer goes */

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

/* ---- names ------------------------------------------------------------------------------ */

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

/* Puts a text in front of another. */
static void put_before(struct buf *text, const char *front)
{
	size_t n = strlen(front);

	if (buf_room(text, n)) {
		memmove(text->data + n, text->data, text->len);
		memcpy(text->data, front, n);
		text->len += n;
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
			put_before(&middle, "(");
			buf_putc(&middle, ')');
		}
		pointer = at.kind == TYPE_POINTER;
		if (pointer)
			put_before(&middle, "*");
		else if (at.kind == TYPE_ARRAY)
			buf_printf(&middle, "[%llu]", (unsigned long long)at.count);
		else if (at.kind == TYPE_FUNCTION)
			buf_puts(&middle, "()");
		if (at.kind == TYPE_FUNCTION || !type_target(&at, &next))
			break;
		at = next;
	}
	if (at.kind == TYPE_FUNCTION || at.kind == TYPE_POINTER || at.kind == TYPE_ARRAY)
		at.kind = TYPE_VOID; /* what comes behind is not known */
	put_base(&at, to);
	if (middle.len && middle.data[0] != '[')
		buf_putc(to, ' ');
	buf_put(to, middle.data, middle.len);
	buf_free(&middle);
}

/* ---- enumerators ------------------------------------------------------------------------ */

static bool next_enumerator(const struct type *t, size_t number, struct enumerator *e)
{
	return t->is_enum && t->in && t->in->enumerator && number < MAX_ENUMERATORS &&
	       t->in->enumerator(t->in, t, number, e);
}

const char *type_enumerator_name(const struct type *t, int64_t value)
{
	/* Who describes the enum and who has the value may take its sign differently. */
	uint64_t bits = t->size && t->size < 8 ? (1ull << t->size * 8) - 1 : UINT64_MAX;
	struct enumerator e;

	for (size_t i = 0; next_enumerator(t, i, &e); i++)
		if (!(((uint64_t)e.value ^ (uint64_t)value) & bits))
			return e.name;
	return NULL;
}

bool type_enumerator(const struct type *t, const char *name, int64_t *value)
{
	struct enumerator e;

	for (size_t i = 0; next_enumerator(t, i, &e); i++) {
		if (!strcmp(e.name, name)) {
			*value = e.value;
			return true;
		}
	}
	return false;
}

/* ---- members that are nearly called so -------------------------------------------------- */

/*
 * A member that was renamed keeps a word of its name more often than its letters: "nr_running" has
 * become "nr_queued". Such names are offered when nothing is a slip of the fingers away.
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
