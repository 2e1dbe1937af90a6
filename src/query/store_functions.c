// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions there are: spur's, and SQLite's that are used most. Others are called here. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_calls.h"

/* Whether SQLite has such a function of so many arguments. */
static bool exists(struct compiler *c, const struct call *f)
{
	const char *args = "";
	sqlite3_stmt *s = NULL;
	bool there;

	for (size_t i = 0; i < f->n; i++)
		args = sx_text(c, "%s%snull", args, i ? ", " : "");
	there = sqlite3_prepare_v2(c->db, sx_text(c, "select %s(%s)", f->name, args), -1, &s,
				   NULL) == SQLITE_OK;
	if (!there)
		sx_fail(c, "%s", sqlite3_errmsg(c->db));
	sqlite3_finalize(s);
	return there;
}

/* ---- the table of them ---- */

static const struct function {
	const char *name;
	size_t least, most; /* arguments */
	bool aggregate;
	struct expr (*make)(struct compiler *c, struct call *f);
} functions[] = {
	{"count", 0, 1, true, sx_do_count},
	{"sum", 1, 1, true, sx_do_sum},
	{"total", 1, 1, true, sx_do_total},
	{"avg", 1, 1, true, sx_do_avg},
	{"min", 1, 1, true, sx_do_min},
	{"max", 1, 1, true, sx_do_max},
	{"group_concat", 1, 2, true, sx_do_group_concat},
	{"string_agg", 2, 2, true, sx_do_group_concat},
	{"p50", 1, 1, true, sx_do_p50},
	{"p90", 1, 1, true, sx_do_p90},
	{"p99", 1, 1, true, sx_do_p99},
	{"percentile", 2, 2, true, sx_do_percentile},
	{"stddev", 1, 1, true, sx_do_stddev},
	{"hist", 1, 1, true, sx_do_hist},
	{"min", 2, SX_MAX_ARGS, false, sx_do_least},
	{"max", 2, SX_MAX_ARGS, false, sx_do_greatest},
	{"abs", 1, 1, false, sx_do_abs},
	{"round", 1, 2, false, sx_do_round},
	{"length", 1, 1, false, sx_do_length},
	{"lower", 1, 1, false, sx_do_lower},
	{"upper", 1, 1, false, sx_do_upper},
	{"substr", 2, 3, false, sx_do_substr},
	{"substring", 2, 3, false, sx_do_substr},
	{"replace", 3, 3, false, sx_do_replace},
	{"instr", 2, 2, false, sx_do_instr},
	{"coalesce", 2, SX_MAX_ARGS, false, sx_do_coalesce},
	{"ifnull", 2, 2, false, sx_do_coalesce},
	{"nullif", 2, 2, false, sx_do_nullif},
	{"iif", 3, 3, false, sx_do_iif},
	{"sym", 1, 2, false, sx_do_never},
};

#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static const struct function *find_function(const struct compiler *c, const char *name)
{
	/* An aggregate and another function may share a name: arguments tell. */
	const size_t close = sx_find_close(c, c->pos, c->end);
	const size_t comma = sx_find_word(c, c->pos, close, (const char *const[]){",", NULL});
	const bool several = comma < close;
	const struct function *found = NULL;

	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		if (strcasecmp(functions[i].name, name) == 0 &&
		    (!found || (several && found->most < 2)))
			found = &functions[i];
	return found;
}

static void parse_args(struct compiler *c, struct call *f)
{
	f->star = sx_accept_sign(c, "*");
	f->distinct = !f->star && sx_accept_word(c, "distinct");
	while (c->rc == 0 && !f->star && !sx_at_sign(c, 0, ")")) {
		if (f->n == SX_MAX_ARGS) {
			sx_fail(c, "%s(): more than %d arguments", f->name, SX_MAX_ARGS);
			return;
		}
		f->args[f->n++] = sx_parse(c, 0);
		if (!sx_accept_sign(c, ","))
			break;
	}
	sx_expect_sign(c, ")");
}

