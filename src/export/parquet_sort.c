// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sorting rows by time. They come when they are complete: most in order, the others late. Only
 * these are sorted, by their distance from the first one, and then put in between. Keys are sorted
 * by their digits, the lowest first.
 */
#include <stdlib.h>
#include <string.h>

#include "export/parquet_parts.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

/* Stable, from one array to the other. */
static void sort_digit(const struct pq_key *from, struct pq_key *to, uint32_t n, uint32_t shift)
{
	uint32_t start[DIGITS] = {0}, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		start[from[i].key >> shift & (DIGITS - 1)]++;
	for (uint32_t d = 0; d < DIGITS; d++) {
		const uint32_t count = start[d];

		start[d] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++)
		to[start[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

struct pq_key *pq_sort_keys(struct pq_key *keys, struct pq_key *room, uint32_t n, uint64_t most)
{
	for (uint32_t shift = 0; n && shift < 64 && most >> shift; shift += DIGIT_BITS) {
		struct pq_key *was = keys;

		sort_digit(keys, room, n, shift);
		keys = room;
		room = was;
	}
	return keys;
}

static bool make_room(struct pq_work *w, uint32_t rows, uint32_t late)
{
	if (w->order_cap < rows) {
		free(w->order);
		w->order = calloc(rows, sizeof(*w->order));
		w->order_cap = w->order ? rows : 0;
	}
	if (w->keys_cap < 2 * late) {
		free(w->keys);
		w->keys = calloc(2 * (size_t)late, sizeof(*w->keys));
		w->keys_cap = w->keys ? 2 * late : 0;
	}
	return w->order_cap >= rows && w->keys_cap >= 2 * late;
}

/* How many come late; and the earliest time of all, the latest of those. */
static uint32_t count_late(const uint64_t *ts, uint32_t n, int64_t *least, int64_t *most)
{
	int64_t last = INT64_MIN;
	uint32_t late = 0;

	*least = INT64_MAX;
	*most = INT64_MIN;
	for (uint32_t i = 0; i < n; i++) {
		const int64_t at = (int64_t)ts[i];

		if (at >= last) {
			last = at;
			*least = at < *least ? at : *least;
			continue;
		}
		*least = at < *least ? at : *least;
		*most = at > *most ? at : *most;
		late++;
	}
	return late;
}

/*
 * Those in order stand at the end of w->order, behind the places of the late ones; merging never
 * overtakes them.
 */
static uint32_t part(struct pq_work *w, const uint64_t *ts, uint32_t n, uint32_t late,
		     uint64_t least)
{
	int64_t last = INT64_MIN;
	uint32_t next = late, k = 0;

	for (uint32_t i = 0; i < n; i++) {
		if ((int64_t)ts[i] >= last) {
			last = (int64_t)ts[i];
			w->order[next++] = i;
		} else {
			w->keys[k++] = (struct pq_key){ts[i] - least, i};
		}
	}
	return k;
}

bool pq_sort(struct pq_work *w, const uint64_t *ts, uint32_t n)
{
	int64_t least, most;
	const uint32_t late = count_late(ts, n, &least, &most);
	const struct pq_key *keys;
	uint32_t to = 0, next = late;

	if (!make_room(w, n, late))
		return false;
	part(w, ts, n, late, (uint64_t)least);
	keys = pq_sort_keys(w->keys, w->keys + late, late,
			    late ? (uint64_t)most - (uint64_t)least : 0);
	for (uint32_t k = 0; k < late; k++) {
		while (next < n) {
			const uint64_t distance = ts[w->order[next]] - (uint64_t)least;

			if (distance > keys[k].key ||
			    (distance == keys[k].key && w->order[next] > keys[k].id))
				break;
			w->order[to++] = w->order[next++];
		}
		w->order[to++] = keys[k].id;
	}
	/* The rest is where it belongs. */
	return true;
}
