// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The virtual tables over those of src/table: a cursor reads rows one by one. The analysis handles
 * a range of time, because it knows which records that needs. SQLite checks all other conditions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/feed.h"
#include "base/array.h"
#include "base/hash.h"
#include "query/parts.h"

#define GATHER_MEMORY (32u << 20) /* with more rows, SQLite sorts them */

struct derived_table {
	sqlite3_vtab base;
	struct query_file *file;
	const struct table *table;
	size_t number; /* in tables[] */
	enum limit_kind *kinds;
	bool *stays; /* by column: its values live as long as the analysis */
	struct scans scans;
};

struct derived_cursor {
	sqlite3_vtab_cursor base;
	struct rows *rows;
	struct limits limits;
	struct gather *gather; /* has the rows, or NULL */
	const void *row;
	bool done; /* the last gathered row has been shown */
	bool any;  /* a row has come */
	bool part; /* only a range of time is read */
};

static int declare(sqlite3 *db, const struct table *t)
{
	struct buf sql;
	int rc;

	buf_init(&sql, 1u << 20);
	buf_puts(&sql, "create table t(");
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		buf_puts(&sql, i ? ", " : "");
		put_identifier(&sql, t->columns[i].name);
		buf_puts(&sql, row_is_text(&t->columns[i]) ? " text" : " integer");
	}
	buf_putc(&sql, ')');
	rc = sqlite3_declare_vtab(db, buf_str(&sql));
	buf_free(&sql);
	return rc;
}

static int disconnect(sqlite3_vtab *vtab)
{
	struct derived_table *t = (struct derived_table *)vtab;

	free(t->kinds);
	free(t->stays);
	free(t);
	return SQLITE_OK;
}

/* Arguments: the file's number, and the table's in tables[]. */
static int connect(sqlite3 *db, void *query, int argc, const char *const *argv, sqlite3_vtab **out,
		   char **why)
{
	const struct query *q = query;
	const unsigned long file = argc == 5 ? strtoul(argv[3], NULL, 10) : q->files.n;
	const unsigned long number = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
	struct derived_table *t;
	int rc;

	if (file >= q->files.n)
		return SQLITE_ERROR;
	for (unsigned long i = 0; i <= number; i++)
		if (!tables[i])
			return SQLITE_ERROR;
	t = calloc(1, sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	t->file = q->files.at[file];
	t->table = tables[number];
	t->number = number;
	t->kinds = calloc(t->table->nr_columns + 1, sizeof(*t->kinds));
	t->stays = calloc(t->table->nr_columns + 1, sizeof(*t->stays));
	rc = t->kinds && t->stays ? declare(db, t->table) : SQLITE_NOMEM;
	if (rc != SQLITE_OK) {
		disconnect(&t->base);
		return rc;
	}
	for (uint32_t i = 0; i < t->table->nr_columns; i++) {
		t->kinds[i] =
			i == 0 && t->table->columns[0].type == COLUMN_TIME ? LIMIT_TS : NR_LIMITS;
		t->stays[i] = !t->table->passing ||
			      strcmp(t->table->columns[i].name, t->table->passing) != 0;
	}
	*out = &t->base;
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct derived_table *t = (struct derived_table *)vtab;
	const struct plan_request req = {
		.query = t->file->query,
		.kinds = t->kinds,
		.coarse = t->stays,
		.gathers = true,
		.nr_columns = (int)t->table->nr_columns,
		.rows = (double)t->file->records,
	};

	return plan_make(&req, info);
}

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct derived_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	*out = &c->base;
	return SQLITE_OK;
}

static void scan_end(struct derived_cursor *c)
{
	gather_free(c->gather);
	c->gather = NULL;
	rows_close(c->rows);
	c->rows = NULL;
	c->row = NULL;
	limits_free(&c->limits);
	c->limits = (struct limits){0};
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	scan_end((struct derived_cursor *)cursor);
	free(cursor);
	return SQLITE_OK;
}

/* ---- a table that stays empty ---- */

/* Whether rows of a table can be made of records of this type. */
static bool needed(const void *table, struct event *e)
{
	const struct table *t = table;

	for (const char *const *p = t->needs; *p; p++)
		if (event_named(e, *p))
			return true;
	if (!t->wants)
		return false;
	event_ready(e);
	return t->wants(e);
}

/* Appends what to record for the table. (Events that a tracer writes cannot be chosen.) */
static void put_recording(const struct table *t, struct buf *text)
{
	static const struct {
		const char *need, *options;
	} tracers[] = {{"ftrace:funcgraph_exit", "-p function_graph"},
		       {"ftrace:kernel_stack", "-T -e EVENT"}};

	for (size_t i = 0; i < ARRAY_SIZE(tracers); i++) {
		if (strcmp(t->needs[0], tracers[i].need) == 0) {
			buf_puts(text, tracers[i].options);
			return;
		}
	}
	for (size_t i = 0; t->events[i] && i < 4; i++)
		buf_printf(text, "%s-e %s", i ? " " : "", t->events[i]);
}

static void tell_missing(const struct query *q, const struct query_missing *m)
{
	if (q->opt.missing)
		q->opt.missing(q->opt.arg, m);
	else
		query_tell(q, "%s needs %s, which this trace does not have (spur record %s)",
			   m->table, m->needs, m->record);
}

