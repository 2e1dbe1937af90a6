// SPDX-License-Identifier: GPL-2.0-or-later
/* Expressions: operands, and operators by their precedence. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_parts.h"

/* ---- operands ---- */

static struct expr parse_param(struct compiler *c)
{
	const struct token *t = sx_peek(c, 0);
	const char *value = NULL, *local;
	char *end;

	c->pos++;
	for (size_t i = 0; i < c->params->n; i++)
		if (strlen(c->params->at[i].name) == t->len && t->len > 1 &&
		    memcmp(c->params->at[i].name, c->sql + t->at, t->len) == 0)
			value = c->params->at[i].value;
	if (!value)
		return sx_null();
	/* As for files: a number is one, in any of the ways that C writes it. */
	errno = 0;
	if (*value) {
		const long long number = strtoll(value, &end, 0);

		if (!*end && errno == 0)
			return sx_constant(c, sx_text(c, "%lld", number));
		(void)strtod(value, &end);
		if (!*end && strpbrk(value, "0123456789"))
			return sx_constant(c, sx_text(c, "cast(%s as real)",
						      sx_quote_local(c, value, strlen(value))));
	}
	local = sx_quote_local(c, value, strlen(value));
	return sx_constant(c, local);
}

static struct expr parse_exists(struct compiler *c)
{
	struct select s;

	sx_expect_sign(c, "(");
	sx_parse_query(c, &s);
	return sx_make(c, STORE_BOOL, false,
		       sx_text(c, "((SELECT count() FROM (SELECT 1 FROM (%s) LIMIT 1)) > 0)",
			       s.text ? s.text : ""));
}

static struct expr parse_brackets(struct compiler *c)
{
	struct select s;
	struct expr e;

	if (sx_at_query(c)) {
		sx_parse_query(c, &s);
		if (c->rc == 0 && s.n != 1)
			sx_fail(c, "a subquery has %zu columns where one is needed", s.n);
		if (c->rc < 0)
			return sx_nothing;
		if (c->scope)
			c->scope->subqueries = true;
		return sx_make(c, s.columns[0].kind, true, sx_text(c, "(%s)", s.text));
	}
	e = sx_parse(c, PREC_OR);
	if (sx_at_sign(c, 0, ","))
		sx_cannot(c, "a row of values");
	sx_expect_sign(c, ")");
	return e;
}

static struct expr parse_sign(struct compiler *c, const char *sign)
{
	const struct token *t = sx_peek(c, 0);
	struct expr e;

	/* The smallest number has no positive counterpart. */
	if (*sign == '-' && t->kind == TOKEN_INTEGER) {
		c->pos++;
		return sx_constant(c, sx_text(c, "-%.*s", (int)t->len, c->sql + t->at));
	}
	e = sx_parse(c, PREC_PREFIX);
	if (c->rc < 0)
		return sx_nothing;
	if (e.constant)
		return sx_constant(c, sx_text(c, "(%s%s)", sign, e.local));
	if (*sign == '+')
		return e;
	if (!e.remote || !sx_is_number(&e)) {
		sx_to_local(c, &e);
		return sx_here(c, sx_text(c, "(%s%s)", sign, e.local),
			       sx_text(c, "'%s' of this", sign));
	}
	return sx_make(c, e.kind == STORE_REAL ? STORE_REAL : STORE_INTEGER, e.nullable,
		       *sign == '~' ? sx_text(c, "bitNot(toInt64(%s))", e.remote)
				    : sx_text(c, "(-%s)", e.remote));
}

static struct expr parse_word(struct compiler *c)
{
	static const struct {
		const char *word, *value;
	} constants[] = {
		{"null", "null"},
		{"true", "1"},
		{"false", "0"},
		{"current_date", "current_date"},
		{"current_time", "current_time"},
		{"current_timestamp", "current_timestamp"},
	};

	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (sx_accept_word(c, constants[i].word))
			return sx_constant(c, constants[i].value);
	if (sx_accept_word(c, "case"))
		return sx_case(c);
	if (sx_accept_word(c, "exists"))
		return parse_exists(c);
	if (sx_accept_word(c, "not"))
		return sx_negate(c, sx_parse(c, PREC_NOT));
	/* Words of their own that are functions, too. */
	if (sx_at_sign(c, 1, "(") && sx_peek(c, 0)->kind == TOKEN_WORD) {
		const struct token *t = sx_peek(c, 0);

		c->pos += 2;
		return sx_call(c, sx_text(c, "%.*s", (int)t->len, c->sql + t->at));
	}
	return sx_column(c);
}

