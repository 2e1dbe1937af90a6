/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the Parquet writer: what its files know of each other. */
#ifndef EXPORT_PARQUET_PARTS_H
#define EXPORT_PARQUET_PARTS_H

#include "export/parquet_table.h"
#include "export/thrift.h"

/* ---- chunks, parquet_column.c ---- */

/*
 * Encodes the rows of a group, in that order (NULL: as they came), `nr` of them, behind what is in
 * w->out. What goes wrong is in the work's rc.
 */
void pq_column_encode(struct pq_work *w, struct pq_column *c, const uint32_t *order, uint32_t nr);

/* Describes that chunk of so many rows, which begins at a place of the file. */
void pq_column_describe(const struct pq_column *c, struct thrift *to, uint64_t at, uint64_t rows);

/* Begins another group of rows, for which there is that much room; 0: gives its memory back. */
bool pq_column_reset(struct pq_column *c, uint32_t cap);

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

/* ---- the rows of a page, parquet_gather.c ---- */

/* The values of a page that are there, in the order of its rows. */
struct pq_page_rows {
	const uint32_t *order; /* of the group's rows; NULL: as they came */
	uint32_t from, nr;     /* rows of the group */
	uint32_t n;	       /* values that are there */
	const void *cells;     /* as wide as the column's */
	bool missing;	       /* some are: w->present has a bit for each one that is not */
};

void pq_gather(struct pq_work *w, const struct pq_column *c, struct pq_page_rows *p);

/* ---- places in dictionaries, parquet_places.c ---- */

/*
 * Where the numbers of a dictionary of more than a byte get their places: into w->places by their
 * number. Returns the length of the dictionary; 0: they stay where they are.
 */
uint32_t pq_choose_places(struct pq_work *w, const struct pq_column *c, uint32_t nr);

/* ---- sorting, parquet_sort.c ---- */

struct pq_key {
	uint64_t key;
	uint32_t id;
};

/*
 * Sorts by key, of which `most` is the largest, stable. There is as much room elsewhere: returns
 * which of the two has them then.
 */
struct pq_key *pq_sort_keys(struct pq_key *keys, struct pq_key *room, uint32_t n, uint64_t most);

/* Puts the order of n rows by their times, stable, into w->order; false without memory. */
bool pq_sort(struct pq_work *w, const uint64_t *ts, uint32_t n);

#endif
