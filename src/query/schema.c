// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of tables and of their columns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/table.h"
#include "base/error.h"
#include "base/order.h"
#include "base/strings.h"
#include "base/vec.h"
#include "query/fleet/private.h"
#include "query/store_session.h"
#include "scan/summary.h"

static const char events_about[] = "all records, with their text";

/* ---- tables ---- */

static int by_name(const void *a, const void *b)
{
	const struct query_table_info *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->system ? x->system : "", y->system ? y->system : "");
}

struct listing {
	struct query_table_info *at;
	size_t n, cap;
	struct strings texts;
};

/* "system:event" if several systems have an event of this name, else the event. */
static const char *full_name(struct listing *l, const struct event *e)
{
	struct buf name;
	bool added;

	buf_init(&name, 1u << 16);
	buf_printf(&name, "%s:%s", e->system, e->name);
	added = strings_add(&l->texts, buf_str(&name));
	buf_free(&name);
	return added ? l->texts.at[l->texts.n - 1] : NULL;
}

static int list_events(struct listing *l, const struct query_file *f, const struct summary *s)
{
	const struct events *ev = f->trace->events;

	for (size_t i = 0; i < ev->nr; i++) {
		struct query_table_info *t;
		bool ambiguous;

		if (!s->by_event[i])
			continue;
		t = vec_push(l);
		if (!t)
			return -ENOMEM;
		names_event(f, ev->list[i]->name, &ambiguous);
		ambiguous |= table_find(ev->list[i]->name) != NULL;
		*t = (struct query_table_info){
			.schema = f->name,
			.name = ambiguous ? full_name(l, ev->list[i]) : ev->list[i]->name,
			.system = ev->list[i]->system,
			.rows = s->by_event[i],
		};
		if (!t->name)
			return -ENOMEM;
	}
	return 0;
}

int query_tables(struct query *q, size_t file,
		 void (*fn)(void *arg, const struct query_table_info *t), void *arg,
		 struct spur_error *err)
{
	const struct query_file *f;
	struct listing l = {0};
	struct summary s = {0};
	int rc;

	if (q->fleet)
		return fleet_tables(q, fn, arg, err);
	if (q->store)
		return store_tables(q->store, fn, arg, err);
	f = q->files.at[file];
	rc = summary_make(f->trace, 1, q->opt.stop, &s);
	if (rc == 0)
		rc = list_events(&l, f, &s);
	if (rc == 0)
		order_vec(&l, by_name);
	for (int i = 0; rc == 0 && tables[i]; i++)
		fn(arg, &(struct query_table_info){.schema = f->name,
						   .name = tables[i]->name,
						   .about = tables[i]->about});
	if (rc == 0)
		fn(arg, &(struct query_table_info){.schema = f->name,
						   .name = "events",
						   .about = events_about,
						   .rows = s.events});
	for (size_t i = 0; rc == 0 && i < l.n; i++)
		fn(arg, &l.at[i]);
	strings_free(&l.texts);
	vec_free(&l);
	summary_free(&s);
	return rc < 0 ? error_sys(err, rc, "counting events") : 0;
}

void query_names(struct query *q, size_t file, void (*fn)(void *arg, const char *name), void *arg)
{
	const struct events *ev = q->fleet || q->store ? NULL : q->files.at[file]->trace->events;

	if (q->store) {
		store_names(q->store, fn, arg);
		return;
	}
	for (int i = 0; tables[i]; i++)
		fn(arg, tables[i]->name);
	fn(arg, "events");
	if (q->fleet)
		fleet_names(q, fn, arg);
	for (size_t i = 0; ev && i < ev->nr; i++)
		fn(arg, ev->list[i]->name);
}

/* ---- columns ---- */

static void derived_columns(const struct table *t,
			    void (*fn)(void *arg, const struct query_column_info *c), void *arg)
{
	for (uint32_t i = 0; i < t->nr_columns; i++)
		fn(arg, &(struct query_column_info){
				.name = t->columns[i].name,
				.type = row_is_text(&t->columns[i]) ? "TEXT" : "INTEGER",
				.about = t->columns[i].about,
			});
}

static int event_columns(struct event *e, void (*fn)(void *arg, const struct query_column_info *c),
			 void *arg)
{
	struct cells cells = {0};
	int rc = cells_make(&cells, e);

	if (rc == 0)
		vec_each (c, &cells)
			fn(arg, &(struct query_column_info){
					.name = c->name,
					.type = cell_is_text(c) ? "TEXT" : "INTEGER",
					.about = c->about,
				});
	cells_free(&cells);
	return rc;
}

/* Columns of tables that the user has made, and of others that SQLite knows. */
static bool other_columns(struct query *q, const char *table,
			  void (*fn)(void *arg, const struct query_column_info *c), void *arg)
{
	sqlite3_stmt *s = NULL;
	bool any = false;

	q->internal = true;
	if (sqlite3_prepare_v2(q->db, "select name, type from pragma_table_info(?1)", -1, &s,
			       NULL) == SQLITE_OK) {
		sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
		for (; sqlite3_step(s) == SQLITE_ROW; any = true)
			fn(arg, &(struct query_column_info){
					.name = (const char *)sqlite3_column_text(s, 0),
					.type = (const char *)sqlite3_column_text(s, 1),
					.about = "",
				});
	}
	sqlite3_finalize(s);
	q->internal = false;
	return any;
}

int query_columns(struct query *q, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err)
{
	const char *dot = strchr(table, '.'), *name = dot ? dot + 1 : table;
	char message[300];
	int rc = q->store   ? store_columns(q->store, table, fn, arg, err)
		 : q->fleet ? fleet_columns(q, table, fn, arg, err)
			    : 1;

	if (rc <= 0)
		return rc;
	for (size_t i = 0; i < q->files.n; i++) {
		const struct query_file *f = q->files.at[i];
		struct event *e;
		bool ambiguous;

		if (dot && (strncasecmp(f->name, table, (size_t)(dot - table)) != 0 ||
			    f->name[dot - table]))
			continue;
		for (int k = 0; tables[k]; k++) {
			if (strcasecmp(tables[k]->name, name) == 0) {
				derived_columns(tables[k], fn, arg);
				return 0;
			}
		}
		e = names_event(f, name, &ambiguous);
		if (strcasecmp(name, "events") == 0)
			e = NULL;
		else if (!e || ambiguous)
			continue;
		return event_columns(e, fn, arg) < 0 ? error_set(err, -ENOMEM, "out of memory") : 0;
	}
	if (other_columns(q, table, fn, arg))
		return 0;
	snprintf(message, sizeof(message), "no such table: %s", table);
	return names_explain(q, "", message, err);
}