static struct expr parse_operand(struct compiler *c)
{
	const struct token *t = sx_peek(c, 0);

	switch (t->kind) {
	case TOKEN_STRING:
	case TOKEN_BLOB:
	case TOKEN_INTEGER:
	case TOKEN_REAL:
		c->pos++;
		return sx_constant(c, sx_text(c, "%.*s", (int)t->len, c->sql + t->at));
	case TOKEN_PARAM: return parse_param(c);
	case TOKEN_WORD:
	case TOKEN_NAME: return parse_word(c);
	case TOKEN_SIGN:
		if (sx_accept_sign(c, "("))
			return parse_brackets(c);
		for (const char *const *s = (const char *const[]){"-", "+", "~", NULL}; *s; s++)
			if (sx_accept_sign(c, *s))
				return parse_sign(c, *s);
		break;
	default: break;
	}
	sx_unexpected(c);
	return sx_nothing;
}

static struct expr combine_words(struct compiler *c, const char *op, struct expr l, struct expr r)
{
	if (c->rc < 0)
		return sx_nothing;
	if (l.constant && r.constant)
		return sx_constant(c, sx_text(c, "(%s %s %s)", l.local, op, r.local));
	return sx_logic(c, op, l, r);
}

/* What follows an operand, if it binds as much as it has to; false: nothing does. */
static bool parse_next(struct compiler *c, struct expr *l, int precedence)
{
	const struct binary *op = sx_binary(c);

	if (op && op->precedence >= precedence) {
		c->pos++;
		*l = sx_apply(c, op, *l, sx_parse(c, op->precedence + 1));
		return true;
	}
	if (precedence <= PREC_CONCAT && sx_accept_sign(c, "||")) {
		struct expr r = sx_parse(c, PREC_CONCAT + 1);

		if (c->rc < 0)
			return false;
		if (l->constant && r.constant)
			*l = sx_constant(c, sx_text(c, "(%s || %s)", l->local, r.local));
		else if (!l->remote || !r.remote)
			*l = sx_operator_here(c, "||", *l, r);
		else
			*l = sx_concatenate(c, *l, r);
		return true;
	}
	if (precedence <= PREC_AND && sx_accept_word(c, "and")) {
		*l = combine_words(c, "AND", *l, sx_parse(c, PREC_AND + 1));
		return true;
	}
	if (precedence <= PREC_OR && sx_accept_word(c, "or")) {
		*l = combine_words(c, "OR", *l, sx_parse(c, PREC_OR + 1));
		return true;
	}
	if (sx_at_word(c, 0, "collate"))
		sx_cannot(c, "COLLATE");
	return precedence <= PREC_EQUAL && c->rc == 0 && sx_parse_behind(c, l);
}

struct expr sx_parse(struct compiler *c, int precedence)
{
	struct expr l;

	if (c->rc < 0 || !sx_deeper(c))
		return sx_nothing;
	l = parse_operand(c);
	while (c->rc == 0 && parse_next(c, &l, precedence))
		;
	c->depth--;
	return c->rc < 0 ? sx_nothing : l;
}

struct expr sx_range(struct compiler *c, size_t from, size_t to)
{
	const size_t pos = c->pos, end = c->end;
	struct expr e;

	c->pos = from;
	c->end = to;
	e = sx_parse(c, PREC_OR);
	if (c->rc == 0 && c->pos < to)
		sx_unexpected(c);
	c->pos = pos;
	c->end = end;
	return e;
}

struct expr sx_remote(struct compiler *c, size_t from, size_t to)
{
	const bool here = c->here;
	struct expr e;

	c->here = false;
	e = sx_range(c, from, to);
	c->here = here;
	return e;
}
