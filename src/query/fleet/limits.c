// SPDX-License-Identifier: GPL-2.0-or-later
/* Choosing the files of a fleet that a scan has to read, by the same limits as rows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/strings.h"
#include "base/vec.h"
#include "query/fleet/private.h"

/*
 * Times since boot are less than this (1990), wall times are not. So a limit to later times
 * excludes traces without wall time.
 */
#define WALL_MIN (631152000ll * 1000000000ll)

static bool is_time(const struct fleet_table *t, const struct limit *l)
{
	return l->column >= NR_FLEET_COLUMNS && t->columns.at[l->column].time;
}

/* The range of the times of a file's records; false if it is not known. */
static bool time_range(const struct fleet_table *t, const struct limit_list *l,
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
		if (!limit_may_have_numbers(limit, INT64_MIN, WALL_MIN)) {
			*first = (int64_t)file->midnight;
			*last = INT64_MAX;
			return true;
		}
	}
	return false;
}

/* A Parquet file has records of one type, which its path names. */
static bool is_event_column(const struct fleet_file *file, const struct fleet_table *t,
			    const struct limit *l)
{
	return file->parquet && l->column >= NR_FLEET_COLUMNS && t->kind == FLEET_EVENTS &&
	       strcasecmp(t->name, "events") == 0 &&
	       strcmp(t->columns.at[l->column].name, "event") == 0;
}

/* Whether some time from `first` to `last` may pass. */
static bool time_passes(const struct limit *l, int64_t first, int64_t last)
{
	switch (l->op) {
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
	case SQLITE_INDEX_CONSTRAINT_EQ: return l->list || limit_may_have_numbers(l, first, last);
	default: return true;
	}
}

static bool value_passes(const struct limit *l, const char *value)
{
	struct buf room;
	bool passes;

	buf_init(&room, QUERY_VALUE_BYTES);
	passes = limit_has_text(l, value, strlen(value), &room);
	buf_free(&room);
	return passes;
}

bool fleet_may_have(const struct fleet_table *t, const struct limit_list *l,
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
		if (value && !value_passes(limit, value))
			return false;
	}
	if (t->kind == FLEET_TRACES || !time_range(t, l, file, &first, &last))
		return true;
	vec_each (limit, l)
		if (is_time(t, limit) && !time_passes(limit, first, last))
			return false;
	return true;
}

/* ---- choosing ---- */

static int push(struct file_list *l, size_t number)
{
	return vec_add(l, &(uint32_t){(uint32_t)number}) ? 0 : -ENOMEM;
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
			query_tell(f->query, "%s is the same trace as %s, and is left out%s",
				   file->path, ids[first].file->path,
				   file->parquet ? "; so are other Parquet files of traces that "
						   "count already"
						 : "");
		file->told = true;
		f->told_parquet |= file->parquet;
	}
	free(ids);
	return 0;
}

int fleet_choose(struct fleet *f, const struct fleet_table *t, const struct limit_list *l,
		 struct file_list *out)
{
	struct file_list unknown = {0}, all = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->files.n; i++) {
		if (!fleet_may_have(t, l, &f->files.at[i]))
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
		if (file->state == FLEET_GOOD && !file->twice && fleet_may_have(t, l, file))
			rc = push(out, all.at[i]);
	}
	vec_free(&unknown);
	vec_free(&all);
	return rc;
}

/* ---- traces in several files ---- */

static int exclude(struct fleet *f, const struct file_list *list, const char *table,
		   struct limit_list *out)
{
	struct string_refs ids = {0};
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < list->n; i++) {
		const struct fleet_file *file = &f->files.at[list->at[i]];
		const char *id = file_value(file, FLEET_TRACE_ID);

		if (id && !(file->parquet && strcasecmp(file->table, table) != 0) &&
		    !string_refs_add(&ids, id))
			rc = SQLITE_NOMEM;
	}
	if (rc == SQLITE_OK)
		rc = limit_exclude(out, FLEET_TRACE_ID, table, &ids);
	vec_free(&ids);
	return rc == SQLITE_OK ? 0 : -ENOMEM;
}

int fleet_exclude(struct fleet *f, const struct file_list *list, struct limit_list *out)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < list->n; i++) {
		const struct fleet_file *file = &f->files.at[list->at[i]];
		bool known = !file->parquet || *file->id;

		vec_each (l, out)
			known |= !known && strcasecmp(l->table, file->table) == 0;
		if (!known)
			rc = exclude(f, list, file->table, out);
	}
	return rc;
}
