// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A database file for SQLite with the tables of `spur sql`: one for every type of event that
 * occurs, `events` with all of them, and those that are derived. Tables have an index by time, and
 * one by task where they have tasks.
 *
 * With several traces, tables of the first one have their plain names; those of others begin with
 * the trace's number. The file is written under a temporary name and renamed when it is complete.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/error.h"
#include "base/newfile.h"
#include "base/vec.h"
#include "export/reader.h"
#include "table/cells.h"
#include "export/export.h"

/*
 * Nobody reads the file before it is complete, so no journal is needed. The cache is also used to
 * sort indexes.
 */
#define SETUP                                                                                      \
	"pragma page_size=16384; pragma cache_size=-8192; pragma locking_mode=exclusive;"          \
	"pragma journal_mode=off; pragma synchronous=off; begin"

struct database;

/* A table of the file, made when its first row comes. */
struct db_table {
	struct database *db;
	char *name;
	struct cells cells;	   /* of a type of event, or of all; of others empty */
	const struct table *table; /* a derived one; NULL otherwise */
	sqlite3_stmt *insert;
};

struct database {
	sqlite3 *sqlite;
	struct reader reader;
	struct spur_trace *trace;
	size_t number; /* of the trace */
	vec_of(struct db_table) derived;
	struct db_table *types; /* by the event's index */
	struct db_table events;
	int rc; /* the error, a negative errno; SQLite has the message */
};

/* ---- making tables -------------------------------------------------------------------- */

static int failed(struct database *db)
{
	const int code = sqlite3_errcode(db->sqlite);

	if (db->rc == 0)
		db->rc = code == SQLITE_NOMEM ? -ENOMEM : code == SQLITE_FULL ? -ENOSPC : -EIO;
	return db->rc;
}

