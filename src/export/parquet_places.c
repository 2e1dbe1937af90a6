// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Places in a dictionary that a compressor likes.
 *
 * A number of a large dictionary takes two bytes in a page. Behind each other they are two kinds of
 * bytes for a compressor that has one code for all of them: the lower ones may be anything, the
 * higher ones are small, and what tells the two apart is paid for with every byte. So the values
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
#include <stdlib.h>
#include <string.h>

#include "export/parquet_parts.h"

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
	return pq_sort_keys(keys, r->keys[keys == r->keys[0]], n, most);
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
