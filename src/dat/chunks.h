/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/dat: the index over one CPU's compressed data, shared by all who read them. */
#ifndef DAT_CHUNKS_H
#define DAT_CHUNKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define DAT_CHUNK_PAGES 10 /* of a chunk that is full, as trace-cmd makes them */

/* A place between two chunks. */
struct dat_chunk_place {
	uint64_t offset; /* in the file, of the chunk that follows */
	uint64_t number; /* of that chunk */
	uint64_t page;	 /* the number of its first page */
	uint64_t bytes;	 /* uncompressed bytes before it */
};

struct dat_chunks;

struct dat_chunks *dat_chunks_new(struct arena *a);
void dat_chunks_free(struct dat_chunks *c);

/*
 * All of these lock. begin: the first chunk's place, how many chunks there are (0: as many as there
 * is room for) and how many pages the first has; only the first call counts.
 */
void dat_chunks_begin(struct dat_chunks *c, pthread_mutex_t *lock, uint64_t offset, uint64_t count,
		      uint64_t pages_each);

/* Someone stepped from one place to the next, or found the end at `to`. */
void dat_chunks_learn(struct dat_chunks *c, pthread_mutex_t *lock,
		      const struct dat_chunk_place *from, const struct dat_chunk_place *to);
void dat_chunks_learn_end(struct dat_chunks *c, pthread_mutex_t *lock,
			  const struct dat_chunk_place *end);

/* The last known place at or before that page. */
struct dat_chunk_place dat_chunks_find(struct dat_chunks *c, pthread_mutex_t *lock, uint64_t page);

/* The number of chunks; false while begin has not been called. */
bool dat_chunks_count(struct dat_chunks *c, pthread_mutex_t *lock, uint64_t *count);

/* Where everything ends, true when that is known; else an upper bound as far as one can guess. */
bool dat_chunks_end(struct dat_chunks *c, pthread_mutex_t *lock, struct dat_chunk_place *end);

#endif
