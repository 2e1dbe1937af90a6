/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables that are made from a trace: when tasks ran (slices), how long they waited for a CPU after
 * a wakeup (wakeups), system calls, interrupts, block requests and others. They are the tables of
 * `spur sql`; spur-sql(1) describes their columns.
 *
 *	struct spur_rows *rows;
 *	const struct spur_table *table = spur_table_find("wakeups");
 *	int latency = spur_table_column(table, "latency"), more;
 *
 *	if (spur_rows_open(trace, table, 0, 0, &rows, &err) < 0)
 *		…err.text says why
 *	while ((more = spur_rows_next(rows, &err)) > 0)
 *		if (spur_row_number(rows, latency, &value) == 0)
 *			…
 *	spur_rows_close(rows);
 *
 * What a trace does not show is never guessed: unknown values are missing, and the column `open`
 * says that a row's start or end is not in the trace.
 */
#ifndef SPUR_TABLE_H
#define SPUR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>
#include <spur/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spur_table;
struct spur_rows;

enum spur_column_type {
	SPUR_COLUMN_NUMBER,
	SPUR_COLUMN_TIME,     /* on the trace's time line, as spur_record.ts */
	SPUR_COLUMN_DURATION, /* nanoseconds */
	SPUR_COLUMN_TEXT,
};

/* ---- tables ---- */

/* A table by its number from 0; NULL after the last one. */
SPUR_API const struct spur_table *spur_table_at(size_t number);

/* A table by its name, or NULL. */
SPUR_API const struct spur_table *spur_table_find(const char *name);

/* The table's name, and one line about its rows. */
SPUR_API const char *spur_table_name(const struct spur_table *table);
SPUR_API const char *spur_table_about(const struct spur_table *table);

/*
 * Whether the trace has the events that the table is made from: 1, or 0 if there will be no rows.
 */
SPUR_API int spur_table_possible(const struct spur_table *table, const struct spur_trace *trace);

/* How many columns the table has. */
SPUR_API int spur_table_columns(const struct spur_table *table);

/* The number of a column, from 0; -EINVAL when there is none of that name. */
SPUR_API int spur_table_column(const struct spur_table *table, const char *name);

/* The name of a column, and one line about its values; NULL when there is no such column. */
SPUR_API const char *spur_column_name(const struct spur_table *table, int column);
SPUR_API const char *spur_column_about(const struct spur_table *table, int column);

/* What a column holds. */
SPUR_API enum spur_column_type spur_column_type(const struct spur_table *table, int column);

/* ---- rows ---- */

/*
 * Starts to make the rows of a table whose time `ts` is at or after `since` and at or before
 * `until`; 0 means no limit. Rows are returned when they are complete, so they are not sorted by
 * `ts`. On failure *rows is NULL.
 */
SPUR_API int spur_rows_open(struct spur_trace *trace, const struct spur_table *table,
			    uint64_t since, uint64_t until, struct spur_rows **rows,
			    struct spur_error *err);

/* Closes the rows. NULL is fine. */
SPUR_API void spur_rows_close(struct spur_rows *rows);

/* Goes to the next row: 1, 0 at the end, or a negative errno. */
SPUR_API int spur_rows_next(struct spur_rows *rows, struct spur_error *err);

/*
 * Reads a number, time or duration of the row. 0; -ENODATA when it is not known; -EINVAL when there
 * is no such column or it is a text.
 */
SPUR_API int spur_row_number(const struct spur_rows *rows, int column, int64_t *value);

/*
 * The value of any column as a string; NULL if it is unknown or there is no such column. It is
 * valid until the next call for the same column, or until the next row.
 */
SPUR_API const char *spur_row_text(struct spur_rows *rows, int column);

#ifdef __cplusplus
}
#endif
#endif
