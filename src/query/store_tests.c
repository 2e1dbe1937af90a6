// SPDX-License-Identifier: GPL-2.0-or-later
/* What follows a value as a word: IS, IN, BETWEEN, LIKE, GLOB, and NOT before them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_parts.h"

#define MAX_LIST 4096

struct expr sx_negate(struct compiler *c, struct expr e)
{
	if (c->rc < 0)
		return sx_nothing;
	if (e.constant)
		return sx_constant(c, sx_text(c, "(not %s)", e.local));
	if (!e.remote)
		return sx_here(c, sx_text(c, "(not %s)", e.local), "this");
	return sx_make(c, STORE_BOOL, e.nullable, sx_text(c, "(NOT %s)", sx_condition(c, &e)));
}

static struct expr test_null(struct compiler *c, struct expr e, bool is)
{
	if (c->rc < 0)
		return sx_nothing;
	if (e.constant || !e.remote)
		return e.constant
			       ? sx_constant(
					 c, sx_text(c, "(%s is %snull)", e.local, is ? "" : "not "))
			       : sx_here(c, sx_text(c, "(%s is %snull)", e.local, is ? "" : "not "),
					 "this");
	return sx_make(c, STORE_BOOL, false,
		       sx_text(c, "%s(%s)", is ? "isNull" : "isNotNull", e.remote));
}

static struct expr parse_is(struct compiler *c, struct expr l)
{
	const bool negated = sx_accept_word(c, "not");
	struct expr r, equal;

	if (sx_at_word(c, 0, "distinct")) {
		sx_cannot(c, "IS DISTINCT FROM");
		return sx_nothing;
	}
	r = sx_parse(c, PREC_EQUAL + 1);
	if (r.kind == STORE_NULL && r.constant)
		return test_null(c, l, !negated);
	equal = sx_compare(c, "=", l, r);
	if (c->rc == 0 && equal.remote && !equal.constant && sx_may_be_null(&l, &r))
		equal = sx_make(c, STORE_BOOL, false,
				sx_text(c, "ifNull(%s, isNull(%s) AND isNull(%s))", equal.remote,
					l.remote, r.remote));
	return negated ? sx_negate(c, equal) : equal;
}

static struct expr parse_between(struct compiler *c, struct expr e, bool negated)
{
	struct expr low = sx_parse(c, PREC_LESS), high, inside;

	if (c->rc == 0 && !sx_accept_word(c, "and"))
		sx_fail(c, "syntax error: BETWEEN needs an AND");
	high = sx_parse(c, PREC_LESS);
	low = sx_compare(c, ">=", e, low);
	high = sx_compare(c, "<=", e, high);
	if (c->rc < 0)
		return sx_nothing;
	if (low.constant && high.constant)
		inside = sx_constant(c, sx_text(c, "(%s and %s)", low.local, high.local));
	else
		inside = sx_logic(c, "AND", low, high);
	return negated ? sx_negate(c, inside) : inside;
}

/* What servers of all ages say of NULL IN (...) is false. */
static struct expr in_result(struct compiler *c, const struct expr *e, const char *set,
			     bool negated)
{
	struct expr r;

	if (e->nullable)
		r = sx_make(c, STORE_BOOL, true,
			    sx_text(c, "if(isNull(%s), NULL, %s)", e->remote, set));
	else
		r = sx_make(c, STORE_BOOL, false, sx_text(c, "(%s)", set));
	return negated ? sx_negate(c, r) : r;
}

/* A query in brackets, of which the first is behind us. */
void sx_parse_query(struct compiler *c, struct select *out)
{
	const size_t end = c->end, close = sx_find_close(c, c->pos, end);
	const bool here = c->here;

	*out = (struct select){0};
	c->here = false;
	c->end = close;
	sx_select_parse(c, out);
	c->here = here;
	c->pos = close;
	c->end = end;
	sx_expect_sign(c, ")");
}

