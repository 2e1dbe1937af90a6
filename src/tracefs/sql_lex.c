// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of a query, and how a mistake in it is told. */
#include "tracefs/sql_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

#define SHOWN 100 /* characters of a line before and after a mistake */

/* ---- mistakes ---- */

/* The start of the line that a place is in, and its number from 1. */
static size_t line_of(const char *text, size_t pos, size_t *number)
{
	size_t start = 0;

	*number = 1;
	for (size_t i = 0; i < pos; i++) {
		if (text[i] == '\n') {
			start = i + 1;
			++*number;
		}
	}
	return start;
}

int sql_error(struct sql *q, size_t pos, size_t len, const char *fmt, ...)
{
	size_t line, start;
	char words[300];
	va_list ap;

	if (q->rc < 0)
		return q->rc;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	start = line_of(q->text, pos, &line);
	*q->mistake = (struct sql_mistake){pos, len ? len : 1};
	q->rc = error_set(q->err, -EINVAL, "line %zu, column %zu: %s", line, pos - start + 1,
			  words);
	return q->rc;
}

static void put_visible(struct buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_putc(out, (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i]);
}

void sql_point(struct buf *out, const char *query, const struct sql_mistake *m)
{
	size_t len = strlen(query), pos = m->offset < len ? m->offset : len;
	size_t line, start, from, end;

	if (!m->len)
		return;
	start = line_of(query, pos, &line);
	end = pos + strcspn(query + pos, "\n");
	from = pos - start > SHOWN ? pos - SHOWN : start;
	if (end - pos > SHOWN)
		end = pos + SHOWN;
	buf_puts(out, from > start ? "..." : "");
	put_visible(out, query + from, end - from);
	buf_puts(out, query[end] && query[end] != '\n' ? "...\n" : "\n");
	buf_fill(out, ' ', pos - from + (from > start ? 3 : 0));
	buf_putc(out, '^');
	for (size_t i = 1; i < m->len && pos + i < end; i++)
		buf_putc(out, '~');
	buf_putc(out, '\n');
}

/* ---- memory ---- */

void *sql_alloc(struct sql *q, size_t size)
{
	void *p = arena_alloc(&q->arena, size);

	if (!p && q->rc == 0)
		q->rc = error_set(q->err, -ENOMEM, "out of memory");
	return p;
}

char *sql_copy(struct sql *q, const char *text, size_t len)
{
	char *copy = sql_alloc(q, len + 1);

	if (copy)
		memcpy(copy, text, len);
	return copy;
}

/* ---- words ---- */

static const struct {
	const char *text;
	enum sql_word word;
} keywords[] = {
	{"select", WORD_SELECT}, {"as", WORD_AS},	{"from", WORD_FROM}, {"join", WORD_JOIN},
	{"on", WORD_ON},	 {"where", WORD_WHERE}, {"cast", WORD_CAST}, {"and", WORD_AND},
	{"or", WORD_OR},	 {"not", WORD_NOT},
};

