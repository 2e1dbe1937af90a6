/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export: a Parquet file that is being written, a table whose rows come one at a
 * time, or in batches.
 *
 *	file:  "PAR1", row groups, footer (which describes it all), its length, "PAR1"
 *	row group:  for every column a chunk: a dictionary page if it has one, and data pages
 *
 * The rows of a row group wait in arrays, one per column, until there are enough of them. Most
 * columns have few different values: their cells are numbers of a dictionary in as few bytes as
 * will do. So a row takes some twenty bytes, and when the group ends everything is known that
 * decides on how to write it. Numbers that rarely repeat are stored directly.
 *
 * A table that has to be sorted is put in order by time when its group ends.
 *
 * The file is opened when a row group is written and closed again: there may be thousands.
 */
#ifndef EXPORT_PARQUET_TABLE_H
#define EXPORT_PARQUET_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/buf.h"
#include "export/parquet/dictionary.h"
#include "export/parquet/thrift.h"

#define PQ_PAGE_ROWS   65536
#define PQ_SORTED_ROWS (128u << 10) /* most rows of a group that is sorted: that takes memory */
#define PQ_BATCH       64	    /* rows that are put at once; capacities are multiples of it */

enum pq_type {
	PQ_INT32,
	PQ_INT64,
	PQ_UINT64,
	PQ_TIME, /* nanoseconds; since 1970 when the trace has wall time */
	PQ_TEXT,
};

#define PQ_BOUND_MAX 256 /* bytes of a text in statistics; longer ones are left out */

struct pq_bound {	 /* the smallest or largest text of a chunk */
	struct buf text; /* full: it is too long */
	bool is_set;
};

/* What keys have become: the cells of values that were looked up last. */
#define PQ_MEMO 256

struct pq_memo {
	struct {
		uint64_t key;
		uint32_t cell;
	} at[PQ_MEMO];
};

void pq_memo_clear(struct pq_memo *m);

struct pq_column {
	char *name;
	enum pq_type type;
	bool nullable;
	bool constant;	     /* all rows have the first text of the dictionary */
	bool prefers_direct; /* numbers: as an earlier group has shown, no dictionary */
	uint32_t sure;	     /* groups that have a dictionary as the last one has, untried */

	/*
	 * The rows of the group. A cell of 1, 2 or 4 bytes is a number of the dictionary plus 1, or
	 * 0: the value is missing. One of 8 bytes is the value, and `missing` has a bit per row.
	 */
	void *cells;
	uint32_t width;
	uint64_t *missing; /* NULL: none has been so far */
	bool has_nulls;	   /* in this group */
	uint32_t epoch;	   /* changes when the texts get new numbers */
	struct pq_memo *memo;
	uint64_t last_key; /* that was put, … */
	uint32_t last;	   /* … its cell, … */
	bool last_known;   /* … and whether that is one to repeat */
	struct pq_texts texts;
	struct pq_numbers dict;

	/* The chunk, once it has been encoded. */
	bool compressed;
	uint64_t dict_len, len; /* bytes of the dictionary page, and of all pages */
	uint32_t encodings;	/* a bit per enum pq_encoding */
	uint64_t raw_bytes;	/* of all pages with their headers, as if not compressed */
	uint64_t nulls;
	uint64_t min, max; /* of numbers */
	bool has_numbers;
	struct pq_bound least, most; /* of texts */
};

/* What tables share whose rows come one after the other: one thread at a time uses it. */
struct pq_work {
	void *compressor; /* zstd's */
	bool wall;	  /* times are since 1970 */
	uint32_t group_rows;
	int folder; /* descriptor: where the files are written */
	struct hash_seed seed;
	size_t memory; /* that all tables take, about */
	int rc;	       /* the first thing that went wrong, a negative errno */
	int *failed;   /* gets it, too, for other threads; or NULL */
	struct spur_error *err;
	struct buf out;				     /* the group on its way into the file */
	struct buf pages;			     /* of a chunk */
	struct buf raw, packed, other, other_packed; /* pages on their way */
	uint64_t *values;			     /* of a page: those that are there, in order */
	void *cells;				     /* the same of a column with a dictionary */
	uint64_t *present;
	uint16_t *places; /* of a dictionary's entries, when they are not in their order */
	struct pq_ranks *ranks;
	uint32_t *order; /* of a group's rows, and how many there is room for */
	uint32_t order_cap;
	struct pq_key *keys; /* for sorting */
	uint32_t keys_cap;
};

struct pq_table {
	struct pq_work *work;
	char *name;
	const char *system; /* whose event it is about; NULL: none */
	char file[24];	    /* its name in the folder while it is written */
	struct pq_column *columns;
	uint32_t nr_columns;
	bool sorted;

