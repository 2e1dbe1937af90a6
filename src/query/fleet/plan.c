// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a scan of a fleet's table does for SQLite: the limits it takes over, the groups it counts.
 *
 * A plan, a text of pairs of letters as plan.c explains:
 *
 *	u-0000000000000007	columns that are used, a bit each
 *	cA0004			a limit: the operator (see OPERATORS) and the column; with a
 *				small letter one value, else one of several
 *	g3,5v:			rows are counted by these columns, as in plan.c; behind "uo"
 *				they come in that order, otherwise as files do
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "query/fleet/private.h"

#define PLAN_MAX   (4 * 1024)
#define MAX_COLUMN 9999

static const unsigned char OPERATORS[] = {
	SQLITE_INDEX_CONSTRAINT_EQ,	SQLITE_INDEX_CONSTRAINT_GT,
	SQLITE_INDEX_CONSTRAINT_GE,	SQLITE_INDEX_CONSTRAINT_LT,
	SQLITE_INDEX_CONSTRAINT_LE,	SQLITE_INDEX_CONSTRAINT_NE,
	SQLITE_INDEX_CONSTRAINT_LIKE,	SQLITE_INDEX_CONSTRAINT_GLOB,
	SQLITE_INDEX_CONSTRAINT_IS,	SQLITE_INDEX_CONSTRAINT_ISNOT,
	SQLITE_INDEX_CONSTRAINT_ISNULL, SQLITE_INDEX_CONSTRAINT_ISNOTNULL};

unsigned char fleet_plan_operator(char letter)
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

/* Whether a limit is taken over, and by which operator. */
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

/* How much of the table is left over, as a guess. */
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
 * Rows of which nothing is read but what a file's rows have in common, or nothing at all, need not
 * come one by one. As for groups, columns with limits are hoped to be used for nothing else.
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

/* While a statement is probed: which files its scans may need, by the values that are known. */
static int note_needed(struct fleet *f, struct fleet_table *t, sqlite3_index_info *info)
{
	struct fleet_limits l = {0};
	int rc = SQLITE_OK;

	for (int i = 0; rc == SQLITE_OK && i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		struct fleet_limit *limit;
		sqlite3_value *v, **slot;

		if (takes(t, info, i) < 0 || sqlite3_vtab_rhs_value(info, i, &v) != SQLITE_OK)
			continue;
		limit = vec_push(&l);
		slot = limit ? vec_push(&limit->values) : NULL;
		if (limit) {
			limit->column = c->iColumn;
			limit->op = c->op;
		}
		if (slot)
			*slot = sqlite3_value_dup(v);
		if (!slot || !*slot)
			rc = SQLITE_NOMEM;
	}
	for (size_t i = 0; rc == SQLITE_OK && i < f->files.n; i++)
		if (!bit_get(t->needed, i) && fleet_may_have(f, t, &l, &f->files.at[i]))
			bit_set(t->needed, i);
	fleet_limits_free(&l);
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

int fleet_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
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
	/* Opening files is what a short scan costs. */
	info->estimatedCost = rows + 10000;
	free(coarse);
	buf_free(&plan);
	return rc != SQLITE_OK ? rc : info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
