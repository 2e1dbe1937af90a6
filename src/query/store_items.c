// SPDX-License-Identifier: GPL-2.0-or-later
/* Clauses of a SELECT: where they are, its columns, and what it is grouped and sorted by. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_select.h"

static const char *const clause_words[NR_CLAUSES + 1] = {
	"select", "from", "where", "group", "having", "window", "order", "limit", NULL,
};

bool sx_word_at(struct compiler *c, size_t at, size_t to, const char *word)
{
	const size_t pos = c->pos, end = c->end;
	bool there;

	c->pos = at;
	c->end = to;
	there = sx_at_word(c, 0, word);
	c->pos = pos;
	c->end = end;
	return there;
}

/* Finds the clauses from `from` on, of which `first` is the earliest that may come. */
void sx_find_clauses(struct compiler *c, size_t from, size_t to, enum clause first,
		     struct core *out)
{
	size_t at = from;

	while (c->rc == 0 && at < to) {
		enum clause k = first;
		size_t next, begin;

		while (k < NR_CLAUSES && !sx_word_at(c, at, to, clause_words[k]))
			k++;
		if (k == NR_CLAUSES) {
			c->pos = at;
			c->end = to;
			sx_unexpected(c);
			return;
		}
		begin = at + 1;
		if ((k == GROUP || k == ORDER) && sx_word_at(c, begin, to, "by"))
			begin++;
		next = sx_find_word(c, begin, to, clause_words);
		out->clauses[k] = (struct range){begin, next};
		if (begin >= next)
			sx_fail(c, "syntax error: nothing follows '%s'", clause_words[k]);
		first = k + 1;
		at = next;
	}
	if (!range_empty(&out->clauses[WINDOW]))
		sx_cannot(c, "WINDOW");
}

/* The next part of a list with commas. */
static bool next_part(const struct compiler *c, struct range *list, struct range *part)
{
	if (range_empty(list))
		return false;
	part->from = list->from;
	part->to = sx_find_word(c, list->from, list->to, (const char *const[]){",", NULL});
	list->from = part->to + 1;
	return true;
}

/* ---- the columns ---- */

static struct item *new_item(struct compiler *c)
{
	struct item *it = vec_push(&c->scope->items);

	if (!it)
		sx_no_memory(c);
	return it;
}

void sx_items_star(struct compiler *c, const char *table)
{
	bool any = false;

	for (size_t i = 0; i < c->scope->n; i++) {
		const struct source *s = &c->scope->at[i];

		if (table && strcasecmp(s->alias, table) != 0)
			continue;
		any = true;
		for (size_t k = 0; k < s->table.n; k++) {
			struct item *it;
			bool joined = false;

			for (size_t u = 0; !table && u < s->using.n; u++)
				joined |= strcasecmp(s->using.at[u], s->table.columns[k].name) == 0;
			if (s->table.columns[k].hidden || s->table.columns[k].missing || joined)
				continue;
			it = new_item(c);
			if (!it)
				return;
			*it = (struct item){.name = s->table.columns[k].name,
					    .source = i,
					    .column = k,
					    .star = true};
		}
	}
	if (!any)
		sx_fail(c, table ? "there is no table '%s' for its columns" : "'*' of no table%s",
			table ? table : "");
}

/* Whether a token can be the last of an expression that an alias follows. */
static bool ends_expression(struct compiler *c, size_t at)
{
	const struct token *t = &c->tokens->at[at];
	const size_t pos = c->pos, end = c->end;
	bool ends;

	c->pos = at;
	c->end = at + 1;
	ends = t->kind == TOKEN_SIGN
		       ? sx_at_sign(c, 0, ")")
		       : t->kind != TOKEN_WORD || sx_is_name(c, 0) || sx_at_word(c, 0, "end") ||
				 sx_at_word(c, 0, "null") || sx_at_word(c, 0, "isnull") ||
				 sx_at_word(c, 0, "notnull");
	c->pos = pos;
	c->end = end;
	return ends;
}

