// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The virtual tables of a fleet. A cursor chooses files by the limits, and reads from them the
 * columns that the statement needs, with all limits that SQLite passes.
 *
 * The plan between xBestIndex and xFilter is a text of pairs of letters as query/plan.c explains:
 *
 *	u-0000000000000007	columns that are used, a bit each
 *	cA0004			a limit: the operator (see OPERATORS) and the column; with a
 *				small letter one value, else one of several
 *	g3,5v:			rows are counted by these columns, as in query/plan.c; after "uo"
 *				they come in that order, otherwise as files do
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/order.h"
#include "base/vec.h"
#include "query/fleet/private.h"

#define PLAN_MAX     (4 * 1024)
#define MAX_COLUMN   9999
#define GROUP_ROWS   (1u << 18) /* that are stored, unless rows have been returned already */
#define GROUP_MEMORY (256u << 20)
#define PLAN_HEAD    18 /* bytes before the limits */

struct fleet_vtab {
	sqlite3_vtab base;
	struct fleet *fleet;
	struct fleet_table *table;
};

struct fleet_cursor {
	sqlite3_vtab_cursor base;
	struct limit_list limits;
	struct fleet_scan *scan;
	int *slots; /* by column: its index in a row's values; -1: none */
	int group[MAX_GROUP_CELLS], nr_group;
	bool descends[MAX_GROUP_CELLS];
	bool once, eof;
	bool loose; /* some files have rows that differ in host, date or trace */
	struct fleet_row row;
	uint64_t repeat; /* how often the row has been returned */

	/* Rows that have been put in order: */
	bool ordered;
	struct arena arena;
	vec_of(struct fleet_row) held;
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

/* ---- plans ---- */

static const unsigned char OPERATORS[] = {
	SQLITE_INDEX_CONSTRAINT_EQ,	SQLITE_INDEX_CONSTRAINT_GT,
	SQLITE_INDEX_CONSTRAINT_GE,	SQLITE_INDEX_CONSTRAINT_LT,
	SQLITE_INDEX_CONSTRAINT_LE,	SQLITE_INDEX_CONSTRAINT_NE,
	SQLITE_INDEX_CONSTRAINT_LIKE,	SQLITE_INDEX_CONSTRAINT_GLOB,
	SQLITE_INDEX_CONSTRAINT_IS,	SQLITE_INDEX_CONSTRAINT_ISNOT,
	SQLITE_INDEX_CONSTRAINT_ISNULL, SQLITE_INDEX_CONSTRAINT_ISNOTNULL};

static unsigned char plan_operator(char letter)
{
	return OPERATORS[letter - (letter < 'a' ? 'A' : 'a')];
}

static int operator_number(unsigned char op)
{
	for (size_t i = 0; i < sizeof(OPERATORS); i++)
		if (OPERATORS[i] == op)
			return (int)i;
	return -1;
}

/* Whether the scan handles a limit, and by which operator. */
static int takes(const struct fleet_table *t, sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	const int op = operator_number(c->op);
	const bool by_text = c->op == SQLITE_INDEX_CONSTRAINT_LIKE ||
			     c->op == SQLITE_INDEX_CONSTRAINT_GLOB ||
			     c->op == SQLITE_INDEX_CONSTRAINT_ISNULL ||
			     c->op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;

	if (!c->usable || op < 0 || c->iColumn < 0 || c->iColumn >= (int)t->columns.n ||
	    c->iColumn > MAX_COLUMN)
		return -1;
	if (t->kind == FLEET_TRACES && c->iColumn >= NR_FLEET_COLUMNS)
		return -1;
	if (!by_text && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
		return -1;
	return op;
}

/* An estimate of the share of rows that pass a limit. */
static double share(int column, unsigned char op)
{
	if (op == SQLITE_INDEX_CONSTRAINT_EQ)
		return column == FLEET_TRACE_ID ? 0.001 : 0.05;
	return op == SQLITE_INDEX_CONSTRAINT_NE ? 0.9 : 0.3;
}

static void take_limits(const struct fleet_table *t, sqlite3_index_info *info, struct buf *plan,
			double *rows)
{
	int args = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		const int op = takes(t, info, i);
		bool list;

		if (op < 0 || plan->len > PLAN_MAX / 2)
			continue;
		list = c->op == SQLITE_INDEX_CONSTRAINT_EQ && sqlite3_vtab_in(info, i, 1);
		buf_printf(plan, "c%c%04d", (list ? 'A' : 'a') + op, c->iColumn);
		info->aConstraintUsage[i].argvIndex = ++args;
		info->aConstraintUsage[i].omit = 1;
		*rows *= share(c->iColumn, c->op);
	}
}

/*
 * If nothing is read of the rows, or only what a file's rows have in common, it is enough to count
 * them. As with groups, this assumes that columns with limits are not used otherwise.
 */
static void take_count(struct fleet *f, const struct fleet_table *t, sqlite3_index_info *info,
		       struct buf *plan)
{
	int list[NR_FLEET_COLUMNS], n = 0;

