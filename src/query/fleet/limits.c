// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choosing the files of a fleet that a scan has to read.
 *
 * SQLite compares the values, so that files are excluded by the same rules as rows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/vec.h"
#include "query/fleet/private.h"

/*
 * Times since boot are less than this (1990), wall times are not. So a limit to later times
 * excludes traces without wall time.
 */
#define WALL_MIN (631152000ll * 1000000000ll)

static const struct {
	unsigned char op;
	const char *sql;
} operators[] = {
	{SQLITE_INDEX_CONSTRAINT_EQ, "="},	{SQLITE_INDEX_CONSTRAINT_GT, ">"},
	{SQLITE_INDEX_CONSTRAINT_GE, ">="},	{SQLITE_INDEX_CONSTRAINT_LT, "<"},
	{SQLITE_INDEX_CONSTRAINT_LE, "<="},	{SQLITE_INDEX_CONSTRAINT_NE, "<>"},
	{SQLITE_INDEX_CONSTRAINT_LIKE, "like"}, {SQLITE_INDEX_CONSTRAINT_GLOB, "glob"},
	{SQLITE_INDEX_CONSTRAINT_IS, "is"},	{SQLITE_INDEX_CONSTRAINT_ISNOT, "is not"},
	{SQLITE_INDEX_CONSTRAINT_ISNULL, "is"}, {SQLITE_INDEX_CONSTRAINT_ISNOTNULL, "is not"},
};

const char *fleet_operator(unsigned char op)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].op == op)
			return operators[i].sql;
	return NULL;
}

void fleet_limits_free(struct fleet_limits *l)
{
	vec_each (limit, l) {
		vec_each (value, &limit->values)
			sqlite3_value_free(*value);
		vec_free(&limit->values);
	}
	vec_free(l);
}

/* ---- comparing ---- */

/* A statement that compares a text or a number, ?1 with ?2 and ?3, by an operator. */
static sqlite3_stmt *comparer(struct fleet *f, const char *op, bool number)
{
	char sql[100];
	sqlite3_stmt *s = NULL;

	snprintf(sql, sizeof(sql), "select cast(?1 as %s) %s ?2", number ? "integer" : "text", op);
	f->query->internal = true;
	sqlite3_prepare_v2(f->query->db, sql, -1, &s, NULL);
	f->query->internal = false;
	return s;
}