/* The name behind an expression, if there is one: it is cut off. */
static const char *cut_alias(struct compiler *c, struct range *r)
{
	const struct token *last = &c->tokens->at[r->to - 1];
	const size_t pos = c->pos, end = c->end;
	const char *name = NULL;
	bool as, fits;

	if (r->to - r->from < 2)
		return NULL;
	as = sx_word_at(c, r->to - 2, r->to, "as");
	c->pos = r->to - 1;
	c->end = r->to;
	fits = sx_is_name(c, 0) || last->kind == TOKEN_STRING || (as && last->kind == TOKEN_WORD);
	if (fits && (as || ends_expression(c, r->to - 2))) {
		if (last->kind == TOKEN_STRING)
			name = sx_range(c, r->to - 1, r->to).text;
		else if (last->kind == TOKEN_WORD)
			name = sx_text(c, "%.*s", (int)last->len, c->sql + last->at);
		else
			name = sx_take_name(c);
		r->to -= as ? 2 : 1;
	}
	c->pos = pos;
	c->end = end;
	return name;
}

/* What SQLite calls a column: what it is, or how it is written. */
static const char *item_name(struct compiler *c, const struct range *r)
{
	const size_t n = r->to - r->from;
	const struct token *last = &c->tokens->at[r->to - 1];
	const bool column = (n == 1 || (n == 3 && c->sql[c->tokens->at[r->from + 1].at] == '.')) &&
			    (last->kind == TOKEN_WORD || last->kind == TOKEN_NAME);

	for (size_t i = 0; column && i < c->scope->n; i++) {
		const struct store_table *t = &c->scope->at[i].table;
		const bool quoted = last->kind == TOKEN_NAME;

		for (size_t k = 0; k < t->n; k++)
			if (strlen(t->columns[k].name) == last->len - 2 * quoted &&
			    strncasecmp(t->columns[k].name, c->sql + last->at + quoted,
					last->len - 2 * quoted) == 0)
				return t->columns[k].name;
	}
	return sx_tokens_text(c, r->from, r->to);
}

static void parse_item(struct compiler *c, struct range r)
{
	const char *alias;
	struct item *it;

	if (range_empty(&r)) {
		sx_fail(c, "syntax error: a column is missing");
		return;
	}
	c->pos = r.from;
	c->end = r.to;
	if (r.to - r.from == 1 && sx_at_sign(c, 0, "*")) {
		sx_items_star(c, NULL);
		return;
	}
	if (r.to - r.from == 3 && sx_at_sign(c, 1, ".") && sx_at_sign(c, 2, "*")) {
		sx_items_star(c, sx_take_name(c));
		return;
	}
	alias = cut_alias(c, &r);
	it = new_item(c);
	if (it)
		*it = (struct item){.name = alias ? alias : item_name(c, &r),
				    .alias = alias != NULL,
				    .from = r.from,
				    .to = r.to};
}

struct expr sx_item_expr(struct compiler *c, size_t i)
{
	const struct item it = c->scope->items.at[i];

	return it.star ? sx_of_column(c, it.source, it.column) : sx_range(c, it.from, it.to);
}

/* The item that a term of GROUP BY or ORDER BY is about; -1: none. */
static long item_of_term(struct compiler *c, const struct range *r, bool aliases)
{
	const struct token *t = &c->tokens->at[r->from];
	const struct items *items = &c->scope->items;

	if (r->to - r->from != 1)
		return -1;
	if (t->kind == TOKEN_INTEGER) {
		const struct expr n = sx_range(c, r->from, r->to);

		if (n.number < 1 || (uint64_t)n.number > items->n) {
			sx_fail(c, "there is no column %s to sort or to group by", n.text);
			return -1;
		}
		return (long)n.number - 1;
	}
	for (size_t i = 0; aliases && i < items->n; i++)
		if ((t->kind == TOKEN_WORD || t->kind == TOKEN_NAME) && items->at[i].alias &&
		    strcasecmp(items->at[i].name,
			       t->kind == TOKEN_WORD
				       ? sx_text(c, "%.*s", (int)t->len, c->sql + t->at)
				       : sx_text(c, "%.*s", (int)t->len - 2, c->sql + t->at + 1)) ==
			    0)
			return (long)i;
	return -1;
}

/*
 * A column by what it is called in the text, if it is there as a whole: old servers do not see that
 * two subqueries are the same one.
 */
