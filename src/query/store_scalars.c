// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of values, as ClickHouse writes them for the same result. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_calls.h"

#define TO_THE_END 1000000000 /* characters */

/* ---- calls that are made here ---- */

struct expr sx_call_here(struct compiler *c, struct call *f)
{
	const char *args = "";
	bool constant = true;

	for (size_t i = 0; i < f->n; i++) {
		constant &= f->args[i].constant;
		if (!c->here && !f->args[i].constant) {
			sx_only_shown(c, sx_text(c, "%s()", f->name));
			return sx_nothing;
		}
		sx_to_local(c, &f->args[i]);
		args = sx_text(c, "%s%s%s", args, i ? ", " : "", f->args[i].local);
	}
	if (c->rc < 0)
		return sx_nothing;
	args = sx_text(c, "%s(%s)", f->name, args);
	if (constant)
		return sx_constant(c, args);
	return sx_here(c, args, sx_text(c, "%s()", f->name));
}

/* ---- scalar functions ---- */

static bool any_null(const struct call *f)
{
	bool any = false;

	for (size_t i = 0; i < f->n; i++)
		any |= f->args[i].nullable;
	return any;
}

bool sx_all_remote(const struct call *f)
{
	bool all = true;

	for (size_t i = 0; i < f->n; i++)
		all &= f->args[i].remote != NULL;
	return all;
}

bool sx_has_text(const struct expr *e)
{
	return e->remote && e->kind != STORE_REAL && e->kind != STORE_NULL;
}

static struct expr text_function(struct compiler *c, struct call *f, const char *function,
				 enum store_kind kind)
{
	if (!sx_has_text(&f->args[0]))
		return sx_call_here(c, f);
	return sx_make(c, kind, any_null(f),
		       sx_text(c, "%s(%s)", function, sx_as_text(c, &f->args[0], f->name)));
}

struct expr sx_do_length(struct compiler *c, struct call *f)
{
	return text_function(c, f, "lengthUTF8", STORE_INTEGER);
}

struct expr sx_do_lower(struct compiler *c, struct call *f)
{
	return text_function(c, f, "lower", STORE_TEXT);
}

struct expr sx_do_upper(struct compiler *c, struct call *f)
{
	return text_function(c, f, "upper", STORE_TEXT);
}

static bool is_count(const struct expr *e, int64_t least)
{
	return e->constant && e->kind == STORE_INTEGER && e->number >= least &&
	       e->number <= TO_THE_END;
}

struct expr sx_do_substr(struct compiler *c, struct call *f)
{
	if (!sx_has_text(&f->args[0]) || !is_count(&f->args[1], 1) ||
	    (f->n == 3 && !is_count(&f->args[2], 0)))
		return sx_call_here(c, f);
	return sx_make(c, STORE_TEXT, any_null(f),
		       sx_text(c, "substringUTF8(%s, %lld, %lld)",
			       sx_as_text(c, &f->args[0], f->name), (long long)f->args[1].number,
			       f->n == 3 ? (long long)f->args[2].number : TO_THE_END));
}

static bool is_constant_text(const struct expr *e)
{
	return e->constant && e->kind == STORE_TEXT && e->text && e->len;
}

struct expr sx_do_replace(struct compiler *c, struct call *f)
{
	if (!sx_has_text(&f->args[0]) || !is_constant_text(&f->args[1]) || !f->args[2].constant ||
	    f->args[2].kind != STORE_TEXT || !f->args[2].text)
		return sx_call_here(c, f);
	return sx_make(c, STORE_TEXT, any_null(f),
		       sx_text(c, "replaceAll(%s, %s, %s)", sx_as_text(c, &f->args[0], f->name),
			       f->args[1].remote, f->args[2].remote));
}

struct expr sx_do_instr(struct compiler *c, struct call *f)
{
	if (!sx_has_text(&f->args[0]) || !is_constant_text(&f->args[1]))
		return sx_call_here(c, f);
	return sx_make(c, STORE_INTEGER, any_null(f),
		       sx_text(c, "positionUTF8(%s, %s)", sx_as_text(c, &f->args[0], f->name),
			       f->args[1].remote));
}

struct expr sx_do_abs(struct compiler *c, struct call *f)
{
	if (!f->args[0].remote || !sx_is_number(&f->args[0]))
		return sx_call_here(c, f);
	return sx_make(c, f->args[0].kind == STORE_REAL ? STORE_REAL : STORE_INTEGER, any_null(f),
		       sx_text(c, "abs(%s)", f->args[0].remote));
}

