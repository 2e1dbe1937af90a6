// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * FROM and WHERE as they are sent.
 *
 * Servers of all ages join two things at a time, by columns that have the same name on both sides.
 * So each source becomes a query that calls its columns tN_NAME, and the next one is joined to all
 * before it by keys kN_I, made of the equalities that the statement has, wherever they stand. What
 * is about one source alone is asked of that one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "store/clickhouse/server.h"
#include "query/store_parts.h"

#define TEXT_LIMIT (4u << 20)
#define MAX_KEYS   32

/* ---- conditions ---- */

void sx_conjuncts_split(struct compiler *c, size_t from, size_t to, struct conjuncts *out)
{
	size_t at = from, between = 0;

	if (from >= to)
		return;
	/* An OR outside of brackets binds less: it is all one. */
	if (sx_find_word(c, from, to, (const char *const[]){"or", NULL}) < to)
		at = to;
	for (size_t start = from;;) {
		const size_t pos = c->pos, end = c->end;
		struct conjunct *j;
		bool is_and;

		at = at < to ? sx_find_word(c, at, to,
					    (const char *const[]){"and", "between", NULL})
			     : to;
		c->pos = at;
		c->end = to;
		is_and = sx_at_word(c, 0, "and");
		c->pos = pos;
		c->end = end;
		if (at < to && (!is_and || between)) {
			between = is_and ? between - 1 : between + 1;
			at++;
			continue;
		}
		j = vec_push(out);
		if (!j) {
			sx_no_memory(c);
			return;
		}
		*j = (struct conjunct){.from = start, .to = at};
		if (at >= to)
			return;
		start = ++at;
	}
}

static const char *all_of(struct compiler *c, struct conjuncts *list)
{
	const char *text = "";

	vec_each (j, list) {
		struct expr e;

		if (j->taken || c->rc < 0)
			continue;
		e = sx_remote(c, j->from, j->to);
		if (c->rc == 0)
			text = sx_text(c, "%s%s%s", text, *text ? " AND " : "",
				       sx_condition(c, &e));
	}
	return text;
}

struct keys {
	const char *before[MAX_KEYS], *own[MAX_KEYS];
	size_t n;
	struct buf filter; /* conditions about the source alone */
};

/* A value to join by, of one type on both sides. */
static const char *key_text(struct compiler *c, const struct expr *e, const struct expr *other)
{
	if (e->kind == STORE_DATE && other->kind == STORE_DATE)
		return e->remote;
	if (e->kind == STORE_TEXT || e->kind == STORE_DATE)
		return sx_text(c, "toString(%s)", e->remote);
	if (e->kind == STORE_REAL || other->kind == STORE_REAL)
		return sx_text(c, "toFloat64(%s)", e->remote);
	return sx_text(c, "toInt64(%s)", e->remote);
}

static void add_key(struct compiler *c, struct keys *k, const struct expr *before,
		    const struct expr *own)
{
	if (k->n == MAX_KEYS) {
		sx_fail(c, "a join by more than %d columns", MAX_KEYS);
		return;
	}
	if (sx_is_number(before) != sx_is_number(own)) {
		sx_cannot(c, "a join of a number and a text");
		return;
	}
	k->before[k->n] = key_text(c, before, own);
	k->own[k->n++] = key_text(c, own, before);
}

/* The sources that an expression names. */
static struct expr sources_of(struct compiler *c, size_t from, size_t to, uint32_t *seen)
{
	struct expr e;

	c->scope->seen = 0;
	e = sx_remote(c, from, to);
	*seen = c->scope->seen;
	return e;
}

/* "a = b" and nothing else around it: where the sign is, `to` if it is not so. */
static size_t equality(const struct compiler *c, size_t from, size_t to)
{
	static const char *const others[] = {"or", "not",    "between", "like",	 "glob", "in",
					     "is", "isnull", "notnull", "match", "<",	 ">",
					     "<=", ">=",     "<>",	"!=",	 "and",	 NULL};

	if (sx_find_word(c, from, to, others) < to)
		return to;
	return sx_find_word(c, from, to, (const char *const[]){"=", "==", NULL});
}

