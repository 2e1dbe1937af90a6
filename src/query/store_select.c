// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SELECT: clauses are found first, then FROM is read, then everything that names its columns, and
 * the text is put together in the end, when it is known which columns are used.
 *
 * Columns of a query are called sN_I in the text: names that the user gives could be those of
 * columns, which servers take for one another. N is where the query stands, so that an expression
 * that is needed twice has the same text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/store_select.h"

#define TEXT_LIMIT  (4u << 20)
#define ARENA_LIMIT (64u << 20)
#define UNIONS	    1000000 /* more than a statement has tokens: their numbers differ from others */

/* ---- one SELECT ---- */

/* What is shown of the outermost one is put together here. */
static const char *top_items(struct compiler *c, const struct core *core, struct select *out)
{
	const char *local = "", *text = "";

	c->distinct = core->distinct;
	for (size_t i = 0; i < c->scope->items.n && c->rc == 0; i++) {
		const bool grouped = sx_is_grouped(c, core, i);
		char *name;
		struct expr e;

		c->here = !grouped;
		e = sx_item_expr(c, i);
		c->here = true;
		sx_to_local(c, &e);
		if (c->rc == 0 && core->distinct && !e.remote)
			sx_cannot(c, "DISTINCT of what is only done here");
		name = sqlite3_mprintf("%w", c->scope->items.at[i].name);
		if (!name)
			sx_no_memory(c);
		else
			local = sx_text(c, "%s%s%s as \"%s\"", local, i ? ", " : "", e.local, name);
		sqlite3_free(name);
	}
	for (size_t i = 0; i < c->outputs.n; i++)
		text = sx_text(c, "%s%s AS s%u_%zu, ", text, c->outputs.at[i], core->number, i + 1);
	out->local = local;
	c->here = false;
	return text;
}

/* Of what is true or not a UNION makes numbers. */
static enum store_kind part_kind(const struct expr *e)
{
	return e->kind == STORE_BOOL ? STORE_INTEGER : e->kind;
}

static const char *inner_items(struct compiler *c, const struct core *core, struct select *out)
{
	const struct items *items = &c->scope->items;
	const char *text = "";

	out->columns = arena_array(&c->arena, items->n ? items->n : 1, sizeof(*out->columns));
	if (!out->columns) {
		sx_no_memory(c);
		return "";
	}
	out->n = items->n;
	for (size_t i = 0; i < items->n && c->rc == 0; i++) {
		const struct expr e = sx_item_expr(c, i);

		out->columns[i] = (struct store_column){
			.name = items->at[i].name,
			.ref = sx_text(c, "s%u_%zu", core->number, i + 1),
			.kind = e.kind,
			.nullable = e.nullable,
			.fixed = e.fixed && !core->part,
		};
		text = sx_text(c, "%s%s%s AS %s", text, i ? ", " : "",
			       core->part ? sx_as(c, &e, part_kind(&e), "UNION") : e.remote,
			       out->columns[i].ref);
	}
	return text;
}

static void put_core(struct compiler *c, const struct core *core, struct select *out)
{
	const char *items, *group, *order, *rest = "", *having = NULL;
	struct conjuncts where = {0};
	struct buf text;

	sx_items_parse(c, core);
	items = core->mark ? top_items(c, core, out) : inner_items(c, core, out);
	group = sx_group_text(c, core);
	if (c->rc == 0 && !range_empty(&core->clauses[HAVING])) {
		const struct expr e =
			sx_remote(c, core->clauses[HAVING].from, core->clauses[HAVING].to);

		having = c->rc == 0 ? sx_condition(c, &e) : NULL;
	}
	order = sx_order_text(c, core);
	sx_conjuncts_split(c, core->clauses[WHERE].from, core->clauses[WHERE].to, &where);
	buf_init(&text, TEXT_LIMIT);
	buf_printf(&text, "SELECT %s%s", core->distinct ? "DISTINCT " : "", items);
	if (core->mark)
		buf_printf(&text, "'%s' AS spur_mark", core->mark);
	sx_from_put(c, &text, &where, &rest);
	buf_printf(&text, "%s%s", *rest ? " WHERE " : "", rest);
	buf_printf(&text, "%s%s", *group ? " GROUP BY " : "", group);
	/* There is no group of nothing, unless nothing is grouped. */
	if (!range_empty(&core->clauses[GROUP]) && !*group)
		having = having ? sx_text(c, "(count() > 0 AND %s)", having) : "count() > 0";
	if (having)
		buf_printf(&text, " HAVING %s", having);
	buf_printf(&text, "%s%s%s", *order ? " ORDER BY " : "", order, sx_limit_text(c, core));
	if (buf_full(&text))
		sx_fail(c, "the statement becomes too long");
	out->text = sx_text(c, "%s", buf_str(&text));
	buf_free(&text);
	vec_free(&where);
}