bool sx_at_query(const struct compiler *c)
{
	return sx_at_word(c, 0, "select") || sx_at_word(c, 0, "with") || sx_at_word(c, 0, "values");
}

/*
 * What servers say of NULLs on either side is false: NULL is not among nothing, it is not known to
 * be among values, and no other value is known not to be a NULL.
 */
static struct expr in_query(struct compiler *c, const struct expr *e, const struct select *s,
			    const char *in)
{
	const char *count =
		sx_text(c, "(SELECT count() FROM (SELECT 1 FROM (%s) LIMIT 1))", s->text);
	const char *nulls =
		sx_text(c, "(SELECT count() FROM (SELECT 1 FROM (%s) WHERE isNull(%s) LIMIT 1))",
			s->text, s->columns[0].ref);

	if (c->scope)
		c->scope->subqueries = true;
	return sx_make(c, STORE_BOOL, true,
		       sx_text(c,
			       "multiIf(isNull(%s), if(%s = 0, 0, NULL), %s, 1, %s > 0, NULL, 0)",
			       e->remote, count, in, s->columns[0].nullable ? nulls : "0"));
}

static struct expr in_select(struct compiler *c, struct expr e, bool negated)
{
	struct expr r, column;
	enum store_kind kind;
	struct select s;
	bool as_it_is;

	sx_parse_query(c, &s);
	if (c->rc == 0 && s.n != 1)
		sx_fail(c, "a subquery of IN has %zu columns, not one", s.n);
	if (c->rc < 0)
		return sx_nothing;
	if (!e.remote) {
		sx_cannot(c, "IN (SELECT ...) of what is only done here");
		return sx_nothing;
	}
	column = sx_make(c, s.columns[0].kind, s.columns[0].nullable, s.columns[0].ref);
	kind = sx_common((const struct expr[]){e, column}, 2);
	if (sx_is_number(&e) != sx_is_number(&column) && e.kind != STORE_NULL &&
	    column.kind != STORE_NULL)
		sx_cannot(c, "IN (SELECT ...) of numbers and texts");
	/* Both become one type; what is one already may have an index. */
	column.fixed = s.columns[0].fixed;
	as_it_is = kind != STORE_INTEGER && kind != STORE_REAL && e.kind == column.kind &&
		   e.fixed == column.fixed;
	r = sx_make(c, STORE_BOOL, false,
		    sx_text(c, "(%s GLOBAL IN (%s))",
			    as_it_is ? e.remote : sx_as(c, &e, kind, "IN"),
			    as_it_is ? s.text
				     : sx_text(c, "SELECT %s FROM (%s)",
					       sx_as(c, &column, kind, "IN"), s.text)));
	if (e.nullable || s.columns[0].nullable)
		r = in_query(c, &e, &s, r.remote);
	return negated ? sx_negate(c, r) : r;
}

struct list {
	struct expr *at;
	size_t n, cap;
};

static void parse_list(struct compiler *c, struct list *l)
{
	while (c->rc == 0 && !sx_at_sign(c, 0, ")")) {
		struct expr *e = l->n < MAX_LIST ? vec_push(l) : NULL;

		if (!e) {
			sx_fail(c, "a list of more than %d values", MAX_LIST);
			return;
		}
		*e = sx_parse(c, PREC_OR);
		if (!sx_accept_sign(c, ","))
			break;
	}
	sx_expect_sign(c, ")");
}

static struct expr in_list_here(struct compiler *c, struct expr e, struct list *l, bool negated)
{
	const char *text = "";

	sx_to_local(c, &e);
	vec_each (v, l) {
		sx_to_local(c, v);
		text = sx_text(c, "%s%s%s", text, *text ? ", " : "", v->local);
	}
	return sx_here(c, sx_text(c, "(%s %sin (%s))", e.local, negated ? "not " : "", text),
		       "IN of this");
}

static struct expr in_list(struct compiler *c, struct expr e, struct list *l, bool negated)
{
	bool remote = e.remote && !e.constant, nulls = false;
	const char *text = "";

