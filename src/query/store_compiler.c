// SPDX-License-Identifier: GPL-2.0-or-later
/* What all parts of the compiler use: words of the statement, texts, and saying what is wrong. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/store_parts.h"

static const struct token no_token = {.kind = TOKEN_END};

/* ---- mistakes ---- */

void sx_fail(struct compiler *c, const char *fmt, ...)
{
	char text[400];
	va_list args;

	if (c->rc < 0)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	c->rc = error_set(c->err, -EINVAL, "%s", text);
}

void sx_no_memory(struct compiler *c)
{
	if (c->rc == 0)
		c->rc = error_set(c->err, -ENOMEM, "out of memory");
}

void sx_cannot(struct compiler *c, const char *what)
{
	sx_fail(c,
		"%s cannot be asked of ClickHouse; over trace files or Parquet, "
		"'spur sql --fleet FOLDER' can",
		what);
}

void sx_only_shown(struct compiler *c, const char *what)
{
	sx_fail(c,
		"%s can only be a column of the outermost SELECT, as ClickHouse does not know it; "
		"over trace files or Parquet, 'spur sql --fleet FOLDER' knows it anywhere",
		what);
}

bool sx_deeper(struct compiler *c)
{
	if (c->depth >= STORE_DEPTH)
		sx_fail(c, "the statement is nested too deeply");
	else
		c->depth++;
	return c->rc == 0;
}

const char *sx_text(struct compiler *c, const char *fmt, ...)
{
	const char *copy = NULL;
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n >= 0) {
		copy = arena_strndup(&c->arena, text, (size_t)n);
		free(text);
	}
	if (!copy)
		sx_no_memory(c);
	return copy ? copy : "";
}

/* ---- tokens ---- */

const struct token *sx_peek(const struct compiler *c, size_t ahead)
{
	return c->pos + ahead < c->end ? &c->tokens->at[c->pos + ahead] : &no_token;
}

static bool is_word(const struct compiler *c, const struct token *t, const char *word)
{
	return t->kind == TOKEN_WORD && strlen(word) == t->len &&
	       strncasecmp(c->sql + t->at, word, t->len) == 0;
}

bool sx_at_word(const struct compiler *c, size_t ahead, const char *word)
{
	return is_word(c, sx_peek(c, ahead), word);
}

static bool is_sign(const struct compiler *c, const struct token *t, const char *sign)
{
	return t->kind == TOKEN_SIGN && strlen(sign) == t->len &&
	       memcmp(c->sql + t->at, sign, t->len) == 0;
}

bool sx_at_sign(const struct compiler *c, size_t ahead, const char *sign)
{
	return is_sign(c, sx_peek(c, ahead), sign);
}

bool sx_accept_word(struct compiler *c, const char *word)
{
	const bool there = sx_at_word(c, 0, word);

	c->pos += there;
	return there;
}

bool sx_accept_sign(struct compiler *c, const char *sign)
{
	const bool there = sx_at_sign(c, 0, sign);

	c->pos += there;
	return there;
}

void sx_unexpected(struct compiler *c)
{
	const struct token *t = sx_peek(c, 0);

	if (t->kind == TOKEN_END)
		sx_fail(c, "syntax error: the statement ends too early");
	else
		sx_fail(c, "syntax error near '%.*s'", (int)(t->len < 40 ? t->len : 40),
			c->sql + t->at);
}

void sx_expect_sign(struct compiler *c, const char *sign)
{
	if (c->rc == 0 && !sx_accept_sign(c, sign))
		sx_unexpected(c);
}

/* Words that end something, and so are no names without quotes. */
static bool reserved(const struct compiler *c, const struct token *t)
{
	static const char *const words[] = {
		"select", "from",  "where",  "group",  "having",  "order",     "limit", "union",
		"except", "as",	   "on",     "using",  "join",	  "left",      "inner", "cross",
		"and",	  "or",	   "not",    "in",     "between", "like",      "glob",	"is",
		"case",	  "when",  "then",   "else",   "end",	  "intersect", "null",	"natural",
		"isnull", "set",   "values", "offset", "window",  "notnull",   "full",	"right",
		"exists", "outer", "regexp", "match",  "escape",  "collate",   NULL,
	};

	for (const char *const *w = words; *w; w++)
		if (is_word(c, t, *w))
			return true;
	return false;
}

