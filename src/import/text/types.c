// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Types of events made from their texts.
 *
 *	kmalloc: call_site=f+0x1/0x2 ptr=00000000ebaae876 bytes_req=24 node=-1
 *
 * A word followed by '=' begins a field, whose value ends before the next such word. When all texts
 * of an event have the same fields with the same marks between them, a print format makes the same
 * texts again; otherwise the texts are kept beside the fields. Values are numbers when all of them
 * are, written in one way; and words when not.
 */
#include "import/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define MAX_FIELDS  64	 /* of an event */
#define MAX_CLASSES 4096 /* events beyond have no type of their own */
#define MAX_WIDTH   20

struct split {
	struct {
		struct piece before, key, value;
	} at[MAX_FIELDS];
	size_t n;
	struct piece end; /* the last value: what is no value of any field */
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The length of a word with '=' after it; 0: there is none here. */
static size_t key_length(const char *p, const char *end)
{
	const char *at = p;

	if (at < end && isdigit((unsigned char)*at))
		return 0;
	while (at < end && is_word(*at))
		at++;
	return at > p && at + 1 < end && *at == '=' && at[1] != '=' ? (size_t)(at - p) : 0;
}

/* Marks after a value that are not part of it. */
static size_t trim_value(const char *at, size_t len)
{
	while (len && (at[len - 1] == ' ' || at[len - 1] == ','))
		len--;
	return len;
}

static void split_text(struct piece text, struct split *s)
{
	const char *p = text.at, *end = text.at + text.len, *from = p;

	s->n = 0;
	while (p < end && s->n < MAX_FIELDS) {
		const bool starts = p == text.at || p[-1] == ' ';
		const size_t len = starts ? key_length(p, end) : 0;

		if (!len) {
			p++;
			continue;
		}
		if (s->n) {
			struct piece *v = &s->at[s->n - 1].value;

			v->len = trim_value(v->at, (size_t)(p - v->at));
			from = v->at + v->len;
		}
		s->at[s->n].before = (struct piece){from, (size_t)(p - from)};
		s->at[s->n].key = (struct piece){p, len};
		p += len + 1;
		s->at[s->n].value = (struct piece){p, (size_t)(end - p)};
		s->n++;
	}
	s->end = s->n ? (struct piece){end, 0} : text;
}

/* ---- guesses -------------------------------------------------------------------------- */

static bool all_digits(struct piece v, bool hex)
{
	for (size_t i = 0; i < v.len; i++) {
		const char c = v.at[i];

		if (!isdigit((unsigned char)c) && !(hex && c >= 'a' && c <= 'f'))
			return false;
	}
	return v.len > 0;
}

static bool is_decimal(struct piece v, bool *large)
{
	const bool negative = v.len && *v.at == '-';
	struct piece digits = {v.at + negative, v.len - negative};
	uint64_t n;

	if (!all_digits(digits, false) || (*digits.at == '0' && (digits.len > 1 || negative)) ||
	    !take_decimal(&digits, &n))
		return false;
	if (n > INT64_MAX)
		*large = true;
	return !negative || n <= INT64_MAX;
}

static bool is_padded(struct piece v, uint32_t width)
{
	uint64_t n;

	return v.len >= width && v.len < MAX_WIDTH && all_digits(v, false) &&
	       (v.len == width || *v.at != '0') && take_decimal(&v, &n) && n <= INT64_MAX;
}

static bool is_0x(struct piece v)
{
	struct piece digits = v;

	return take_text(&digits, "0x") && digits.len <= 16 && all_digits(digits, true) &&
	       (digits.len == 1 || *digits.at != '0');
}

static bool is_hex(struct piece v, uint32_t width)
{
	return v.len == width && (width == 8 || width == 16) && all_digits(v, true);
}

static unsigned int guess(struct piece v, struct text_field *f)
{
	unsigned int may = 0;

	if (f->guesses & GUESS_DECIMAL && is_decimal(v, &f->large))
		may |= GUESS_DECIMAL;
	if (f->guesses & GUESS_PADDED && is_padded(v, f->width))
		may |= GUESS_PADDED;
	if (f->guesses & GUESS_0X && is_0x(v))
		may |= GUESS_0X;
	if (f->guesses & GUESS_HEX && is_hex(v, f->width))
		may |= GUESS_HEX;
	return may;
}

/* ---- classes -------------------------------------------------------------------------- */

void text_classes_free(struct text_classes *c)
{
	vec_each (it, &c->all)
		vec_free(&(*it)->fields);
	vec_free(&c->all);
	map_free(&c->by_name);
}

static struct piece keep(struct import *im, struct piece p)
{
	const char *kept = import_name(im, p.at, p.len);

