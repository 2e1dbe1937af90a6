/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sequence that only grows: items coded as numbers of a few bytes, in blocks of 128 that lie in a
 * store, with where each block starts (a time, or the number of a bin) in memory. Only the last
 * block may have fewer items; nothing comes behind it then.
 *
 * Behind a block is a sum of it and of where it starts: a store may be a file that was kept, and
 * what became of it since nobody knows.
 */
#ifndef VIEW_SEQ_H
#define VIEW_SEQ_H

#include "base/varint.h"
#include "view/store.h"

#define SEQ_ITEMS     128			  /* in a block */
#define SEQ_ITEM_MOST (4 * VARINT_MOST)		  /* bytes of an item */
#define SEQ_MOST      (SEQ_ITEMS * SEQ_ITEM_MOST) /* bytes of a block */
#define SEQ_SUM	      4
#define SEQ_ROOM      (SEQ_MOST + SEQ_SUM)

struct seq_block {
	uint64_t start;
	uint64_t at; /* in the store, above 16 bits of its length */
};

struct seq {
	struct seq_block *blocks;
	uint32_t n, cap;
	uint32_t last; /* items of the last block */
};

void seq_free(struct seq *s);

/* Adds a block of so many items; false without memory. */
bool seq_add(struct seq *s, struct store *store, uint64_t start, const void *data, size_t len,
	     uint32_t items);

static inline uint32_t seq_items(const struct seq *s, uint32_t block)
{
	return block + 1 < s->n ? SEQ_ITEMS : s->last;
}

/* The last block that starts before a place, from `low` on; `low` when none does. */
uint32_t seq_find(const struct seq *s, uint32_t low, uint64_t place);

/*
 * The bytes of a block, into SEQ_ROOM of them. Their number, 0 when they cannot be read or are not
 * what they were; the store is spoilt then.
 */
size_t seq_load(const struct seq *s, struct store *store, uint32_t block, uint8_t *to);

#endif
