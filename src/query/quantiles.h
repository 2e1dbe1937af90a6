/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Percentiles of any number of values in bounded memory.
 *
 * Up to QUANTILES_EXACT values are stored, and a percentile is one of them: the smallest that is
 * not less than so many percent of them (nearest rank). With more values, they are counted in
 * buckets whose width is 1/128 of a value; then a percentile's error is at most 0.4 percent.
 *
 * Private to src/query.
 */
#ifndef QUERY_QUANTILES_H
#define QUERY_QUANTILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTILES_EXACT	 (1u << 20)
#define QUANTILES_MEMORY (32u << 20) /* bytes of exact values, for all that share a count of them */

struct quantiles {
	union quantile_number {
		int64_t i;
		double d;
	} * values;
	size_t n, cap;
	uint64_t *buckets; /* NULL: all values are stored */
	uint64_t total;
	bool real; /* the values are real numbers */
};

/* `used` counts the bytes of exact values. False without memory. */
bool quantiles_add(struct quantiles *q, int64_t value, size_t *used);
bool quantiles_add_real(struct quantiles *q, double value, size_t *used);

/* p in percent. False if there are no values. *real says which of the two results is set. */
bool quantiles_get(struct quantiles *q, double p, int64_t *value, double *as_real, bool *real);
void quantiles_free(struct quantiles *q, size_t *used);

#endif
