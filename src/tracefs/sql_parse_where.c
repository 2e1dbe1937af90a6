// SPDX-License-Identifier: GPL-2.0-or-later
/* Conditions: OR binds least, then AND, then NOT, then comparisons. */
#include "tracefs/sql_parts.h"

#include <string.h>
#include <strings.h>

#define MAX_CONDITIONS 500 /* what can be nested when they stand in a row */

/* Words of SQL that people try as operators. */
static const struct {
	const char *word, *hint;
} foreign[] = {
	{"like", "there is no LIKE: write field ~ \"abc*\""},
	{"in", "there is no IN: write field == 1 || field == 2"},
	{"between", "there is no BETWEEN: write field >= 1 && field <= 5"},
	{"is", "there is no IS: fields always have a value"},
};

static struct sql_cond *new_cond(struct sql *q, enum sql_cond_kind kind, struct sql_cond *left,
				 struct sql_cond *right)
{
	struct sql_cond *c = sql_alloc(q, sizeof(*c));

	if (c) {
		c->kind = kind;
		c->left = left;
		c->right = right;
	}
	return c;
}

static int parse_value(struct sql *q, struct sql_cond *c)
{
	if (q->token.word == WORD_MINUS) {
		c->negative = true;
		sql_step(q);
		if (q->token.word != WORD_NUMBER)
			return sql_expected(q, "a number");
	}
	if (q->token.word == WORD_NAME)
		return sql_error(q, q->token.pos, q->token.len,
				 "a number or a text expected; a text stands in quotes: \"%.40s\"",
				 q->token.text);
	if (q->token.word != WORD_NUMBER && q->token.word != WORD_TEXT)
		return sql_expected(q, "a number or a text in quotes");
	c->value = q->token;
	sql_step(q);
	return 0;
}

static int parse_operator(struct sql *q, struct sql_cond *c)
{
	const struct sql_token *t = &q->token;

	for (size_t i = 0; t->word == WORD_NAME && i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (strcasecmp(t->text, foreign[i].word) == 0)
			return sql_error(q, t->pos, t->len, "%s", foreign[i].hint);
	if (t->word < WORD_EQ || t->word > WORD_GLOB)
		return sql_expected(q, "a comparison");
	c->op = t->word;
	sql_step(q);
	return 0;
}

static struct sql_cond *parse_compare(struct sql *q)
{
	struct sql_cond *c;

	if (q->token.word == WORD_NUMBER || q->token.word == WORD_TEXT) {
		sql_error(q, q->token.pos, q->token.len,
			  "a field expected: it stands on the left of a comparison");
		return NULL;
	}
	c = new_cond(q, COND_COMPARE, NULL, NULL);
	if (!c || !sql_parse_field(q, &c->field, "a field") || parse_operator(q, c) < 0 ||
	    parse_value(q, c) < 0)
		return NULL;
	return c;
}

static struct sql_cond *parse_any(struct sql *q, unsigned int *n);

static struct sql_cond *parse_some(struct sql *q, unsigned int *n)
{
	const bool not = q->token.word == WORD_NOT;
	struct sql_cond *c;

	if (++*n > MAX_CONDITIONS) {
		sql_error(q, q->token.pos, q->token.len, "too many conditions");
		return NULL;
	}
	if (!not &&q->token.word != WORD_OPEN)
		return parse_compare(q);
	sql_step(q);
	if (sql_deeper(q) < 0)
		return NULL;
	c = not ? parse_some(q, n) : parse_any(q, n);
	q->depth--;
	if (not )
		return c ? new_cond(q, COND_NOT, c, NULL) : NULL;
	if (c && q->token.word != WORD_CLOSE) {
		sql_expected(q, "AND, OR or ')'");
		return NULL;
	}
	sql_step(q);
	return c;
}

static struct sql_cond *parse_every(struct sql *q, unsigned int *n)
{
	struct sql_cond *c = parse_some(q, n);

	while (c && (q->token.word == WORD_AND || q->token.word == WORD_COMMA)) {
		struct sql_cond *right;

		sql_step(q);
		right = parse_some(q, n);
		c = right ? new_cond(q, COND_AND, c, right) : NULL;
	}
	return c;
}

static struct sql_cond *parse_any(struct sql *q, unsigned int *n)
{
	struct sql_cond *c = parse_every(q, n);

	while (c && q->token.word == WORD_OR) {
		struct sql_cond *right;

		sql_step(q);
		right = parse_every(q, n);
		c = right ? new_cond(q, COND_OR, c, right) : NULL;
	}
	return c;
}

struct sql_cond *sql_parse_where(struct sql *q)
{
	unsigned int n = 0;

	return parse_any(q, &n);
}
