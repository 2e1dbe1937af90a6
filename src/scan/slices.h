/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cutting a trace into slices of time, one at a time, whenever a thread needs work.
 *
 * A slice says where each lane starts reading (the page that holds the slice's first record, or one
 * before it) and at which time the slice ends. Cuts are made at page boundaries of the lane with
 * the most data left, so that slices hold about the same amount.
 */
#ifndef SCAN_SLICES_H
#define SCAN_SLICES_H

#include <pthread.h>

#include "scan/scan.h"

#define SLICE_BYTES (1536u << 10) /* of ring buffer data in a slice, usually */

struct slice {
	uint64_t number;
	uint64_t begin;	 /* records before this time belong to the slice before (0 in the first) */
	uint64_t end;	 /* records at or after this time belong to the next one */
	bool last;	 /* there is no next one; `end` has no meaning */
	uint64_t *pages; /* per lane: where to start */
};

struct slicer {
	pthread_mutex_t lock; /* guards all that follows */
	struct scan scouts;   /* lanes that only look at page headers */
	uint64_t *pages;      /* where the next slice starts, per lane */
	uint64_t *steps;      /* how many pages the last slice took of each lane */
	bool *spent;	      /* per lane: it has no page left to cut at */
	uint64_t begin;
	uint64_t until; /* later records are not needed, so they are not cut into slices */
	uint64_t number;
	uint64_t pages_per_slice;
	bool done;
};

/* `add` adds the same lanes to a scan as the slices' readers will use. */
int slicer_init(struct slicer *s, int (*add)(const void *arg, struct scan *m), const void *arg,
		uint64_t since, uint64_t until, size_t slice_bytes);
void slicer_free(struct slicer *s);

/* Prepares a slice for as many lanes; slice_free() undoes it. */
int slice_init(struct slice *sl, const struct slicer *s);
void slice_free(struct slice *sl);

/* The next slice; false when all of the trace has been handed out. Thread-safe. */
bool slicer_next(struct slicer *s, struct slice *sl);

/* Makes no more slices: the reader of the last one reads to the end. */
void slicer_stop(struct slicer *s);

/*
 * Moves a lane to its first record in the slice, after calling before() with the last record before
 * it, unless that is NULL. If times run backwards, both may be far from the guessed page: then the
 * search stops early and the result is false.
 */
bool slice_enter(const struct slice *sl, struct lane *l,
		 void (*before)(void *arg, const struct lane *l), void *arg);

/* A lane's position, to check that a slice begins where the previous one ended. */
struct lane_pos slice_place(const struct lane *l);

static inline bool slice_same_place(struct lane_pos a, struct lane_pos b)
{
	return a.page == b.page && a.pos == b.pos && a.lost == b.lost;
}

#endif
