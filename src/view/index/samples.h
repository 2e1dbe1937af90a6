/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/view/index. The first picture: some pages of each CPU are sampled before
 * everything is read. Until the index is complete, samples fill the tiles of CPUs after the last
 * time of the index.
 */
#ifndef VIEW_INDEX_SAMPLES_H
#define VIEW_INDEX_SAMPLES_H

#include "view/index/internal.h"

/* What a page says about the time from it to the next sampled one. */
struct sample {
	uint64_t ts;
	uint64_t records; /* that there may be until the next one */
	uint32_t task;	  /* row of who runs most */
	uint32_t mask;	  /* classes of events */
	double busy;	  /* how much of the time any task runs */
};

/* Of a CPU; does not change any more once it can be seen. */
struct samples {
	struct sample *at; /* by increasing time; the last one is the end */
	size_t n, cap;
};

/* Looks at all CPUs. */
void samples_take(struct view_index *x);
void samples_free(struct samples *s);

/* Adds bins from a time on, or to the last one, to those of a tile. */
int samples_fill(const struct samples *s, enum view_track_kind kind, uint64_t from, uint32_t level,
		 uint64_t tile, struct view_tile *out);

#endif
