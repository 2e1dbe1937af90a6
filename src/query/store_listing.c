// SPDX-License-Identifier: GPL-2.0-or-later
/* What a store has, for people. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/table.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "query/store_session.h"

#define TRACES	   "traces"
#define EVENTS	   "events"
#define TEXT_LIMIT (4u << 20)

static int ask_counts(struct store *s, struct spur_error *err)
{
	struct ch_server *sv = &s->server;
	bool any = false;

	buf_reset(&sv->sql);
	for (size_t i = 0; i < sv->tables.n; i++) {
		const char *name = sv->tables.at[i].name;

		if (store_is_local(s, name))
			continue;
		buf_puts(&sv->sql, any ? " UNION ALL SELECT " : "SELECT * FROM (SELECT ");
		ch_put_string(&sv->sql, name);
		buf_puts(&sv->sql, " AS name, count() AS rows FROM ");
		store_put_place(s, name, &sv->sql);
		any = true;
	}
	buf_puts(&sv->sql, ") ORDER BY name FORMAT TabSeparated");
	/* It may be back. */
	sv->away = false;
	return ch_ask(sv, err);
}

/* What stands before others. */
static int rank(const char *name)
{
	return strcmp(name, TRACES) == 0 ? 0 : table_find(name) ? 1 : 2;
}

struct listed {
	const char *name;
	uint64_t rows;
};

static int by_rank(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	const int order = rank(x->name) - rank(y->name);

	return order ? order : strcmp(x->name, y->name);
}

static void show_table(struct store *s, const struct listed *l,
		       void (*fn)(void *arg, const struct query_table_info *t), void *arg)
{
	const struct table *derived = table_find(l->name);
	const struct ch_table_info *t = ch_table_find(&s->server, l->name);
	const char *system = t && store_is_event(s, t) ? store_system_of(s, l->name) : NULL;

	fn(arg, &(struct query_table_info){
			.schema = "main",
			.name = l->name,
			.system = system,
			.about = strcmp(l->name, TRACES) == 0	     ? "the traces, a row each"
				 : derived			     ? derived->about
				 : strcmp(l->name, STORE_TYPES) == 0 ? "types of events"
								     : "",
			.rows = l->rows,
		});
}

int store_tables(struct store *s, void (*fn)(void *arg, const struct query_table_info *t),
		 void *arg, struct spur_error *err)
{
	struct {
		struct listed *at;
		size_t n, cap;
	} list = {0};
	uint64_t events = 0;
	bool shown = false;
	char *at, *line;
	int rc = ask_counts(s, err);

	at = rc == 0 ? s->server.answer.body.data : NULL;
	while (rc == 0 && (line = ch_line(&at))) {
		const char *name = ch_field(&line);
		struct listed *l = vec_push(&list);

		if (!l)
			rc = error_set(err, -ENOMEM, "out of memory");
		else if (!ch_read_number(line ? ch_field(&line) : NULL, &l->rows))
			rc = ch_nonsense(&s->server, err);
		else
			l->name = name;
	}
	if (rc == 0 && list.n)
		qsort(list.at, list.n, sizeof(*list.at), by_rank);
	vec_each (l, &list) {
		const struct ch_table_info *t = rc == 0 ? ch_table_find(&s->server, l->name) : NULL;

		events += t && store_is_event(s, t) ? l->rows : 0;
	}
	for (size_t i = 0; rc == 0 && i < list.n; i++) {
		if (!shown && rank(list.at[i].name) == 2 && store_has_events(s)) {
			fn(arg, &(struct query_table_info){.schema = "main",
							   .name = EVENTS,
							   .about = "all records",
							   .rows = events});
			shown = true;
		}
		show_table(s, &list.at[i], fn, arg);
	}
	vec_free(&list);
	return rc;
}

/* What a column of a derived table holds. */
static const char *about(const char *table, const char *column)
{
	const struct table *t = table_find(table);

	for (uint32_t i = 0; t && i < t->nr_columns; i++)
		if (strcmp(t->columns[i].name, column) == 0)
			return t->columns[i].about;
	return NULL;
}

int store_columns(struct store *s, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err)
{
	static const char *const types[] = {
		[STORE_NULL] = "",     [STORE_BOOL] = "INTEGER", [STORE_INTEGER] = "INTEGER",
		[STORE_REAL] = "REAL", [STORE_TEXT] = "TEXT",	 [STORE_DATE] = "TEXT"};
	const char *name = strncmp(table, "main.", 5) == 0 ? table + 5 : table;
	const struct ch_table_info *info = store_find_table(s, name);
	struct store_table t;
	struct arena arena;
	int rc;

	arena_init(&arena, TEXT_LIMIT);
	rc = store_find(s, name, &arena, &t);
	if (rc == -ENOENT) {
		struct suggest near = suggest_for(name, strlen(name));

		store_names(s, (void (*)(void *, const char *))suggest_try, &near);
		error_set(err, -EINVAL, "there is no table '%s' in the store%s", name,
			  suggest_hint(&near));
		rc = -EINVAL;
	} else if (rc < 0) {
		error_set(err, rc, "out of memory");
	}
	for (size_t i = 0; rc == 0 && i < t.n; i++) {
		const struct store_column *c = &t.columns[i];
		const char *words = about(name, c->name);
		const struct ch_info_column *typed = info ? ch_column_find(info, c->name) : NULL;

		if (!c->missing && !c->hidden)
			fn(arg, &(struct query_column_info){c->name, types[c->kind],
							    words   ? words
							    : typed ? typed->type
								    : ""});
	}
	arena_free(&arena);
	return rc;
}