	return (struct piece){kept ? kept : "", kept ? p.len : 0};
}

/* If there are too many, all others share the first one. NULL: no memory. */
static struct text_class *class_of(struct text_classes *c, struct piece name, bool make)
{
	const char *known = import_name(c->im, name.at, name.len);
	struct text_class *class = map_get(&c->by_name, (uintptr_t)known);

	if (!class && c->all.n >= MAX_CLASSES)
		return c->all.at[0];
	if (class || !make || !known)
		return class;
	class = import_get(c->im, &c->by_name, (uintptr_t)known, sizeof(*class));
	if (!class)
		return NULL;
	if (!vec_add(&c->all, &class)) {
		import_fail(c->im, -ENOMEM);
		return NULL;
	}
	class->name = (struct piece){known, name.len};
	return class;
}

/* If one text has several fields with the same name, only the first counts. */
static struct text_field *field_of(const struct text_class *class, struct piece key)
{
	vec_each (f, &class->fields)
		if (f->key.len == key.len && memcmp(f->key.at, key.at, key.len) == 0)
			return f;
	return NULL;
}

static void add_field(struct text_classes *c, struct text_class *class, struct piece before,
		      struct piece key, struct piece value)
{
	struct text_field *f;

	f = class->fields.n < MAX_FIELDS ? vec_push(&class->fields) : NULL;
	if (!f) {
		class->varies = true;
		return;
	}
	*f = (struct text_field){
		.before = keep(c->im, before),
		.key = keep(c->im, key),
		.guesses = GUESS_DECIMAL | GUESS_PADDED | GUESS_0X | GUESS_HEX,
		.width = (uint32_t)value.len,
	};
	f->guesses = guess(value, f);
}

/* What a print format cannot say without being quoted. */
static bool is_plain(struct piece p)
{
	for (size_t i = 0; i < p.len; i++) {
		const char c = p.at[i];

		if (c < ' ' || c > '~' || c == '%' || c == '"' || c == '\\')
			return false;
	}
	return true;
}

static bool same(struct piece a, struct piece b)
{
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

void text_classes_learn(struct text_classes *c, struct piece name, struct piece text)
{
	struct text_class *class = class_of(c, name, true);
	const bool first = class && !class->seen;
	struct split s;

	if (!class)
		return;
	split_text(text, &s);
	class->seen = true;
	if (first)
		class->end = keep(c->im, s.end);
	else if (s.n != class->fields.n || !same(s.end, class->end))
		class->varies = true;
	if (!class->varies && !is_plain(s.end))
		class->varies = true;
	for (size_t i = 0; i < s.n; i++) {
		struct text_field *f = field_of(class, s.at[i].key);

		if (!f) {
			if (!first)
				class->varies = true;
			add_field(c, class, s.at[i].before, s.at[i].key, s.at[i].value);
		} else if ((size_t)(f - class->fields.at) != i ||
			   !same(f->before, s.at[i].before) || first) {
			class->varies = true;
		}
		f = f ? f : field_of(class, s.at[i].key);
		if (f)
			f->guesses = guess(s.at[i].value, f);
		if (!class->varies && !is_plain(s.at[i].before))
			class->varies = true;
	}
}

/* ---- types ---------------------------------------------------------------------------- */

static void set_field(struct import *im, const struct text_field *f, struct import_field *to)
{
	static const char *const padded[MAX_WIDTH] = {
		[2] = "%02lld", [3] = "%03lld", [4] = "%04lld", [5] = "%05lld",
		[6] = "%06lld", [7] = "%07lld", [8] = "%08lld",
	};

	to->name = import_identifier(im, f->key.at, f->key.len);
	/* Each record has fields of these names already. */
	if (to->name && strncmp(to->name, "common_", 7) == 0)
		to->name += 6;
	to->size = 8;
	to->kind = IMPORT_NUMBER;
	if (f->guesses & GUESS_DECIMAL) {
		to->is_signed = !f->large;
		to->shown = f->large ? "%llu" : "%lld";
	} else if (f->guesses & GUESS_PADDED && f->width < MAX_WIDTH && padded[f->width]) {
		to->is_signed = true;
		to->shown = padded[f->width];
	} else if (f->guesses & GUESS_0X) {
		to->shown = "0x%llx";
	} else if (f->guesses & GUESS_HEX) {
		to->shown = f->width == 8 ? "%08llx" : "%016llx";
	} else {
		to->kind = IMPORT_TEXT;
		to->shown = "%s";
	}
}

static void put_print(const struct text_class *class, struct buf *out)
{
	if (class->varies) {
		buf_printf(out, "\"%%s\", __get_str(%s)", class->to[class->fields.n].name);
		return;
	}
	buf_putc(out, '"');
	for (size_t i = 0; i < class->fields.n; i++) {
		const struct text_field *f = &class->fields.at[i];

		buf_put(out, f->before.at, f->before.len);
		buf_put(out, f->key.at, f->key.len);
		buf_printf(out, "=%s", class->to[i].shown);
	}
	buf_put(out, class->end.at, class->end.len);
	buf_putc(out, '"');
	for (size_t i = 0; i < class->fields.n; i++)
		buf_printf(out, class->to[i].kind == IMPORT_TEXT ? ", __get_str(%s)" : ", REC->%s",
			   class->to[i].name);
}

static bool settle(struct import *im, struct text_class *class)
{
	const size_t n = class->fields.n;
	struct buf print;
	bool ok;

	class->to = import_alloc(im, (n + 1) * sizeof(*class->to));
	if (!class->to)
		return false;
	for (size_t i = 0; i < n; i++)
		set_field(im, &class->fields.at[i], &class->to[i]);
	class->to[n] = (struct import_field){.kind = IMPORT_TEXT, .name = "text"};
	for (size_t i = 0; i < n; i++)
		if (class->to[i].name && strcmp(class->to[i].name, "text") == 0)
			class->to[n].name = "_text";
	class->type = (struct import_type){
		.system = import_system(class->name.at, class->name.len),
		.name = import_identifier(im, class->name.at, class->name.len),
		.fields = class->to,
		.nr_fields = (uint32_t)n + class->varies,
	};
	if (im->rc < 0)
		return false;
	buf_init(&print, 1u << 20);
	put_print(class, &print);
	ok = import_type(im, &class->type, buf_str(&print));
	buf_free(&print);
	return ok;
}

void text_classes_settle(struct text_classes *c)
{
	vec_each (it, &c->all)
		if (!settle(c->im, *it))
			return;
}

/* ---- records -------------------------------------------------------------------------- */

static uint64_t number_of(const struct import_field *to, struct piece v)
{
	const bool negative = v.len && *v.at == '-';
	uint64_t n = 0;

	if (strchr(to->shown, 'x')) {
		take_text(&v, "0x");
		take_hexadecimal(&v, &n);
		return n;
	}
	piece_skip(&v, negative);
	take_decimal(&v, &n);
	return negative ? -n : n;
}

void text_classes_put(struct text_classes *c, const struct import_context *x, struct piece name,
		      struct piece text)
{
	struct text_class *class = class_of(c, name, false);
	struct split s;

	if (!class || !class->to)
		return;
	split_text(text, &s);
	import_begin(c->im, &class->type);
	for (size_t i = 0; i < s.n; i++) {
		const struct text_field *f = field_of(class, s.at[i].key);
		const struct import_field *to;

		if (!f)
			continue;
		to = &class->to[f - class->fields.at];
		if (to->kind == IMPORT_TEXT)
			import_set_text(c->im, to, s.at[i].value.at, s.at[i].value.len);
		else
			import_set(c->im, to, number_of(to, s.at[i].value));
	}
	if (class->varies)
		import_set_text(c->im, &class->to[class->fields.n], text.at, text.len);
	import_end(c->im, x);
}
