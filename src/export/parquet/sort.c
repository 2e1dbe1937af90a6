// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sorting by keys: rows by their times, and the entries of a dictionary by how often they come.
 */
#include "export/parquet/table.h"

#include <stdlib.h>
#include <string.h>

struct pq_key {
	uint64_t key;
	uint32_t id;
};

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

/*
 * Sorts by key, of which `most` is the largest, stable. There is as much room elsewhere: returns
 * which of the two has them then.
 */
static struct pq_key *sort_keys(struct pq_key *keys, struct pq_key *room, uint32_t n, uint64_t most)
{
	for (uint32_t shift = 0; n && shift < 64 && most >> shift; shift += DIGIT_BITS) {
		struct pq_key *was = keys;

		sort_digit(keys, room, n, shift);
		keys = room;
		room = was;
	}
	return keys;
}

/* ---- rows by time --------------------------------------------------------------------- */

/*
 * Rows come when they are complete: most in order, the others late. Only
 * these are sorted, by their distance from the first one, and then put in between. Keys are sorted
 * by their digits, the lowest first.
 */

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
 * The rows in order are at the end of w->order, after the places of the late ones, so that merging
 * never overwrites a row that is still needed.
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
	keys = sort_keys(w->keys, w->keys + late, late,
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
	/* The rest is in its place already. */
	return true;
}

/* ---- places in a dictionary ----------------------------------------------------------- */

/*
 * Places in a dictionary that a compressor likes.
 *
 * A number of a large dictionary takes two bytes in a page. A compressor with one code for all
 * bytes gets two kinds of them in turn: the lower ones may have any value, the higher ones are
 * small, and every byte costs some bits for telling the two apart. So the values
 * are put where both bytes look alike: by falling frequency along the diagonals of a square whose
 * sides are the two bytes.
 *
 *	places of the most frequent values:	0x0000, 0x0001, 0x0100, 0x0002, 0x0101, 0x0200, …
 *
 * Durations take a fifth less that way than in the order of their appearance, and a tenth less than
 * in that of their frequency. The places that stay empty cost next to nothing. Values of about the
 * same frequency may change places: they lie in their own order, so that the dictionary itself
 * compresses.
 */

#define SIDE  256
#define MOST  (SIDE * (SIDE - 1) / 2) /* entries: those of all diagonals that are whole */
#define EXACT 64		      /* the least */

struct pq_ranks {
	uint32_t counts[MOST + 1];
	struct pq_key keys[2][MOST]; /* and room to sort them */
	uint16_t ids[MOST];	     /* of the dictionary's numbers, by falling frequency */
};

/* Frequencies that are told apart: all but small ones, of which there are many values. */
static uint32_t class_of(uint32_t count)
{
	return count < EXACT ? 31 - (uint32_t)__builtin_clz(count | 1) : count;
}

static struct pq_key *sort(struct pq_ranks *r, struct pq_key *keys, uint32_t n, uint64_t most)
{
	return sort_keys(keys, r->keys[keys == r->keys[0]], n, most);
}

static void count(struct pq_ranks *r, const struct pq_column *c, uint32_t nr)
{
	const uint16_t *cells = c->cells;

	memset(r->counts, 0, (c->dict.n + 1) * sizeof(*r->counts));
	for (uint32_t i = 0; i < nr; i++)
		r->counts[cells[i]]++;
}

/* By falling frequency, and by value. The keys say afterwards which are of one class. */
static struct pq_key *rank(struct pq_ranks *r, const struct pq_column *c, uint32_t nr)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct pq_key *keys = r->keys[0];

	count(r, c, nr);
	for (uint32_t i = 0; i < c->dict.n; i++) {
		least = c->dict.at[i] < least ? c->dict.at[i] : least;
		most = c->dict.at[i] > most ? c->dict.at[i] : most;
	}
	for (uint32_t i = 0; i < c->dict.n; i++)
		keys[i] = (struct pq_key){c->dict.at[i] - least, i};
	keys = sort(r, keys, c->dict.n, most - least);
	for (uint32_t i = 0; i < c->dict.n; i++)
		keys[i].key = nr - class_of(r->counts[keys[i].id + 1]);
	return sort(r, keys, c->dict.n, nr);
}

/* The first n places along the diagonals, those of a class in their order. */
static uint32_t put_in_places(struct pq_ranks *r, struct pq_key *keys, uint32_t n, uint16_t *places)
{
	uint32_t k = 0, length = 0;
	uint64_t class = keys[0].key, nr_classes = 0;

	for (uint32_t diagonal = 0; k < n; diagonal++) {
		for (uint32_t high = 0; high <= diagonal && k < n; high++, k++) {
			const uint32_t place = high * SIDE + diagonal - high;

			nr_classes += keys[k].key != class;
			class = keys[k].key;
			r->ids[k] = (uint16_t)keys[k].id;
			keys[k].key = nr_classes << 16 | place;
			length = place >= length ? place + 1 : length;
		}
	}
	keys = sort(r, keys, n, nr_classes << 16 | UINT16_MAX);
	for (uint32_t i = 0; i < n; i++)
		places[r->ids[i]] = (uint16_t)keys[i].key;
	return length;
}

uint32_t pq_choose_places(struct pq_work *w, const struct pq_column *c, uint32_t nr)
{
	const uint32_t n = c->dict.n;

	/* Of one that is larger the diagonals would leave the square. */
	if (c->width != sizeof(uint16_t) || n <= SIDE || n > MOST)
		return 0;
	if (!w->ranks)
		w->ranks = malloc(sizeof(*w->ranks));
	if (!w->places)
		w->places = calloc(MOST, sizeof(*w->places));
	if (!w->ranks || !w->places)
		return 0;
	return put_in_places(w->ranks, rank(w->ranks, c, nr), n, w->places);
}