static int run_sql(struct database *db, const char *sql)
{
	if (sql && sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return failed(db);
}

/* The SQL is freed. */
static int run_made(struct database *db, char *sql)
{
	const int rc = run_sql(db, sql);

	sqlite3_free(sql);
	return rc;
}

static size_t nr_columns(const struct db_table *t)
{
	return t->table ? t->table->nr_columns : t->cells.n;
}

static const char *column_name(const struct db_table *t, size_t i)
{
	return t->table ? t->table->columns[i].name : t->cells.at[i].name;
}

static bool column_is_text(const struct db_table *t, size_t i)
{
	return t->table ? row_is_text(&t->table->columns[i]) : cell_is_text(&t->cells.at[i]);
}

static int prepare_insert(struct db_table *t)
{
	sqlite3_str *sql = sqlite3_str_new(t->db->sqlite);
	char *text;
	int rc;

	sqlite3_str_appendf(sql, "insert into \"%w\" values(?", t->name);
	for (size_t i = 1; i < nr_columns(t); i++)
		sqlite3_str_appendall(sql, ",?");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	rc = text ? sqlite3_prepare_v2(t->db->sqlite, text, -1, &t->insert, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	return rc == SQLITE_OK ? 0 : failed(t->db);
}

static int create(struct db_table *t)
{
	sqlite3_str *sql = sqlite3_str_new(t->db->sqlite);
	int rc;

	sqlite3_str_appendf(sql, "create table \"%w\"(", t->name);
	for (size_t i = 0; i < nr_columns(t); i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? "," : "", column_name(t, i),
				    column_is_text(t, i) ? "text" : "integer");
	sqlite3_str_appendall(sql, ")");
	rc = run_made(t->db, sqlite3_str_finish(sql));
	return rc < 0 ? rc : prepare_insert(t);
}

/* Names are those of `spur sql`: they begin with the system if the event alone is ambiguous. */
static bool is_ambiguous(const struct database *db, const struct event *e)
{
	const struct events *ev = db->trace->events;

	/* Names that begin so are SQLite's own. */
	if (table_find(e->name) || strcasecmp(e->name, "events") == 0 ||
	    strncasecmp(e->name, "sqlite_", 7) == 0)
		return true;
	for (size_t i = 0; i < ev->nr; i++)
		if (ev->list[i] != e && strcasecmp(ev->list[i]->name, e->name) == 0)
			return true;
	return false;
}

static char *name_table(const struct database *db, const struct event *e, const char *name)
{
	char number[24] = "", *made;
	int n;

	if (db->number)
		snprintf(number, sizeof(number), "%zu:", db->number + 1);
	if (e)
		n = asprintf(&made, "%s%s%s%s", number, is_ambiguous(db, e) ? e->system : "",
			     is_ambiguous(db, e) ? ":" : "", e->name);
	else
		n = asprintf(&made, "%s%s", number, name);
	return n < 0 ? NULL : made;
}

static bool is_taken(const struct database *db, const char *name)
{
	for (size_t i = 0; i < db->trace->events->nr; i++)
		if (db->types[i].name && strcasecmp(db->types[i].name, name) == 0)
			return true;
	return false;
}

/* Makes a unique name: SQLite ignores case, and a trace may describe a type twice. */
static char *tell_apart(const struct database *db, char *name)
{
	for (size_t n = 2; name && is_taken(db, name); n++) {
		char *other;

		if (asprintf(&other, "%.*s %zu", (int)strcspn(name, " "), name, n) < 0)
			other = NULL;
		free(name);
		name = other;
	}
	return name;
}

static int begin_cells(struct database *db, struct db_table *t, struct event *e)
{
	t->db = db;
	t->name = tell_apart(db, name_table(db, e, "events"));
	if (!t->name || cells_make(&t->cells, e) < 0)
		return db->rc = -ENOMEM;
	return create(t);
}

static void end_table(struct db_table *t)
{
	struct database *db = t->db;
	bool pid = false;

	if (!t->insert)
		goto out;
	sqlite3_finalize(t->insert);
	for (size_t i = 0; i < nr_columns(t); i++)
		pid |= strcmp(column_name(t, i), "pid") == 0;
	if (db->rc == 0)
		run_made(db, sqlite3_mprintf("create index \"%w by time\" on \"%w\"(ts)", t->name,
					     t->name));
	if (db->rc == 0 && pid)
		run_made(db, sqlite3_mprintf("create index \"%w by task\" on \"%w\"(pid, ts)",
					     t->name, t->name));
out:
	cells_free(&t->cells);
	free(t->name);
	*t = (struct db_table){0};
}

/* ---- rows ----------------------------------------------------------------------------- */

static void step(struct db_table *t)
{
	if (sqlite3_step(t->insert) != SQLITE_DONE)
		failed(t->db);
	sqlite3_reset(t->insert);
}

static void bind_value(sqlite3_stmt *s, int at, const struct cell_value *v)
{
	switch (v->type) {
	case VALUE_NULL: sqlite3_bind_null(s, at); break;
	case VALUE_NUMBER: sqlite3_bind_int64(s, at, v->number); break;
	case VALUE_TEXT:
		sqlite3_bind_text(s, at, v->text, (int)v->len,
				  v->stays ? SQLITE_STATIC : SQLITE_TRANSIENT);
		break;
	}
}

static void add_record(struct db_table *t, struct event *e, const struct spur_record *r)
{
	for (size_t i = 0; i < t->cells.n; i++) {
		struct cell_value v;

		reader_get(&t->db->reader, &t->cells.at[i], e, r, &v);
		bind_value(t->insert, (int)i + 1, &v);
	}
	step(t);
}

static void take_record(void *arg, struct event *e, const struct spur_record *r)
{
	struct database *db = arg;
	struct db_table *t = &db->types[e->index];

	if (db->rc == 0 && !t->insert)
		begin_cells(db, t, e);
	if (db->rc == 0)
		add_record(t, e, r);
	if (db->rc == 0)
		add_record(&db->events, e, r);
}

static void take_row(void *arg, const void *row)
{
	struct db_table *t = arg;

	if (t->db->rc == 0 && !t->insert)
		create(t);
	if (t->db->rc < 0)
		return;
	for (uint32_t i = 0; i < t->table->nr_columns; i++) {
		const struct column *c = &t->table->columns[i];
		const char *text = row_is_text(c) ? row_text(c, row) : NULL;
		const int64_t number = row_is_text(c) ? ROW_NULL : row_number(c, row);

		if (text)
			sqlite3_bind_text(t->insert, (int)i + 1, text, -1, SQLITE_STATIC);
		else if (number == ROW_NULL && c->type != COLUMN_TIME)
			sqlite3_bind_null(t->insert, (int)i + 1);
		else
			sqlite3_bind_int64(t->insert, (int)i + 1, number);
	}
	step(t);
}

/* ---- a trace -------------------------------------------------------------------------- */

static int begin_derived(struct database *db)
{
	for (size_t i = 0; tables[i]; i++) {
		struct db_table *t = vec_push(&db->derived);

		if (!t)
			return -ENOMEM;
		*t = (struct db_table){.db = db, .table = tables[i]};
		t->name = name_table(db, NULL, tables[i]->name);
		if (!t->name)
			return -ENOMEM;
	}
	return 0;
}

static int read_trace(struct database *db, const struct export_job *job, struct spur_error *err)
{
	struct export_table *takers = calloc(db->derived.n, sizeof(*takers));
	const struct export_reader p = {.trace = db->trace,
					.tables = takers,
					.nr_tables = db->derived.n,
					.record = take_record,
					.arg = db,
					.failed = &db->rc};
	int rc;

	if (!takers)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < db->derived.n; i++)
		takers[i] = (struct export_table){db->derived.at[i].table, take_row,
						  &db->derived.at[i]};
	rc = export_reader_run(job, &p, err);
	free(takers);
	return rc;
}

static int add_trace(struct database *db, const struct export_job *job, struct spur_error *err)
{
	const size_t nr = db->trace->events->nr;
	int rc = 0;

	reader_init(&db->reader, db->trace);
	db->types = calloc(nr + 1, sizeof(*db->types));
	if (!db->types || begin_derived(db) < 0)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = begin_cells(db, &db->events, NULL);
	if (rc == 0)
		rc = read_trace(db, job, err);
	for (size_t i = 0; db->types && i < nr; i++)
		end_table(&db->types[i]);
	for (size_t i = 0; i < db->derived.n; i++)
		end_table(&db->derived.at[i]);
	end_table(&db->events);
	db->derived.n = 0;
	free(db->types);
	reader_done(&db->reader);
	return rc < 0 ? rc : db->rc;
}

static int fill(struct database *db, const struct export_job *job, struct spur_error *err)
{
	int rc = run_sql(db, SETUP);

	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++) {
		db->trace = job->traces[i];
		db->number = i;
		rc = add_trace(db, job, err);
	}
	return rc < 0 ? rc : run_sql(db, "commit");
}

static int run(const struct export_job *job, struct spur_error *err)
{
	struct database db = {0};
	struct newfile file = {0};
	int fd = newfile_create(&file, job->target, err), rc;

	if (fd < 0)
		return fd;
	close(fd);
	if (sqlite3_open_v2(file.temp, &db.sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		rc = failed(&db);
	else
		rc = fill(&db, job, err);
	if (rc < 0 && db.rc == rc && !err->code)
		error_set(err, rc, "%s: %s", job->target, sqlite3_errmsg(db.sqlite));
	if (sqlite3_close(db.sqlite) != SQLITE_OK && rc == 0)
		rc = error_set(err, -EIO, "%s: it cannot be closed", job->target);
	vec_free(&db.derived);
	if (rc == 0)
		return newfile_keep(&file, err);
	newfile_drop(&file);
	return rc;
}

const struct export_format export_sqlite = {
	.name = "sqlite",
	.about = "a database with the tables of spur sql",
	.suffix = ".db",
	.kind = EXPORT_FILE,
	.run = run,
};
