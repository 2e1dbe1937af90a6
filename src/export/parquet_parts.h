/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the Parquet writer: what its files know of each other. */
#ifndef EXPORT_PARQUET_PARTS_H
#define EXPORT_PARQUET_PARTS_H

#include "export/parquet_table.h"
#include "export/thrift.h"

/* ---- chunks, parquet_column.c ---- */

/*
 * Encodes the rows of a page, in that order (NULL: as they came), `nr` of them. What goes wrong is
 * in the work's rc.
 */
void pq_column_page(struct pq_work *w, struct pq_column *c, const uint32_t *order, uint32_t nr);

/* Completes the chunk: its dictionary page is made, if it has one. */
void pq_column_end(struct pq_work *w, struct pq_column *c);

/* Describes the complete chunk of so many rows, which begins at a place of the file. */
void pq_column_describe(const struct pq_column *c, struct thrift *to, uint64_t at, uint64_t rows);

/* Begins another chunk. */
void pq_column_reset(struct pq_column *c);

static inline bool pq_is_narrow(const struct pq_column *c)
{
	return c->type == PQ_INT32;
}

static inline enum pq_physical pq_stored(const struct pq_column *c)
{
	return c->type == PQ_TEXT ? PQ_STORED_BYTES
	       : pq_is_narrow(c)  ? PQ_STORED_INT32
				  : PQ_STORED_INT64;
}

/* ---- sorting, parquet_sort.c ---- */

/* Puts the order of n rows by their times, stable, into w->order; false without memory. */
bool pq_sort(struct pq_work *w, const uint64_t *ts, uint32_t n);

#endif
