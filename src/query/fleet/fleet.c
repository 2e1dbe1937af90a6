// SPDX-License-Identifier: GPL-2.0-or-later
/* A fleet in a session, and the list of its tables. */
#include "query/fleet/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/table.h"
#include "base/error.h"
#include "base/order.h"
#include "base/vec.h"
#include "query/fleet/columns.h"
#include "scan/summary.h"

#define SAMPLES 16 /* files that are searched for names */

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	fleet_free_files(f);
	vec_each (t, &f->tables)
		fleet_table_free(*t);
	vec_free(&f->tables);
	strings_free(&f->names);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

int query_add_fleet(struct query *q, const struct fleet_options *opt, struct spur_error *err)
{
	struct fleet *f = calloc(1, sizeof(*f));

	if (!f || sqlite3_create_module(q->db, "spur_fleet", &fleet_module, q) != SQLITE_OK) {
		free(f);
		return error_set(err, -ENOMEM, "out of memory");
	}
	f->query = q;
	f->threads = opt->threads ? opt->threads : 1;
	pthread_mutex_init(&f->lock, NULL);
	q->fleet = f;
	return fleet_list_files(f, opt->path, err);
}

struct fleet_counts query_fleet_counts(const struct query *q)
{
	const struct fleet *f = q->fleet;

	if (!f)
		return (struct fleet_counts){0};
	return (struct fleet_counts){.files = f->files.n,
				     .read = f->read,
				     .groups = f->groups,
				     .groups_read = f->groups_read,
				     .incomplete = f->incomplete};
}

/* ---- what there is ---- */

struct count {
	char *system, *name;
	uint64_t rows;
};

struct counting {
	struct fleet *fleet;
	vec_of(struct count) counts;
	uint64_t rows, traces;
	int rc; /* the last error of any thread */
};

static int add_count(struct counting *c, const char *system, const char *name, uint64_t rows)
{
	struct count *n;

	vec_each (other, &c->counts) {
		if (strcmp(other->name, name) == 0 && strcmp(other->system, system) == 0) {
			other->rows += rows;
			return 0;
		}
	}
	n = vec_push(&c->counts);
	if (!n)
		return -ENOMEM;
	n->name = strdup(name);
	n->system = strdup(system);
	n->rows = rows;
	return n->name && n->system ? 0 : -ENOMEM;
}

static int count_trace(struct counting *c, struct spur_trace *t)
{
	struct summary s = {0};
	int rc = summary_make(t, 1, c->fleet->query->opt.stop, &s);

	pthread_mutex_lock(&c->fleet->lock);
	for (size_t i = 0; rc == 0 && i < t->events->nr; i++)
		if (s.by_event[i])
			rc = add_count(c, t->events->list[i]->system, t->events->list[i]->name,
				       s.by_event[i]);
	c->rows += s.events;
	c->traces++;
	pthread_mutex_unlock(&c->fleet->lock);
	summary_free(&s);
	return rc;
}

/* Adds the rows of a Parquet file, by its footer. */
static int count_rows(struct counting *c, const struct fleet_file *file, const struct parquet *p)
{
	const uint64_t rows = parquet_nr_rows(p);
	const char *event = fleet_event_name(file->table);
	char system[64];
	int rc = 0;

	snprintf(system, sizeof(system), "%s", file->about->system);
	if (event != file->table)
		snprintf(system, sizeof(system), "%.*s", (int)(event - file->table - 1),
			 file->table);
	pthread_mutex_lock(&c->fleet->lock);
	if (strcasecmp(file->table, "traces") == 0)
		c->traces += rows;
	if (fleet_is_event(file)) {
		rc = add_count(c, system, event, rows);
		c->rows += rows;
	}
	pthread_mutex_unlock(&c->fleet->lock);
	return rc;
}

static void count_file(void *arg, size_t file, struct fleet_input *in)
{
	struct counting *c = arg;
	const int rc = in->parquet ? count_rows(c, &c->fleet->files.at[file], in->parquet)
				   : count_trace(c, in->trace);

	pthread_mutex_lock(&c->fleet->lock);
	c->rc = rc < 0 ? rc : c->rc;
	pthread_mutex_unlock(&c->fleet->lock);
}

static int by_name(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->system, y->system);
}

