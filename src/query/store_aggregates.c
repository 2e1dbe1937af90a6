// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Aggregates, as ClickHouse writes them for the same result. Their argument can always be NULL for
 * the server: only then is the result of no rows NULL, as in SQLite, and not 0.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_calls.h"

#define ROUNDING 1e-14			 /* as in quantiles.c */
#define INTEGERS "9223372036854775808.0" /* what sums of them stay below */

static const char *input(struct compiler *c, const struct call *f)
{
	const struct expr *e = &f->args[0];

	/* Servers of a cluster stumble over a column of nothing but NULL without a type. */
	if (e->kind == STORE_NULL)
		return "materialize(CAST(NULL AS Nullable(Int64)))";
	if (f->filter)
		return sx_text(c, "if(%s, %s, NULL)", f->filter, e->remote);
	return e->nullable ? e->remote : sx_text(c, "toNullable(%s)", e->remote);
}

static bool needs_number(struct compiler *c, const struct call *f)
{
	if (sx_is_number(&f->args[0]) || f->args[0].kind == STORE_NULL)
		return true;
	sx_cannot(c, sx_text(c, "%s() of a text", f->name));
	return false;
}

static bool no_distinct(struct compiler *c, const struct call *f)
{
	if (f->distinct)
		sx_cannot(c, sx_text(c, "%s(DISTINCT ...)", f->name));
	return !f->distinct;
}

struct expr sx_do_count(struct compiler *c, struct call *f)
{
	const char *text;

	if (f->n && f->args[0].kind == STORE_NULL)
		text = "countIf(0)";
	else if (f->n && f->args[0].constant && f->distinct)
		text = sx_text(c, "toUInt64(countIf(%s) > 0)", f->filter ? f->filter : "1");
	else if (f->star || !f->n || f->args[0].constant)
		text = f->filter ? sx_text(c, "countIf(%s)", f->filter) : "count()";
	else if (f->distinct)
		text = sx_text(c, "ifNull(uniqExact(%s), 0)", input(c, f));
	else
		text = sx_text(c, "count(%s)", input(c, f));
	return sx_make(c, STORE_INTEGER, false, text);
}

static const char *rough_sum(struct compiler *c, const struct call *f)
{
	return sx_text(c, "sum(toFloat64(%s))", input(c, f));
}

/* As a real number: exact as long as a sum of integers is one. */
static const char *real_sum(struct compiler *c, const struct call *f)
{
	const char *rough = rough_sum(c, f);

	if (f->args[0].kind == STORE_REAL)
		return rough;
	return sx_text(c, "if(abs(%s) < %s, toFloat64(sum(%s)), %s)", rough, INTEGERS, input(c, f),
		       rough);
}

struct expr sx_do_sum(struct compiler *c, struct call *f)
{
	if (!needs_number(c, f) || !no_distinct(c, f))
		return sx_nothing;
	if (f->args[0].kind == STORE_REAL)
		return sx_make(c, STORE_REAL, true, sx_text(c, "sum(%s)", input(c, f)));
	/* Servers go on from the smallest number when the largest is exceeded. */
	return sx_make(c, STORE_INTEGER, true,
		       sx_text(c, "(sum(%s) + throwIf(ifNull(abs(%s) >= %s, 0)))", input(c, f),
			       rough_sum(c, f), INTEGERS));
}

struct expr sx_do_total(struct compiler *c, struct call *f)
{
	if (!needs_number(c, f) || !no_distinct(c, f))
		return sx_nothing;
	return sx_make(c, STORE_REAL, false, sx_text(c, "ifNull(%s, 0.0)", real_sum(c, f)));
}

struct expr sx_do_avg(struct compiler *c, struct call *f)
{
	if (!needs_number(c, f) || !no_distinct(c, f))
		return sx_nothing;
	return sx_make(c, STORE_REAL, true,
		       sx_text(c, "(%s / nullIf(count(%s), 0))", real_sum(c, f), input(c, f)));
}

struct expr sx_do_min(struct compiler *c, struct call *f)
{
	struct expr e = sx_make(c, f->args[0].kind, true, sx_text(c, "min(%s)", input(c, f)));

