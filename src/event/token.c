// SPDX-License-Identifier: GPL-2.0-or-later
/* The lexer of format files. */
#include "event/token.h"

#include <limits.h>
#include <stdlib.h>

enum class {
	CLASS_NONE, /* not printable: nothing is read beyond it */
	CLASS_NEWLINE,
	CLASS_SPACE,
	CLASS_WORD,
	CLASS_CHAR,
	CLASS_STRING,
	CLASS_DELIM,
	CLASS_OP,
};

static enum class class_of(char c) {
	if (c == '\n') return CLASS_NEWLINE;
	if (c == ' ' || (c >= '\t' && c <= '\r')) return CLASS_SPACE;
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    c == '_') return CLASS_WORD;
	if (c == '\'') return CLASS_CHAR;
	if (c == '"') return CLASS_STRING;
	if (c == '(' || c == ')' || c == ',') return CLASS_DELIM;
	return c > ' ' && c <= '~' ? CLASS_OP : CLASS_NONE;
}

static bool is_print(char c)
{
	return c >= ' ' && c <= '~';
}

/*
 * Where a quoted text that starts at p ends, NULL when it does not. The quote ends it unless a
 * backslash stands before, and so does any unprintable character but a line end.
 */
static const char *quoted_end(const char *p, const char *end, char quote)
{
	for (char before = quote; p < end; before = *p++) {
		if (*p <= 0)
			return NULL;
		if (before == '\\' || *p == '\n')
			continue;
		if (*p == quote || !is_print(*p))
			return p;
	}
	return NULL;
}

static struct token nothing(struct lexer *l)
{
	l->pos = l->end;
	return (struct token){TOKEN_END, "", 0};
}

/* Where the next piece of a string begins (behind its quote) when one follows, or NULL. */
static const char *next_piece(const struct lexer *l, const char *p)
{
	while (p < l->end && (class_of(*p) == CLASS_SPACE || *p == '\n'))
		p++;
	return p < l->end && *p == '"' ? p + 1 : NULL;
}

/*
 * Walks over the pieces of a string from p, behind the first quote, and copies them to `out` unless
 * that is NULL. Returns the place behind the last quote, or NULL.
 */
static const char *walk_pieces(const struct lexer *l, const char *p, char *out, size_t *len)
{
	const char *end = NULL;

	*len = 0;
	while (p) {
		end = quoted_end(p, l->end, '"');
		if (!end)
			return NULL;
		if (out)
			memcpy(out + *len, p, (size_t)(end - p));
		*len += (size_t)(end - p);
		p = next_piece(l, ++end);
	}
	return end;
}

static struct token string(struct lexer *l)
{
	const char *start = l->pos + 1;
	struct token t = {TOKEN_STRING, start, 0};
	const char *behind = walk_pieces(l, start, NULL, &t.len);

	if (!behind)
		return nothing(l);
	if (start + t.len + 1 != behind) {
		char *joined = l->arena ? arena_alloc(l->arena, t.len + 1) : NULL;

		if (!joined)
			return nothing(l);
		walk_pieces(l, start, joined, &t.len);
		t.text = joined;
	}
	l->pos = behind;
	return t;
}

static struct token character(struct lexer *l)
{
	const char *start = l->pos + 1;
	const char *end = quoted_end(start, l->end, '\'');

	if (!end)
		return nothing(l);
	l->pos = end + 1;
	return (struct token){TOKEN_CHAR, start, (size_t)(end - start)};
}

static struct token slice(struct lexer *l, enum token_kind kind, size_t len)
{
	struct token t = {kind, l->pos, len};

	l->pos += len;
	return t;
}

static size_t op_len(const struct lexer *l)
{
	const char *p = l->pos;
	const char a = p[0];
	const char b = l->end - p > 1 ? p[1] : '\0';
	const char c = l->end - p > 2 ? p[2] : '\0';

	if (a == '-' && b == '>')
		return 2;
	if (strchr("-+|&<>", a) && a == b)
		return strchr("<>", a) && c == '=' ? 3 : 2;
	return strchr("-+|&<>!=", a) && b == '=' ? 2 : 1;
}

/*
 * Macros that old kernels forgot to expand in the formats of mac80211 stand for the strings they
 * were defined as.
 */
static struct token word(struct lexer *l)
{
	static const struct {
		const char *name, *text;
	} forgotten[] = {
		{"LOCAL_PR_FMT", "%s"},
		{"STA_PR_FMT", " sta:%pM"},
		{"VIF_PR_FMT", " vif:%p(%d)"},
	};
	const char *p = l->pos;
	struct token t;

	while (p < l->end && class_of(*p) == CLASS_WORD)
		p++;
	t = slice(l, TOKEN_WORD, (size_t)(p - l->pos));
	for (size_t i = 0; i < sizeof(forgotten) / sizeof(forgotten[0]); i++)
		if (token_is_word(&t, forgotten[i].name))
			return (struct token){TOKEN_STRING, forgotten[i].text,
					      strlen(forgotten[i].text)};
	return t;
}

struct token lexer_next(struct lexer *l)
{
	while (l->pos < l->end && class_of(*l->pos) == CLASS_SPACE)
		l->pos++;
	if (l->pos >= l->end)
		return nothing(l);
	switch (class_of(*l->pos)) {
	case CLASS_NEWLINE: return slice(l, TOKEN_NEWLINE, 1);
	case CLASS_DELIM: return slice(l, TOKEN_DELIM, 1);
	case CLASS_WORD: return word(l);
	case CLASS_STRING: return string(l);
	case CLASS_CHAR: return character(l);
	case CLASS_OP: return slice(l, TOKEN_OP, op_len(l));
	default: return nothing(l);
	}
}

struct token lexer_next_item(struct lexer *l)
{
	struct token t = lexer_next(l);

	while (t.kind == TOKEN_NEWLINE)
		t = lexer_next(l);
	return t;
}

unsigned int token_number(const struct token *t)
{
	char digits[32];
	unsigned long long v;

	if (t->len >= sizeof(digits))
		return 0;
	memcpy(digits, t->text, t->len);
	digits[t->len] = '\0';
	v = strtoull(digits, NULL, 0);
	return v > INT_MAX ? INT_MAX : (unsigned int)v;
}
