/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export: dictionaries of columns: every text or number once, numbered in the order
 * of appearance.
 *
 * Texts are kept as a dictionary page has them: their length as four bytes, and their bytes, which
 * are UTF-8. Keys come from files of strangers, hence the seed.
 */
#ifndef EXPORT_PARQUET_DICTIONARY_H
#define EXPORT_PARQUET_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"

#define PQ_NO_ID UINT32_MAX

/* Where the keys are: open addressing, never more than half full. 0: free, else a number plus 1. */
struct pq_slots {
	uint32_t *at;
	uint32_t cap; /* a power of two, or 0 */
};

struct pq_texts {
	struct buf bytes;
	uint32_t *at; /* where texts begin in the bytes; at[n] is the end */
	uint32_t n, cap;
	struct pq_slots slots;
	struct hash_seed seed;
};

void pq_texts_init(struct pq_texts *d, const struct hash_seed *seed);
void pq_texts_free(struct pq_texts *d);

/* Forgets all texts; keeps the memory. */
void pq_texts_reset(struct pq_texts *d);

size_t pq_texts_memory(const struct pq_texts *d);

/* The number of a text, bytes that are no UTF-8 being made so; PQ_NO_ID without memory. */
uint32_t pq_texts_id(struct pq_texts *d, const char *text, size_t len);

/* The same of bytes that are kept as they are. */
uint32_t pq_texts_raw(struct pq_texts *d, const void *bytes, size_t len);

static inline const char *pq_text(const struct pq_texts *d, uint32_t id, size_t *len)
{
	*len = d->at[id + 1] - d->at[id] - sizeof(uint32_t);
	return d->bytes.data + d->at[id] + sizeof(uint32_t);
}

#define PQ_NEAR 65536

struct pq_numbers {
	uint64_t *at;
	uint32_t n, cap;
	struct pq_slots slots;
	/*
	 * Of numbers below PQ_NEAR in a dictionary that has become large: their number plus 1, 0:
	 * there is none. NULL: it is small.
	 */
	uint16_t *near;
	struct hash_seed seed;
};

void pq_numbers_free(struct pq_numbers *d);
void pq_numbers_reset(struct pq_numbers *d);

/* The number of a value; PQ_NO_ID without memory. */
uint32_t pq_number_id(struct pq_numbers *d, uint64_t v);

/* The same plus 1 if it can be told at once; else 0. */
static inline uint32_t pq_number_near(const struct pq_numbers *d, uint64_t v)
{
	return v < PQ_NEAR ? d->near[v] : 0;
}

#endif
