// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Buckets: values below 2^PRECISION have one each; above, every power of two has 2^PRECISION of
 * them. Negative values, which durations of broken clocks may have, count as 0 among the buckets.
 */
#include "stats/dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

#define PRECISION  7
#define PER_POWER  (1u << PRECISION)
#define NR_BUCKETS ((64 - PRECISION) * PER_POWER + PER_POWER)
#define ROUNDING   1e-14 /* of a product with a fraction that a double cannot hold: 55 % */

void dist_free(struct dist *d)
{
	free(d->values);
	free(d->buckets);
	*d = (struct dist){0};
}

static size_t bucket_of(int64_t value)
{
	const uint64_t v = value < 0 ? 0 : (uint64_t)value;
	unsigned int power;

	if (v < PER_POWER)
		return v;
	power = 63 - (unsigned int)__builtin_clzll(v) - PRECISION;
	return (size_t)power * PER_POWER + (v >> power);
}

/* The largest value that falls into a bucket. */
static int64_t bucket_end(size_t bucket)
{
	const size_t power = bucket < 2 * PER_POWER ? 0 : bucket / PER_POWER - 1;
	const uint64_t top = bucket - power * PER_POWER;

	return (int64_t)(((top + 1) << power) - 1);
}

/* Changes from stored values to buckets. */
static void use_buckets(struct dist *d)
{
	uint64_t *buckets = calloc(NR_BUCKETS, sizeof(*buckets));

	if (!buckets) {
		d->failed = true;
		return;
	}
	for (size_t i = 0; i < d->n && d->values; i++)
		buckets[bucket_of(d->values[i])]++;
	free(d->values);
	d->values = NULL;
	d->buckets = buckets;
}

static bool make_room(struct dist *d)
{
	const size_t cap = d->cap ? d->cap * 2 : 16;
	int64_t *values = reallocarray(d->values, cap, sizeof(*values));

	if (!values)
		return false;
	d->values = values;
	d->cap = cap;
	return true;
}

static void store_value(struct dist *d, int64_t value)
{
	if (!d->buckets && d->n == DIST_EXACT && !d->failed)
		use_buckets(d);
	if (d->buckets) {
		d->buckets[bucket_of(value)]++;
		return;
	}
	/* After a value was lost, quantiles are not available. */
	d->failed = d->failed || (d->n == d->cap && !make_room(d));
	if (d->failed)
		return;
	d->values[d->n] = value;
	d->sorted = false;
}

void dist_add(struct dist *d, int64_t value)
{
	const double delta = (double)value - d->mean;

	store_value(d, value);
	if (!d->n || value < d->min)
		d->min = value;
	if (!d->n || value > d->max)
		d->max = value;
	d->n++;
	d->sum += (double)value;
	d->mean += delta / (double)d->n;
	d->m2 += delta * ((double)value - d->mean);
}

/* The moments of two samples together. */
static void merge_moments(struct dist *d, const struct dist *from)
{
	const double n = (double)d->n, m = (double)from->n, delta = from->mean - d->mean;

	d->m2 += from->m2 + delta * delta * n * m / (n + m);
	d->mean += delta * m / (n + m);
	d->sum += from->sum;
	d->min = !d->n || from->min < d->min ? from->min : d->min;
	d->max = !d->n || from->max > d->max ? from->max : d->max;
	d->n += from->n;
}

void dist_merge(struct dist *d, const struct dist *from)
{
	if (!from->n)
		return;
	if (from->values && !from->failed) {
		for (size_t i = 0; i < from->n; i++)
			dist_add(d, from->values[i]);
		return;
	}
	d->failed |= from->failed;
	if (!d->buckets && !d->failed)
		use_buckets(d);
	for (size_t i = 0; !d->failed && i < NR_BUCKETS; i++)
		d->buckets[i] += from->buckets[i];
	merge_moments(d, from);
}

void dist_add_many(struct dist *d, int64_t value, uint64_t n)
{
	struct dist many = {.n = n, .min = value, .max = value, .mean = (double)value};

	if (!n)
		return;
	if (!d->buckets && d->n + n <= DIST_EXACT) {
		for (uint64_t i = 0; i < n; i++)
			dist_add(d, value);
		return;
	}
	many.sum = (double)value * (double)n;
	if (!d->buckets && !d->failed)
		use_buckets(d);
	if (d->buckets)
		d->buckets[bucket_of(value)] += n;
	merge_moments(d, &many);
}

double dist_stddev(const struct dist *d)
{
	return d->n > 1 ? sqrt(d->m2 / (double)(d->n - 1)) : 0;
}

/* ---- order ---- */