/* Servers round halves otherwise, so it is done here where that is possible. */
struct expr sx_do_round(struct compiler *c, struct call *f)
{
	const char *x;

	if (c->here || !sx_all_remote(f) || !sx_is_number(&f->args[0]) ||
	    (f->n == 2 && !is_count(&f->args[1], 0)))
		return sx_call_here(c, f);
	x = f->args[0].remote;
	if (f->n == 1 || !f->args[1].number)
		return sx_make(c, STORE_REAL, any_null(f),
			       sx_text(c, "toFloat64(if(%s < 0, ceil(%s - 0.5), floor(%s + 0.5)))",
				       x, x, x));
	return sx_make(c, STORE_REAL, any_null(f),
		       sx_text(c, "toFloat64(round(%s, %lld))", x, (long long)f->args[1].number));
}

/* A column of a server's has one type; here every value has its own. */
bool sx_mixed(const struct expr *list, size_t n)
{
	const enum store_kind kind = sx_common(list, n);
	bool any = false;

	for (size_t i = 0; (kind == STORE_TEXT || kind == STORE_REAL) && i < n; i++)
		any |= list[i].kind != kind && list[i].kind != STORE_NULL;
	return any;
}

struct expr sx_do_coalesce(struct compiler *c, struct call *f)
{
	const enum store_kind kind = sx_common(f->args, f->n);
	const char *args = "";
	bool nullable = true;

	if (!sx_all_remote(f) || (c->here && sx_mixed(f->args, f->n)))
		return sx_call_here(c, f);
	for (size_t i = 0; i < f->n; i++) {
		nullable &= f->args[i].nullable;
		args = sx_text(c, "%s%s%s", args, i ? ", " : "",
			       sx_as(c, &f->args[i], kind, f->name));
	}
	return sx_make(c, kind, nullable, sx_text(c, "coalesce(%s)", args));
}

struct expr sx_do_nullif(struct compiler *c, struct call *f)
{
	struct expr same;

	if (!sx_all_remote(f))
		return sx_call_here(c, f);
	same = sx_compare(c, "=", f->args[0], f->args[1]);
	if (c->rc < 0 || !same.remote)
		return sx_nothing;
	return sx_make(c, f->args[0].kind, true,
		       sx_text(c, "if(ifNull(%s, 0), NULL, %s)", same.remote, f->args[0].remote));
}

struct expr sx_choose(struct compiler *c, const struct expr *conditions, const struct expr *values,
		      size_t n)
{
	const enum store_kind kind = sx_common(values, n + 1);
	const char *text = "";
	bool nullable = false;

	for (size_t i = 0; i <= n; i++) {
		nullable |= values[i].nullable;
		if (i < n)
			text = sx_text(c, "%s%s, ", text, sx_condition(c, &conditions[i]));
		text = sx_text(c, "%s%s%s", text, sx_as(c, &values[i], kind, "CASE"),
			       i < n ? ", " : "");
	}
	return sx_make(c, kind, nullable, sx_text(c, "multiIf(%s)", text));
}

struct expr sx_do_iif(struct compiler *c, struct call *f)
{
	if (!sx_all_remote(f) || (c->here && sx_mixed(f->args + 1, 2)))
		return sx_call_here(c, f);
	return sx_choose(c, f->args, f->args + 1, 1);
}

static struct expr least_of(struct compiler *c, struct call *f, const char *function)
{
	const enum store_kind kind = sx_common(f->args, f->n);
	const char *args = "";

	if (c->here && sx_mixed(f->args, f->n))
		return sx_call_here(c, f);
	for (size_t i = 0; i < f->n; i++) {
		if (!f->args[i].remote || !sx_is_number(&f->args[i]))
			return sx_call_here(c, f);
		args = sx_text(c, "%s%s%s", args, i ? ", " : "",
			       sx_as(c, &f->args[i], kind, f->name));
	}
	return sx_make(c, kind, any_null(f), sx_text(c, "%s(%s)", function, args));
}

struct expr sx_do_least(struct compiler *c, struct call *f)
{
	return least_of(c, f, "least");
}

struct expr sx_do_greatest(struct compiler *c, struct call *f)
{
	return least_of(c, f, "greatest");
}

struct expr sx_do_never(struct compiler *c, struct call *f)
{
	sx_cannot(c, sx_text(c, "%s()", f->name));
	return sx_nothing;
}
