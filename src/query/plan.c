// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plans: which limits and groups of a statement a scan handles itself.
 *
 * xBestIndex writes a plan, a text that xFilter reads together with the values:
 *
 *	t>  t<  t=   a limit of time, CPU (c), pid (p), system (s) or event (e), one value each;
 *	c@           one of several values
 *	g3,5v:       rows that are equal in columns 3 and 5 come one after the other, sorted by
 *	             them, v: from the largest down; G: only once
 *
 * A scan follows SQLite's rules for comparing an integer with any value exactly, so SQLite does not
 * check limits again. Then it need not read the column, and rows can be grouped by other columns.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"
#include "query/parts.h"

#define PLAN_MAX (4 * 1024) /* bytes of a plan */

static const char kind_letters[] = "tcpse";

/* ---- xBestIndex ---- */

static const struct {
	char letter;
	unsigned char op;
} operators[] = {{'=', SQLITE_INDEX_CONSTRAINT_EQ},
		 {'>', SQLITE_INDEX_CONSTRAINT_GT},
		 {'g', SQLITE_INDEX_CONSTRAINT_GE},
		 {'<', SQLITE_INDEX_CONSTRAINT_LT},
		 {'l', SQLITE_INDEX_CONSTRAINT_LE}};

/* The letter of an operator, 0 if it is not supported. */
static char operator_letter(enum limit_kind kind, unsigned char op)
{
	for (size_t i = 0; i < (kind < LIMIT_SYSTEM ? ARRAY_SIZE(operators) : 1); i++)
		if (operators[i].op == op)
			return operators[i].letter;
	return 0;
}

static unsigned char operator_of(char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].letter == letter)
			return operators[i].op;
	return SQLITE_INDEX_CONSTRAINT_EQ;
}

/* An estimate of the share of a table's rows that pass a limit. */
static double share(enum limit_kind kind, char op)
{
	if (kind == LIMIT_TS)
		return op == '=' ? 1e-6 : 0.25;
	return op == '=' ? 0.05 : 0.5;
}

static void take_constraints(const struct plan_request *req, sqlite3_index_info *info,
			     struct buf *plan, double *rows)
{
	int args = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		enum limit_kind kind;
		char op;

		if (!c->usable || c->iColumn < 0 || c->iColumn >= req->nr_columns ||
		    plan->len + 2 > PLAN_MAX / 2)
			continue;
		kind = req->kinds[c->iColumn];
		op = kind < NR_LIMITS ? operator_letter(kind, c->op) : 0;
		if (!op)
			continue;
		if (kind >= LIMIT_SYSTEM && strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
			continue;
		if (kind != LIMIT_TS && op == '=' && sqlite3_vtab_in(info, i, 1))
			op = '@';
		buf_putc(plan, kind_letters[kind]);
		buf_putc(plan, op);
		info->aConstraintUsage[i].argvIndex = ++args;
		info->aConstraintUsage[i].omit = 1;
		*rows *= share(kind, op);
	}
}

static bool limited(const sqlite3_index_info *info, int column)
{
	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraint[i].iColumn == column &&
		    info->aConstraintUsage[i].argvIndex > 0)
			return true;
	return false;
}

static bool in_order_by(const sqlite3_index_info *info, int column)
{
	for (int i = 0; i < info->nOrderBy; i++)
		if (info->aOrderBy[i].iColumn == column)
			return true;
	return false;
}

/*
 * Columns of groups: those in GROUP BY, then others that the statement uses. Columns with limits
 * are left out, assuming that they are not used otherwise.
 */
static int group_columns(const struct plan_request *req, const sqlite3_index_info *info, int *list)
{
	int n = 0;

	if (!req->coarse || info->nOrderBy > MAX_GROUP_CELLS || info->colUsed >> 63)
		return 0;
	for (int i = 0; i < info->nOrderBy; i++) {
		if (info->aOrderBy[i].iColumn < 0)
			return 0;
		list[n++] = info->aOrderBy[i].iColumn;
	}
	for (int i = 0; i < req->nr_columns && i < 63; i++) {
		if (!(info->colUsed >> i & 1) || in_order_by(info, i) ||
		    (limited(info, i) && !req->gathers))
			continue;
		if (n == MAX_GROUP_CELLS)
			return 0;
		list[n++] = i;
	}
	for (int i = 0; i < n; i++)
		if (!req->coarse[list[i]])
			return 0;
	return n;
}

/*
 * Whether SQLite checks further conditions, which may exclude most rows. Then gathering does not
 * pay.
 */
static bool leaves_conditions(const sqlite3_index_info *info)
{
	for (int i = 0; i < info->nConstraint; i++)
		if (info->aConstraint[i].usable && !info->aConstraintUsage[i].omit)
			return true;
	return false;
}

