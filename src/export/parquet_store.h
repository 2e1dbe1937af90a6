/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of Parquet files of many traces:
 *
 *	OUT/table=NAME/date=YYYY-MM-DD/host=HOST/TRACEID.parquet
 *
 * What an export writes lies in OUT/.spur-TRACEID until all of it is complete, and is then renamed,
 * the table of traces last. One export of a trace works at a time: it holds a lock in that folder,
 * which also says where its files will be, so that the next one can clear up after one that was
 * killed. Files that an earlier export of the same trace has left and this one has not replaced are
 * removed, wherever they are.
 */
#ifndef EXPORT_PARQUET_STORE_H
#define EXPORT_PARQUET_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#include "base/buf.h"

struct pq_place {
	char text[480]; /* "date=…/host=…" */
};

struct pq_store {
	const char *out;
	const char *trace_id;
	struct pq_place place;
	char *temp; /* the folder that is written to */
	int folder; /* it, open */
	int lock;
	struct {
		struct pq_place *at;
		size_t n, cap;
	} earlier; /* places where there are or may be files of this trace */
	/* Which tables this export is about: files of others stay. NULL: all. */
	bool (*chosen)(void *arg, const char *table);
	void *arg;
};

/* Creates OUT and the folder for writing. -EBUSY: another export of the trace is at it. */
int pq_store_open(struct pq_store *s, struct spur_error *err);

/* A table's file, which is complete and called `name` in the folder, gets its place. */
int pq_store_keep(struct pq_store *s, const char *name, const char *table, struct spur_error *err);

/* Removes what earlier exports left: here, of tables that are not among the n; elsewhere, all. */
void pq_store_clear(struct pq_store *s, const char *const *tables, size_t n);

/* Removes the folder and what is left in it. */
void pq_store_close(struct pq_store *s);

/* A text as part of a path: letters, digits and "-._" stay, other bytes become %XX. */
void pq_put_part(struct buf *to, const char *text);

#endif