/* Whether a value passes a limit; true in doubt. */
static bool passes(struct fleet *f, const struct fleet_limit *l, const char *op, const char *text,
		   int64_t number)
{
	sqlite3_stmt *s = comparer(f, op, !text);
	bool found = !s;

	for (size_t i = 0; s && !found && i < l->values.n; i++) {
		sqlite3_reset(s);
		if (text)
			sqlite3_bind_text(s, 1, text, -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(s, 1, number);
		sqlite3_bind_value(s, 2, l->values.at[i]);
		found = sqlite3_step(s) != SQLITE_ROW || sqlite3_column_int(s, 0);
	}
	sqlite3_finalize(s);
	return found;
}

/* Whether some time from `first` to `last` passes. */
static bool time_passes(struct fleet *f, const struct fleet_limit *l, int64_t first, int64_t last)
{
	switch (l->op) {
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE: return passes(f, l, fleet_operator(l->op), NULL, last);
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE: return passes(f, l, fleet_operator(l->op), NULL, first);
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return l->list ||
		       (passes(f, l, "<=", NULL, first) && passes(f, l, ">=", NULL, last));
	default: return true;
	}
}

static bool is_time(const struct fleet_table *t, const struct fleet_limit *l)
{
	return l->column >= NR_FLEET_COLUMNS && t->columns.at[l->column].time;
}

/* The range of the times of a file's records; false if it is not known. */
static bool time_range(struct fleet *f, const struct fleet_table *t, const struct fleet_limits *l,
		       const struct fleet_file *file, int64_t *first, int64_t *last)
{
	if (file->state == FLEET_GOOD) {
		const struct fleet_about *a = file->about;

		if (a->last > INT64_MAX)
			return false;
		/* Rows of an analysis may begin at the trace's start instead of a record's time. */
		*first = a->first > a->last ? 0 : (int64_t)a->first;
		*last = (int64_t)a->last;
		return true;
	}
	if (!*file->date)
		return false;
	/* The date of a folder limits the times of a file only if these are wall times. */
	vec_each (limit, l) {
		const bool from = limit->op == SQLITE_INDEX_CONSTRAINT_GT ||
				  limit->op == SQLITE_INDEX_CONSTRAINT_GE ||
				  (limit->op == SQLITE_INDEX_CONSTRAINT_EQ && !limit->list);

		if (!is_time(t, limit) || !from)
			continue;
		if (!passes(f, limit,
			    limit->op == SQLITE_INDEX_CONSTRAINT_EQ ? ">="
								    : fleet_operator(limit->op),
			    NULL, WALL_MIN)) {
			*first = (int64_t)file->midnight;
			*last = INT64_MAX;
			return true;
		}
	}
	return false;
}

/* A Parquet file has records of one type, which its path names. */
static bool is_event_column(const struct fleet_file *file, const struct fleet_table *t,
			    const struct fleet_limit *l)
{
	return file->parquet && l->column >= NR_FLEET_COLUMNS && t->kind == FLEET_EVENTS &&
	       strcasecmp(t->name, "events") == 0 &&
	       strcmp(t->columns.at[l->column].name, "event") == 0;
}

bool fleet_may_have(struct fleet *f, const struct fleet_table *t, const struct fleet_limits *l,
		    const struct fleet_file *file)
{
	int64_t first, last;

	if (file->state == FLEET_FOREIGN || fleet_match(file, t) == FLEET_NO_ROWS)
		return false;
	vec_each (limit, l) {
		const char *value = limit->column < NR_FLEET_COLUMNS
					    ? file_value(file, (enum fleet_column)limit->column)
					    : NULL;

		if (!value && is_event_column(file, t, limit))
			value = fleet_event_name(file->table);
		if (value && !passes(f, limit, fleet_operator(limit->op), value, 0))
			return false;
	}
	if (t->kind == FLEET_TRACES || !time_range(f, t, l, file, &first, &last))
		return true;
	vec_each (limit, l)
		if (is_time(t, limit) && !time_passes(f, limit, first, last))
			return false;
	return true;
}

/* ---- choosing ---- */

static int push(struct file_list *l, size_t number)
{
	uint32_t *slot = vec_push(l);

	if (!slot)
		return -ENOMEM;
	*slot = (uint32_t)number;
	return 0;
}

static void note_same(struct fleet *f, const struct fleet_file *a, const struct fleet_file *b)
{
	const struct query_options *o = &f->query->opt;
	struct buf text;

	if (!o->note)
		return;
	buf_init(&text, 16384);
	buf_printf(&text, "%s is the same trace as %s, and is left out%s", b->path, a->path,
		   b->parquet ? "; so are other Parquet files of traces that count already" : "");
	o->note(o->arg, buf_str(&text));
	buf_free(&text);
}

struct by_id {
	const char *id;
	const struct fleet_file *file;
	uint32_t number;
};

/* Traces come first, then files of Parquet by their tables. */
static int compare_ids(const void *a, const void *b)
{
	const struct by_id *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	if (!order)
		order = x->file->parquet - y->file->parquet;
	if (!order && x->file->parquet)
		order = strcmp(x->file->table, y->file->table);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Whether the rows of the second one are those of the first. */
static bool is_same(const struct by_id *a, const struct by_id *b)
{
	return strcmp(a->id, b->id) == 0 &&
	       (!a->file->parquet || strcmp(a->file->table, b->file->table) == 0);
}

/* Of files with the same trace the first one counts. */
static int find_same(struct fleet *f, const struct file_list *list)
{
	struct by_id *ids = calloc(list->n + 1, sizeof(*ids));
	size_t n = 0, first = 0;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		struct fleet_file *file = &f->files.at[list->at[i]];
		const char *id = file_value(file, FLEET_TRACE_ID);

		file->twice = false;
		if (id && file->state == FLEET_GOOD)
			ids[n++] = (struct by_id){id, file, list->at[i]};
	}
	qsort(ids, n, sizeof(*ids), compare_ids);
	for (size_t i = 1; i < n; i++) {
		struct fleet_file *file = &f->files.at[ids[i].number];

		if (!is_same(&ids[first], &ids[i])) {
			first = i;
			continue;
		}
		file->twice = true;
		/*
		 * A trace has a Parquet file for every table: one message for all of them is
		 * enough.
		 */
		if (!file->told && !(file->parquet && f->told_parquet))
			note_same(f, ids[first].file, file);
		file->told = true;
		f->told_parquet |= file->parquet;
	}
	free(ids);
	return 0;
}

int fleet_choose(struct fleet *f, const struct fleet_table *t, const struct fleet_limits *l,
		 struct file_list *out)
{
	struct file_list unknown = {0}, all = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->files.n; i++) {
		if (!fleet_may_have(f, t, l, &f->files.at[i]))
			continue;
		rc = push(&all, i);
		if (rc == 0 && f->files.at[i].state == FLEET_NEW)
			rc = push(&unknown, i);
	}
	if (rc == 0 && unknown.n)
		rc = fleet_visit(f, &unknown, NULL, NULL);
	if (rc == 0)
		rc = find_same(f, &all);
	for (size_t i = 0; rc == 0 && i < all.n; i++) {
		struct fleet_file *file = &f->files.at[all.at[i]];

		if (file->state == FLEET_BAD)
			fleet_tell(f, file, file->about->why);
		if (file->state == FLEET_GOOD && !file->twice && fleet_may_have(f, t, l, file))
			rc = push(out, all.at[i]);
	}
	vec_free(&unknown);
	vec_free(&all);
	return rc;
}