/* Whether the condition is a key of source i, or about it alone; then it is taken. */
static void use_condition(struct compiler *c, struct conjunct *j, size_t i, struct keys *k,
			  bool filters)
{
	const uint32_t own = 1u << i, before = own - 1;
	const size_t sign = equality(c, j->from, j->to);
	uint32_t seen, left, right;
	struct expr l, r;

	if (j->taken || c->rc < 0)
		return;
	l = sources_of(c, j->from, j->to, &seen);
	if (c->rc < 0 || (seen & ~(own | before)))
		return;
	if (seen == own && filters) {
		buf_printf(&k->filter, "%s%s", k->filter.len ? " AND " : "", sx_condition(c, &l));
		j->taken = true;
		return;
	}
	if (sign >= j->to || !(seen & own) || !i)
		return;
	l = sources_of(c, j->from, sign, &left);
	r = sources_of(c, sign + 1, j->to, &right);
	if (c->rc < 0 || !left || !right)
		return;
	if (right == own && !(left & own))
		add_key(c, k, &l, &r);
	else if (left == own && !(right & own))
		add_key(c, k, &r, &l);
	else
		return;
	j->taken = true;
}

static void use_names(struct compiler *c, size_t i, struct keys *k)
{
	struct source *s = &c->scope->at[i];

	for (size_t u = 0; u < s->using.n && c->rc == 0; u++) {
		size_t own = 0, source = 0, column = 0;
		bool found = false;
		struct expr l, r;

		while (own < s->table.n &&
		       strcasecmp(s->table.columns[own].name, s->using.at[u]) != 0)
			own++;
		for (source = 0; source < i && !found; source++)
			for (column = 0; column < c->scope->at[source].table.n && !found; column++)
				found = strcasecmp(c->scope->at[source].table.columns[column].name,
						   s->using.at[u]) == 0;
		if (!found || own == s->table.n) {
			sx_fail(c, "cannot join using '%s': not a column of both tables",
				s->using.at[u]);
			return;
		}
		l = sx_of_column(c, source - 1, column - 1);
		r = sx_of_column(c, i, own);
		add_key(c, k, &l, &r);
	}
}

static void put_columns(const struct compiler *c, struct buf *to, size_t from, size_t until,
			bool rename)
{
	bool any = false;

	for (size_t i = from; i < until; i++) {
		const struct store_table *t = &c->scope->at[i].table;

		for (size_t k = 0; k < t->n; k++) {
			char name[600];

			if (!t->columns[k].used)
				continue;
			buf_puts(to, any ? ", " : "");
			any = true;
			if (rename) {
				ch_put_name(to, t->columns[k].ref);
				buf_puts(to, " AS ");
			}
			snprintf(name, sizeof(name), "t%zu_%s", i, t->columns[k].ref);
			ch_put_name(to, name);
		}
	}
	if (!any)
		buf_printf(to, "1 AS t%zu", from);
}

static void put_source(const struct compiler *c, struct buf *to, size_t i, struct keys *k)
{
	const struct store_table *t = &c->scope->at[i].table;
	bool took = false;

	buf_puts(to, "SELECT ");
	put_columns(c, to, i, i + 1, true);
	buf_puts(to, " FROM ");
	t->put(t, to, "", &took);
	if (k->filter.len)
		buf_printf(to, " WHERE %s", buf_str(&k->filter));
}

static void put_keyed(struct buf *to, size_t i, const struct keys *k, const char *const *texts)
{
	for (size_t n = 0; n < k->n; n++)
		buf_printf(to, ", %s AS k%zu_%zu", texts[n], i, n);
}

