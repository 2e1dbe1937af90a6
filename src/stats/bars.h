/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms for a terminal, in the form that bpftrace has made familiar:
 *
 *	[1K, 2K)              12 |@@@@@@@@@@@@                                        |
 *
 * A histogram is a list of ranges with counts, from the first to the last that is not empty.
 */
#ifndef STATS_BARS_H
#define STATS_BARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/dist.h"
#include "base/buf.h"

struct bar {
	int64_t from, to; /* to is the first value after the range */
	uint64_t count;
	bool endless; /* there is no `to` */
};

struct bars {
	struct bar *at;
	size_t n, cap;
	int64_t step; /* of linear ones */
};

void bars_free(struct bars *b);

/*
 * Counts a value in linear ranges of width `step`. Ranges beyond the 1000th are one. False without
 * memory.
 */
bool bars_add(struct bars *b, int64_t step, int64_t value);

/* Fills in the histogram of a distribution by powers of two. False without memory. */
bool bars_log2(struct bars *b, struct dist *d);

/* Counts a value `count` times, by powers of two. */
bool bars_add_log2(struct bars *b, int64_t value, uint64_t count);

/* How the ends of ranges are written. */
enum bars_labels {
	BARS_POWERS,  /* "[1K, 2K)" */
	BARS_NUMBERS, /* "[100, 200)" */
	BARS_TIMES,   /* nanoseconds: "[100us, 200us)" */
};
void bars_print(const struct bars *b, enum bars_labels labels, const char *indent, struct buf *to);

/* "[{"from": 1, "to": 2, "count": 3}, …]" */
void bars_json(const struct bars *b, struct buf *to);

#endif
