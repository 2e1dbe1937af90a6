// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fields of a tracepoint as the members of a struct.
 *
 * The format gives each field's offset, size and sign, which is enough for most scripts. The type
 * that its text names (the struct a pointer points to, the enumerators of an enum) is looked up
 * when it is needed.
 *
 * A type's id is the number of its field, from 1, combined with the number of pointer stars that
 * have been followed and whether the field is dynamic. 0 is the struct itself.
 */
#include <string.h>

#include "base/array.h"
#include "event/event.h"
#include "lang/env/types.h"

#define ID_FIELD    0xffffull
#define ID_FOLLOWED 16		 /* shift of the number of stars that were followed */
#define ID_DATA_LOC (1ull << 62) /* above all BTF ids and DWARF offsets */
#define ID_REL_LOC  (1ull << 63)

struct fields {
	struct types types; /* first: its address is that of the whole struct */
	struct env *env;
	struct event *event;
	bool user; /* arguments of system calls point into the process */
	struct {
		const char *base;   /* name of the type without qualifiers, stars and brackets */
		unsigned int stars; /* of a pointer */
		bool user;
		struct type resolved; /* the type of base, after it was looked up */
		bool looked_up, found;
	} at[];
};

int env_dynamic(const struct member *m)
{
	return m->type.id & ID_DATA_LOC ? 1 : m->type.id & ID_REL_LOC ? 2 : 0;
}

/* ---- names of types in formats ---- */

/* Words that do not change the type. */
static bool is_qualifier(const char *word, size_t len)
{
	static const char *const words[] = {"const",	"volatile",   "__data_loc", "__rel_loc",
					    "__seg_gs", "__user",     "restrict",   "__percpu",
					    "__rcu",	"__restrict", "__iomem"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && !memcmp(words[i], word, len))
			return true;
	return len >= 13 && !memcmp(word, "__attribute__", 13);
}

static size_t word_len(const char *s)
{
	size_t parentheses = 0, n = 0;

	/* "__attribute__((x))" is one word. */
	for (; s[n]; n++) {
		if (s[n] == '(')
			parentheses++;
		else if (s[n] == ')' && parentheses)
			parentheses--;
		else if (!parentheses && strchr(" \t*[]", s[n]))
			break;
	}
	return n;
}

/* "const struct x *const *" is "struct x" and two stars. */
static const char *base_of(const char *type, struct arena *arena, unsigned int *stars)
{
	char *base = arena_alloc(arena, strlen(type) + 1);
	size_t used = 0;

	if (!base)
		return NULL;
	for (const char *s = type; *s && *s != '[';) {
		size_t len = word_len(s);

		if (!len) {
			*stars += *s == '*';
			s++;
			continue;
		}
		if (!is_qualifier(s, len)) {
			if (used)
				base[used++] = ' ';
			memcpy(base + used, s, len);
			used += len;
		}
		s += len;
	}
	base[used] = '\0';
	return base;
}

/* The type that a field's text names; false if it is not known. */
static bool resolve(struct fields *f, size_t field, struct type *t)
{
	if (!f->at[field].looked_up) {
		f->at[field].looked_up = true;
		f->at[field].found = env_type(f->env, f->at[field].base, &f->at[field].resolved);
	}
	*t = f->at[field].resolved;
	return f->at[field].found;
}

/* ---- types of fields ---- */

/* The field of a type; false for the struct itself. */
static bool field_of(const struct fields *f, const struct type *t, size_t *number)
{
	uint64_t id = t->id & ID_FIELD;

	*number = f->event->nr_common + id - 1;
	return id && *number < f->event->nr_fields;
}

/* A scalar of that size with a known name. */
static struct type scalar(const struct fields *f, size_t number, uint64_t id, uint64_t size)
{
	const struct event_field *field = &f->event->fields[number];
	const char *base = f->at[number].base;
	struct type t = {.in = &f->types, .id = id, .kind = TYPE_INTEGER, .size = size};
	struct type c;

	t.is_signed = field->flags & FIELD_SIGNED;
	t.is_enum = !strncmp(base, "enum ", 5);
	if (ctype_base(base, &c)) {
		t.is_char = c.is_char && size == 1;
		t.is_bool = c.is_bool && size == 1;
		/*
		 * Arguments of system calls are words; their formats do not say whether they are
		 * signed.
		 */
		if (size > c.size || field->flags & (FIELD_ARRAY | FIELD_DYNAMIC))
			t.is_signed = c.is_signed;
	}
	return t;
}

static uint64_t element_size(const struct fields *f, size_t number)
{
	const struct event_field *field = &f->event->fields[number];
	struct type c;

	if (field->elem_size)
		return field->elem_size;
	return ctype_base(f->at[number].base, &c) || resolve((struct fields *)f, number, &c)
		       ? type_size(&c)
		       : 0;
}

static struct type pointer(const struct fields *f, size_t number, uint64_t id, uint64_t size)
{
	return (struct type){
		.in = &f->types,
		.id = id,
		.kind = TYPE_POINTER,
		.size = size,
		.user = f->user || f->at[number].user,
	};
}

static bool is_text(const struct fields *f, size_t number)
{
	return !strcmp(f->at[number].base, "char") && !f->at[number].stars;
}

static struct type dynamic(const struct fields *f, size_t number, uint64_t id)
{
	uint32_t flags = f->event->fields[number].flags;