/* Tells the user, once for each table of a file, what should have been recorded. */
static void note_missing(const struct derived_table *t)
{
	struct query_file *f = t->file;
	const char *const *needs = t->table->needs;
	struct buf events, record;

	if (!needs || !*needs || !query_tells_missing(f->query) || t->number >= 64 ||
	    f->noted >> t->number & 1)
		return;
	f->noted |= 1ull << t->number;
	if (query_has_record(f, needed, t->table))
		return;
	buf_init(&events, 4096);
	buf_init(&record, 4096);
	for (size_t i = 0; needs[i]; i++)
		buf_printf(&events, "%s%s", i ? " or " : "", needs[i]);
	put_recording(t->table, &record);
	tell_missing(f->query, &(struct query_missing){.table = t->table->name,
						       .needs = buf_str(&events),
						       .record = buf_str(&record)});
	buf_free(&events);
	buf_free(&record);
}

/* ---- rows ---- */

static int fail(struct derived_cursor *c, const struct spur_error *err)
{
	if (err->code == -EINTR)
		return SQLITE_INTERRUPT;
	vtab_error(c->base.pVtab, err->text);
	return SQLITE_ERROR;
}

/* Reads the next row that is within the limits. */
static int read_row(struct derived_cursor *c)
{
	const struct derived_table *t = (struct derived_table *)c->base.pVtab;
	struct spur_error err = {0};

	do {
		c->row = rows_next(c->rows);
	} while (c->row && t->kinds[0] == LIMIT_TS &&
		 !limits_have(&c->limits, LIMIT_TS, row_number(&t->table->columns[0], c->row)));
	c->any |= c->row != NULL;
	if (!c->row && rows_error(c->rows, &err) < 0)
		return fail(c, &err);
	if (!c->row && !c->any && !c->part)
		note_missing(t);
	return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	struct derived_cursor *c = (struct derived_cursor *)cursor;

	if (!c->gather)
		return read_row(c);
	c->done = !gather_next(c->gather);
	return SQLITE_OK;
}

/*
 * Reads all rows. If there are too many, SQLite has to sort them, unless the statement has returned
 * rows and cannot begin again.
 */
static int gather_rows(struct derived_cursor *c)
{
	struct query *q = ((struct derived_table *)c->base.pVtab)->file->query;
	int rc;

	c->gather = gather_new(((struct derived_table *)c->base.pVtab)->table, &c->limits,
			       q->has_rows ? SIZE_MAX : GATHER_MEMORY);
	rc = c->gather ? read_row(c) : SQLITE_NOMEM;
	for (; rc == SQLITE_OK && c->row; rc = read_row(c)) {
		if (gather_add(c->gather, c->row))
			continue;
		q->too_many = !q->has_rows;
		vtab_error(c->base.pVtab, "too many rows for groups in memory");
		return SQLITE_ERROR;
	}
	return rc != SQLITE_OK || gather_sort(c->gather) ? rc : SQLITE_NOMEM;
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		  sqlite3_value **argv)
{
	struct derived_cursor *c = (struct derived_cursor *)cursor;
	struct derived_table *t = (struct derived_table *)cursor->pVtab;
	struct walk_options opt = query_walk_options(t->file->query);
	struct spur_error err = {0};
	int rc;

	scan_end(c);
	if (t->file->records >= MANY_RECORDS)
		query_note_scan(t->file->query, t->table->name, &t->scans);
	c->any = false;
	rc = limits_read(&c->limits, plan, argv, argc);
	c->part = c->limits.numbers[LIMIT_TS].n > 0;
	if (rc != SQLITE_OK || !limits_range(&c->limits, &opt))
		return rc;
	/* A range is mostly short, and may be read for every row of another table. */
	if (c->part)
		opt.threads = 1;
	c->rows = rows_open(t->file->trace, t->table, &opt, &err);
	if (!c->rows)
		return fail(c, &err);
	rc = c->limits.nr_group ? gather_rows(c) : SQLITE_OK;
	return rc == SQLITE_OK ? cursor_next(cursor) : rc;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
	const struct derived_cursor *c = (struct derived_cursor *)cursor;

	return c->gather ? c->done : !c->row;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int number)
{
	const struct derived_cursor *c = (struct derived_cursor *)cursor;
	const struct derived_table *t = (struct derived_table *)cursor->pVtab;
	const struct column *col = &t->table->columns[number];
	const char *text = NULL;
	int64_t n = 0;

	if (c->gather) {
		if (!gather_value(c->gather, number, &n, &text)) {
			sqlite3_result_error(ctx, "a column was read that was not gathered", -1);
			return SQLITE_OK;
		}
	} else if (row_is_text(col)) {
		text = row_text(col, c->row);
	} else {
		n = row_number(col, c->row);
	}
	if (row_is_text(col) ? !text : col->type != COLUMN_TIME && n == ROW_NULL)
		sqlite3_result_null(ctx);
	else if (row_is_text(col))
		sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_int64(ctx, n);
	return SQLITE_OK;
}

/* A row has no number, so the rowid is a hash of its content. */
static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	static const struct hash_seed seed = {0x5bd1e9955bd1e995ull, 0x1b873593cc9e2d51ull};
	const struct derived_cursor *c = (struct derived_cursor *)cursor;
	const struct table *t = ((struct derived_table *)cursor->pVtab)->table;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const char *text =
			row_is_text(&t->columns[i]) ? row_text(&t->columns[i], c->row) : NULL;

		hash = hash_add(&seed, hash,
				text ? hash_bytes(&seed, text, strlen(text))
				: row_is_text(&t->columns[i])
					? 0
					: (uint64_t)row_number(&t->columns[i], c->row));
	}
	*id = (sqlite3_int64)hash;
	return SQLITE_OK;
}

const sqlite3_module derived_module = {
	.iVersion = 1,
	.xCreate = connect,
	.xConnect = connect,
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
	.xDestroy = disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = filter,
	.xNext = cursor_next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};