void plan_take_order(const struct plan_request *req, sqlite3_index_info *info, struct buf *plan)
{
	const int distinct = sqlite3_vtab_distinct(info);
	int list[MAX_GROUP_CELLS], n;

	if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn >= 0 && req->in_order &&
	    info->aOrderBy[0].iColumn < req->nr_columns &&
	    req->kinds[info->aOrderBy[0].iColumn] == LIMIT_TS && !info->aOrderBy[0].desc) {
		info->orderByConsumed = 1;
		return;
	}
	if (!info->nOrderBy || (distinct != 1 && distinct != 2) || req->query->no_groups ||
	    (req->gathers && leaves_conditions(info)))
		return;
	n = group_columns(req, info, list);
	if (!n)
		return;
	buf_putc(plan, distinct == 2 ? 'G' : 'g');
	/* Groups can also satisfy "order by" the same columns, in any direction. */
	for (int i = 0; i < n; i++)
		buf_printf(plan, "%d%s%c", list[i],
			   i < info->nOrderBy && info->aOrderBy[i].desc ? "v" : "",
			   i == n - 1 ? ':' : ',');
	if (req->gathers)
		buf_printf(plan, "%d", info->nOrderBy);
	else
		buf_putc(plan, n > info->nOrderBy ? '+' : '.');
	info->orderByConsumed = 1;
	req->query->groups = true;
}

