// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The number of a bucket is the upper bits of a double (sign, eleven bits of exponent, seven of
 * mantissa), changed so that they sort like the values.
 *
 * This is not a struct dist (stats/dist.h): a query's values are any numbers, also negative and
 * real ones, and one query keeps a million of them exactly, where an analysis has thousands of
 * distributions of durations at a time, merges and compares them.
 */
#include "query/quantiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_SHIFT (52 - 7)
#define NR_BUCKETS   (1u << (64 - BUCKET_SHIFT))
#define SIGN	     (1ull << 63)
#define ROUNDING     1e-14 /* of a product with a fraction that a double cannot hold: 55 % */

static uint32_t bucket_of(double value)
{
	uint64_t bits;

	if (value == 0)
		value = 0; /* -0.0 equals 0.0 */
	memcpy(&bits, &value, sizeof(bits));
	bits = bits & SIGN ? ~bits : bits | SIGN;
	return (uint32_t)(bits >> BUCKET_SHIFT);
}

/* The middle of a bucket. */
static double bucket_value(uint32_t bucket)
{
	uint64_t bits = (uint64_t)bucket << BUCKET_SHIFT;
	double value;

	/* Zero has a bucket of its own; no other measured value is that small. */
	if (bucket == bucket_of(0))
		return 0;
	bits |= 1ull << (BUCKET_SHIFT - 1);
	bits = bits & SIGN ? bits & ~SIGN : ~bits;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static double as_double(const struct quantiles *q, size_t i)
{
	return q->real ? q->values[i].d : (double)q->values[i].i;
}

static void drop_values(struct quantiles *q, size_t *used)
{
	*used -= q->cap * sizeof(*q->values);
	free(q->values);
	q->values = NULL;
	q->n = q->cap = 0;
}

static bool use_buckets(struct quantiles *q, size_t *used)
{
	q->buckets = calloc(NR_BUCKETS, sizeof(*q->buckets));
	if (!q->buckets)
		return false;
	for (size_t i = 0; i < q->n; i++)
		q->buckets[bucket_of(as_double(q, i))]++;
	drop_values(q, used);
	return true;
}

/* Allocates space for one more value, or changes to buckets; false without memory. */
static bool make_room(struct quantiles *q, size_t *used)
{
	const size_t cap = q->cap ? q->cap * 2 : 64;
	const size_t more = (cap - q->cap) * sizeof(*q->values);
	union quantile_number *values;

	if (q->n < q->cap)
		return true;
	if (cap > QUANTILES_EXACT || *used + more > QUANTILES_MEMORY)
		return use_buckets(q, used);
	values = realloc(q->values, cap * sizeof(*values));
	if (!values)
		return false;
	q->values = values;
	q->cap = cap;
	*used += more;
	return true;
}

bool quantiles_add(struct quantiles *q, int64_t value, size_t *used)
{
	if (q->real)
		return quantiles_add_real(q, (double)value, used);
	if (!q->buckets && !make_room(q, used))
		return false;
	if (q->buckets)
		q->buckets[bucket_of((double)value)]++;
	else
		q->values[q->n++].i = value;
	q->total++;
	return true;
}

bool quantiles_add_real(struct quantiles *q, double value, size_t *used)
{
	for (size_t i = 0; !q->real && i < q->n; i++)
		q->values[i].d = (double)q->values[i].i;
	q->real = true;
	if (!q->buckets && !make_room(q, used))
		return false;
	if (q->buckets)
		q->buckets[bucket_of(value)]++;
	else
		q->values[q->n++].d = value;
	q->total++;
	return true;
}

static int by_integer(const void *a, const void *b)
{
	const union quantile_number *x = a, *y = b;

	return x->i < y->i ? -1 : x->i > y->i;
}

static int by_real(const void *a, const void *b)
{
	const union quantile_number *x = a, *y = b;

	return x->d < y->d ? -1 : x->d > y->d;
}

bool quantiles_get(struct quantiles *q, double p, int64_t *value, double *as_real, bool *real)
{
	double rank = ceil(p / 100 * (double)q->total * (1 - ROUNDING));
	uint64_t at, before = 0;
	uint32_t bucket = 0;

	if (!q->total)
		return false;
	*real = q->real;
	at = rank < 1 ? 0 : rank > (double)q->total ? q->total - 1 : (uint64_t)rank - 1;
	if (!q->buckets) {
		qsort(q->values, q->n, sizeof(*q->values), q->real ? by_real : by_integer);
		if (q->real)
			*as_real = q->values[at].d;
		else
			*value = q->values[at].i;
		return true;
	}
	while (bucket < NR_BUCKETS - 1 && before + q->buckets[bucket] <= at)
		before += q->buckets[bucket++];
	*as_real = bucket_value(bucket);
	*value = fabs(*as_real) < 9e18 ? llround(*as_real) : *as_real < 0 ? INT64_MIN : INT64_MAX;
	return true;
}

void quantiles_free(struct quantiles *q, size_t *used)
{
	drop_values(q, used);
	free(q->buckets);
	q->buckets = NULL;
	q->total = 0;
}
