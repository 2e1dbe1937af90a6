// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The virtual tables of a fleet. A cursor chooses files by the limits, and has them asked what the
 * statement reads, with all limits that SQLite offers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "query/fleet/private.h"

#define GROUP_ROWS   (1u << 18) /* that are kept, unless others have been shown already */
#define GROUP_MEMORY (256u << 20)
#define MANY_SCANS   30

struct fleet_cursor {
	sqlite3_vtab_cursor base;
	struct fleet_limits limits;
	struct fleet_scan *scan;
	int *slots; /* by column: which of a row's values it is; -1: none */
	int group[MAX_GROUP_CELLS], nr_group;
	bool descends[MAX_GROUP_CELLS];
	bool once, eof;
	bool loose; /* some files are */
	struct fleet_row row;
	uint64_t repeat; /* how often the row has been shown */

	/* Rows that have been put in order: */
	bool ordered;
	struct arena arena;
	struct {
		struct fleet_row *at;
		size_t n, cap;
	} held;
	size_t pos;
};

/* ---- tables ---- */

/* The argument is the table's number. */
static int connect(sqlite3 *db, void *query, int argc, const char *const *argv, sqlite3_vtab **out,
		   char **why)
{
	struct fleet *f = ((struct query *)query)->fleet;
	const unsigned long number = argc == 4 && f ? strtoul(argv[3], NULL, 10) : 0;
	struct fleet_vtab *t;
	int rc;

	if (argc != 4 || !f || number >= f->tables.n)
		return SQLITE_ERROR;
	t = calloc(1, sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	t->fleet = f;
	t->table = f->tables.at[number];
	rc = fleet_declare(db, t->table);
	if (rc != SQLITE_OK)
		free(t);
	else
		*out = &t->base;
	return rc;
}

static int disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

/* ---- scans ---- */

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct fleet_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	c->eof = true;
	*out = &c->base;
	return SQLITE_OK;
}

static void scan_end(struct fleet_cursor *c)
{
	scan_free(c->scan);
	c->scan = NULL;
	fleet_limits_free(&c->limits);
	free(c->slots);
	c->slots = NULL;
	vec_free(&c->held);
	if (c->ordered)
		arena_free(&c->arena);
	c->ordered = false;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	scan_end((struct fleet_cursor *)cursor);
	free(cursor);
	return SQLITE_OK;
}

static int add_value(struct fleet_limit *l, sqlite3_value *v)
{
	sqlite3_value **slot = vec_push(&l->values);

	if (slot)
		*slot = sqlite3_value_dup(v);
	return slot && *slot ? SQLITE_OK : SQLITE_NOMEM;
}

static int add_limit(struct fleet_limits *l, const char *at, sqlite3_value *arg)
{
	struct fleet_limit *limit = vec_push(l);
	sqlite3_value *each;
	int rc;

	if (!limit)
		return SQLITE_NOMEM;
	limit->list = at[1] < 'a';
	limit->op = fleet_plan_operator(at[1]);
	limit->column = (int)strtol((char[]){at[2], at[3], at[4], at[5], 0}, NULL, 10);
	if (!limit->list)
		return add_value(limit, arg);
	for (rc = sqlite3_vtab_in_first(arg, &each); rc == SQLITE_OK && each;
	     rc = sqlite3_vtab_in_next(arg, &each)) {
		rc = add_value(limit, each);
		if (rc != SQLITE_OK)
			return rc;
	}
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- the question to a file ---- */

/* Those that every table has are those of the file, unless its rows say them. */
static void want(struct fleet_question *q, struct fleet_cursor *c, size_t column)
{
	if ((column < NR_FLEET_COLUMNS && !c->loose) || c->slots[column] >= 0)
		return;
	c->slots[column] = (int)q->nr;
	q->columns[q->nr++] = (int)column;
}

static int make_question(struct fleet_cursor *c, const struct file_list *list, uint64_t used,
			 struct fleet_question *q)
{
	struct fleet *f = ((struct fleet_vtab *)c->base.pVtab)->fleet;
	const struct fleet_table *t = ((struct fleet_vtab *)c->base.pVtab)->table;
	int rc;

	*q = (struct fleet_question){.table = t, .counted = c->nr_group > 0};
	buf_init(&q->where, 32u << 20);
	q->columns = calloc(t->columns.n + 1, sizeof(*q->columns));
	c->slots = calloc(t->columns.n + 1, sizeof(*c->slots));
	if (!q->columns || !c->slots)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < t->columns.n; i++)
		c->slots[i] = -1;
	c->loose = false;
	for (size_t i = 0; i < list->n; i++)
		c->loose |= file_is_loose(&f->files.at[list->at[i]]);
	for (int i = 0; i < c->nr_group; i++)
		if ((size_t)c->group[i] < t->columns.n)
			want(q, c, (size_t)c->group[i]);
	for (size_t i = 0; !c->nr_group && i < t->columns.n; i++)
		if (used >> (i < 63 ? i : 63) & 1)
			want(q, c, i);
	fleet_put_limits(&q->where, &c->limits);
	rc = fleet_tests_make(f, &c->limits, list, &q->tests);
	if (rc == -E2BIG)
		vtab_error(c->base.pVtab, "LIKE or GLOB pattern too complex");
	if (rc < 0)
		return rc == -E2BIG ? SQLITE_ERROR : SQLITE_NOMEM;
	fleet_note_parquet(f, list, q, &c->limits);
	return q->where.full ? SQLITE_TOOBIG : SQLITE_OK;
}

