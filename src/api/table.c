// SPDX-License-Identifier: LGPL-2.1-or-later
/* The tables of <spur/table.h>: what src/table makes. Columns are named by their number. */
#include <spur/table.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "table/feed.h"
#include "table/table.h"

#define NUMBER_TEXT 24 /* bytes of the longest number, with its sign and a NUL */

struct spur_rows {
	const struct table *table;
	struct rows *rows;
	const void *row;	      /* NULL before the first and after the last */
	char (*numbers)[NUMBER_TEXT]; /* by column, for spur_row_text() */
};

static const struct table *table_in(const struct spur_table *t)
{
	return (const struct table *)t;
}

static const struct spur_table *table_out(const struct table *t)
{
	return (const struct spur_table *)t;
}

static const struct column *column_in(const struct table *t, int column)
{
	return column >= 0 && (uint32_t)column < t->nr_columns ? &t->columns[column] : NULL;
}

/* ---- tables ---- */

const struct spur_table *spur_table_at(size_t number)
{
	size_t i = 0;

	while (i < number && tables[i])
		i++;
	return table_out(tables[i]);
}

const struct spur_table *spur_table_find(const char *name)
{
	return table_out(table_find(name));
}

const char *spur_table_name(const struct spur_table *table)
{
	return table_in(table)->name;
}

const char *spur_table_about(const struct spur_table *table)
{
	return table_in(table)->about;
}

int spur_table_possible(const struct spur_table *table, const struct spur_trace *trace)
{
	return table_possible(table_in(table), trace);
}

int spur_table_columns(const struct spur_table *table)
{
	return (int)table_in(table)->nr_columns;
}

int spur_table_column(const struct spur_table *table, const char *name)
{
	const struct table *t = table_in(table);

	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (strcmp(t->columns[i].name, name) == 0)
			return (int)i;
	return -EINVAL;
}

const char *spur_column_name(const struct spur_table *table, int column)
{
	const struct column *c = column_in(table_in(table), column);

	return c ? c->name : NULL;
}

const char *spur_column_about(const struct spur_table *table, int column)
{
	const struct column *c = column_in(table_in(table), column);

	return c ? c->about : NULL;
}

enum spur_column_type spur_column_type(const struct spur_table *table, int column)
{
	const struct column *c = column_in(table_in(table), column);

	if (!c)
		return SPUR_COLUMN_NUMBER;
	switch (c->type) {
	case COLUMN_TIME: return SPUR_COLUMN_TIME;
	case COLUMN_DURATION: return SPUR_COLUMN_DURATION;
	case COLUMN_TEXT:
	case COLUMN_NAME: return SPUR_COLUMN_TEXT;
	default: return SPUR_COLUMN_NUMBER;
	}
}

/* ---- rows ---- */

int spur_rows_open(struct spur_trace *trace, const struct spur_table *table, uint64_t since,
		   uint64_t until, struct spur_rows **rows, struct spur_error *err)
{
	const struct walk_options range = {.since = since, .until = until};
	struct spur_error why = {0};
	struct spur_rows *r = calloc(1, sizeof(*r));

	*rows = NULL;
	if (!r)
		return error_set(err, -ENOMEM, "out of memory");
	r->table = table_in(table);
	r->numbers = calloc(r->table->nr_columns, sizeof(*r->numbers));
	r->rows = r->numbers ? rows_open(trace, r->table, &range, &why) : NULL;
	if (!r->rows) {
		spur_rows_close(r);
		return why.code ? error_set(err, why.code, "%s", why.text)
				: error_set(err, -ENOMEM, "out of memory");
	}
	*rows = r;
	return 0;
}

void spur_rows_close(struct spur_rows *rows)
{
	if (!rows)
		return;
	rows_close(rows->rows);
	free(rows->numbers);
	free(rows);
}

int spur_rows_next(struct spur_rows *rows, struct spur_error *err)
{
	rows->row = rows_next(rows->rows);
	return rows->row ? 1 : rows_error(rows->rows, err);
}

int spur_row_number(const struct spur_rows *rows, int column, int64_t *value)
{
	const struct column *c = column_in(rows->table, column);

	if (!c || row_is_text(c))
		return -EINVAL;
	if (!rows->row)
		return -ENODATA;
	*value = row_number(c, rows->row);
	return c->type != COLUMN_TIME && *value == ROW_NULL ? -ENODATA : 0;
}

const char *spur_row_text(struct spur_rows *rows, int column)
{
	const struct column *c = column_in(rows->table, column);
	int64_t value;

	if (!c || !rows->row)
		return NULL;
	if (row_is_text(c))
		return row_text(c, rows->row);
	if (spur_row_number(rows, column, &value) < 0)
		return NULL;
	snprintf(rows->numbers[column], NUMBER_TEXT,
		 c->type == COLUMN_TIME ? "%" PRIu64 : "%" PRId64, value);
	return rows->numbers[column];
}
