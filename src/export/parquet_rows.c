// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of analyses as Parquet tables: batches of rows, which are then taken column by column.
 *
 * Texts of rows live as long as the analysis, so that they are known by where they lie; but for
 * those of which the row's own comment says otherwise: these are taken at once.
 */
#include <stdlib.h>
#include <string.h>

#include "table/overview.h"
#include "table/spans.h"
#include "export/parquet_events.h"

#define KEPT 1024 /* texts that do not stay and whose cells are known; a power of two */

struct pq_rows {
	struct pq_table *table;
	const struct table *like;
	uint32_t passing; /* the column of texts that do not stay; PQ_NO_ID: there is none */
	uint32_t n, most; /* rows of the batch: there are, and may be */
	char *batch;
	struct kept {
		uint64_t id;
		uint32_t epoch, cell;
	} * kept; /* NULL: there are no such texts */
};

static bool stays(const struct table *like, const struct column *c)
{
	return like != &syscalls_table || strcmp(c->name, "args") != 0;
}

static enum pq_type type_of(const struct table *like, const struct column *c)
{
	static const enum pq_type types[] = {[COLUMN_NUMBER] = PQ_INT64,
					     [COLUMN_TIME] = PQ_TIME,
					     [COLUMN_DURATION] = PQ_INT64,
					     [COLUMN_TEXT] = PQ_TEXT};

	/* A time that may be missing, which columns of that type cannot be. */
	if (like == &lost_table && strcmp(c->name, "since") == 0)
		return PQ_TIME;
	return types[c->type];
}

static bool add_columns(struct pq_rows *rows)
{
	for (uint32_t i = 0; i < rows->like->nr_columns; i++) {
		const struct column *c = &rows->like->columns[i];

		if (pq_table_add(rows->table, c->name, type_of(rows->like, c),
				 c->type != COLUMN_TIME) == PQ_NO_ID)
			return false;
		if (c->type != COLUMN_TEXT || stays(rows->like, c))
			continue;
		rows->passing = i;
		rows->kept = calloc(KEPT, sizeof(*rows->kept));
		if (!rows->kept)
			return false;
	}
	return true;
}

static void complete(void *arg);

struct pq_rows *pq_rows_new(struct pq_table *t, const struct table *like, const char *trace_id)
{
	struct pq_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	*rows = (struct pq_rows){.table = t, .like = like, .passing = PQ_NO_ID};
	rows->batch = calloc(PQ_BATCH, like->row_size);
	if (!rows->batch || !add_columns(rows) ||
	    pq_table_add_constant(t, "trace_id", trace_id) == PQ_NO_ID) {
		pq_rows_free(rows);
		return NULL;
	}
	t->complete = complete;
	t->complete_arg = rows;
	return rows;
}

void pq_rows_free(struct pq_rows *rows)
{
	if (!rows)
		return;
	free(rows->batch);
	free(rows->kept);
	free(rows);
}

static const char *text_in(const struct column *c, const char *row)
{
	const char *text;

	memcpy(&text, row + c->offset, sizeof(text));
	return text;
}

static uint32_t text_cell(void *arg, struct pq_column *c, uint64_t key, uint32_t i)
{
	const struct pq_rows *rows = arg;
	const char *text = (const char *)(uintptr_t)key;

	return pq_text_cell(rows->table, c, text, strlen(text));
}

static void put_texts(struct pq_rows *rows, uint32_t column)
{
	const struct pq_source from = {.cell = text_cell, .arg = rows, .zero_is_none = true};
	const struct column *c = &rows->like->columns[column];
	const size_t step = rows->like->row_size;
	const char *row = rows->batch;
	uint64_t keys[PQ_BATCH];

	for (uint32_t i = 0, n = rows->n; i < n; i++, row += step)
		keys[i] = (uintptr_t)text_in(c, row);
	pq_put_keys(rows->table, &rows->table->columns[column], rows->table->rows, keys, rows->n,
		    &from);
}

static void put_numbers(struct pq_rows *rows, uint32_t column)
{
	const struct column *c = &rows->like->columns[column];
	const size_t step = rows->like->row_size;
	const char *from = rows->batch + c->offset;
	uint64_t v[PQ_BATCH], missing = 0;
	bool any = false;

	for (uint32_t i = 0, n = rows->n; i < n; i++, from += step) {
		memcpy(&v[i], from, sizeof(v[i]));
		any |= v[i] == (uint64_t)ROW_NULL;
	}
	for (uint32_t i = 0; any && c->type != COLUMN_TIME && i < rows->n; i++)
		missing |= (uint64_t)(v[i] == (uint64_t)ROW_NULL) << i;
	pq_put_numbers(rows->table, &rows->table->columns[column], rows->table->rows, v, rows->n,
		       missing);
}

/* Puts the batch, column by column. */
static void complete(void *arg)
{
	struct pq_rows *rows = arg;
	const uint32_t n = rows->n;

	if (!n)
		return;
	for (uint32_t i = 0; i < rows->like->nr_columns; i++) {
		if (rows->like->columns[i].type != COLUMN_TEXT)
			put_numbers(rows, i);
		else if (i != rows->passing)
			put_texts(rows, i);
	}
	rows->n = 0;
	pq_rows_end(rows->table, n);
}

/* Arguments of a system call, a text that does not stay: the same number is the same text. */
static void take_passing(struct pq_rows *rows, const char *data)
{
	const struct syscall_row *call = (const void *)data;
	struct pq_column *c = &rows->table->columns[rows->passing];
	const uint32_t row = rows->table->rows + rows->n;
	struct kept *kept = &rows->kept[call->args_id % KEPT];

	if (!call->args) {
		pq_set_null(rows->table, c, row);
		return;
	}
	if (kept->id != call->args_id || kept->epoch != c->epoch || !kept->cell) {
		kept->cell = pq_text_cell(rows->table, c, call->args, strlen(call->args));
		kept->id = call->args_id;
		kept->epoch = c->epoch;
	}
	pq_set_cell(rows->table, c, row, kept->cell);
}

void pq_rows_take(void *arg, const void *data)
{
	struct pq_rows *rows = arg;
	const size_t size = rows->like->row_size;

	if (!rows->n) {
		rows->most = pq_batch(rows->table);
		if (!rows->most)
			return;
	}
	memcpy(rows->batch + rows->n * size, data, size);
	if (rows->passing != PQ_NO_ID)
		take_passing(rows, data);
	if (++rows->n == rows->most)
		complete(rows);
}
