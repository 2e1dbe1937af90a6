// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of an answer in text: types from their names, values from their escapes. */
#include "store/clickhouse/tsv.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define MAX_NUMBER 64 /* bytes of one as text */

void tsv_free(struct tsv *t)
{
	vec_each (name, &t->names)
		free(*name);
	vec_free(&t->names);
	vec_free(&t->kinds);
	vec_free(&t->values);
}

/* ---- types ---- */

/* What is within NAME(...), in place of it. */
static bool unwrap(const char **type, size_t *len, const char *name)
{
	const size_t n = strlen(name);

	if (*len < n + 2 || memcmp(*type, name, n) != 0 || (*type)[n] != '(' ||
	    (*type)[*len - 1] != ')')
		return false;
	*type += n + 1;
	*len -= n + 2;
	return true;
}

enum tsv_kind tsv_kind_of(const char *type, size_t len)
{
	static const struct {
		const char *name;
		enum tsv_kind kind;
	} kinds[] = {
		{"Int8", TSV_INTEGER},	 {"Int16", TSV_INTEGER},  {"Int32", TSV_INTEGER},
		{"Int64", TSV_INTEGER},	 {"UInt8", TSV_INTEGER},  {"UInt16", TSV_INTEGER},
		{"UInt32", TSV_INTEGER}, {"UInt64", TSV_INTEGER}, {"Bool", TSV_INTEGER},
		{"Float32", TSV_REAL},	 {"Float64", TSV_REAL},
	};

	while (unwrap(&type, &len, "LowCardinality") || unwrap(&type, &len, "Nullable"))
		;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, type, len) == 0)
			return kinds[i].kind;
	return TSV_TEXT;
}

/* ---- values ---- */

/* Undoes escapes in place; how long it is then. */
static size_t unescape(char *text, size_t len)
{
	static const char codes[] = "bfrnt0", bytes[] = "\b\f\r\n\t";
	char *to = text;

	for (size_t i = 0; i < len; i++) {
		const char *code;

		if (text[i] != '\\' || i + 1 == len) {
			*to++ = text[i];
			continue;
		}
		code = memchr(codes, text[++i], sizeof(codes) - 1);
		/* The array's own zero is the byte of the last code. */
		*to++ = code ? bytes[code - codes] : text[i];
	}
	return (size_t)(to - text);
}

/* Digits that fill 64 bits: 1 when they do not fit, -1: this is no number. */
static int read_integer(const char *text, size_t len, int64_t *out)
{
	const bool minus = len && *text == '-';
	int64_t v = 0;
	bool fits = true;

	if (len == (size_t)minus || len > MAX_NUMBER)
		return -1;
	for (size_t i = minus; i < len; i++) {
		const int digit = text[i] - '0';

		if (digit < 0 || digit > 9)
			return -1;
		fits = fits && !__builtin_mul_overflow(v, 10, &v) &&
		       !__builtin_add_overflow(v, minus ? -digit : digit, &v);
	}
	*out = v;
	return !fits;
}

static bool read_real(const char *text, size_t len, double *out)
{
	char copy[MAX_NUMBER + 1], *end;

	if (!len || len > MAX_NUMBER || memchr(text, 0, len))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*out = strtod(copy, &end);
	return !*end;
}

static bool read_value(struct tsv_value *v, char *text, size_t len)
{
	int rc;

	v->null = len == 2 && memcmp(text, "\\N", 2) == 0;
	if (v->null)
		return true;
	v->text = text;
	v->len = len;
	switch (v->kind) {
	case TSV_INTEGER:
		if ((len == 4 && memcmp(text, "true", 4) == 0) ||
		    (len == 5 && memcmp(text, "false", 5) == 0)) {
			v->number = len == 4;
			return true;
		}
		rc = read_integer(text, len, &v->number);
		if (rc > 0)
			v->kind = TSV_TEXT;
		return rc >= 0;
	case TSV_REAL:
		if (!read_real(text, len, &v->real))
			return false;
		v->null = isnan(v->real);
		return true;
	default: v->len = unescape(text, len); return true;
	}
}

/* ---- lines ---- */

/* The next field of a line; false after the last. */
static bool next_field(char **at, char *end, char **field, size_t *len)
{
	char *tab;

	if (!*at)
		return false;
	tab = memchr(*at, '\t', (size_t)(end - *at));
	*field = *at;
	*len = (size_t)((tab ? tab : end) - *at);
	*at = tab ? tab + 1 : NULL;
	return true;
}

static size_t count_fields(const char *line, size_t len)
{
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		n += line[i] == '\t';
	return n;
}

static int take_types(struct tsv *t, char *line, size_t len)
{
	char *at = line, *field;
	size_t n;

	if (count_fields(line, len) != t->kinds.n)
		return -EBADMSG;
	for (size_t i = 0; next_field(&at, line + len, &field, &n); i++) {
		if (!n || !isalpha((unsigned char)*field))
			return -EBADMSG;
		t->kinds.at[i] = tsv_kind_of(field, n);
	}
	return 0;
}

static int take_names(struct tsv *t, char *line, size_t len)
{
	char *at = line, *field;
	size_t n;

	if (count_fields(line, len) > TSV_COLUMNS)
		return -EBADMSG;
	while (next_field(&at, line + len, &field, &n)) {
		char **name = vec_push(&t->names);

		if (!name || !vec_push(&t->kinds) || !vec_push(&t->values))
			return -ENOMEM;
		*name = strndup(field, unescape(field, n));
		if (!*name)
			return -ENOMEM;
	}
	return 0;
}

int tsv_take(struct tsv *t, char *line, size_t len)
{
	char *at = line, *field;
	size_t n, i = 0;

	if (t->lines < 2) {
		const int rc = t->lines ? take_types(t, line, len) : take_names(t, line, len);

		t->lines++;
		return rc;
	}
	if (count_fields(line, len) != t->kinds.n)
		return -EBADMSG;
	for (; next_field(&at, line + len, &field, &n); i++) {
		t->values.at[i] = (struct tsv_value){.kind = t->kinds.at[i]};
		if (!read_value(&t->values.at[i], field, n))
			return -EBADMSG;
	}
	return 1;
}
