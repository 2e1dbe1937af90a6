// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/seq.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(SEQ_MOST <= UINT16_MAX, "the length of a block has 16 bits");

/* Behind `len` bytes. */
static void put_sum(uint8_t *bytes, size_t len, uint64_t start)
{
	/* Its upper half has been folded into the lower one. */
	const uint32_t sum = (uint32_t)store_sum(start, bytes, len);

	memcpy(bytes + len, &sum, SEQ_SUM);
}

void seq_free(struct seq *s)
{
	free(s->blocks);
	*s = (struct seq){0};
}

bool seq_add(struct seq *s, struct store *store, uint64_t start, const void *data, size_t len,
	     uint32_t items)
{
	uint8_t piece[SEQ_ROOM];
	uint64_t at;

	if (len > SEQ_MOST)
		return false;
	if (s->n == s->cap) {
		const uint32_t cap = s->cap ? s->cap * 2 : 4;
		struct seq_block *more = reallocarray(s->blocks, cap, sizeof(*more));

		if (!more)
			return false;
		s->blocks = more;
		s->cap = cap;
	}
	memcpy(piece, data, len);
	put_sum(piece, len, start);
	at = store_put(store, piece, len + SEQ_SUM);
	if (at == STORE_FULL)
		return false;
	s->blocks[s->n++] = (struct seq_block){start, at << 16 | len};
	s->last = items;
	return true;
}

uint32_t seq_find(const struct seq *s, uint32_t low, uint64_t place)
{
	uint32_t high = s->n;

	while (low + 1 < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (s->blocks[middle].start < place)
			low = middle;
		else
			high = middle;
	}
	return low;
}

size_t seq_load(const struct seq *s, struct store *store, uint32_t block, uint8_t *to)
{
	size_t len;

	if (block >= s->n)
		return 0;
	len = s->blocks[block].at & UINT16_MAX;
	if (len <= SEQ_MOST && store_get(store, s->blocks[block].at >> 16, len + SEQ_SUM, to)) {
		uint8_t told[SEQ_SUM];

		memcpy(told, to + len, SEQ_SUM);
		put_sum(to, len, s->blocks[block].start);
		if (memcmp(told, to + len, SEQ_SUM) == 0)
			return len;
	}
	store->spoilt = true;
	return 0;
}
