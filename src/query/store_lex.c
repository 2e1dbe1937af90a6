// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of SQL, as SQLite has them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/store_parts.h"

static bool name_start(char ch)
{
	return isalpha((unsigned char)ch) || ch == '_' || (unsigned char)ch >= 0x80;
}

static bool name_byte(char ch)
{
	return name_start(ch) || isdigit((unsigned char)ch) || ch == '$';
}

/* How long what is in quotes is, with them; 0: it has no end. A quote twice stands for itself. */
static size_t quoted(const char *at, char end)
{
	for (size_t n = 1; at[n]; n++) {
		if (at[n] != end)
			continue;
		if (end == ']' || at[n + 1] != end)
			return n + 1;
		n++;
	}
	return 0;
}

static size_t blanks(const char *at)
{
	size_t n = 0;

	for (;;) {
		if (isspace((unsigned char)at[n])) {
			n++;
		} else if (at[n] == '-' && at[n + 1] == '-') {
			n += strcspn(at + n, "\n");
		} else if (at[n] == '/' && at[n + 1] == '*') {
			const char *end = strstr(at + n + 2, "*/");

			n = end ? (size_t)(end - at) + 2 : n + strlen(at + n);
		} else {
			return n;
		}
	}
}

static size_t number(const char *at, enum token_kind *kind)
{
	size_t n = 0;

	*kind = TOKEN_INTEGER;
	if (at[0] == '0' && (at[1] | 32) == 'x' && isxdigit((unsigned char)at[2])) {
		for (n = 2; isxdigit((unsigned char)at[n]); n++)
			;
		return n;
	}
	while (isdigit((unsigned char)at[n]))
		n++;
	if (at[n] == '.') {
		*kind = TOKEN_REAL;
		for (n++; isdigit((unsigned char)at[n]); n++)
			;
	}
	if ((at[n] | 32) == 'e') {
		const size_t sign = at[n + 1] == '+' || at[n + 1] == '-';

		if (isdigit((unsigned char)at[n + 1 + sign])) {
			*kind = TOKEN_REAL;
			for (n += 1 + sign; isdigit((unsigned char)at[n]); n++)
				;
		}
	}
	return n;
}

static size_t sign(const char *at)
{
	static const char *const two[] = {
		"||", "==", "<>", "!=", "<=", ">=", "<<", ">>", "->", NULL};

	for (const char *const *s = two; *s; s++)
		if (strncmp(at, *s, 2) == 0)
			return 2;
	return strchr("()+-*/%<>=.,&|~!", *at) ? 1 : 0;
}

static size_t word(const char *at)
{
	size_t n = 0;

	while (name_byte(at[n]))
		n++;
	return n;
}

/* 0: what is there is nothing of SQL's. */
static size_t take(const char *at, enum token_kind *kind)
{
	if ((*at | 32) == 'x' && at[1] == '\'') {
		const size_t n = quoted(at + 1, '\'');

		*kind = TOKEN_BLOB;
		return n ? n + 1 : 0;
	}
	if (name_start(*at)) {
		*kind = TOKEN_WORD;
		return word(at);
	}
	if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1])))
		return number(at, kind);
	if (*at == '\'') {
		*kind = TOKEN_STRING;
		return quoted(at, '\'');
	}
	if (strchr("\"`[", *at)) {
		*kind = TOKEN_NAME;
		return quoted(at, *at == '[' ? ']' : *at);
	}
	if (strchr(":@$?", *at)) {
		*kind = TOKEN_PARAM;
		return *at == '?' || name_byte(at[1]) ? 1 + word(at + 1) : 0;
	}
	*kind = TOKEN_SIGN;
	return sign(at);
}

int store_lex(const char *sql, struct tokens *out, size_t *used, struct spur_error *err)
{
	size_t at = 0;

	for (;;) {
		struct token *t = vec_push(out);
		enum token_kind kind = TOKEN_END;
		size_t len = 0;

		if (!t)
			return error_set(err, -ENOMEM, "out of memory");
		at += blanks(sql + at);
		if (sql[at] && sql[at] != ';') {
			len = take(sql + at, &kind);
			if (!len)
				return error_set(err, -EINVAL, "%s near '%.20s'",
						 strchr("'\"`[", sql[at]) ? "a quote has no end"
									  : "syntax error",
						 sql + at);
		}
		*t = (struct token){kind, at, len};
		if (kind == TOKEN_END) {
			*used = at + (sql[at] == ';');
			return 0;
		}
		at += len;
	}
}

int store_params_find(const char *sql, const struct tokens *tokens, struct store_params *out)
{
	vec_each (t, tokens) {
		struct store_param *p;
		bool known = false;

		if (t->kind != TOKEN_PARAM)
			continue;
		vec_each (other, out)
			known |= strlen(other->name) == t->len && t->len > 1 &&
				 memcmp(other->name, sql + t->at, t->len) == 0;
		if (known)
			continue;
		p = vec_push(out);
		if (!p)
			return -ENOMEM;
		p->name = strndup(sql + t->at, t->len);
		if (!p->name) {
			out->n--;
			return -ENOMEM;
		}
	}
	return 0;
}
