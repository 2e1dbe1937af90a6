// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/seq.h"

#include <stdlib.h>

_Static_assert(SEQ_MOST <= UINT16_MAX, "the length of a block has 16 bits");

void seq_free(struct seq *s)
{
	free(s->blocks);
	*s = (struct seq){0};
}

bool seq_add(struct seq *s, struct store *store, uint64_t start, const void *data, size_t len,
	     uint32_t items)
{
	uint64_t at;

	if (s->n == s->cap) {
		const uint32_t cap = s->cap ? s->cap * 2 : 4;
		struct seq_block *more = reallocarray(s->blocks, cap, sizeof(*more));

		if (!more)
			return false;
		s->blocks = more;
		s->cap = cap;
	}
	at = store_put(store, data, len);
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
	if (len > SEQ_MOST || !store_get(store, s->blocks[block].at >> 16, len, to))
		return 0;
	return len;
}