static void use_output(struct compiler *c, const struct core *core, size_t item, struct expr *e)
{
	if (!core->mark) {
		e->remote = sx_text(c, "s%u_%zu", core->number, item + 1);
		return;
	}
	for (size_t i = 0; i < c->outputs.n; i++) {
		if (strcmp(c->outputs.at[i], e->remote) == 0) {
			e->remote = sx_text(c, "s%u_%zu", core->number, i + 1);
			return;
		}
	}
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static struct expr term_expr(struct compiler *c, const struct core *core, const struct range *r,
			     bool aliases)
{
	const bool here = c->here;
	long item = item_of_term(c, r, aliases);
	struct expr e = {.remote = "NULL"};

	c->here = false;
	if (c->rc == 0)
		e = item >= 0 ? sx_item_expr(c, (size_t)item) : sx_range(c, r->from, r->to);
	/* A name that is no column's may be an item's, after all. */
	if (c->rc == 0 && item < 0 && !e.constant) {
		item = item_of_term(c, r, true);
		if (item >= 0 && !same_text(sx_item_expr(c, (size_t)item).remote, e.remote))
			item = -1;
	}
	c->here = here;
	if (item >= 0 && c->rc == 0 && !e.constant)
		use_output(c, core, (size_t)item, &e);
	return e;
}

/* ---- the other clauses ---- */

const char *sx_group_text(struct compiler *c, const struct core *core)
{
	struct range list = core->clauses[GROUP];
	const char *text = "";
	struct range part;

	while (c->rc == 0 && next_part(c, &list, &part)) {
		const struct expr e = term_expr(c, core, &part, false);

		if (!e.constant)
			text = sx_text(c, "%s%s%s", text, *text ? ", " : "", e.remote);
	}
	return text;
}

/* Terms whose item is grouped by must be the server's as a whole. */
bool sx_is_grouped(struct compiler *c, const struct core *core, size_t item)
{
	struct range list = core->clauses[GROUP];
	struct range part;

	while (c->rc == 0 && next_part(c, &list, &part)) {
		long i = item_of_term(c, &part, false);

		if (i < 0 && part.to - part.from == 1 && c->scope->items.at[item].alias)
			i = item_of_term(c, &part, true);
		if (i == (long)item)
			return true;
	}
	return false;
}

static bool cut_word(struct compiler *c, struct range *r, const char *word)
{
	if (r->to - r->from < 2 || !sx_word_at(c, r->to - 1, r->to, word))
		return false;
	r->to--;
	return true;
}

const char *sx_order_text(struct compiler *c, const struct core *core)
{
	struct range list = core->clauses[ORDER];
	const char *text = "";
	struct range part;

	while (c->rc == 0 && next_part(c, &list, &part)) {
		const bool last = cut_word(c, &part, "last"), first = cut_word(c, &part, "first");
		bool down;
		struct expr e;

		if (last || first)
			cut_word(c, &part, "nulls");
		down = cut_word(c, &part, "desc");
		if (!down)
			cut_word(c, &part, "asc");
		if (range_empty(&part)) {
			sx_fail(c, "syntax error: nothing to sort by");
			break;
		}
		e = term_expr(c, core, &part, true);
		if (e.constant || c->rc < 0)
			continue;
		/* SQLite's NULLs are the smallest values. */
		text = sx_text(c, "%s%s%s %s NULLS %s", text, *text ? ", " : "", e.remote,
			       down ? "DESC" : "ASC", last || (down && !first) ? "LAST" : "FIRST");
	}
	return text;
}

static bool limit_number(struct compiler *c, size_t from, size_t to, int64_t *out)
{
	const struct expr e = sx_remote(c, from, to);

	if (c->rc < 0)
		return false;
	if (!e.constant || e.kind != STORE_INTEGER) {
		sx_fail(c, "LIMIT and OFFSET need a number that does not depend on rows");
		return false;
	}
	*out = e.number;
	return true;
}

const char *sx_limit_text(struct compiler *c, const struct core *core)
{
	const struct range *r = &core->clauses[LIMIT];
	const size_t at =
		sx_find_word(c, r->from, r->to, (const char *const[]){",", "offset", NULL});
	int64_t first = -1, second = 0;
	bool comma;

	if (range_empty(r) || !limit_number(c, r->from, at, &first))
		return "";
	if (at < r->to && !limit_number(c, at + 1, r->to, &second))
		return "";
	comma = at < r->to && !sx_word_at(c, at, r->to, "offset");
	if (comma) {
		const int64_t offset = first;

		first = second;
		second = offset;
	}
	if (second < 0)
		second = 0;
	if (first < 0 && !second)
		return "";
	return sx_text(c, " LIMIT %lld, %lld", (long long)second,
		       first < 0 ? (long long)INT64_MAX / 2 : (long long)first);
}

void sx_items_parse(struct compiler *c, const struct core *core)
{
	struct range list = core->clauses[ITEMS], part;

	while (c->rc == 0 && next_part(c, &list, &part))
		parse_item(c, part);
}
