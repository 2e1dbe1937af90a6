// SPDX-License-Identifier: GPL-2.0-or-later
/* Names in expressions: columns of tables, and other columns of the result. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"
#include "base/vec.h"
#include "store/clickhouse/server.h"
#include "query/store_parts.h"

static const char *quote_name(struct compiler *c, const char *name)
{
	const char *out;
	struct buf b;

	buf_init(&b, 4096);
	ch_put_name(&b, name);
	if (buf_full(&b))
		sx_fail(c, "a name is too long");
	out = sx_text(c, "%s", buf_str(&b));
	buf_free(&b);
	return out;
}

struct expr sx_of_column(struct compiler *c, size_t source, size_t column)
{
	struct scope *s = c->scope;
	struct store_column *col = &s->at[source].table.columns[column];
	const char *name = col->ref;
	struct expr e;

	if (col->missing)
		sx_cannot(c,
			  sx_text(c, "the column '%s', which the store does not have,", col->name));
	col->used = true;
	s->seen |= 1u << source;
	if (s->n > 1)
		name = sx_text(c, "t%zu_%s", source, name);
	e = sx_make(c, col->kind, col->nullable || s->at[source].left, quote_name(c, name));
	e.fixed = col->fixed;
	if (col->unsaid)
		e = sx_make(c, col->kind, true, sx_text(c, "nullIf(%s, '')", e.remote));
	return e;
}

struct found {
	size_t source, column;
	size_t n; /* how many there are */
};

static bool is_using(const struct source *s, const char *name)
{
	for (size_t i = 0; i < s->using.n; i++)
		if (strcasecmp(s->using.at[i], name) == 0)
			return true;
	return false;
}

static struct found find(const struct scope *s, const char *table, const char *name)
{
	struct found f = {0};

	for (size_t i = 0; i < s->n; i++) {
		const struct source *src = &s->at[i];

		if (table && strcasecmp(src->alias, table) != 0)
			continue;
		for (size_t k = 0; k < src->table.n; k++) {
			if (strcasecmp(src->table.columns[k].name, name) != 0)
				continue;
			/* Those that tables are joined by are one. */
			if (f.n && is_using(src, name))
				break;
			if (!f.n++)
				f.source = i, f.column = k;
			break;
		}
	}
	return f;
}

/* An alias stands for its expression. */
static bool use_alias(struct compiler *c, const char *name, struct expr *out)
{
	struct items *items = &c->scope->items;

	for (size_t i = 0; i < items->n; i++) {
		const struct item it = items->at[i];

		if (!it.alias || strcasecmp(it.name, name) != 0)
			continue;
		if (!sx_deeper(c))
			return true;
		*out = sx_remote(c, it.from, it.to);
		c->depth--;
		return true;
	}
	return false;
}

static void not_there(struct compiler *c, const char *table, const char *name, bool quoted)
{
	struct suggest s = suggest_for(name, strlen(name));

	for (size_t i = 0; i < c->scope->n; i++)
		for (size_t k = 0; k < c->scope->at[i].table.n; k++)
			if (!table || strcasecmp(c->scope->at[i].alias, table) == 0)
				suggest_try(&s, c->scope->at[i].table.columns[k].name);
	sx_fail(c, "there is no column '%s%s%s'%s%s", table ? table : "", table ? "." : "", name,
		suggest_hint(&s), quoted ? "; a text stands in single quotes" : "");
}

struct expr sx_column(struct compiler *c)
{
	const struct token *t = sx_peek(c, 0);
	const bool quoted = t->kind == TOKEN_NAME && c->sql[t->at] == '"';
	const char *name = sx_take_name(c), *table = NULL;
	struct expr e = {.remote = "NULL"};
	struct found f;

	for (int i = 0; i < 2 && c->rc == 0 && sx_accept_sign(c, "."); i++) {
		table = name;
		name = sx_take_name(c);
	}
	if (c->rc < 0)
		return e;
	if (!c->scope) {
		sx_fail(c, "there is no column '%s'", name);
		return e;
	}
	f = find(c->scope, table, name);
	if (f.n > 1)
		sx_fail(c, "several tables have a column '%s': which one is meant?", name);
	if (f.n)
		return sx_of_column(c, f.source, f.column);
	if (!table && use_alias(c, name, &e))
		return e;
	for (const struct scope *s = c->scope->outer; s; s = s->outer)
		if (find(s, table, name).n)
			sx_cannot(c, sx_text(c,
					     "'%s' within a subquery, a column of the "
					     "query around it,",
					     name));
	not_there(c, table, name, quoted);
	return e;
}
