/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Feeding analyses: one walk over a trace for any number of tables.
 *
 * Every buffer of the trace has an analysis of its own for each table. The function given to
 * feed_add() gets the rows as they become complete. Rows whose first column (`ts` in all tables) is
 * outside the options' range of time are left out.
 *
 * A feed stores its first error. After it, all functions do nothing, and feed_run() or feed_error()
 * returns it. So a caller checks once, at the end. A feed that is NULL has failed because there was
 * no memory.
 */
#ifndef TABLE_FEED_H
#define TABLE_FEED_H

#include "table/table.h"
#include "table/walk.h"

struct feed;

/* The options' range is about rows; which records must be read for them is decided here. */
struct feed *feed_new(struct spur_trace *t, const struct walk_options *opt, struct spur_error *err);
void feed_free(struct feed *f);

/* Before the first step. `row` takes the rows of the table, and must copy what it keeps. */
int feed_add(struct feed *f, const struct table *t, void (*row)(void *arg, const void *row),
	     void *arg, struct spur_error *err);

/* Also sees every record that is read of these types, in order; before the analyses do. */
int feed_watch(struct feed *f, const char *pattern,
	       void (*record)(void *arg, struct event *e, const struct spur_record *r), void *arg,
	       struct spur_error *err);

/*
 * To be called first: delivers records in batches, which is faster. The rows of a batch come when
 * all its records have been read, those of one table after those of another. Watchers get their
 * records before any rows.
 */
void feed_in_batches(struct feed *f);

/* The same as feed_watch() of all records, several at a time; only of a feed in batches. */
int feed_watch_batches(struct feed *f,
		       void (*records)(void *arg, const struct table_record *all, uint32_t n),
		       void *arg, struct spur_error *err);

/*
 * To be called after all feed_add(), before the first step: reading starts at `since`, whatever the
 * tables need, and pages that begin after `until` (0: no limit) are not read. Rows that need other
 * records are missing or `open`: the caller must know which rows to trust.
 */
void feed_read_range(struct feed *f, uint64_t since, uint64_t until);

/* The latest time of the records that were read; 0: there was none. */
uint64_t feed_now(const struct feed *f);

/* Stops reading and returns the open rows, as at the trace's end. */
void feed_cut(struct feed *f);

/*
 * Before the first step, after everything has been added: as many threads as the options say read
 * records and make rows; watchers and the functions that get rows are called by the caller's, in
 * the same order as without. A step then is some hundred records.
 */
void feed_use_threads(struct feed *f);

/* Reads one record; false when everything has been read and handed out, or memory has run out. */
bool feed_step(struct feed *f);

/*
 * All steps, by as many threads as the options say. Any of them may call watchers and the functions
 * that get rows, but never two at a time. 0, -EINTR after a stop, -ENOMEM.
 */
int feed_run(struct feed *f, struct spur_error *err);

/* The same, but ends when *failed is negative, and returns that. Other threads may set it. */
int feed_run_until(struct feed *f, const int *failed, struct spur_error *err);

/* 0, or the first error. */
int feed_error(const struct feed *f, struct spur_error *err);

/* ---- the rows of one table, one after the other ---- */

struct rows;

/* Uses as many threads as the options say, except for a table with texts that do not stay valid. */
struct rows *rows_open(struct spur_trace *t, const struct table *table,
		       const struct walk_options *opt, struct spur_error *err);
/* The next row, valid until the next call; NULL at the end or when it failed (rows_error()). */
const void *rows_next(struct rows *r);
int rows_error(const struct rows *r, struct spur_error *err);
void rows_close(struct rows *r);

#endif
