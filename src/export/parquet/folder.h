/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export: a folder of Parquet files of many traces:
 *
 *	OUT/date=YYYY-MM-DD/host=HOST/TRACEID/TABLE.parquet
 *
 * An export writes into a hidden folder beside OUT until everything is complete. Then the folder is
 * renamed, or exchanged with that of an earlier export of the same trace. So readers of OUT see all
 * tables of a trace or none, and never those of two exports. The hidden folder is locked, see
 * base/newfile.h; the next export into OUT removes those of killed processes.
 */
#ifndef EXPORT_PARQUET_FOLDER_H
#define EXPORT_PARQUET_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#include "base/buf.h"
#include "base/vec.h"

struct pq_place {
	char text[480]; /* "date=…/host=…" */
};

struct pq_store {
	const char *out;
	const char *trace_id;
	struct pq_place place;
	char *temp;			 /* the folder that is written to */
	int folder;			 /* it, open */
	vec_of(struct pq_place) earlier; /* places where there are files of this trace */
	/* Which tables this export is about: files of others stay. NULL: all. */
	bool (*chosen)(void *arg, const char *table);
	void *arg;
};

/* Creates OUT and the folder for writing. */
int pq_store_open(struct pq_store *s, struct spur_error *err);

/* A table's file, which is complete and called `file` in the folder, gets its name. */
int pq_store_name(struct pq_store *s, const char *file, const char *table, struct spur_error *err);

/* All tables are there: the trace appears with them, in place of what an earlier export left. */
int pq_store_keep(struct pq_store *s, struct spur_error *err);

/* Removes the folder and what is left in it. */
void pq_store_close(struct pq_store *s);

/* A text as part of a path: letters, digits and "-._" stay, other bytes become %XX. */
void pq_put_part(struct buf *to, const char *text);

#endif