static void scope_free(struct scope *s)
{
	for (size_t i = 0; i < s->n; i++) {
		vec_free(&s->at[i].on);
		vec_free(&s->at[i].using);
	}
	vec_free(&s->items);
}

/* SELECT from `from` on, with the ORDER BY and LIMIT that are in it. */
static void parse_core(struct compiler *c, size_t from, size_t to, const char *mark, bool part,
		       struct select *out)
{
	struct core core = {.mark = mark, .part = part, .number = c->base + (unsigned int)from};
	struct scope *scope = calloc(1, sizeof(*scope));
	const bool in_aggregate = c->in_aggregate;

	if (!scope) {
		sx_no_memory(c);
		return;
	}
	scope->outer = c->scope;
	c->scope = scope;
	c->in_aggregate = false;
	sx_find_clauses(c, from, to, ITEMS, &core);
	if (c->rc == 0 && range_empty(&core.clauses[ITEMS]))
		sx_fail(c, "only SELECT can be asked");
	if (c->rc == 0) {
		struct range *items = &core.clauses[ITEMS];

		core.distinct = sx_word_at(c, items->from, items->to, "distinct");
		items->from += core.distinct || sx_word_at(c, items->from, items->to, "all");
	}
	if (c->rc == 0 && !range_empty(&core.clauses[FROM]))
		sx_from_parse(c, core.clauses[FROM].from, core.clauses[FROM].to);
	if (c->rc == 0)
		put_core(c, &core, out);
	c->scope = scope->outer;
	c->in_aggregate = in_aggregate;
	scope_free(scope);
	free(scope);
}

/* ---- several of them ---- */

static void put_union(const struct store_table *t, struct buf *to, const char *where,
		      bool *took_where)
{
	buf_printf(to, "(%s)", (const char *)t->arg);
}

/* Its columns are called as those of the first one. */
static void join_union(struct compiler *c, struct select *all, const struct select *one)
{
	if (!all->text) {
		*all = *one;
		return;
	}
	if (all->n != one->n) {
		sx_fail(c, "SELECTs to the left and right of UNION do not have the same "
			   "number of result columns");
		return;
	}
	for (size_t i = 0; i < all->n; i++) {
		const struct expr both[] = {{.kind = all->columns[i].kind},
					    {.kind = one->columns[i].kind}};
		const enum store_kind kind = sx_common(both, 2);

		if (kind == STORE_TEXT && all->columns[i].kind != one->columns[i].kind &&
		    all->columns[i].kind != STORE_NULL && one->columns[i].kind != STORE_NULL)
			sx_cannot(c, "a UNION of numbers and texts");
		if (kind == STORE_REAL && (sx_is_number(&both[0]) && sx_is_number(&both[1])) &&
		    both[0].kind != both[1].kind)
			sx_cannot(c, "a UNION of whole and real numbers");
		all->columns[i].kind = kind;
		all->columns[i].nullable |= one->columns[i].nullable;
	}
	all->text = sx_text(c, "%s UNION ALL %s", all->text, one->text);
}

/* What is sorted is all of it, so it stands in a query of its own. */
static void wrap_union(struct compiler *c, struct select *all, bool distinct, size_t tail,
		       size_t to, const char *mark, struct select *out)
{
	struct core core = {.mark = mark,
			    .distinct = distinct,
			    .number = c->base + UNIONS + (unsigned int)tail};
	struct scope *scope = calloc(1, sizeof(*scope));

	if (!scope) {
		sx_no_memory(c);
		return;
	}
	scope->outer = c->scope;
	c->scope = scope;
	scope->at[0].alias = "";
	scope->at[0].table = (struct store_table){all->columns, all->n, put_union, all->text};
	scope->n = 1;
	sx_find_clauses(c, tail, to, ORDER, &core);
	sx_items_star(c, NULL);
	/* Terms of ORDER BY are its columns. */
	if (c->rc == 0)
		put_core(c, &core, out);
	c->scope = scope->outer;
	scope_free(scope);
	free(scope);
}

static void parse_union(struct compiler *c, size_t from, size_t to, const char *mark,
			struct select *out)
{
	static const char *const operators[] = {"union", "except", "intersect", NULL};
	const size_t tail =
		sx_find_word(c, from, to, (const char *const[]){"order", "limit", NULL});
	struct select all = {0};
	bool distinct = false;

