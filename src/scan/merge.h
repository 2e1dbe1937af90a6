/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merging lanes by time: the one order in which a trace is read.
 *
 * The next record is always the earliest of those the lanes stand on; of equally early ones, that
 * of the lane added first. A lane whose times run backwards therefore keeps its own order.
 */
#ifndef SCAN_MERGE_H
#define SCAN_MERGE_H

#include "base/buf.h"
#include "scan/lane.h"

/* A lane that stands on a record, and when that was. */
struct merge_entry {
	uint64_t ts;
	uint32_t lane;
};

struct merge {
	struct lane *lanes;
	uint32_t nr, cap;
	struct merge_entry *heap; /* earliest first */
	uint32_t nr_heap;
	struct lane *current; /* whose record was returned last; not in order until the next call */
	bool left;	      /* its lane had to move on; the record is kept here: */
	struct spur_record record;
	struct buf saved; /* its bytes */
};

void merge_init(struct merge *m);
void merge_free(struct merge *m);

/* Adds a lane for every CPU of the buffer that has data. */
int merge_add_buffer(struct merge *m, const struct trace_buffer *b);

/* Puts every lane on its first record. Lanes may have been moved by lane_seek() before. */
void merge_start(struct merge *m);

/* Sorts the lanes anew after they have been moved by hand; each stands on a record or has ended. */
void merge_restart(struct merge *m);

/* Restores the order after a lane other than the current one has gone back to an earlier record. */
void merge_went_back(struct merge *m, uint32_t lane);

/* The lane whose record comes next, or NULL at the end. */
const struct lane *merge_first(struct merge *m);

/*
 * The lane with the next record in time, or NULL at the end. It stands on the record until the next
 * call, and merge_peek() must not be asked.
 */
const struct lane *merge_step(struct merge *m);

/* The next record in time, or NULL at the end. It stays valid until the next call. */
const struct spur_record *merge_next(struct merge *m);

/* Which buffer the record returned last comes from. */
static inline const struct trace_buffer *merge_buffer(const struct merge *m)
{
	return m->current->buffer;
}

/*
 * The record that follows in the same buffer, without moving on to it; and taking it, so that
 * merge_next() passes over it. The record returned by merge_next() stays valid.
 */
const struct spur_record *merge_peek(struct merge *m);
void merge_take(struct merge *m);

/* Lets a printer look ahead in the merge by these two. */
void merge_feed(struct merge *m, struct event_printer *p);

#endif
