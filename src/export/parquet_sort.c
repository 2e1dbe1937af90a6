// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorting rows by time: by the digits of their distance from the first one, the lowest first. */
#include <stdlib.h>
#include <string.h>

#include "export/parquet_parts.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

struct pq_key {
	uint64_t distance;
	uint32_t row;
};

/* Stable, from one array to the other. */
static void sort_digit(const struct pq_key *from, struct pq_key *to, uint32_t n, uint32_t shift)
{
	uint32_t start[DIGITS] = {0}, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		start[from[i].distance >> shift & (DIGITS - 1)]++;
	for (uint32_t d = 0; d < DIGITS; d++) {
		const uint32_t count = start[d];

		start[d] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[start[from[i].distance >> shift & (DIGITS - 1)]++] = from[i];
}

bool pq_sort(struct pq_work *w, const uint64_t *ts, uint32_t n)
{
	struct pq_key *from, *to;
	int64_t least = INT64_MAX, most = INT64_MIN;
	uint64_t range;

	if (!w->keys)
		w->keys = calloc(2 * PQ_SORTED_ROWS, sizeof(*w->keys));
	if (!w->keys)
		return false;
	from = w->keys;
	to = w->keys + PQ_SORTED_ROWS;
	for (uint32_t i = 0; i < n; i++) {
		least = (int64_t)ts[i] < least ? (int64_t)ts[i] : least;
		most = (int64_t)ts[i] > most ? (int64_t)ts[i] : most;
	}
	for (uint32_t i = 0; i < n; i++)
		from[i] = (struct pq_key){ts[i] - (uint64_t)least, i};
	range = (uint64_t)most - (uint64_t)least;
	for (uint32_t shift = 0; n && shift < 64 && range >> shift; shift += DIGIT_BITS) {
		struct pq_key *was = from;

		sort_digit(from, to, n, shift);
		from = to;
		to = was;
	}
	for (uint32_t i = 0; i < n; i++)
		w->order[i] = from[i].row;
	return true;
}
