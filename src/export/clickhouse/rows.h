/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/export/clickhouse: rows of a trace as blocks of RowBinary. */
#ifndef EXPORT_CLICKHOUSE_ROWS_H
#define EXPORT_CLICKHOUSE_ROWS_H

#include "table/cells.h"
#include "table/table.h"
#include "base/map.h"
#include "base/vec.h"
#include "export/clickhouse/private.h"

/*
 * Limits of a block. They decide what a block is: changing one of them, or what a row looks like,
 * makes other blocks of the same trace, and CH_PLAN must change with it.
 */
#define CH_PLAN	       2
#define CH_BLOCK_ROWS  131072
#define CH_BLOCK_BYTES (12u << 20)
#define CH_ALL_BYTES   (64u << 20) /* of all open blocks */

struct ch_rows;

/* One of the tables that a trace fills. */
struct ch_table {
	char *name;
	struct ch_columns columns;
	struct cells cells;	   /* of an event type, … */
	const struct table *table; /* … or of rows */
	struct buf data;
	uint64_t rows;
	uint32_t next; /* number of the open block */
};

/* All of them. */
struct ch_rows {
	struct spur_trace *trace;
	struct ch_courier *courier;
	struct reader reader;
	vec_of(struct ch_table *) tables;
	struct map by_source; /* of event types and tables of rows, by their address */
	struct ch_block like; /* what all blocks of the trace have in common */
	struct buf head;      /* the first columns of a row, without the block's number */
	uint64_t bytes;	      /* in all tables */
	uint64_t first;	      /* when the trace begins */
	int rc;		      /* the first error */
	struct spur_error err;
};

int ch_rows_init(struct ch_rows *r, struct spur_trace *t, const struct identity *id,
		 const char *machine, struct ch_courier *courier, struct spur_error *err);
void ch_rows_free(struct ch_rows *r);

/* The row of the trace itself, first of all. */
int ch_rows_trace(struct ch_rows *r, const struct identity *id, const char *plan);

/* For a pass: takers of records and of rows of tables. */
void ch_rows_record(void *rows, struct event *e, const struct spur_record *rec);
void ch_rows_row(struct ch_rows *r, const struct table *t, const void *row);

/* Delivers the remaining blocks. */
void ch_rows_end(struct ch_rows *r);

#endif
