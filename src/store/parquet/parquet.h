/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading Parquet files: their columns, the statistics of row groups, and the values of some
 * columns, a batch of rows at a time.
 *
 * Numbers have 64 bits; those without a sign keep their bits, timestamps become nanoseconds. Texts
 * are bytes. Columns that are not nested can be read; others have the reason in `refused`.
 *
 * All bytes of a file are untrusted. Memory for each file is limited, whatever it contains: to a
 * decoded page of each wanted column, and to a budget. A small file can claim any number of rows,
 * so callers that loop over them must check for a stop.
 */
#ifndef STORE_PARQUET_PARQUET_H
#define STORE_PARQUET_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <spur/error.h>

#include "store/parquet/format.h"

struct parquet;

enum parquet_kind {
	PARQUET_NUMBER,
	PARQUET_REAL,
	PARQUET_TEXT,
};

struct parquet_column {
	const char *name;
	const char *refused; /* why it cannot be read; NULL: it can */
	enum parquet_kind kind;
	bool is_date; /* a number of days since 1970 */
	bool optional;

	/* How it is stored: */
	enum pq_physical stored;
	bool is_unsigned;
	uint32_t scale; /* by which numbers are multiplied */
	uint32_t leaf;	/* its index in the chunks of a row group */
};

/*
 * Becomes the owner of the descriptor in any case. -EBADMSG if it is no Parquet file, or a damaged
 * one.
 */
int parquet_open(int fd, struct parquet **out, struct spur_error *err);
void parquet_close(struct parquet *p); /* NULL is fine */

uint32_t parquet_nr_columns(const struct parquet *p);
const struct parquet_column *parquet_column(const struct parquet *p, uint32_t column);
/* By its name, whatever the case of letters; -1: there is none. */
int parquet_find(const struct parquet *p, const char *name);

uint64_t parquet_nr_rows(const struct parquet *p);
uint32_t parquet_nr_groups(const struct parquet *p);
uint64_t parquet_group_rows(const struct parquet *p, uint32_t group);

/* What the footer has for a key; NULL: nothing. */
const char *parquet_about(const struct parquet *p, const char *key);

struct parquet_text {
	const char *at; /* not terminated */
	uint32_t len;
};

/* A row group's statistics of a column. */
struct parquet_bounds {
	bool known;	   /* `min` and `max` are known; never for PARQUET_REAL */
	bool none_missing; /* all rows have a value */
	bool all_missing;
	int64_t min, max;
	struct parquet_text least, most;
};
void parquet_bounds(const struct parquet *p, uint32_t group, uint32_t column,
		    struct parquet_bounds *b);

/* ---- rows ---- */

struct parquet_rows;

#define PARQUET_BATCH 16384 /* rows at most */

/* NULL without memory. The file has to stay open. */
struct parquet_rows *parquet_rows_new(struct parquet *p, const uint32_t *columns, size_t n);
void parquet_rows_free(struct parquet_rows *r);

/* Goes to the start of a row group. */
int parquet_rows_group(struct parquet_rows *r, uint32_t group, struct spur_error *err);

/* The number of rows in the next batch of the group; 0 after the last; or a negative errno. */
int parquet_rows_next(struct parquet_rows *r, struct spur_error *err);

/*
 * The values of a batch. They are valid until the next batch, the dictionary as long as its serial
 * number is the same.
 */
struct parquet_values {
	const uint8_t *missing; /* by row: 1, there is no value; NULL: all are there */
	const uint32_t *ids;	/* by row: which of the dictionary's values; NULL: by row below */
	const int64_t *numbers; /* reals have their bits here, see parquet_real() */
	const struct parquet_text *texts;
	uint32_t dict_size;
	uint64_t dict; /* serial number */
};

/* The values of the i-th wanted column. Only columns that are read are decoded. */
int parquet_rows_get(struct parquet_rows *r, size_t i, struct parquet_values *v,
		     struct spur_error *err);

static inline double parquet_real(int64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

#endif