	e.fixed = f->args[0].fixed;
	return e;
}

struct expr sx_do_max(struct compiler *c, struct call *f)
{
	struct expr e = sx_make(c, f->args[0].kind, true, sx_text(c, "max(%s)", input(c, f)));

	e.fixed = f->args[0].fixed;
	return e;
}

/*
 * A server's exact quantile is the value whose number, from 0, is the level times their count
 * without its fraction; ours is the smallest that so many percent do not exceed. The two differ
 * where that product is a whole number, so the level is a little less.
 */
static struct expr quantile(struct compiler *c, struct call *f, double percent)
{
	const double level = percent <= 0 ? 0 : percent >= 100 ? 1 : percent / 100;

	if (!needs_number(c, f) || !no_distinct(c, f))
		return sx_nothing;
	return sx_make(c, f->args[0].kind == STORE_REAL ? STORE_REAL : STORE_INTEGER, true,
		       sx_text(c, "quantileExact(%.17g)(%s)", level * (1 - ROUNDING), input(c, f)));
}

struct expr sx_do_p50(struct compiler *c, struct call *f)
{
	return quantile(c, f, 50);
}

struct expr sx_do_p90(struct compiler *c, struct call *f)
{
	return quantile(c, f, 90);
}

struct expr sx_do_p99(struct compiler *c, struct call *f)
{
	return quantile(c, f, 99);
}

struct expr sx_do_percentile(struct compiler *c, struct call *f)
{
	const struct expr *p = &f->args[1];

	if (!p->constant || !sx_is_number(p)) {
		sx_cannot(c, "percentile() of a percentage that is no constant");
		return sx_nothing;
	}
	return quantile(c, f, p->kind == STORE_REAL ? p->real : (double)p->number);
}

struct expr sx_do_stddev(struct compiler *c, struct call *f)
{
	const char *x = input(c, f);

	if (!needs_number(c, f) || !no_distinct(c, f))
		return sx_nothing;
	return sx_make(c, STORE_REAL, true,
		       sx_text(c, "if(count(%s) > 1, stddevSamp(%s), NULL)", x, x));
}

struct expr sx_do_group_concat(struct compiler *c, struct call *f)
{
	const char *separator = f->n == 2 ? f->args[1].remote : "','", *x;

	if (f->n == 2 && !f->args[1].constant) {
		sx_cannot(c, sx_text(c, "%s() with a separator that is no constant", f->name));
		return sx_nothing;
	}
	f->args[0].remote = sx_as_text(c, &f->args[0], f->name);
	x = input(c, f);
	/* Their order is nobody's promise: sorted, it is at least always the same. */
	return sx_make(c, STORE_TEXT, true,
		       sx_text(c,
			       "if(count(%s) = 0, NULL, arrayStringConcat(arraySort(%s(%s)), "
			       "%s))",
			       x, f->distinct ? "groupUniqArray" : "groupArray", x, separator));
}

/* The server counts by powers of two, and the bars are drawn here. */
struct expr sx_do_hist(struct compiler *c, struct call *f)
{
	const char *x = input(c, f), *counts;
	struct expr e;

	if (!needs_number(c, f) || !no_distinct(c, f))
		return sx_nothing;
	if (!f->here) {
		sx_only_shown(c, "hist()");
		return sx_nothing;
	}
	counts = sx_text(
		c,
		"sumMap([if(ifNull(%s, 0) < 0, toInt64(-1), toInt64(roundToExp2(toInt64(ifNull(%s, "
		"0)))))], [toUInt64(isNotNull(%s))])",
		x, x, x);
	e = sx_make(c, STORE_TEXT, false,
		    sx_text(c,
			    "concat(arrayStringConcat(arrayMap(v -> toString(v), "
			    "tupleElement(%s, 1)), ','), ';', "
			    "arrayStringConcat(arrayMap(v -> toString(v), tupleElement(%s, "
			    "2)), ','))",
			    counts, counts));
	c->here = true;
	sx_to_local(c, &e);
	return sx_here(c, sx_text(c, "hist_of(%s)", e.local), "hist()");
}