/* Joins source i to what is in `to`, which it replaces. */
static void join(struct compiler *c, struct buf *to, size_t i, struct keys *k)
{
	struct buf b;

	buf_init(&b, TEXT_LIMIT);
	buf_puts(&b, "SELECT ");
	put_columns(c, &b, 0, i + 1, false);
	buf_puts(&b, " FROM (SELECT *");
	put_keyed(&b, i, k, k->before);
	buf_printf(&b, " FROM (%s)) ", buf_str(to));
	if (k->n)
		buf_printf(&b, "ALL %s JOIN", c->scope->at[i].left ? "LEFT" : "INNER");
	else
		buf_puts(&b, "CROSS JOIN");
	buf_puts(&b, " (SELECT *");
	put_keyed(&b, i, k, k->own);
	buf_puts(&b, " FROM (");
	put_source(c, &b, i, k);
	buf_puts(&b, "))");
	for (size_t n = 0; n < k->n; n++)
		buf_printf(&b, "%sk%zu_%zu", n ? ", " : " USING (", i, n);
	buf_puts(&b, k->n ? ")" : "");
	if (buf_full(&b))
		sx_fail(c, "the statement becomes too long");
	buf_free(to);
	*to = b;
}

/* All keys, so that it is known which columns are used; then the text. */
static void join_all(struct compiler *c, struct buf *to, struct conjuncts *where, struct keys *keys)
{
	struct scope *s = c->scope;

	for (size_t i = 0; i < s->n && c->rc == 0; i++) {
		const struct source *src = &s->at[i];

		use_names(c, i, &keys[i]);
		vec_each (j, &s->at[i].on) {
			use_condition(c, j, i, &keys[i], true);
			if (c->rc == 0 && src->left && !j->taken)
				sx_cannot(c, "a LEFT JOIN by anything else than equality");
		}
		if (!src->left)
			vec_each (j, where)
				use_condition(c, j, i, &keys[i], true);
		if (c->rc == 0 && src->left && !keys[i].n)
			sx_cannot(c, "a LEFT JOIN by anything else than equality");
	}
	for (size_t i = 0; i < s->n; i++)
		vec_each (j, &s->at[i].on)
			if (!j->taken) {
				struct conjunct *more = vec_push(where);

				if (more)
					*more = *j;
				else
					sx_no_memory(c);
			}
}

static void put_join(struct compiler *c, struct buf *to, struct conjuncts *where, const char **rest)
{
	struct keys *keys = calloc(c->scope->n, sizeof(*keys));
	struct buf text;

	if (!keys) {
		sx_no_memory(c);
		return;
	}
	for (size_t i = 0; i < c->scope->n; i++)
		buf_init(&keys[i].filter, TEXT_LIMIT);
	buf_init(&text, TEXT_LIMIT);
	join_all(c, to, where, keys);
	*rest = all_of(c, where);
	if (c->rc == 0)
		put_source(c, &text, 0, &keys[0]);
	for (size_t i = 1; i < c->scope->n && c->rc == 0; i++)
		join(c, &text, i, &keys[i]);
	buf_printf(to, " FROM (%s)", buf_str(&text));
	for (size_t i = 0; i < c->scope->n; i++)
		buf_free(&keys[i].filter);
	buf_free(&text);
	free(keys);
}

/*
 * Servers of a cluster do not agree what a subquery among the columns is called, if they are asked
 * for it: they are only asked for columns, then.
 */
static void put_plain(struct compiler *c, struct buf *to, const char *where)
{
	const struct store_table *t = &c->scope->at[0].table;
	bool any = false, took = false;

	buf_puts(to, "(SELECT ");
	for (size_t i = 0; i < t->n; i++) {
		if (!t->columns[i].used)
			continue;
		buf_puts(to, any ? ", " : "");
		ch_put_name(to, t->columns[i].ref);
		any = true;
	}
	buf_puts(to, any ? " FROM " : "1 AS one FROM ");
	t->put(t, to, where, &took);
	if (*where && !took)
		buf_printf(to, " WHERE %s", where);
	buf_putc(to, ')');
}

void sx_from_put(struct compiler *c, struct buf *to, struct conjuncts *where, const char **rest)
{
	struct scope *s = c->scope;
	const bool plain = s->subqueries;
	bool took = plain;

	*rest = "";
	if (s->n > 1) {
		put_join(c, to, where, rest);
		return;
	}
	*rest = all_of(c, where);
	if (!s->n || c->rc < 0)
		return;
	buf_puts(to, " FROM ");
	if (plain)
		put_plain(c, to, *rest);
	else
		s->at[0].table.put(&s->at[0].table, to, *rest, &took);
	if (took)
		*rest = "";
}