	for (size_t at = from; c->rc == 0 && at <= tail;) {
		const size_t next = sx_find_word(c, at, tail, operators);
		struct select one = {0};

		parse_core(c, at, next, NULL, true, &one);
		if (c->rc == 0)
			join_union(c, &all, &one);
		if (next >= tail)
			break;
		if (!sx_word_at(c, next, tail, "union"))
			sx_cannot(c, "EXCEPT or INTERSECT");
		at = next + 1;
		if (!sx_word_at(c, at, tail, "all")) {
			distinct = true;
			continue;
		}
		at++;
		/* Only what stands before it is without repetitions. */
		if (distinct)
			all.text = sx_text(c, "SELECT DISTINCT * FROM (%s)", all.text);
		distinct = false;
	}
	if (c->rc == 0)
		wrap_union(c, &all, distinct, tail, to, mark, out);
}

/* ---- named queries ---- */

static void parse_cte(struct compiler *c)
{
	struct cte cte = {.visible = c->ctes.n}, *slot;

	cte.name = sx_take_name(c);
	if (sx_accept_sign(c, "(")) {
		while (c->rc == 0 && !sx_at_sign(c, 0, ")")) {
			if (cte.nr_columns == sizeof(cte.columns) / sizeof(cte.columns[0]))
				sx_fail(c, "'%s' names too many columns", cte.name);
			else
				cte.columns[cte.nr_columns++] = sx_take_name(c);
			if (!sx_accept_sign(c, ","))
				break;
		}
		sx_expect_sign(c, ")");
	}
	if (c->rc == 0 && !sx_accept_word(c, "as"))
		sx_fail(c, "syntax error: WITH %s needs AS", cte.name);
	sx_accept_word(c, "not");
	sx_accept_word(c, "materialized");
	sx_expect_sign(c, "(");
	cte.from = c->pos;
	cte.to = sx_find_close(c, c->pos, c->end);
	c->pos = cte.to;
	sx_expect_sign(c, ")");
	slot = c->rc == 0 ? vec_push(&c->ctes) : NULL;
	if (slot)
		*slot = cte;
	else
		sx_no_memory(c);
}

static void parse_query_text(struct compiler *c, const char *mark, struct select *out)
{
	static const char *const operators[] = {"union", "except", "intersect", NULL};
	const size_t ctes = c->ctes.n, end = c->end;

	*out = (struct select){.text = "", .local = ""};
	if (c->rc < 0 || !sx_deeper(c))
		return;
	if (sx_accept_word(c, "with")) {
		if (sx_at_word(c, 0, "recursive"))
			sx_cannot(c, "WITH RECURSIVE");
		do {
			parse_cte(c);
		} while (c->rc == 0 && sx_accept_sign(c, ","));
	}
	if (c->rc == 0) {
		if (sx_find_word(c, c->pos, end, operators) < end)
			parse_union(c, c->pos, end, mark, out);
		else
			parse_core(c, c->pos, end, mark, false, out);
	}
	c->pos = c->end = end;
	c->ctes.n = ctes;
	c->depth--;
}

void sx_select_parse(struct compiler *c, struct select *out)
{
	parse_query_text(c, NULL, out);
}

void sx_select_parse_top(struct compiler *c, const char *mark, struct select *out)
{
	parse_query_text(c, mark, out);
}

/* ---- the statement ---- */

void store_sql_init(struct store_sql *s)
{
	*s = (struct store_sql){0};
	buf_init(&s->remote, TEXT_LIMIT);
	buf_init(&s->local, TEXT_LIMIT);
}

void store_sql_free(struct store_sql *s)
{
	buf_free(&s->remote);
	buf_free(&s->local);
}

int store_compile(sqlite3 *db, const char *sql, const struct tokens *tokens, size_t first,
		  const struct store_params *params, const struct store_schema *schema,
		  const char *mark, struct store_sql *out, struct spur_error *err)
{
	struct compiler c = {.db = db,
			     .sql = sql,
			     .tokens = tokens,
			     .pos = first,
			     .end = tokens->n - 1,
			     .params = params,
			     .schema = schema,
			     .err = err};
	struct select s = {0};

	arena_init(&c.arena, ARENA_LIMIT);
	sx_select_parse_top(&c, mark, &s);
	if (c.rc == 0) {
		buf_reset(&out->remote);
		buf_reset(&out->local);
		buf_printf(&out->remote, "%s FORMAT TabSeparatedWithNamesAndTypes", s.text);
		buf_printf(&out->local, "select %s", s.local);
		out->nr_outputs = c.outputs.n;
		if (buf_full(&out->remote) || buf_full(&out->local))
			sx_fail(&c, "the statement becomes too long");
	}
	vec_free(&c.ctes);
	vec_free(&c.outputs);
	arena_free(&c.arena);
	return c.rc;
}
