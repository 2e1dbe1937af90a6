// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of C's definitions. Comments, and lines that begin with '#', are passed over. */
#include <ctype.h>
#include <string.h>

#include "lang/cdef_parts.h"

static char at(const struct clexer *l, uint32_t ahead)
{
	return ahead < l->end - l->pos ? l->text[l->pos + ahead] : '\0';
}

static void skip_line(struct clexer *l)
{
	while (l->pos < l->end && at(l, 0) != '\n')
		l->pos += at(l, 0) == '\\' && l->end - l->pos > 1 ? 2 : 1;
}

static void skip_comment(struct clexer *l)
{
	l->pos += 2;
	while (l->pos < l->end && !(at(l, 0) == '*' && at(l, 1) == '/'))
		l->pos++;
	l->pos = l->end - l->pos < 2 ? l->end : l->pos + 2;
}

static void skip_blanks(struct clexer *l)
{
	while (l->pos < l->end) {
		if (isspace((unsigned char)at(l, 0)))
			l->pos++;
		else if (at(l, 0) == '/' && at(l, 1) == '*')
			skip_comment(l);
		else if (at(l, 0) == '#' || (at(l, 0) == '/' && at(l, 1) == '/'))
			skip_line(l);
		else
			return;
	}
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool read_number(struct clexer *l, int64_t *value)
{
	int base = 10;
	uint64_t v = 0;
	bool fits = true;

	if (at(l, 0) == '0' && (at(l, 1) | 0x20) == 'x') {
		base = 16;
		l->pos += 2;
	} else if (at(l, 0) == '0' && (at(l, 1) | 0x20) == 'b') {
		base = 2;
		l->pos += 2;
	} else if (at(l, 0) == '0') {
		base = 8;
	}
	for (; digit(at(l, 0)) < base; l->pos++)
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit(at(l, 0)), &v))
			fits = false;
	while (strchr("uUlL", at(l, 0)) && at(l, 0))
		l->pos++;
	*value = (int64_t)v;
	return fits && !isalnum((unsigned char)at(l, 0)) && at(l, 0) != '_' && at(l, 0) != '.';
}

/* What stands between two quotes; of a character its number. */
static bool read_quoted(struct clexer *l, char quote, int64_t *value)
{
	static const char letters[] = "n\nt\tr\ra\ab\bf\fv\v0\0";

	l->pos++;
	while (l->pos < l->end && at(l, 0) != quote && at(l, 0) != '\n') {
		*value = (signed char)at(l, 0);
		if (at(l, 0) == '\\' && l->end - l->pos > 1) {
			l->pos++;
			*value = at(l, 0);
			for (size_t i = 0; i + 1 < sizeof(letters) - 1; i += 2)
				if (letters[i] == at(l, 0))
					*value = letters[i + 1];
		}
		l->pos++;
	}
	if (at(l, 0) != quote)
		return false;
	l->pos++;
	return true;
}

static int read_mark(struct clexer *l)
{
	static const struct {
		char text[3];
		int op;
	} doubles[] = {{"<<", OP_SHL}, {">>", OP_SHR}, {"==", OP_EQ},  {"!=", OP_NE},
		       {"<=", OP_LE},  {">=", OP_GE},  {"&&", OP_AND}, {"||", OP_OR}};

	for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
		if (at(l, 0) == doubles[i].text[0] && at(l, 1) == doubles[i].text[1]) {
			l->pos += 2;
			return doubles[i].op;
		}
	}
	return (unsigned char)l->text[l->pos++];
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

struct ctoken clex_next(struct clexer *l)
{
	struct ctoken t = {0};

	skip_blanks(l);
	t.at.from = l->pos;
	if (l->pos >= l->end) {
		t.kind = CT_END;
	} else if (isdigit((unsigned char)at(l, 0))) {
		t.kind = read_number(l, &t.value) ? CT_NUMBER : CT_BAD;
	} else if (is_name(at(l, 0))) {
		t.kind = CT_NAME;
		while (l->pos < l->end && is_name(at(l, 0)))
			l->pos++;
	} else if (at(l, 0) == '\'') {
		t.kind = read_quoted(l, '\'', &t.value) ? CT_NUMBER : CT_BAD;
	} else if (at(l, 0) == '"') {
		t.kind = read_quoted(l, '"', &t.value) ? CT_STRING : CT_BAD;
	} else {
		t.kind = CT_MARK;
		t.op = read_mark(l);
	}
	t.at.to = l->pos;
	return t;
}
