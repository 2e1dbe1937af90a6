/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A distribution of values (durations, sizes): count, sum, extremes, quantiles, histograms.
 *
 * Up to DIST_EXACT values are stored, and all results are exact. More values are counted in buckets
 * whose width is 1/128 of their value: then the error of quantiles is below 0.8 %, and memory below
 * 130 kB. Count, sum and extremes are always exact.
 */
#ifndef STATS_DIST_H
#define STATS_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIST_EXACT 8192

struct dist {
	uint64_t n;
	int64_t min, max; /* only valid if n is not 0 */
	double sum;
	double mean, m2; /* for the variance, by Welford */
	int64_t *values; /* the first ones; NULL once there are buckets */
	size_t cap;
	bool sorted;
	uint64_t *buckets; /* by bucket number, when there are many */
	bool failed;	   /* no memory: there are no quantiles */
};

/* All zero is an empty one. */
void dist_free(struct dist *d);
void dist_add(struct dist *d, int64_t value);
/* The same value n times. */
void dist_add_many(struct dist *d, int64_t value, uint64_t n);
/* Adds all values of another. */
void dist_merge(struct dist *d, const struct dist *from);

double dist_stddev(const struct dist *d);

/*
 * The smallest value that is not less than the fraction q (0…1) of all values; 0 if there are none.
 */
int64_t dist_quantile(struct dist *d, double q);

/* The number of values that are not greater. */
uint64_t dist_at_most(struct dist *d, int64_t value);

/*
 * The largest distance between the cumulative distributions of two (Kolmogorov–Smirnov), where it
 * is, and the probability that two samples of the same distribution differ as much.
 */
struct dist_ks {
	double distance, probability;
	int64_t at;
};
struct dist_ks dist_compare(struct dist *a, struct dist *b);

/*
 * An interval that holds the true quantile with 95 % confidence, from the ranks around it (binomial
 * distribution): no assumption about the shape.
 */
void dist_quantile_range(struct dist *d, double q, int64_t *low, int64_t *high);

#endif