bool sx_is_name(const struct compiler *c, size_t ahead)
{
	const struct token *t = sx_peek(c, ahead);

	return t->kind == TOKEN_NAME || (t->kind == TOKEN_WORD && !reserved(c, t));
}

/* What is in quotes, without them. */
static const char *unquote(struct compiler *c, const struct token *t, char quote)
{
	char *copy = arena_strndup(&c->arena, c->sql + t->at + 1, t->len - 2), *to = copy;

	if (!copy) {
		sx_no_memory(c);
		return "";
	}
	for (const char *from = copy; *from; from++) {
		*to++ = *from;
		if (*from == quote && quote != ']' && from[1] == quote)
			from++;
	}
	*to = '\0';
	return copy;
}

const char *sx_take_name(struct compiler *c)
{
	const struct token *t = sx_peek(c, 0);

	if (t->kind == TOKEN_STRING || !sx_is_name(c, 0)) {
		sx_unexpected(c);
		return "";
	}
	c->pos++;
	if (t->kind == TOKEN_NAME)
		return unquote(c, t, c->sql[t->at] == '[' ? ']' : c->sql[t->at]);
	return sx_text(c, "%.*s", (int)t->len, c->sql + t->at);
}

const char *sx_tokens_text(struct compiler *c, size_t from, size_t to)
{
	const struct token *first = &c->tokens->at[from], *last;

	if (from >= to)
		return "";
	last = &c->tokens->at[to - 1];
	return sx_text(c, "%.*s", (int)(last->at + last->len - first->at), c->sql + first->at);
}

size_t sx_find_word(const struct compiler *c, size_t from, size_t to, const char *const *words)
{
	size_t depth = 0;

	for (size_t i = from; i < to; i++) {
		const struct token *t = &c->tokens->at[i];

		if (is_sign(c, t, "(") || is_word(c, t, "case"))
			depth++;
		else if ((is_sign(c, t, ")") || is_word(c, t, "end")) && depth)
			depth--;
		for (const char *const *w = words; !depth && *w; w++)
			if (is_word(c, t, *w) || is_sign(c, t, *w))
				return i;
	}
	return to;
}

/* The bracket that closes the one before `from`; `to` when there is none. */
size_t sx_find_close(const struct compiler *c, size_t from, size_t to)
{
	size_t depth = 0;

	for (size_t i = from; i < to; i++) {
		const struct token *t = &c->tokens->at[i];

		if (is_sign(c, t, "("))
			depth++;
		else if (is_sign(c, t, ")") && !depth--)
			return i;
	}
	return to;
}

/* ---- texts ---- */

const char *sx_quote_remote(struct compiler *c, const char *text, size_t len)
{
	const char *out;
	struct buf b;

	buf_init(&b, 1u << 20);
	buf_putc(&b, '\'');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\'' || text[i] == '\\')
			buf_putc(&b, '\\');
		if (text[i])
			buf_putc(&b, text[i]);
		else
			buf_puts(&b, "\\0");
	}
	buf_putc(&b, '\'');
	if (buf_full(&b))
		sx_fail(c, "a text of the statement is too long");
	out = sx_text(c, "%s", buf_str(&b));
	buf_free(&b);
	return out;
}

const char *sx_quote_local(struct compiler *c, const char *text, size_t len)
{
	char *quoted = memchr(text, 0, len) ? NULL : sqlite3_mprintf("'%.*q'", (int)len, text);
	const char *out;

	if (!quoted)
		sx_fail(c, "a text with a zero byte in it");
	out = sx_text(c, "%s", quoted ? quoted : "");
	sqlite3_free(quoted);
	return out;
}