	return (struct type){
		.in = &f->types,
		.id = id | (flags & FIELD_RELATIVE ? ID_REL_LOC : ID_DATA_LOC),
		.kind = is_text(f, number) ? TYPE_TEXT : TYPE_ARRAY,
	};
}

static struct type array(const struct fields *f, size_t number, uint64_t id)
{
	const struct event_field *field = &f->event->fields[number];
	struct type t = {.in = &f->types, .id = id, .kind = TYPE_ARRAY, .size = field->size};
	uint64_t each;

	if (!field->size && is_text(f, number)) {
		t.kind = TYPE_TEXT;
		return t;
	}
	t.count = field->array_len;
	if (!t.count) {
		each = element_size(f, number);
		t.count = each ? field->size / each : 0;
	}
	return t;
}

static bool is_scalar_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static struct type type_of(const struct fields *f, size_t number)
{
	const struct event_field *field = &f->event->fields[number];
	uint64_t id = number - f->event->nr_common + 1;

	if (field->flags & FIELD_DYNAMIC)
		return dynamic(f, number, id);
	if (field->flags & FIELD_ARRAY)
		return array(f, number, id);
	if (f->at[number].stars && field->size <= 8)
		return pointer(f, number, id, field->size);
	if (is_scalar_size(field->size))
		return scalar(f, number, id, field->size);
	return (struct type){
		.in = &f->types,
		.id = id,
		.kind = field->size ? TYPE_STRUCT : TYPE_UNKNOWN,
		.size = field->size,
		.is_union = !strncmp(f->at[number].base, "union ", 6),
	};
}

/* A type that is known only by name. */
static struct type unknown(const struct fields *f, size_t number, uint64_t id)
{
	const char *name = f->at[number].base;
	enum ctype_tag tag = ctype_tag(&name);

	return (struct type){
		.in = &f->types,
		.id = id,
		.kind = tag == TAG_STRUCT || tag == TAG_UNION ? TYPE_STRUCT : TYPE_UNKNOWN,
		.is_union = tag == TAG_UNION,
	};
}

/* ---- queries ---- */

static bool fields_target(const struct types *in, const struct type *t, struct type *to)
{
	struct fields *f = (struct fields *)in;
	unsigned int followed = (unsigned int)(t->id >> ID_FOLLOWED & 0xff) + 1;
	uint64_t id = (t->id & ID_FIELD) | (uint64_t)followed << ID_FOLLOWED;
	size_t number;

	if (!field_of(f, t, &number))
		return false;
	if (t->kind == TYPE_ARRAY) {
		if (f->at[number].stars)
			*to = pointer(f, number, t->id & ID_FIELD, element_size(f, number));
		else if (is_scalar_size((uint32_t)element_size(f, number)))
			*to = scalar(f, number, t->id & ID_FIELD, element_size(f, number));
		else
			return resolve(f, number, to);
		return true;
	}
	if (followed < f->at[number].stars) {
		*to = pointer(f, number, id, 0);
		return true;
	}
	if (!resolve(f, number, to))
		*to = unknown(f, number, id);
	return true;
}

static bool fields_member(const struct types *in, const struct type *t, size_t number,
			  struct member *m)
{
	struct fields *f = (struct fields *)in;
	struct type inner;
	size_t field;

	if (field_of(f, t, &field))
		return resolve(f, field, &inner) && inner.kind == TYPE_STRUCT && inner.in &&
		       inner.in->member(inner.in, &inner, number, m);
	if (number >= f->event->nr_fields - f->event->nr_common)
		return false;
	number += f->event->nr_common;
	*m = (struct member){
		.name = f->event->fields[number].name,
		.offset = f->event->fields[number].offset,
		.type = type_of(f, number),
	};
	return true;
}

static const char *fields_name(const struct types *in, const struct type *t)
{
	const struct fields *f = (const struct fields *)in;
	size_t number;
	const char *name;

	if (!field_of(f, t, &number))
		return f->event->name;
	name = f->at[number].base;
	ctype_tag(&name);
	return name;
}

static bool fields_enumerator(const struct types *in, const struct type *t, size_t number,
			      struct enumerator *e)
{
	struct fields *f = (struct fields *)in;
	struct type inner;
	size_t field;

	return field_of(f, t, &field) && resolve(f, field, &inner) && inner.is_enum && inner.in &&
	       inner.in->enumerator && inner.in->enumerator(inner.in, &inner, number, e);
}

bool env_event_fields(struct env *e, struct event *event, struct type *fields)
{
	struct fields *f;
	uint64_t end = 0;

	if (event_ready(event) == EVENT_BROKEN || event->nr_fields < event->nr_common)
		return false;
	f = arena_alloc(e->arena, sizeof(*f) + event->nr_fields * sizeof(f->at[0]));
	if (!f)
		return false;
	f->types = (struct types){
		.target = fields_target,
		.member = fields_member,
		.name = fields_name,
		.enumerator = fields_enumerator,
	};
	f->env = e;
	f->event = event;
	f->user = !strcmp(event->system, "syscalls");
	for (uint32_t i = event->nr_common; i < event->nr_fields; i++) {
		const struct event_field *field = &event->fields[i];

		f->at[i].base = base_of(field->type, e->arena, &f->at[i].stars);
		if (!f->at[i].base)
			return false;
		f->at[i].user = strstr(field->type, "((user))") || strstr(field->type, "__user");
		if ((uint64_t)field->offset + field->size > end)
			end = (uint64_t)field->offset + field->size;
	}
	*fields = (struct type){.in = &f->types, .kind = TYPE_STRUCT, .size = end};
	return true;
}
