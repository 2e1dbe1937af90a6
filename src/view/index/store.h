/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the bytes of an index are: in memory up to a limit, beyond it in a temporary file without a
 * name; the bytes of a stored index are in its file. And sequences of coded items in such a store.
 *
 * Stored pieces never change. Any number of threads may put and get.
 *
 * Private to src/view.
 */
#ifndef VIEW_INDEX_STORE_H
#define VIEW_INDEX_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/varint.h"
#include "base/vec.h"

#define STORE_CHUNK (256u << 10) /* a piece that is put lies in one of these */
#define STORE_FULL  UINT64_MAX

struct store {
	pthread_mutex_t lock;	       /* guards what follows */
	vec_of(uint8_t *) chunks;      /* NULL: it is in the file */
	size_t filed;		       /* chunks before this one are in the file */
	size_t most;		       /* that may be in memory */
	uint64_t size;		       /* where the next piece goes */
	int fd;			       /* -1: there is no file, and all stays in memory */
	uint64_t base;		       /* where the first byte lies in it */
	unsigned int turn, reading[2]; /* threads that read from it, and from the one before */
	_Atomic bool spoilt;	       /* not guarded: a piece was not what had been put */
};

/* Keeps about so many bytes in memory; the file is made in that folder, or in none. */
void store_init(struct store *s, uint64_t memory, const char *folder);
/* One whose bytes lie in a file from `base` on. It takes over the descriptor. */
void store_over(struct store *s, int fd, uint64_t base, uint64_t size);
void store_free(struct store *s);

/* Where the piece (of at most STORE_CHUNK bytes) lies now; STORE_FULL without memory. */
uint64_t store_put(struct store *s, const void *data, size_t len);

/* False: there is no such piece, or it cannot be read. */
bool store_get(struct store *s, uint64_t at, size_t len, void *to);

/* A checksum of bytes, which depends on the machine's byte order. */
uint64_t store_sum(uint64_t sum, const void *data, size_t len);

/* Copies all of it into a file from `base` on; 0 or a negative errno. */
int store_copy(struct store *s, int fd, uint64_t base);

/* From now on it is read from the file to which it was copied; frees the memory. */
void store_move(struct store *s, int fd, uint64_t base);

/* ---- sequences of blocks ---- */

/*
 * A sequence only grows. Its items are coded as numbers of a few bytes, in blocks of 128 in a
 * store. The start of each block (a time, or the number of a bin) is in memory. Only the last block
 * may have fewer items.
 *
 * Each block ends with a sum of it and of its start, because a store may be a file that somebody
 * has changed.
 */
#define SEQUENCE_ITEMS	   128					 /* in a block */
#define SEQUENCE_ITEM_MOST (4 * VARINT_MOST)			 /* bytes of an item */
#define SEQUENCE_MOST	   (SEQUENCE_ITEMS * SEQUENCE_ITEM_MOST) /* bytes of a block */
#define SEQUENCE_SUM	   4
#define SEQUENCE_BYTES	   (SEQUENCE_MOST + SEQUENCE_SUM)

struct sequence_block {
	uint64_t start;
	uint64_t at; /* in the store, above 16 bits of its length */
};

struct sequence {
	struct sequence_block *blocks;
	uint32_t n, cap;
	uint32_t last; /* items of the last block */
};

void sequence_free(struct sequence *s);

/* Adds a block of so many items; false without memory. */
bool sequence_add(struct sequence *s, struct store *store, uint64_t start, const void *data,
		  size_t len, uint32_t items);

static inline uint32_t sequence_items(const struct sequence *s, uint32_t block)
{
	return block + 1 < s->n ? SEQUENCE_ITEMS : s->last;
}

/* The last block that starts before a place, from `low` on; `low` when none does. */
uint32_t sequence_find(const struct sequence *s, uint32_t low, uint64_t place);

/*
 * The bytes of a block, into SEQUENCE_BYTES of them. Their number, 0 when they cannot be read or
 * are not what they were; the store is spoilt then.
 */
size_t sequence_load(const struct sequence *s, struct store *store, uint32_t block, uint8_t *to);

#endif