static void sort(struct dist *d)
{
	if (!d->sorted && d->values)
		qsort(d->values, d->n, sizeof(*d->values), order_i64);
	d->sorted = true;
}

/* The value of a bucket is its end, but at most the largest value. */
static int64_t shown(const struct dist *d, size_t bucket)
{
	const int64_t end = bucket_end(bucket);

	return end > d->max ? d->max : end < d->min ? d->min : end;
}

/* The value at a place among all in order, counted from 1. */
static int64_t at_rank(struct dist *d, uint64_t rank)
{
	uint64_t seen = 0;

	if (!d->n || d->failed)
		return 0;
	rank = rank < 1 ? 1 : rank > d->n ? d->n : rank;
	if (!d->buckets) {
		sort(d);
		return d->values[rank - 1];
	}
	for (size_t i = 0; i < NR_BUCKETS; i++) {
		seen += d->buckets[i];
		if (seen >= rank)
			return shown(d, i);
	}
	return d->max;
}

int64_t dist_quantile(struct dist *d, double q)
{
	return at_rank(d, (uint64_t)ceil(q * (double)d->n * (1 - ROUNDING)));
}

void dist_quantile_range(struct dist *d, double q, int64_t *low, int64_t *high)
{
	const double n = (double)d->n, middle = q * n, spread = 1.96 * sqrt(n * q * (1 - q));
	const double from = floor(middle - spread), to = ceil(middle + spread) + 1;

	*low = at_rank(d, from < 1 ? 1 : (uint64_t)from);
	*high = at_rank(d, to < 1 ? 1 : (uint64_t)to);
}

uint64_t dist_at_most(struct dist *d, int64_t value)
{
	uint64_t seen = 0;
	size_t above;

	if (!d->n || d->failed || value < d->min)
		return 0;
	if (value >= d->max)
		return d->n;
	if (d->buckets) {
		for (size_t i = 0, end = bucket_of(value); i <= end; i++)
			seen += d->buckets[i];
		return seen;
	}
	sort(d);
	binary_search(above, 0, d->n, d->values[above] <= value);
	return above;
}

/* ---- comparing two ---- */

/* The asymptotic probability that the distance of two equal distributions is at least this. */
static double ks_probability(double distance, double n, double m)
{
	const double size = sqrt(n * m / (n + m)), x = (size + 0.12 + 0.11 / size) * distance;
	double sum = 0, sign = 2;

	if (x < 0.2)
		return 1;
	for (int k = 1; k <= 100; k++) {
		const double term = sign * exp(-2 * x * x * k * k);

		sum += term;
		if (fabs(term) < 1e-12)
			break;
		sign = -sign;
	}
	return sum < 0 ? 0 : sum > 1 ? 1 : sum;
}

static void look_at(struct dist *a, struct dist *b, int64_t value, struct dist_ks *ks)
{
	const double x = (double)dist_at_most(a, value) / (double)a->n,
		     y = (double)dist_at_most(b, value) / (double)b->n;

	if (fabs(x - y) > ks->distance) {
		ks->distance = fabs(x - y);
		ks->at = value;
	}
}

/* Compares the distributions at the steps of one of them; a bucket's step is at its end. */
static void look_at_steps(struct dist *of, struct dist *a, struct dist *b, struct dist_ks *ks)
{
	sort(of);
	for (size_t i = 0; !of->buckets && i < of->n; i++)
		look_at(a, b, of->values[i], ks);
	for (size_t i = 0; of->buckets && i < NR_BUCKETS; i++)
		if (of->buckets[i])
			look_at(a, b, bucket_end(i), ks);
}

/* A copy with buckets; the original stays exact. */
static struct dist in_buckets(const struct dist *d)
{
	struct dist counted = {.n = d->n,
			       .min = d->min,
			       .max = d->max,
			       .buckets = calloc(NR_BUCKETS, sizeof(*counted.buckets))};

	counted.failed = !counted.buckets;
	for (size_t i = 0; counted.buckets && i < d->n; i++)
		counted.buckets[bucket_of(d->values[i])]++;
	return counted;
}

struct dist_ks dist_compare(struct dist *a, struct dist *b)
{
	struct dist_ks ks = {.probability = 1};
	struct dist counted = {0};

	if (!a->n || !b->n || a->failed || b->failed)
		return ks;
	/* Both must have the same resolution. */
	if (!a->buckets != !b->buckets) {
		counted = in_buckets(a->buckets ? b : a);
		if (counted.failed)
			return ks;
		*(a->buckets ? &b : &a) = &counted;
	}
	look_at_steps(a, a, b, &ks);
	look_at_steps(b, a, b, &ks);
	ks.probability = ks_probability(ks.distance, (double)a->n, (double)b->n);
	dist_free(&counted);
	return ks;
}