	vec_each (v, l)
		remote = remote && v->remote && v->constant;
	if (c->rc < 0)
		return sx_nothing;
	if (!remote) {
		/* One comparison after the other. */
		struct expr any = {0};

		if (!c->here && e.remote && l->n) {
			any = sx_compare(c, "=", e, l->at[0]);
			for (size_t i = 1; i < l->n && c->rc == 0; i++)
				any = sx_logic(c, "OR", any, sx_compare(c, "=", e, l->at[i]));
			return negated ? sx_negate(c, any) : any;
		}
		return in_list_here(c, e, l, negated);
	}
	if (e.kind == STORE_DATE)
		e = sx_make(c, STORE_TEXT, e.nullable, sx_as_text(c, &e, "IN"));
	vec_each (v, l) {
		struct expr left = e;

		nulls |= v->kind == STORE_NULL;
		/* A blob is equal to nothing that a store has. */
		if (v->kind == STORE_NULL || (v->kind == STORE_TEXT && !v->text))
			continue;
		/* A number among texts, or the other way round, that is not equal to any. */
		if (!sx_level(c, &left, v))
			continue;
		text = sx_text(c, "%s%s%s", text, *text ? ", " : "", v->remote);
	}
	if (!l->n)
		return sx_constant(c, negated ? "1" : "0");
	if (!*text && nulls)
		return sx_null();
	text = *text ? sx_text(c, "%s IN (%s)", e.remote, text) : "0";
	if (!nulls)
		return in_result(c, &e, text, negated);
	/* What is not found could be what is not known. */
	e = sx_make(c, STORE_BOOL, true, sx_text(c, "if(ifNull(%s, 0), 1, NULL)", text));
	return negated ? sx_negate(c, e) : e;
}

static struct expr parse_in(struct compiler *c, struct expr e, bool negated)
{
	struct list l = {0};
	struct expr r;

	sx_expect_sign(c, "(");
	if (sx_at_query(c))
		return in_select(c, e, negated);
	parse_list(c, &l);
	r = in_list(c, e, &l, negated);
	vec_free(&l);
	return r;
}

static struct expr parse_match(struct compiler *c, struct expr e, const char *op, bool negated)
{
	struct expr r = sx_parse(c, PREC_EQUAL + 1);

	if (sx_at_word(c, 0, "escape"))
		sx_cannot(c, "ESCAPE");
	if (c->rc < 0)
		return sx_nothing;
	r = sx_match(c, op, e, r);
	return negated ? sx_negate(c, r) : r;
}

/* A word behind an operand, of the precedence of "=". False: there is none. */
bool sx_parse_behind(struct compiler *c, struct expr *e)
{
	const bool negated =
		sx_at_word(c, 0, "not") &&
		(sx_at_word(c, 1, "like") || sx_at_word(c, 1, "glob") || sx_at_word(c, 1, "in") ||
		 sx_at_word(c, 1, "between") || sx_at_word(c, 1, "null"));

	c->pos += negated;
	if (negated && sx_accept_word(c, "null"))
		*e = test_null(c, *e, false);
	else if (sx_accept_word(c, "like"))
		*e = parse_match(c, *e, "like", negated);
	else if (sx_accept_word(c, "glob"))
		*e = parse_match(c, *e, "glob", negated);
	else if (sx_accept_word(c, "in"))
		*e = parse_in(c, *e, negated);
	else if (sx_accept_word(c, "between"))
		*e = parse_between(c, *e, negated);
	else if (sx_accept_word(c, "is"))
		*e = parse_is(c, *e);
	else if (sx_accept_word(c, "isnull"))
		*e = test_null(c, *e, true);
	else if (sx_accept_word(c, "notnull"))
		*e = test_null(c, *e, false);
	else if (sx_at_word(c, 0, "regexp") || sx_at_word(c, 0, "match"))
		sx_cannot(c, "REGEXP");
	else
		return false;
	return true;
}
