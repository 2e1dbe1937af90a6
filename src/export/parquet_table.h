/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Parquet file that is being written: a table whose rows come one at a time.
 *
 *	file:  "PAR1", row groups, footer (which describes it all), its length, "PAR1"
 *	row group:  for every column a chunk: a dictionary page if it has one, and data pages
 *
 * Values are put into arrays, one per column, indexed by the row's number in the page. A full page
 * is encoded and compressed at once, so that what waits for the end of a row group is small. Texts
 * are numbered when they come. When a dictionary has become too large the chunk goes on without.
 *
 * A table that has to be sorted has one page per row group, which is put in order by time.
 *
 * The file is opened when a row group is written and closed again: there may be thousands.
 */
#ifndef EXPORT_PARQUET_TABLE_H
#define EXPORT_PARQUET_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/buf.h"
#include "export/parquet_dict.h"

#define PQ_PAGE_ROWS   16384
#define PQ_SORTED_ROWS 65536 /* in a page, and so in a row group, of a table that is sorted */

enum pq_type {
	PQ_INT32,
	PQ_INT64,
	PQ_UINT64,
	PQ_TIME, /* nanoseconds; since 1970 when the trace has wall time */
	PQ_TEXT,
};

#define PQ_BOUND_MAX 256 /* bytes of a text in statistics; longer ones are not told */

struct pq_bound {	 /* the smallest or largest text of a chunk */
	struct buf text; /* full: it is too long */
	bool is_set;
};

struct pq_column {
	char *name;
	enum pq_type type;
	bool nullable;
	bool constant; /* all rows have the first text of the dictionary */

	/* The page: values by row. */
	uint64_t *numbers;
	uint32_t *ids;	     /* of texts */
	uint64_t *missing;   /* a bit per row; NULL: none has been missing so far */
	uint32_t nr_missing; /* in this page */
	uint32_t epoch;	     /* changes when the texts get new numbers */

	/* The chunk. */
	struct pq_texts texts;
	struct pq_numbers dict;
	enum { PQ_UNDECIDED, PQ_BY_DICT, PQ_DIRECT } mode;
	bool prefers_direct;  /* as an earlier chunk has shown */
	bool compressed;      /* decided by the first page, … */
	bool codec_known;     /* … which there has been */
	struct buf pages;     /* encoded ones */
	struct buf dict_page; /* the same, once the dictionary is complete */
	uint32_t encodings;   /* a bit per enum pq_encoding */
	uint64_t raw_bytes;   /* of all pages with their headers, as if not compressed */
	uint64_t nulls;
	uint64_t min, max; /* of numbers */
	bool has_numbers;
	struct pq_bound least, most; /* of texts in pages that were not by dictionary */
};

/* What the tables of an export share. */
struct pq_work {
	void *compressor; /* zstd's */
	bool wall;	  /* times are since 1970 */
	uint32_t group_rows;
	int folder; /* descriptor: where the files are written */
	struct hash_seed seed;
	size_t memory; /* that all tables take, about */
	int rc;	       /* the first thing that went wrong, a negative errno */
	struct spur_error *err;
	struct buf raw, packed, other, other_packed; /* pages on their way */
	uint64_t *values;			     /* of a page: those that are there, in order */
	uint32_t *ids, *order;
	uint64_t *present;
	struct pq_key *keys; /* for sorting */
};

struct pq_table {
	struct pq_work *work;
	char *name;
	const char *system; /* whose event it is about; NULL: none */
	char file[24];	    /* its name in the folder while it is written */
	struct pq_column *columns;
	uint32_t nr_columns;
	bool sorted;
	uint32_t page_rows;

	uint32_t rows, cap;  /* of the page: how many, and how many the arrays hold */
	uint32_t full;	     /* it ends with this many rows: page_rows, or 0 for now */
	uint64_t group_rows; /* in the row group's pages */
	bool in_order;	     /* so far in this row group, … */
	uint64_t last_ts;    /* … up to this time, when it has rows */
	struct buf groups;   /* described as the footer will */
	uint32_t nr_groups;
	uint64_t nr_rows; /* in groups that have been written */
	uint64_t size;	  /* of the file */
	size_t memory;	  /* that can be given back */
};

int pq_work_init(struct pq_work *w, int level, struct spur_error *err);
void pq_work_free(struct pq_work *w);

/* The first column of a table is its time. NULL without memory. */
struct pq_table *pq_table_new(struct pq_work *w, const char *name, uint32_t number, bool sorted);
void pq_table_free(struct pq_table *t);

/* Before the first row. The number of the column; PQ_NO_ID without memory. */
uint32_t pq_table_add(struct pq_table *t, const char *name, enum pq_type type, bool nullable);
/* A column that has this text in all rows. */
uint32_t pq_table_add_constant(struct pq_table *t, const char *name, const char *text);

/* Writes the row group that has begun. What goes wrong is in the work's rc, with words. */
void pq_table_flush(struct pq_table *t);
/* Gives back memory: makes a page of what there is, or writes the row group when that is larger. */
void pq_table_shrink(struct pq_table *t);
/* The rest of the file. */
void pq_table_finish(struct pq_table *t);

/* ---- rows ---- */

/* Makes room: false when that is not possible. */
bool pq_table_room(struct pq_table *t);
void pq_table_page(struct pq_table *t);

/* The number of a new row in its page, whose columns have to be set; PQ_NO_ID: something failed. */
static inline uint32_t pq_row(struct pq_table *t)
{
	if (__builtin_expect(t->rows == t->cap, 0) && !pq_table_room(t))
		return PQ_NO_ID;
	return t->rows;
}

/* The row is complete. */
static inline void pq_row_end(struct pq_table *t)
{
	if (__builtin_expect(++t->rows >= t->full, 0))
		pq_table_page(t);
}

static inline void pq_set_number(struct pq_column *c, uint32_t row, uint64_t v)
{
	c->numbers[row] = v;
}

void pq_set_null(struct pq_table *t, struct pq_column *c, uint32_t row);

/* The text's number in this epoch. A page whose texts take too much memory ends with the row. */
uint32_t pq_set_text(struct pq_table *t, struct pq_column *c, uint32_t row, const char *text,
		     size_t len);

#endif
