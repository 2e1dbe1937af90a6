/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How an amount is spread over the time of a trace: sums of stretches of equal length, of which
 * there are always DIFF_STRETCHES at most. When the time goes beyond them, two become one.
 */
#ifndef STATS_DIFF_SERIES_H
#define STATS_DIFF_SERIES_H

#include <stdint.h>

#define DIFF_STRETCHES 64

struct diff_series {
	uint64_t width; /* of a stretch, ns; 0: nothing has been added */
	double at[DIFF_STRETCHES];
};

/* Adds an amount at a time since the start; an amount of one per nanosecond from one to another. */
void diff_series_add(struct diff_series *s, uint64_t time, double amount);
void diff_series_spread(struct diff_series *s, uint64_t from, uint64_t to);

/*
 * The standard error of the amount per nanosecond, from how the stretches of a trace of that length
 * differ; 0 when it has too few of them.
 */
double diff_series_error(struct diff_series *s, uint64_t duration);

#endif