static void parse_filter(struct compiler *c, struct call *f)
{
	size_t close;
	struct expr e;

	c->pos++;
	sx_expect_sign(c, "(");
	if (c->rc == 0 && !sx_accept_word(c, "where"))
		sx_fail(c, "syntax error: FILTER needs a WHERE");
	close = sx_find_close(c, c->pos, c->end);
	e = sx_remote(c, c->pos, close);
	c->pos = close;
	sx_expect_sign(c, ")");
	if (c->rc == 0)
		f->filter = sx_text(c, e.nullable ? "ifNull(%s, 0)" : "%s", sx_condition(c, &e));
}

static struct expr cast(struct compiler *c)
{
	const size_t close = sx_find_close(c, c->pos, c->end);
	const size_t as = sx_find_word(c, c->pos, close, (const char *const[]){"as", NULL});
	const char *type = as < close ? sx_tokens_text(c, as + 1, close) : "";
	struct expr e = sx_range(c, c->pos, as);

	c->pos = close;
	sx_expect_sign(c, ")");
	if (c->rc < 0)
		return sx_nothing;
	if (e.constant)
		return sx_constant(c, sx_text(c, "cast(%s as %s)", e.local, type));
	if (e.remote && sx_is_number(&e) &&
	    (strcasecmp(type, "integer") == 0 || strcasecmp(type, "int") == 0))
		return sx_make(c, STORE_INTEGER, e.nullable, sx_text(c, "toInt64(%s)", e.remote));
	if (e.remote && sx_is_number(&e) && strcasecmp(type, "real") == 0)
		return sx_make(c, STORE_REAL, e.nullable, sx_text(c, "toFloat64(%s)", e.remote));
	if (sx_has_text(&e) && strcasecmp(type, "text") == 0)
		return sx_make(c, STORE_TEXT, e.nullable, sx_as_text(c, &e, "CAST"));
	sx_to_local(c, &e);
	return sx_here(c, sx_text(c, "cast(%s as %s)", e.local, type),
		       sx_text(c, "CAST(... AS %s)", type));
}

static struct expr make_call(struct compiler *c, const struct function *known, struct call *f)
{
	bool constant = !known || !known->aggregate;

	for (size_t i = 0; i < f->n; i++)
		constant &= f->args[i].constant;
	if (known && (f->n < known->least || f->n > known->most)) {
		sx_fail(c, "wrong number of arguments to function %s()", f->name);
		return sx_nothing;
	}
	if (known && known->make == sx_do_never)
		return sx_do_never(c, f);
	if (!known && !exists(c, f))
		return sx_nothing;
	if (constant || !known)
		return sx_call_here(c, f);
	return known->make(c, f);
}

struct expr sx_call(struct compiler *c, const char *name)
{
	const struct function *known = find_function(c, name);
	struct call f = {.name = name, .here = c->here};
	const bool aggregate = known && known->aggregate;
	struct expr e;

	if (strcasecmp(name, "cast") == 0)
		return cast(c);
	if (aggregate && c->in_aggregate) {
		sx_fail(c, "misuse of aggregate function %s()", name);
		return sx_nothing;
	}
	if (aggregate) {
		c->here = false;
		c->in_aggregate = true;
	}
	parse_args(c, &f);
	if (c->rc == 0 && sx_at_word(c, 0, "filter")) {
		if (!aggregate)
			sx_fail(c, "FILTER may not be used with %s()", name);
		else
			parse_filter(c, &f);
	}
	if (c->rc == 0 && sx_at_word(c, 0, "over"))
		sx_cannot(c, sx_text(c, "the window function %s() OVER", name));
	if (aggregate) {
		c->here = f.here;
		c->in_aggregate = false;
	}
	if (c->rc < 0)
		return sx_nothing;
	e = make_call(c, known, &f);
	c->here = f.here;
	return c->rc < 0 ? sx_nothing : e;
}