/* ---- rows in order ---- */

static struct fleet_value value_of(const struct fleet_cursor *c, const struct fleet_row *row,
				   int column)
{
	const struct fleet *f = ((struct fleet_vtab *)c->base.pVtab)->fleet;
	struct fleet_value v = {.type = SQLITE_NULL};

	if (c->slots[column] >= 0)
		return row->values[c->slots[column]];
	if (column >= NR_FLEET_COLUMNS)
		return v;
	v.text = file_value(&f->files.at[row->file], (enum fleet_column)column);
	if (v.text) {
		v.type = SQLITE_TEXT;
		v.len = strlen(v.text);
	}
	return v;
}

/* SQLite's order: what is missing, numbers, texts by their bytes. */
static int compare_values(const struct fleet_value *a, const struct fleet_value *b)
{
	static const int rank[] = {
		[SQLITE_NULL] = 0, [SQLITE_INTEGER] = 1, [SQLITE_FLOAT] = 1, [SQLITE_TEXT] = 2};
	const size_t len = a->len < b->len ? a->len : b->len;
	int order;

	if (rank[a->type] != rank[b->type])
		return rank[a->type] - rank[b->type];
	if (a->type == SQLITE_FLOAT || b->type == SQLITE_FLOAT) {
		const double x = a->type == SQLITE_FLOAT ? a->real : (double)a->number,
			     y = b->type == SQLITE_FLOAT ? b->real : (double)b->number;

		return (x > y) - (x < y);
	}
	if (a->type == SQLITE_INTEGER)
		return (a->number > b->number) - (a->number < b->number);
	if (a->type != SQLITE_TEXT)
		return 0;
	order = len ? memcmp(a->text, b->text, len) : 0;
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static int compare_rows(const void *a, const void *b, void *cursor)
{
	const struct fleet_cursor *c = cursor;
	const struct fleet_row *x = a, *y = b;

	for (int i = 0; i < c->nr_group; i++) {
		const struct fleet_value v = value_of(c, x, c->group[i]),
					 w = value_of(c, y, c->group[i]);
		const int order = compare_values(&v, &w);

		if (order)
			return c->descends[i] ? -order : order;
	}
	return (x->file > y->file) - (x->file < y->file);
}

/* Keeps a row. SQLITE_OK, or SQLITE_FULL when there are too many. */
static int hold(struct fleet_cursor *c, const struct fleet_row *row, size_t nr, bool patient)
{
	struct fleet_row *slot;

	if (c->held.n >= GROUP_ROWS && !patient)
		return SQLITE_FULL;
	slot = vec_push(&c->held);
	if (!slot)
		return SQLITE_NOMEM;
	*slot = *row;
	slot->values = arena_alloc(&c->arena, (nr + 1) * sizeof(*slot->values));
	if (!slot->values)
		return SQLITE_FULL;
	for (size_t i = 0; i < nr; i++) {
		struct fleet_value *v = &slot->values[i];
		char *copy;

		*v = row->values[i];
		if (v->type != SQLITE_TEXT || !v->len)
			continue;
		copy = arena_alloc(&c->arena, v->len);
		if (!copy)
			return SQLITE_FULL;
		memcpy(copy, v->text, v->len);
		v->text = copy;
	}
	return SQLITE_OK;
}

static int scan_result(int rc)
{
	return rc == -EINTR ? SQLITE_INTERRUPT : rc == -ENOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

static int put_in_order(struct fleet_cursor *c, size_t nr)
{
	struct query *q = ((struct fleet_vtab *)c->base.pVtab)->fleet->query;
	struct fleet_row row;
	int got = 0, rc = SQLITE_OK;

	while (rc == SQLITE_OK && (got = scan_next(c->scan, &row)) == 1)
		rc = hold(c, &row, nr, q->has_rows);
	if (rc == SQLITE_FULL) {
		q->too_many = true;
		vtab_error(c->base.pVtab, "there are too many groups to be kept");
		return SQLITE_ERROR;
	}
	if (rc == SQLITE_OK)
		rc = scan_result(got);
	if (rc == SQLITE_OK && c->held.n)
		qsort_r(c->held.at, c->held.n, sizeof(*c->held.at), compare_rows, c);
	return rc;
}

/* ---- rows ---- */

static bool same_group(const struct fleet_cursor *c, const struct fleet_row *a,
		       const struct fleet_row *b)
{
	for (int i = 0; i < c->nr_group; i++) {
		const struct fleet_value v = value_of(c, a, c->group[i]),
					 w = value_of(c, b, c->group[i]);

		if (compare_values(&v, &w))
			return false;
	}
	return true;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	struct fleet_cursor *c = (struct fleet_cursor *)cursor;
	int got;

	if (!c->eof && !c->once && ++c->repeat < c->row.count)
		return SQLITE_OK;
	c->repeat = 0;
	if (c->ordered) {
		while (c->once && c->pos && c->pos < c->held.n &&
		       same_group(c, &c->held.at[c->pos - 1], &c->held.at[c->pos]))
			c->pos++;
		c->eof = c->pos >= c->held.n;
		if (!c->eof)
			c->row = c->held.at[c->pos++];
		return SQLITE_OK;
	}
	got = scan_next(c->scan, &c->row);
	c->eof = got <= 0;
	return scan_result(got);
}

/* Tells the user when files are read for each row of another table. */
static void note_scan(struct fleet *f, struct fleet_table *t, size_t files)
{
	const struct query_options *o = &f->query->opt;
	char text[300];

	if (t->scans.statement != f->query->statement)
		t->scans = (struct scans){.statement = f->query->statement};
	if (t->kind == FLEET_TRACES || !files || ++t->scans.n != MANY_SCANS || !o->note)
		return;
	snprintf(text, sizeof(text),
		 "this reads %.60s again for each row of another table; with x as materialized "
		 "(select ... from %.60s) would read it once",
		 t->name, t->name);
	o->note(o->arg, text);
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		  sqlite3_value **argv)
{
	struct fleet_cursor *c = (struct fleet_cursor *)cursor;
	struct fleet_vtab *v = (struct fleet_vtab *)cursor->pVtab;
	const char *at = plan + FLEET_PLAN_HEAD;
	char digits[17];
	struct file_list list = {0};
	struct fleet_question q;
	size_t nr;
	int rc = SQLITE_OK, got;

	/* What follows the digits could be one of them, as far as its letter goes. */
	snprintf(digits, sizeof(digits), "%.16s", plan + 2);
	scan_end(c);
	c->eof = true;
	c->repeat = c->pos = 0;
	for (int i = 0; rc == SQLITE_OK && *at == 'c' && i < argc; at += 6, i++)
		rc = add_limit(&c->limits, at, argv[i]);
	if (rc != SQLITE_OK)
		return rc;
	c->nr_group = plan_groups(at, c->group, c->descends);
	c->once = *at == 'G';
	got = fleet_choose(v->fleet, v->table, &c->limits, &list);
	if (got < 0) {
		vec_free(&list);
		return scan_result(got);
	}
	note_scan(v->fleet, v->table, list.n);
	rc = make_question(c, &list, strtoull(digits, NULL, 16), &q);
	nr = q.nr;
	c->scan = scan_new(v->fleet, &list, &q);
	if (rc != SQLITE_OK || !c->scan)
		return rc != SQLITE_OK ? rc : SQLITE_NOMEM;
	if (plan[1] == 'o') {
		arena_init(&c->arena, GROUP_MEMORY);
		c->ordered = true;
		rc = put_in_order(c, nr);
	}
	return rc == SQLITE_OK ? cursor_next(cursor) : rc;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
	return ((struct fleet_cursor *)cursor)->eof;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int number)
{
	struct fleet_cursor *c = (struct fleet_cursor *)cursor;
	struct fleet_value v;

	if (number >= NR_FLEET_COLUMNS && c->slots[number] < 0) {
		sqlite3_result_error(ctx, "a column was read that is no part of the rows", -1);
		return SQLITE_OK;
	}
	v = value_of(c, &c->row, number);
	if (v.type == SQLITE_INTEGER)
		sqlite3_result_int64(ctx, v.number);
	else if (v.type == SQLITE_FLOAT)
		sqlite3_result_double(ctx, v.real);
	else if (v.type == SQLITE_TEXT)
		sqlite3_result_text(ctx, v.text, (int)v.len, SQLITE_TRANSIENT);
	else
		sqlite3_result_null(ctx);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	const struct fleet_cursor *c = (struct fleet_cursor *)cursor;

	*id = (sqlite3_int64)((uint64_t)c->row.id + c->repeat);
	return SQLITE_OK;
}

const sqlite3_module fleet_module = {
	.iVersion = 1,
	.xCreate = connect,
	.xConnect = connect,
	.xBestIndex = fleet_best_index,
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