	if (f->query->no_groups || t->kind == FLEET_TRACES || info->nOrderBy || info->colUsed >> 63)
		return;
	for (int i = 0; i < 63; i++) {
		bool limited = false;

		if (!(info->colUsed >> i & 1))
			continue;
		for (int k = 0; k < info->nConstraint; k++)
			limited |= info->aConstraint[k].iColumn == i &&
				   info->aConstraintUsage[k].argvIndex > 0;
		if (i < NR_FLEET_COLUMNS)
			list[n++] = i;
		else if (!limited)
			return;
	}
	if (!n)
		list[n++] = FLEET_HOST;
	buf_putc(plan, 'g');
	for (int i = 0; i < n; i++)
		buf_printf(plan, "%d%c", list[i], i == n - 1 ? ':' : ',');
	buf_putc(plan, '.');
	f->query->groups = true;
}

/*
 * Called while a statement is probed: marks the files that its scans may need, by the known values.
 */
static int note_needed(struct fleet *f, struct fleet_table *t, sqlite3_index_info *info)
{
	struct limit_list l = {0};
	int rc = SQLITE_OK;

	for (int i = 0; rc == SQLITE_OK && i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		sqlite3_value *v;

		if (takes(t, info, i) >= 0 && sqlite3_vtab_rhs_value(info, i, &v) == SQLITE_OK)
			rc = limit_add(&l, c->iColumn, c->op, false, v);
	}
	/* The scan will refuse such a pattern. */
	if (rc == SQLITE_TOOBIG) {
		limit_list_free(&l);
		rc = SQLITE_OK;
	}
	for (size_t i = 0; rc == SQLITE_OK && i < f->files.n; i++)
		if (!bit_get(t->needed, i) && fleet_may_have(t, &l, &f->files.at[i]))
			bit_set(t->needed, i);
	limit_list_free(&l);
	return rc;
}

static double guess_rows(const struct fleet *f, const struct fleet_table *t)
{
	double rows = 0;

	if (t->kind == FLEET_TRACES)
		return (double)f->files.n;
	vec_each (file, &f->files)
		if (fleet_match(file, t) == FLEET_ROWS)
			rows += file->state == FLEET_GOOD ? (double)file->about->records : 10000;
	return rows;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct fleet_vtab *v = (struct fleet_vtab *)vtab;
	struct fleet *f = v->fleet;
	struct fleet_table *t = v->table;
	bool *coarse = calloc(t->columns.n + 1, sizeof(*coarse));
	struct plan_request req = {.query = f->query, .coarse = coarse};
	double rows = guess_rows(f, t) + 1;
	struct buf plan;
	size_t len;
	int rc = SQLITE_OK;

	if (!coarse)
		return SQLITE_NOMEM;
	if (f->probing)
		rc = note_needed(f, t, info);
	for (size_t i = 0; i < t->columns.n; i++)
		coarse[i] = t->columns.at[i].coarse && t->kind != FLEET_TRACES;
	req.nr_columns = (int)t->columns.n;
	buf_init(&plan, PLAN_MAX);
	buf_printf(&plan, "u-%016llx", (unsigned long long)info->colUsed);
	take_limits(t, info, &plan, &rows);
	len = plan.len;
	plan_take_order(&req, info, &plan);
	if (plan.len > len)
		plan.data[1] = 'o';
	else
		take_count(f, t, info, &plan);
	info->idxStr = sqlite3_mprintf("%s", buf_str(&plan));
	info->needToFreeIdxStr = 1;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	/* The cost of a short scan is that of opening files. */
	info->estimatedCost = rows + 10000;
	free(coarse);
	buf_free(&plan);
	return rc != SQLITE_OK ? rc : info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
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
	fleet_scan_free(c->scan);
	c->scan = NULL;
	limit_list_free(&c->limits);
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

static int add_limit(struct fleet_cursor *c, const char *at, sqlite3_value *arg)
{
	const int column = (int)strtol((char[]){at[2], at[3], at[4], at[5], 0}, NULL, 10);
	const int rc = limit_add(&c->limits, column, plan_operator(at[1]), at[1] < 'a', arg);

	if (rc != SQLITE_TOOBIG)
		return rc;
	vtab_error(c->base.pVtab, "LIKE or GLOB pattern too complex");
	return SQLITE_ERROR;
}

/* ---- the question to a file ---- */

/* Columns that every table has come from the file, unless its rows differ in them. */
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

	*q = (struct fleet_question){.table = t, .limits = &c->limits, .counted = c->nr_group > 0};
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
	if (fleet_exclude(f, list, &q->excluded) < 0)
		return SQLITE_NOMEM;
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

/* SQLite's order: missing values, numbers, texts by their bytes. */
static int compare_values(const struct fleet_value *a, const struct fleet_value *b)
{
	static const int rank[] = {
		[SQLITE_NULL] = 0, [SQLITE_INTEGER] = 1, [SQLITE_FLOAT] = 1, [SQLITE_TEXT] = 2};

	if (rank[a->type] != rank[b->type])
		return rank[a->type] - rank[b->type];
	if (a->type == SQLITE_FLOAT || b->type == SQLITE_FLOAT) {
		const double x = a->type == SQLITE_FLOAT ? a->real : (double)a->number,
			     y = b->type == SQLITE_FLOAT ? b->real : (double)b->number;

		return (x > y) - (x < y);
	}
	if (a->type == SQLITE_INTEGER)
		return (a->number > b->number) - (a->number < b->number);
	return a->type == SQLITE_TEXT ? order_texts(a->text, a->len, b->text, b->len) : 0;
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

/* Stores a row. SQLITE_OK, or SQLITE_FULL if there are too many. */
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

static int fleet_scan_result(int rc)
{
	return rc == -EINTR ? SQLITE_INTERRUPT : rc == -ENOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

static int put_in_order(struct fleet_cursor *c, size_t nr)
{
	struct query *q = ((struct fleet_vtab *)c->base.pVtab)->fleet->query;
	struct fleet_row row;
	int got = 0, rc = SQLITE_OK;

	while (rc == SQLITE_OK && (got = fleet_scan_next(c->scan, &row)) == 1)
		rc = hold(c, &row, nr, q->has_rows);
	if (rc == SQLITE_FULL) {
		q->too_many = true;
		vtab_error(c->base.pVtab, "there are too many groups to be kept");
		return SQLITE_ERROR;
	}
	if (rc == SQLITE_OK)
		rc = fleet_scan_result(got);
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
	got = fleet_scan_next(c->scan, &c->row);
	c->eof = got <= 0;
	return fleet_scan_result(got);
}

static int filter(sqlite3_vtab_cursor *cursor, int number, const char *plan, int argc,
		  sqlite3_value **argv)
{
	struct fleet_cursor *c = (struct fleet_cursor *)cursor;
	struct fleet_vtab *v = (struct fleet_vtab *)cursor->pVtab;
	const char *at = plan + PLAN_HEAD;
	char digits[17];
	struct file_list list = {0};
	struct fleet_question q;
	size_t nr;
	int rc = SQLITE_OK, got;

	/* Copied, because the letter after the digits could be a digit, too. */
	snprintf(digits, sizeof(digits), "%.16s", plan + 2);
	scan_end(c);
	c->eof = true;
	c->repeat = c->pos = 0;
	for (int i = 0; rc == SQLITE_OK && *at == 'c' && i < argc; at += 6, i++)
		rc = add_limit(c, at, argv[i]);
	if (rc != SQLITE_OK)
		return rc;
	c->nr_group = plan_groups(at, c->group, c->descends);
	c->once = *at == 'G';
	got = fleet_choose(v->fleet, v->table, &c->limits, &list);
	if (got < 0) {
		vec_free(&list);
		return fleet_scan_result(got);
	}
	if (v->table->kind != FLEET_TRACES && list.n)
		query_note_scan(v->fleet->query, v->table->name, &v->table->scans);
	rc = make_question(c, &list, strtoull(digits, NULL, 16), &q);
	nr = q.nr;
	c->scan = fleet_scan_new(v->fleet, &list, &q);
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
