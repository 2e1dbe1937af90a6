// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The words of a filter expression. Every call returns one word and moves on; a word that cannot
 * be is returned as WORD_BAD with the reason, after which the reader is not asked again.
 *
 * A backslash keeps a quote from ending a text but stays in it, as in libtraceevent: a regular
 * expression wants to see it. Texts in double quotes that follow each other are one.
 */
#include "event/filter_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Longer operators come before those they start with. */
static const struct {
	const char *text;
	enum filter_op op;
} operators[] = {
	{"&&", OP_AND},	       {"||", OP_OR},	       {"==", OP_EQ},	 {"!=", OP_NE},
	{"<=", OP_LE},	       {">=", OP_GE},	       {"=~", OP_REGEX}, {"!~", OP_NOT_REGEX},
	{"<<", OP_SHIFT_LEFT}, {">>", OP_SHIFT_RIGHT}, {"<", OP_LT},	 {">", OP_GT},
	{"!", OP_NOT},	       {"~", OP_TILDE},	       {"|", OP_BIT_OR}, {"^", OP_BIT_XOR},
	{"&", OP_BIT_AND},     {"+", OP_ADD},	       {"-", OP_SUB},	 {"*", OP_MUL},
	{"/", OP_DIV},	       {"%", OP_MOD},	       {".", OP_DOT},
};

#define NR_OPERATORS (sizeof(operators) / sizeof(operators[0]))

const char *filter_op_text(enum filter_op op)
{
	for (size_t i = 0; i < NR_OPERATORS; i++)
		if (operators[i].op == op)
			return operators[i].text;
	return "?";
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word_char(char c)
{
	return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void skip_space(struct word_reader *r)
{
	while (r->pos < r->len && is_space(r->text[r->pos]))
		r->pos++;
}

static struct word bad(struct word_reader *r, size_t pos, enum filter_reason reason,
		       const char *why)
{
	return (struct word){.kind = WORD_BAD,
			     .pos = pos,
			     .len = r->pos > pos ? r->pos - pos : 1,
			     .text = why,
			     .reason = reason};
}

/* What may follow a number's digits as in C: u, l, ul, ll, ull. */
static bool is_suffix(const char *s, const char *end)
{
	size_t n_u = 0, n_l = 0;

	for (; s < end; s++) {
		if (*s == 'u' || *s == 'U')
			n_u++;
		else if (*s == 'l' || *s == 'L')
			n_l++;
		else
			return false;
	}
	return n_u <= 1 && n_l <= 2;
}

static struct word read_number(struct word_reader *r, struct word t)
{
	/* The text is NUL-terminated, so that strtoull() stops in it. */
	const char *start = r->text + t.pos, *end = start + t.len;
	char *stop;

	errno = 0;
	t.kind = WORD_NUMBER;
	t.number = strtoull(start, &stop, 0);
	if (errno)
		return bad(r, t.pos, FILTER_SYNTAX, "this number does not fit into 64 bits");
	if (stop > end || !is_suffix(stop, end))
		return bad(r, t.pos, FILTER_SYNTAX, "this is neither a number nor a name");
	return t;
}

static struct word read_word(struct word_reader *r)
{
	struct word t = {.kind = WORD_NAME, .pos = r->pos};

	while (r->pos < r->len && is_word_char(r->text[r->pos]))
		r->pos++;
	t.len = r->pos - t.pos;
	t.text = r->text + t.pos;
	t.text_len = t.len;
	return is_digit(*t.text) ? read_number(r, t) : t;
}

/* Steps over one text and its quotes; false when it does not end. */
static bool skip_text(struct word_reader *r)
{
	char quote = r->text[r->pos++];

	while (r->pos < r->len && r->text[r->pos] != quote)
		r->pos += r->text[r->pos] == '\\' ? 2 : 1;
	if (r->pos >= r->len) {
		r->pos = r->len;
		return false;
	}
	r->pos++;
	return true;
}

/* Copies the pieces of a text that lie in [pos, end) without quotes and what is between them. */
static const char *join_pieces(struct word_reader *r, size_t pos, size_t end, size_t *len)
{
	struct word_reader piece = {.text = r->text, .len = end, .pos = pos};
	char *copy = arena_alloc(r->arena, end - pos);
	size_t n = 0;

	while (copy && piece.pos < end) {
		size_t start = piece.pos + 1;

		skip_text(&piece);
		memcpy(copy + n, r->text + start, piece.pos - 1 - start);
		n += piece.pos - 1 - start;
		skip_space(&piece);
	}
	*len = n;
	return copy;
}

static struct word read_text(struct word_reader *r)
{
	struct word t = {.kind = WORD_TEXT, .pos = r->pos};
	char quote = r->text[r->pos];
	size_t end;

	do {
		if (!skip_text(r))
			return bad(r, t.pos, FILTER_SYNTAX, "this text has no closing quote");
		end = r->pos;
		skip_space(r);
	} while (quote == '"' && r->pos < r->len && r->text[r->pos] == '"');
	r->pos = end;
	t.len = end - t.pos;
	t.single = quote == '\'';
	t.text = join_pieces(r, t.pos, end, &t.text_len);
	if (!t.text)
		return bad(r, t.pos, FILTER_NO_MEMORY, "there is not enough memory for this text");
	return t;
}

static struct word read_operator(struct word_reader *r)
{
	struct word t = {.kind = WORD_OP, .pos = r->pos};
	const char *s = r->text + r->pos;

	for (size_t i = 0; i < NR_OPERATORS; i++) {
		t.len = strlen(operators[i].text);
		if (t.len <= r->len - r->pos && !memcmp(s, operators[i].text, t.len)) {
			t.op = operators[i].op;
			r->pos += t.len;
			return t;
		}
	}
	r->pos++;
	if (*s == '=')
		return bad(r, t.pos, FILTER_UNKNOWN_TOKEN, "'=' is no operator; equal is '=='");
	if (*s < ' ' || *s > '~')
		return bad(r, t.pos, FILTER_SYNTAX, "this character belongs into quotes");
	return bad(r, t.pos, FILTER_UNKNOWN_TOKEN, "this character means nothing here");
}

struct word word_next(struct word_reader *r)
{
	struct word t = {.len = 1};
	char c;

	skip_space(r);
	t.pos = r->pos;
	if (r->pos >= r->len)
		return t;
	c = r->text[r->pos];
	if (is_word_char(c))
		return read_word(r);
	if (c == '"' || c == '\'')
		return read_text(r);
	t.kind = c == '(' ? WORD_OPEN : c == ')' ? WORD_CLOSE : c == ',' ? WORD_COMMA : WORD_END;
	if (t.kind == WORD_END)
		return read_operator(r);
	r->pos++;
	return t;
}
