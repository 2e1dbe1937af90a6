// SPDX-License-Identifier: GPL-2.0-or-later
/* FROM as it is written: tables, subqueries, named queries and views. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"
#include "base/vec.h"
#include "query/store_parts.h"

#define VIEWS 1000000

/* ---- sources ---- */

static void put_query(const struct store_table *t, struct buf *to, const char *where,
		      bool *took_where)
{
	buf_putc(to, '(');
	buf_puts(to, t->arg);
	buf_putc(to, ')');
}

static void from_select(struct compiler *c, struct source *s, size_t from, size_t to)
{
	struct scope *const scope = c->scope;
	const size_t pos = c->pos, end = c->end;
	struct select q = {0};

	if (!sx_deeper(c))
		return;
	c->scope = NULL;
	c->pos = from;
	c->end = to;
	sx_select_parse(c, &q);
	c->pos = pos;
	c->end = end;
	c->scope = scope;
	c->depth--;
	s->table = (struct store_table){q.columns, q.n, put_query, q.text};
}

static bool from_cte(struct compiler *c, struct source *s, const char *name)
{
	for (size_t i = c->ctes.n; i-- > 0;) {
		const struct cte cte = c->ctes.at[i];
		const size_t all = c->ctes.n;

		if (strcasecmp(cte.name, name) != 0)
			continue;
		/* It sees those before it. */
		c->ctes.n = cte.visible;
		from_select(c, s, cte.from, cte.to);
		c->ctes.n = all;
		if (c->rc == 0 && cte.nr_columns && cte.nr_columns != s->table.n)
			sx_fail(c, "'%s' has %zu columns, not %zu", name, s->table.n,
				cte.nr_columns);
		for (size_t k = 0; c->rc == 0 && k < cte.nr_columns; k++)
			s->table.columns[k].name = cte.columns[k];
		return true;
	}
	return false;
}

static bool from_view(struct compiler *c, struct source *s, const char *name)
{
	const char *text = c->schema->view ? c->schema->view(c->schema->arg, name) : NULL;
	const struct tokens *const outer = c->tokens;
	const char *const sql = c->sql;
	const size_t ctes = c->ctes.n;
	const unsigned int base = c->base;
	struct tokens own = {0};
	size_t used;

	if (!text)
		return false;
	c->rc = store_lex(text, &own, &used, c->err);
	if (c->rc == 0) {
		c->sql = text;
		c->tokens = &own;
		c->ctes.n = 0;
		c->base = base * 31 + 2 * VIEWS + (unsigned int)c->pos;
		from_select(c, s, 0, own.n - 1);
		c->sql = sql;
		c->tokens = outer;
		c->ctes.n = ctes;
		c->base = base;
	}
	vec_free(&own);
	return true;
}

static void try_name(void *arg, const char *name)
{
	suggest_try(arg, name);
}

static void from_table(struct compiler *c, struct source *s, const char *name)
{
	struct suggest near;
	int rc;

	if (from_cte(c, s, name) || from_view(c, s, name))
		return;
	rc = c->schema->find(c->schema->arg, name, &c->arena, &s->table);
	if (rc == -ENOMEM)
		sx_no_memory(c);
	if (rc == 0 || c->rc < 0)
		return;
	near = suggest_for(name, strlen(name));
	c->schema->names(c->schema->arg, try_name, &near);
	sx_fail(c, "there is no table '%s' in the store%s", name, suggest_hint(&near));
}

/* ---- parsing ---- */

static void parse_source(struct compiler *c, struct source *s)
{
	const char *name = NULL;

	if (sx_accept_sign(c, "(")) {
		const size_t close = sx_find_close(c, c->pos, c->end);

		if (!sx_at_word(c, 0, "select") && !sx_at_word(c, 0, "with"))
			sx_cannot(c, "brackets around tables");
		from_select(c, s, c->pos, close);
		c->pos = close;
		sx_expect_sign(c, ")");
	} else {
		name = sx_take_name(c);
		/* A schema says nothing: there is one. */
		if (sx_accept_sign(c, "."))
			name = sx_take_name(c);
		if (sx_at_sign(c, 0, "("))
			sx_cannot(c, sx_text(c, "the table function %s()", name));
		if (c->rc == 0)
			from_table(c, s, name);
	}
	if (c->rc == 0 && (sx_accept_word(c, "as") || sx_is_name(c, 0)))
		name = sx_take_name(c);
	s->alias = name ? name : "";
}

static void parse_using(struct compiler *c, struct source *s)
{
	sx_expect_sign(c, "(");
	while (c->rc == 0 && !sx_at_sign(c, 0, ")")) {
		const char **slot = vec_push(&s->using);

		if (!slot) {
			sx_no_memory(c);
			return;
		}
		*slot = sx_take_name(c);
		if (!sx_accept_sign(c, ","))
			break;
	}
	sx_expect_sign(c, ")");
}

/* ",", "JOIN", "LEFT OUTER JOIN" … False: there is none. */
static bool parse_join(struct compiler *c, bool *left)
{
	*left = false;
	if (sx_accept_sign(c, ","))
		return true;
	for (const char *const *w = (const char *const[]){"natural", "right", "full", NULL}; *w;
	     w++)
		if (sx_at_word(c, 0, *w))
			sx_cannot(c, sx_text(c, "%s JOIN", *w));
	*left = sx_accept_word(c, "left");
	if (*left)
		sx_accept_word(c, "outer");
	else if (!sx_accept_word(c, "inner"))
		sx_accept_word(c, "cross");
	return sx_accept_word(c, "join");
}

void sx_from_parse(struct compiler *c, size_t from, size_t to)
{
	struct scope *scope = c->scope;
	const size_t pos = c->pos, end = c->end;
	bool left = false;

	c->pos = from;
	c->end = to;
	do {
		struct source *s = &scope->at[scope->n];

		if (scope->n == STORE_SOURCES) {
			sx_fail(c, "a SELECT from more than %d tables", STORE_SOURCES);
			break;
		}
		parse_source(c, s);
		s->left = left;
		scope->n++;
		if (c->rc == 0 && sx_accept_word(c, "on")) {
			const size_t stop = sx_find_word(
				c, c->pos, to,
				(const char *const[]){",", "join", "left", "inner", "cross",
						      "natural", "right", "full", NULL});

			sx_conjuncts_split(c, c->pos, stop, &s->on);
			c->pos = stop;
		} else if (c->rc == 0 && sx_accept_word(c, "using")) {
			parse_using(c, s);
		}
	} while (c->rc == 0 && parse_join(c, &left));
	if (c->rc == 0 && c->pos < to)
		sx_unexpected(c);
	c->pos = pos;
	c->end = end;
}
