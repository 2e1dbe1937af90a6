// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store has: the tables that exports have made, and their columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "query/store_session.h"
#include "table/table.h"

#define LOCAL  "_local"
#define TRACES "traces"
#define TYPES  "event_types" /* in which exports note what events there are */

/* Those of every table come first, in this order. */
static const char *const first_columns[] = {"host", "date", "trace_id"};
#define NR_FIRST (sizeof(first_columns) / sizeof(first_columns[0]))

/* In a cluster the rows of a shard are in NAME_local, and NAME is what is asked. */
static bool is_local(const struct store *s, const char *name)
{
	const size_t len = strlen(name), tail = strlen(LOCAL);
	char base[256];

	if (len <= tail || len >= sizeof(base) || strcmp(name + len - tail, LOCAL) != 0)
		return false;
	memcpy(base, name, len - tail);
	base[len - tail] = '\0';
	return ch_table_find(&s->server, base) != NULL;
}

void store_names(const struct store *s, void (*fn)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < s->server.tables.n; i++)
		if (!is_local(s, s->server.tables.at[i].name))
			fn(arg, s->server.tables.at[i].name);
}

/* ---- tables ---- */

struct listed {
	char *name;
	char *system; /* NULL: it is no event */
	uint64_t rows;
};

struct listing {
	struct listed *at;
	size_t n, cap;
};

static void put_table(const struct store *s, const char *table, struct buf *to)
{
	ch_put_name(to, s->at.database);
	buf_putc(to, '.');
	ch_put_name(to, table);
}

static int count_rows(struct store *s, struct listing *list, struct spur_error *err)
{
	struct ch_server *sv = &s->server;
	bool any = false;
	char *at, *line;
	int rc;

	buf_reset(&sv->sql);
	for (size_t i = 0; i < sv->tables.n; i++) {
		const char *name = sv->tables.at[i].name;

		if (is_local(s, name))
			continue;
		buf_puts(&sv->sql, any ? " UNION ALL SELECT " : "SELECT * FROM (SELECT ");
		ch_put_string(&sv->sql, name);
		buf_puts(&sv->sql, " AS name, count() AS rows FROM ");
		put_table(s, name, &sv->sql);
		any = true;
	}
	buf_puts(&sv->sql, ") ORDER BY name FORMAT TabSeparated");
	/* It may be back. */
	sv->away = false;
	rc = ch_ask(sv, err);
	if (rc < 0)
		return rc;
	at = sv->answer.body.data;
	while ((line = ch_line(&at))) {
		const char *name = ch_field(&line);
		struct listed *l = vec_push(list);

		if (!l || !(l->name = strdup(name)))
			return error_set(err, -ENOMEM, "out of memory");
		if (!ch_read_number(ch_field(&line), &l->rows))
			return ch_nonsense(sv, err);
	}
	return 0;
}

/* Of which system events are. */
static int load_systems(struct store *s, struct listing *list, struct spur_error *err)
{
	struct ch_server *sv = &s->server;
	char *at, *line;
	int rc;

	if (!ch_table_find(sv, TYPES))
		return 0;
	buf_reset(&sv->sql);
	buf_puts(&sv->sql, "SELECT `table`, min(system) FROM ");
	put_table(s, TYPES, &sv->sql);
	buf_puts(&sv->sql, " GROUP BY `table` FORMAT TabSeparated");
	rc = ch_ask(sv, err);
	if (rc < 0)
		return rc;
	at = sv->answer.body.data;
	while ((line = ch_line(&at))) {
		const char *table = ch_field(&line), *system = ch_field(&line);

		if (!system || line)
			return ch_nonsense(sv, err);
		vec_each (l, list)
			if (!l->system && strcmp(l->name, table) == 0 &&
			    !(l->system = strdup(system)))
				return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* The traces, then derived tables, then all others. */
static int rank(const char *name)
{
	return strcmp(name, TRACES) == 0 ? 0 : table_find(name) ? 1 : 2;
}

static int by_rank(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	const int order = rank(x->name) - rank(y->name);

	return order ? order : strcmp(x->name, y->name);
}

static void show_table(const struct listed *l,
		       void (*fn)(void *arg, const struct query_table_info *t), void *arg)
{
	const struct table *derived = table_find(l->name);

	fn(arg, &(struct query_table_info){
			.schema = "main",
			.name = l->name,
			.system = l->system,
			.about = strcmp(l->name, TRACES) == 0  ? "the traces, a row each"
				 : derived		       ? derived->about
				 : strcmp(l->name, TYPES) == 0 ? "types of events"
							       : "",
			.rows = l->rows,
		});
}

int store_tables(struct store *s, void (*fn)(void *arg, const struct query_table_info *t),
		 void *arg, struct spur_error *err)
{
	struct listing list = {0};
	int rc = count_rows(s, &list, err);

	if (rc == 0)
		rc = load_systems(s, &list, err);
	if (rc == 0 && list.n)
		qsort(list.at, list.n, sizeof(*list.at), by_rank);
	vec_each (l, &list) {
		if (rc == 0)
			show_table(l, fn, arg);
		free(l->name);
		free(l->system);
	}
	vec_free(&list);
	return rc;
}

/* ---- columns ---- */

/* What a column of a derived table holds. */
static const char *about(const char *table, const char *column)
{
	const struct table *t = table_find(table);

	for (uint32_t i = 0; t && i < t->nr_columns; i++)
		if (strcmp(t->columns[i].name, column) == 0)
			return t->columns[i].about;
	return NULL;
}

static void show_column(const char *table, const struct ch_info_column *c,
			void (*fn)(void *arg, const struct query_column_info *c), void *arg)
{
	static const char *const types[] = {
		[TSV_TEXT] = "TEXT", [TSV_INTEGER] = "INTEGER", [TSV_REAL] = "REAL"};
	const char *words = about(table, c->name);

	fn(arg, &(struct query_column_info){c->name, types[tsv_kind_of(c->type, strlen(c->type))],
					    words ? words : c->type});
}

/* What only exports need. */
static bool is_hidden(const char *column)
{
	return strcmp(column, "spur_block") == 0 || strcmp(column, "plan") == 0;
}

int store_columns(struct store *s, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err)
{
	const char *name = strncmp(table, "main.", 5) == 0 ? table + 5 : table;
	const struct ch_table_info *t = ch_table_find(&s->server, name);
	const struct ch_info_column *first[NR_FIRST];

	if (!t) {
		struct suggest near = suggest_for(name, strlen(name));

		store_names(s, (void (*)(void *, const char *))suggest_try, &near);
		return error_set(err, -EINVAL, "there is no table '%s' in the store%s", name,
				 suggest_hint(&near));
	}
	for (size_t i = 0; i < NR_FIRST; i++) {
		first[i] = ch_column_find(t, first_columns[i]);
		if (first[i])
			show_column(name, first[i], fn, arg);
	}
	for (size_t i = 0; i < t->n; i++) {
		bool shown = is_hidden(t->at[i].name);

		for (size_t k = 0; k < NR_FIRST; k++)
			shown |= first[k] == &t->at[i];
		if (!shown)
			show_column(name, &t->at[i], fn, arg);
	}
	return 0;
}
