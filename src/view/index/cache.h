/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finished indexes that are stored in a folder, so that they need not be built again.
 *
 *	header	128 bytes: "SPURVIEW", the format's number, the trace's identity, sizes, a sum
 *	tables	rows, names, types, where blocks lie: read at once, checked by the sum
 *	store	blocks, each with a sum of its own (store.h), read when they are needed
 *
 * All numbers are little-endian. Such a file is untrusted. If a sum is wrong, the index is built
 * again: at once if that is found when the file is opened, as always for small stores, else the
 * next time.
 *
 * Private to src/view.
 */
#ifndef VIEW_INDEX_CACHE_H
#define VIEW_INDEX_CACHE_H

#include "base/buf.h"
#include "base/cursor.h"
#include "view/index/internal.h"

#define CACHE_HEADER 128
#define CACHE_FORMAT 4 /* increased with every change of the stored data or their meaning */
#define CACHE_MAGIC  "SPURVIEW"
#define CACHE_LIMIT  ((size_t)1 << 30) /* bytes of tables */
#define CACHE_SMALL  (64u << 20)       /* bytes of a store that is checked at once */

/* What must be equal for a stored index to belong to a trace. */
struct cache_identity {
	uint64_t size, inode, seconds, nanoseconds;
	uint64_t ends;	  /* of the file: a sum over its first and last bytes */
	uint64_t options; /* the options that affect times, and the program's version */
};

struct cache_header {
	struct cache_identity trace;
	uint64_t tables; /* bytes */
	uint64_t sum;	 /* of the tables */
	uint64_t store;	 /* bytes */
};

void cache_put_header(const struct cache_header *h, struct buf *to);
bool cache_get_header(struct cursor *c, struct cache_header *h);

/* ---- the tables ---- */

/* False without memory. */
bool cache_put_tables(struct view_index *x, struct buf *to);

/* Fills a prepared index from tables. False if they belong to another trace, or are wrong. */
bool cache_get_tables(struct view_index *x, struct cursor *c);

#endif