	uint32_t rows, cap;  /* of the group: how many, and how many the arrays hold */
	uint32_t group_rows; /* that a group has */
	uint32_t full;	     /* it ends with this many rows: group_rows, or 0 for now */
	/* Called to add the rows that still wait in a batch. May be NULL. */
	void (*complete)(void *arg);
	void *complete_arg;
	struct buf groups; /* described as the footer will */
	uint32_t nr_groups;
	uint64_t nr_rows; /* in groups that have been written */
	uint64_t size;	  /* of the file */
	size_t memory;	  /* that can be given back */
};

int pq_work_init(struct pq_work *w, int level, struct spur_error *err);
void pq_work_free(struct pq_work *w);
/* Records that there is no memory, unless there was an error before. */
void pq_fail(struct pq_work *w);

/* The first column of a table is its time. NULL without memory. */
struct pq_table *pq_table_new(struct pq_work *w, const char *name, uint32_t number, bool sorted);
void pq_table_free(struct pq_table *t);

/* Before the first row. The number of the column; PQ_NO_ID without memory. */
uint32_t pq_table_add(struct pq_table *t, const char *name, enum pq_type type, bool nullable);
/* A column that has this text in all rows. */
uint32_t pq_table_add_constant(struct pq_table *t, const char *name, const char *text);

/* Adds the rows that wait in a batch. */
void pq_table_complete(struct pq_table *t);
/* Writes the row group that has begun and gives its memory back. */
void pq_table_shrink(struct pq_table *t);
/* The rest of the file. What goes wrong is in the work's rc, with words. */
void pq_table_finish(struct pq_table *t);

/* ---- rows ----------------------------------------------------------------------------- */

/* Makes room for a batch: false when that is not possible. */
bool pq_table_room(struct pq_table *t);

/* How many rows a batch that begins now may have; 0: something failed. */
static inline uint32_t pq_batch(struct pq_table *t)
{
	const uint32_t left = t->group_rows - t->rows;

	if (__builtin_expect(t->rows + PQ_BATCH > t->cap, 0) && !pq_table_room(t))
		return 0;
	return left < PQ_BATCH ? left : PQ_BATCH;
}

/* So many rows are complete: all their columns have been set. */
void pq_rows_end(struct pq_table *t, uint32_t n);

/* ---- cells, cells.c ------------------------------------------------------------------- */

/* Of one row, which may be any of a batch. */
void pq_set_number(struct pq_table *t, struct pq_column *c, uint32_t row, uint64_t v);
void pq_set_null(struct pq_table *t, struct pq_column *c, uint32_t row);
void pq_set_cell(struct pq_table *t, struct pq_column *c, uint32_t row, uint32_t cell);

/* The cell for a text, which is good in this epoch; 0 without memory. */
uint32_t pq_text_cell(struct pq_table *t, struct pq_column *c, const char *text, size_t len);

/* Of a batch of n rows from `row` on; a bit of `missing` for every one without a number. */
void pq_put_numbers(struct pq_table *t, struct pq_column *c, uint32_t row, const uint64_t *v,
		    uint32_t n, uint64_t missing);

/*
 * The same of texts that follow from a key, and are asked for when it is not known: the i-th of the
 * batch. `cell` returns pq_text_cell() or 0, which is not remembered.
 */
struct pq_source {
	uint32_t (*cell)(void *arg, struct pq_column *c, uint64_t key, uint32_t i);
	void *arg;
	bool zero_is_none; /* the key 0 stands for a missing value */
};

void pq_put_keys(struct pq_table *t, struct pq_column *c, uint32_t row, const uint64_t *keys,
		 uint32_t n, const struct pq_source *from);

/* The cells themselves, PQ_BATCH of them: those after the last row are 0. */
void pq_put_cells(struct pq_table *t, struct pq_column *c, uint32_t row, const uint32_t *cells);

/* ---- chunks, column.c ----------------------------------------------------------------- */

/*
 * Encodes the rows of a group, in that order (NULL: as they came), `nr` of them, after what is in
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

/* ---- sorting, sort.c ------------------------------------------------------------------ */

/*
 * Where the numbers of a dictionary of more than a byte get their places: into w->places by their
 * number. Returns the length of the dictionary; 0: they stay where they are.
 */
uint32_t pq_choose_places(struct pq_work *w, const struct pq_column *c, uint32_t nr);

/* Puts the order of n rows by their times, stable, into w->order; false without memory. */
bool pq_sort(struct pq_work *w, const uint64_t *ts, uint32_t n);

#endif