/* Longer signs come before those they start with. */
static const struct {
	const char *text;
	enum sql_word word;
} signs[] = {
	{"&&", WORD_AND},      {"||", WORD_OR},	 {"==", WORD_EQ},   {"!=", WORD_NE},
	{"<>", WORD_NE},       {"<=", WORD_LE},	 {">=", WORD_GE},   {"=", WORD_EQ},
	{"<", WORD_LT},	       {">", WORD_GT},	 {"&", WORD_BITS},  {"~", WORD_GLOB},
	{"!", WORD_NOT},       {"+", WORD_PLUS}, {"-", WORD_MINUS}, {"*", WORD_TIMES},
	{"/", WORD_DIVIDE},    {"(", WORD_OPEN}, {")", WORD_CLOSE}, {",", WORD_COMMA},
	{";", WORD_SEMICOLON},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool sql_is_word(const char *text)
{
	size_t n = 0;

	while (is_letter(text[n]) || (n && is_digit(text[n])))
		n++;
	return n && !text[n];
}

/* Blanks, and what stands behind "--" up to the end of the line. */
static void skip(struct sql *q)
{
	while (q->at < q->len) {
		const char *p = q->text + q->at;

		if (*p == ' ' || (*p >= '\t' && *p <= '\r'))
			q->at++;
		else if (p[0] == '-' && q->len - q->at > 1 && p[1] == '-')
			q->at += strcspn(p, "\n");
		else
			return;
	}
}

static struct sql_token bad(struct sql_token t)
{
	t.word = WORD_BAD;
	return t;
}

static struct sql_token name_token(struct sql *q, struct sql_token t)
{
	const char *p = q->text + t.pos;
	const bool escaped = *p == '\\';
	size_t n = escaped;

	while (t.pos + n < q->len && (is_letter(p[n]) || p[n] == '.' || is_digit(p[n])))
		n++;
	t.len = n;
	t.word = WORD_NAME;
	t.text = sql_copy(q, p + escaped, n - escaped);
	if (!t.text)
		return bad(t);
	for (size_t i = 0; !escaped && i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strcasecmp(t.text, keywords[i].text) == 0)
			t.word = keywords[i].word;
	return t;
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static struct sql_token number_token(struct sql *q, struct sql_token t)
{
	const char *p = q->text + t.pos;
	const size_t left = q->len - t.pos;
	const bool hex = left > 1 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	const int base = hex ? 16 : 10;
	size_t n = hex ? 2 : 0, first = n;
	bool large = false;

	for (; n < left && digit_of(p[n]) < base; n++)
		large |= __builtin_mul_overflow(t.number, (uint64_t)base, &t.number) ||
			 __builtin_add_overflow(t.number, (uint64_t)digit_of(p[n]), &t.number);
	t.len = n;
	t.word = WORD_NUMBER;
	if (n == first || (n < left && (is_letter(p[n]) || p[n] == '.'))) {
		while (t.len < left &&
		       (is_letter(p[t.len]) || is_digit(p[t.len]) || p[t.len] == '.'))
			t.len++;
		sql_error(q, t.pos, t.len, "'%.*s' is no number", (int)(t.len < 40 ? t.len : 40),
			  p);
		return bad(t);
	}
	if (large) {
		sql_error(q, t.pos, t.len, "the number does not fit into 64 bits");
		return bad(t);
	}
	return t;
}

static struct sql_token text_token(struct sql *q, struct sql_token t)
{
	const char *p = q->text + t.pos;
	size_t n = 1, left = q->len - t.pos;

	while (n < left && p[n] != *p && p[n] != '\n')
		n++;
	if (n == left || p[n] == '\n') {
		sql_error(q, t.pos, n, "the text has no closing quote");
		return bad(t);
	}
	t.len = n + 1;
	t.word = WORD_TEXT;
	t.text = sql_copy(q, p + 1, n - 1);
	return t.text ? t : bad(t);
}

struct sql_token sql_next_token(struct sql *q)
{
	struct sql_token t = {.word = WORD_END};
	const char *p;

	skip(q);
	t.pos = q->at;
	p = q->text + q->at;
	if (q->at == q->len)
		return t;
	if (is_letter(*p) || (*p == '\\' && q->len - q->at > 1 && is_letter(p[1]))) {
		t = name_token(q, t);
	} else if (is_digit(*p)) {
		t = number_token(q, t);
	} else if (*p == '"' || *p == '\'') {
		t = text_token(q, t);
	} else {
		for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]) && !t.len; i++) {
			size_t n = strlen(signs[i].text);

			if (q->len - q->at >= n && memcmp(p, signs[i].text, n) == 0) {
				t.word = signs[i].word;
				t.len = n;
			}
		}
		if (!t.len) {
			sql_error(q, t.pos, 1, "unexpected character '%c'",
				  *p >= 0x20 && *p < 0x7f ? *p : '?');
			return bad(t);
		}
	}
	q->at = t.pos + t.len;
	return t;
}
