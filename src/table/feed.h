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

/*
 * The range of the options is that of rows; the feed decides which records must be read for them.
 */
struct feed *feed_new(struct spur_trace *t, const struct walk_options *opt);
void feed_free(struct feed *f);

/*
 * To be called before the first step. `row` gets the rows of the table, and must copy what it needs
 * later.
 */
void feed_add(struct feed *f, const struct table *t, void (*row)(void *arg, const void *row),
	      void *arg);

/* The same for several tables, except those that the trace cannot fill. */
struct feed_table {
	const struct table *table;
	void (*row)(void *arg, const void *row);
};
void feed_add_possible(struct feed *f, const struct feed_table *list, size_t n, void *arg);

/*
 * Calls a function for every record of these types that is read, in order, before the analyses get
 * it.
 */
void feed_watch(struct feed *f, const char *pattern,
		void (*record)(void *arg, struct event *e, const struct spur_record *r), void *arg);

/*
 * To be called first: delivers records in batches, which is faster. The rows of a batch come when
 * all its records have been read, those of one table after those of another. Watchers get their
 * records before any rows.
 */
void feed_in_batches(struct feed *f);

/*
 * To be called before the first step: rows of a table are delivered in their order, but by any
 * thread of feed_run(), at the same time as rows of other tables and as records. For functions that
 * share nothing.
 */
void feed_rows_apart(struct feed *f);

/* Like feed_watch() for all records, several at a time; only for a feed in batches. */
void feed_watch_batches(struct feed *f,
			void (*records)(void *arg, const struct table_record *all, uint32_t n),
			void *arg);

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

/* Reads one record; false after everything has been read and delivered, or after an error. */
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
