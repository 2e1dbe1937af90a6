// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of analyses as Parquet tables.
 *
 * Texts of rows live as long as the analysis, so that they are known by where they lie; but for
 * those of which the row's own comment says otherwise.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/overview.h"
#include "analyze/spans.h"
#include "export/parquet_events.h"

struct pq_rows {
	struct pq_table *table;
	const struct table *like;
	struct pq_memo **memos; /* by column; NULL: not a text, or one that does not stay */
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
		if (c->type != COLUMN_TEXT || !stays(rows->like, c))
			continue;
		rows->memos[i] = calloc(1, sizeof(**rows->memos));
		if (!rows->memos[i])
			return false;
	}
	return true;
}

struct pq_rows *pq_rows_new(struct pq_table *t, const struct table *like, const char *trace_id)
{
	struct pq_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	*rows = (struct pq_rows){.table = t, .like = like};
	rows->memos = calloc(like->nr_columns, sizeof(*rows->memos));
	if (!rows->memos || !add_columns(rows) ||
	    pq_table_add_constant(t, "trace_id", trace_id) == PQ_NO_ID) {
		pq_rows_free(rows);
		return NULL;
	}
	return rows;
}

void pq_rows_free(struct pq_rows *rows)
{
	if (!rows)
		return;
	for (uint32_t i = 0; rows->memos && i < rows->like->nr_columns; i++)
		free(rows->memos[i]);
	free(rows->memos);
	free(rows);
}

static inline void take_text(struct pq_rows *rows, struct pq_column *c, uint32_t row,
			     const char *text, struct pq_memo *memo)
{
	const uint64_t key = (uintptr_t)text;
	uint32_t slot = 0, id;

	if (!text) {
		pq_set_null(rows->table, c, row);
		return;
	}
	if (memo) {
		slot = pq_memo_slot(memo, c, key);
		if (memo->at[slot].id && memo->at[slot].key == key) {
			c->ids[row] = memo->at[slot].id - 1;
			return;
		}
	}
	id = pq_set_text(rows->table, c, row, text, strlen(text));
	if (memo) {
		memo->at[slot].key = key;
		memo->at[slot].id = id + 1;
	}
}

void pq_rows_take(void *arg, const void *data)
{
	struct pq_rows *rows = arg;
	const uint32_t row = pq_row(rows->table);

	if (row == PQ_NO_ID)
		return;
	for (uint32_t i = 0; i < rows->like->nr_columns; i++) {
		const struct column *from = &rows->like->columns[i];
		struct pq_column *c = &rows->table->columns[i];
		const char *text;
		int64_t number;

		if (from->type == COLUMN_TEXT) {
			memcpy(&text, (const char *)data + from->offset, sizeof(text));
			take_text(rows, c, row, text, rows->memos[i]);
			continue;
		}
		memcpy(&number, (const char *)data + from->offset, sizeof(number));
		if (number == ROW_NULL && from->type != COLUMN_TIME)
			pq_set_null(rows->table, c, row);
		else
			pq_set_number(c, row, (uint64_t)number);
	}
	pq_row_end(rows->table);
}