int plan_make(const struct plan_request *req, sqlite3_index_info *info)
{
	double rows = req->rows + 1;
	struct buf plan;

	buf_init(&plan, PLAN_MAX);
	take_constraints(req, info, &plan, &rows);
	plan_take_order(req, info, &plan);
	info->idxStr = sqlite3_mprintf("%s", buf_str(&plan));
	info->needToFreeIdxStr = 1;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = rows + 100;
	buf_free(&plan);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- checking a plan ---- */

int plan_groups(const char *plan, int *list, bool *descends)
{
	const char *at = strpbrk(plan ? plan : "", "gG");
	int n = 0;

	/* Not the g of a limit "tg": groups begin at an even position. */
	while (at && (at - plan) % 2)
		at = strpbrk(at + 1, "gG");
	while (at && *at != ':' && n < MAX_GROUP_CELLS) {
		char *end;

		list[n] = (int)strtol(at + 1, &end, 10);
		descends[n++] = *end == 'v';
		at = end + (*end == 'v');
	}
	return n;
}

/* How many columns make a gathered group; 0: groups are counted. */
static int plan_key(const char *plan)
{
	const char *end = strchr(plan, ':');

	return end ? (int)strtol(end + 1, NULL, 10) : 0;
}

struct reads {
	int cursor, group[MAX_GROUP_CELLS], n;
	bool descends[MAX_GROUP_CELLS];
};

int plan_reads_too_much(sqlite3 *db, const char *sql, int len)
{
	char *explain = sqlite3_mprintf("explain %.*s", len, sql);
	vec_of(struct reads) grouped = {0};
	sqlite3_stmt *s = NULL;
	int found = explain ? 0 : -1;

	/*
	 * Twice, because code that reads a cursor's columns may precede the opcode that opens it.
	 */
	for (int pass = 0; pass < 2 && found == 0; pass++) {
		sqlite3_finalize(s);
		s = NULL;
		if (sqlite3_prepare_v2(db, explain, -1, &s, NULL) != SQLITE_OK)
			break;
		while (found == 0 && sqlite3_step(s) == SQLITE_ROW) {
			const char *op = (const char *)sqlite3_column_text(s, 1);
			const int cursor = sqlite3_column_int(s, 2),
				  column = sqlite3_column_int(s, 3);
			struct reads r = {.cursor = cursor};

			if (!op)
				continue;
			if (pass == 0 && strcmp(op, "VFilter") == 0) {
				r.n = plan_groups((const char *)sqlite3_column_text(s, 5), r.group,
						  r.descends);
				if (r.n && !vec_add(&grouped, &r))
					found = -1;
			} else if (pass == 1 && strcmp(op, "VColumn") == 0) {
				vec_each (g, &grouped) {
					int i = 0;

					while (i < g->n && g->group[i] != column)
						i++;
					found |= g->cursor == cursor && i == g->n;
				}
			} else if (pass == 1 && strcmp(op, "Rowid") == 0) {
				vec_each (g, &grouped)
					found |= g->cursor == cursor;
			}
		}
	}
	sqlite3_finalize(s);
	sqlite3_free(explain);
	vec_free(&grouped);
	return found;
}

/* Whether the result of an opcode does not depend on how many rows a group has. */
static bool is_harmless(const char *op, const char *about)
{
	static const char *const ops[] = {
		"VFilter", "VColumn", "VNext",	 "Compare", "Jump",    "Move",	  "Gosub",
		"IfPos",   "If",      "IfNot",	 "Integer", "Int64",   "String8", "Null",
		"Copy",	   "SCopy",   "CollSeq", "Eq",	    "Ne",      "Lt",	  "Le",
		"Gt",	   "Ge",      "IsNull",	 "NotNull", "PureFunc"};
	static const char *const steps[] = {"count(0)", "count(1)", "min(1)", "max(1)"};

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (strcmp(op, ops[i]) == 0)
			return true;
	for (size_t i = 0; strcmp(op, "AggStep") == 0 && about && i < ARRAY_SIZE(steps); i++)
		if (strcmp(about, steps[i]) == 0)
			return true;
	return false;
}

bool plan_only_counts(sqlite3 *db, const char *sql, int len)
{
	char *explain = sqlite3_mprintf("explain %.*s", len, sql);
	bool harmless = true, inside = false, counts = false;
	sqlite3_stmt *s = NULL;
	int scans = 0;

	if (!explain || sqlite3_prepare_v2(db, explain, -1, &s, NULL) != SQLITE_OK)
		harmless = false;
	while (harmless && sqlite3_step(s) == SQLITE_ROW) {
		const char *op = (const char *)sqlite3_column_text(s, 1);
		const char *about = (const char *)sqlite3_column_text(s, 5);
		const bool step = op && strncmp(op, "Agg", 3) == 0 && strcmp(op, "AggFinal") != 0;
		int list[MAX_GROUP_CELLS];
		bool descends[MAX_GROUP_CELLS];

		if (op && strcmp(op, "VFilter") == 0) {
			scans++;
			inside = true;
			harmless = plan_groups(about, list, descends) > 0 && !plan_key(about);
		}
		/* Code outside of the loop runs once for each group. */
		harmless &= op && (inside ? is_harmless(op, about) : !step);
		counts |= step;
		inside &= op && strcmp(op, "VNext") != 0;
	}
	sqlite3_finalize(s);
	sqlite3_free(explain);
	return harmless && scans == 1 && counts;
}

/* ---- xFilter ---- */

int limits_read(struct limits *l, const char *plan, sqlite3_value **args, int nr)
{
	int rc = SQLITE_OK, n = 0;

	*l = (struct limits){0};
	for (; plan && *plan && !strchr("gG", *plan) && n < nr && rc == SQLITE_OK; plan += 2, n++) {
		const char *letter = strchr(kind_letters, plan[0]);
		const enum limit_kind kind = (enum limit_kind)(letter - kind_letters);

		const unsigned char op = operator_of(plan[1]);

		rc = kind < LIMIT_SYSTEM
			     ? limit_add_of_integers(&l->numbers[kind], op, plan[1] == '@', args[n])
			     : limit_add(&l->names, (int)kind, op, plan[1] == '@', args[n]);
	}
	if (!plan || !*plan)
		return rc;
	l->nr_group = plan_groups(plan, l->group, l->descends);
	l->nr_key = plan_key(plan);
	l->once = *plan == 'G';
	/* Grouping by more columns than in GROUP BY may be useless, so it is given up early. */
	l->most_groups = plan[strlen(plan) - 1] == '+' ? 1u << 16 : SIZE_MAX;
	return rc;
}

void limits_free(struct limits *l)
{
	for (int kind = 0; kind <= LIMIT_PID; kind++)
		limit_list_free(&l->numbers[kind]);
	limit_list_free(&l->names);
}

bool limits_have(const struct limits *l, enum limit_kind kind, int64_t number)
{
	vec_each (limit, &l->numbers[kind])
		if (!limit_has_number(limit, number))
			return false;
	return true;
}

bool limits_have_event(const struct limits *l, const struct event *e)
{
	vec_each (limit, &l->names) {
		const char *is = e ? limit->column == LIMIT_SYSTEM ? e->system : e->name : NULL;

		/* None of them is a pattern. */
		if (!is || !limit_has_text(limit, is, strlen(is), NULL))
			return false;
	}
	return true;
}

bool limits_range(const struct limits *l, struct walk_options *opt)
{
	int64_t low = 0, high = INT64_MAX;

	vec_each (limit, &l->numbers[LIMIT_TS]) {
		low = limit->low > low ? limit->low : low;
		high = limit->high < high ? limit->high : high;
	}
	if (low > high)
		return false;
	opt->since = (uint64_t)low;
	/* 0 would mean no limit; the scan checks times again. */
	opt->until = high == INT64_MAX ? 0 : high == 0 ? 1 : (uint64_t)high;
	return true;
}
