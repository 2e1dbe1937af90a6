/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an index must say, found in the simplest way: all rows of the tables and all records in
 * memory, and every question answered by looking at all of them.
 */
#ifndef TESTS_VIEW_BRUTE_H
#define TESTS_VIEW_BRUTE_H

#include "scan/trace.h"
#include "view/index/index.h"

struct brute_track {
	enum view_row_kind row;
	uint32_t buffer;
	int64_t number;
	struct view_track about;
	struct {
		struct view_interval *at; /* by increasing start; of events, the mask in flags */
		size_t n, cap;
	} list;
	size_t in_order; /* the next one, while they are put in order */
};

struct brute {
	struct spur_trace *trace;
	struct view_index *index; /* finished; for numbers of rows and names */
	uint64_t origin, last;
	struct {
		struct brute_track **at;
		size_t n, cap;
	} tracks;
	struct {
		uint64_t *at; /* times of all records, merged */
		size_t n, cap;
	} records;
	uint64_t *counts; /* by event; behind the last one, those not described */
};

void brute_make(struct brute *b, struct spur_trace *t, struct view_index *x);
void brute_free(struct brute *b);

/* NULL: there is none. */
const struct brute_track *brute_find(const struct brute *b, const struct view_row *row,
				     const struct view_track *track);

/* All bins of a tile, also those that are empty. */
void brute_bins(const struct brute_track *t, uint32_t level, uint64_t tile,
		struct view_bin out[VIEW_TILE_BINS]);

#endif