/* An event's name needs the system if several systems, or a derived table, have the same name. */
static bool needs_system(const struct counting *c, size_t i)
{
	return (i && strcmp(c->counts.at[i - 1].name, c->counts.at[i].name) == 0) ||
	       (i + 1 < c->counts.n &&
		strcmp(c->counts.at[i + 1].name, c->counts.at[i].name) == 0) ||
	       table_find(c->counts.at[i].name) || strcmp(c->counts.at[i].name, "traces") == 0;
}

static void show_counts(const struct counting *c,
			void (*fn)(void *arg, const struct query_table_info *t), void *arg)
{
	fn(arg, &(struct query_table_info){.schema = "main",
					   .name = "traces",
					   .about = "the traces, a row each",
					   .rows = c->traces});
	for (int i = 0; tables[i]; i++)
		fn(arg, &(struct query_table_info){.schema = "main",
						   .name = tables[i]->name,
						   .about = tables[i]->about});
	fn(arg, &(struct query_table_info){.schema = "main",
					   .name = "events",
					   .about = "all records, with their text",
					   .rows = c->rows});
	for (size_t i = 0; i < c->counts.n; i++) {
		char name[300];

		snprintf(name, sizeof(name), "%s%s%s",
			 needs_system(c, i) ? c->counts.at[i].system : "",
			 needs_system(c, i) ? ":" : "", c->counts.at[i].name);
		fn(arg, &(struct query_table_info){.schema = "main",
						   .name = name,
						   .system = c->counts.at[i].system,
						   .rows = c->counts.at[i].rows});
	}
}

int fleet_tables(struct query *q, void (*fn)(void *arg, const struct query_table_info *t),
		 void *arg, struct spur_error *err)
{
	struct counting c = {.fleet = q->fleet};
	const struct fleet_table all = {.kind = FLEET_TRACES};
	const struct limit_list none = {0};
	struct file_list list = {0};
	int rc = fleet_choose(q->fleet, &all, &none, &list);

	if (rc == 0 && list.n)
		rc = fleet_visit(q->fleet, &list, count_file, &c);
	if (rc == 0)
		rc = c.rc;
	order_vec(&c.counts, by_name);
	if (rc == 0)
		show_counts(&c, fn, arg);
	vec_each (n, &c.counts) {
		free(n->name);
		free(n->system);
	}
	vec_free(&c.counts);
	vec_free(&list);
	return rc < 0 ? error_sys(err, rc, "counting events") : 0;
}

int fleet_columns(struct query *q, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err)
{
	const char *name = strncmp(table, "main.", 5) == 0 ? table + 5 : table;
	const struct fleet_table *t;
	struct buf sql;
	int rc;

	buf_init(&sql, 4096);
	buf_puts(&sql, "select * from ");
	put_identifier(&sql, name);
	rc = sql.full ? -EINVAL : fleet_make_tables(q, buf_str(&sql), err);
	buf_free(&sql);
	t = rc == 0 ? fleet_table_find(q->fleet, name) : NULL;
	if (!t)
		return rc < 0 ? rc : 1;
	vec_each (c, &t->columns)
		fn(arg, &(struct query_column_info){c->name, c->type, c->about});
	return 0;
}

void fleet_names(struct query *q, void (*fn)(void *arg, const char *name), void *arg)
{
	struct fleet *f = q->fleet;

	for (size_t i = 0, tried = 0; !f->names.n && i < f->files.n && tried < SAMPLES; i++) {
		struct spur_error err = {0};
		struct fleet_input in = {0};

		if (f->files.at[i].parquet)
			continue;
		tried++;
		if (fleet_open(&f->files.at[i], &in, &err) && in.trace)
			for (size_t k = 0; k < in.trace->events->nr; k++)
				strings_add(&f->names, in.trace->events->list[k]->name);
		fleet_close(&in);
	}
	fn(arg, "traces");
	/* Neighbours in a store have the same table. */
	for (size_t i = 0; i < f->files.n; i++)
		if (f->files.at[i].parquet && f->files.at[i].state != FLEET_BAD &&
		    (!i || !f->files.at[i - 1].parquet ||
		     strcmp(f->files.at[i].table, f->files.at[i - 1].table) != 0))
			fn(arg, f->files.at[i].table);
	vec_each (name, &f->names)
		fn(arg, *name);
}
