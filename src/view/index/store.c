// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pieces are appended to chunks. No piece crosses the end of a chunk, so that it can be copied at
 * once. Full chunks are written to the file in order.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mutex.h"
#include "base/vec.h"
#include "view/index/store.h"

/* ---- pieces ---- */

void store_init(struct store *s, uint64_t memory, const char *folder)
{
	*s = (struct store){.most = memory / STORE_CHUNK + 1, .fd = -1};
	pthread_mutex_init(&s->lock, NULL);
	if (folder)
		s->fd = file_nameless(folder);
}

void store_over(struct store *s, int fd, uint64_t base, uint64_t size)
{
	*s = (struct store){.fd = fd, .base = base, .size = size, .most = 1};
	s->filed = (size_t)(size / STORE_CHUNK) + 1;
	pthread_mutex_init(&s->lock, NULL);
}

static void drop_chunks(struct store *s)
{
	for (size_t i = 0; i < s->chunks.n; i++)
		free(s->chunks.at[i]);
	vec_free(&s->chunks);
}

void store_free(struct store *s)
{
	drop_chunks(s);
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->lock);
}

/* Moves the oldest chunks into the file, if there are too many and there is one. */
static void file_chunks(struct store *s)
{
	while (s->fd >= 0 && s->chunks.n - s->filed > s->most) {
		if (file_write_at(s->fd, s->chunks.at[s->filed], STORE_CHUNK,
				  (uint64_t)s->filed * STORE_CHUNK, NULL) < 0) {
			/* The disk may be full: from now on, use memory. */
			s->most *= 2;
			return;
		}
		free(s->chunks.at[s->filed]);
		s->chunks.at[s->filed++] = NULL;
	}
}

static uint8_t *add_chunk(struct store *s)
{
	uint8_t *chunk = malloc(STORE_CHUNK);

	if (!chunk || !vec_add(&s->chunks, &chunk)) {
		free(chunk);
		return NULL;
	}
	file_chunks(s);
	return chunk;
}

uint64_t store_sum(uint64_t sum, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t word;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum = (sum ^ word) * 0x9fb21c651e98df25ull;
		sum ^= sum >> 32;
	}
	return sum ^ map_hash(p, len);
}

uint64_t store_put(struct store *s, const void *data, size_t len)
{
	uint64_t at = STORE_FULL;
	uint8_t *chunk = NULL;

	if (len > STORE_CHUNK)
		return STORE_FULL;
	mutex_hold(&s->lock);
	if (s->size % STORE_CHUNK + len > STORE_CHUNK)
		s->size += STORE_CHUNK - s->size % STORE_CHUNK;
	if (s->size / STORE_CHUNK < s->chunks.n)
		chunk = s->chunks.at[s->size / STORE_CHUNK];
	else
		chunk = add_chunk(s);
	if (chunk) {
		at = s->size;
		memcpy(chunk + at % STORE_CHUNK, data, len);
		s->size += len;
	}
	return at;
}

bool store_get(struct store *s, uint64_t at, size_t len, void *to)
{
	const size_t chunk = (size_t)(at / STORE_CHUNK);
	bool here, there;
	unsigned int turn;
	uint64_t base;
	int fd;

	pthread_mutex_lock(&s->lock);
	there = at <= s->size && len <= s->size - at && at % STORE_CHUNK + len <= STORE_CHUNK;
	here = there && chunk >= s->filed;
	if (here)
		memcpy(to, s->chunks.at[chunk] + at % STORE_CHUNK, len);
	fd = s->fd;
	base = s->base;
	turn = s->turn;
	s->reading[turn] += there && !here;
	pthread_mutex_unlock(&s->lock);
	if (here || !there)
		return here;
	there = file_read_at(fd, to, len, base + at) == (int64_t)len;
	pthread_mutex_lock(&s->lock);
	s->reading[turn]--;
	pthread_mutex_unlock(&s->lock);
	return there;
}

int store_copy(struct store *s, int fd, uint64_t base)
{
	uint8_t *copy = malloc(STORE_CHUNK);
	int rc = copy ? 0 : -ENOMEM;

	for (uint64_t at = 0; rc == 0 && at < s->size; at += STORE_CHUNK) {
		const uint64_t left = s->size - at;
		const size_t len = left < STORE_CHUNK ? (size_t)left : STORE_CHUNK;

		rc = store_get(s, at, len, copy) ? file_write_at(fd, copy, len, base + at, NULL)
						 : -EIO;
	}
	free(copy);
	return rc;
}

void store_move(struct store *s, int fd, uint64_t base)
{
	unsigned int turn;
	int old;

	pthread_mutex_lock(&s->lock);
	old = s->fd;
	turn = s->turn;
	s->fd = fd;
	s->base = base;
	s->turn ^= 1;
	s->filed = (size_t)(s->size / STORE_CHUNK) + 1;
	drop_chunks(s);
	while (s->reading[turn]) {
		pthread_mutex_unlock(&s->lock);
		sched_yield();
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	if (old >= 0)
		close(old);
}

/* ---- sequences of blocks ---- */

_Static_assert(SEQUENCE_MOST <= UINT16_MAX, "the length of a block has 16 bits");

/* Appends the sum to `len` bytes. */
static void put_sum(uint8_t *bytes, size_t len, uint64_t start)
{
	/* Its upper half has been folded into the lower one. */
	const uint32_t sum = (uint32_t)store_sum(start, bytes, len);

	memcpy(bytes + len, &sum, SEQUENCE_SUM);
}

void sequence_free(struct sequence *s)
{
	free(s->blocks);
	*s = (struct sequence){0};
}

bool sequence_add(struct sequence *s, struct store *store, uint64_t start, const void *data,
		  size_t len, uint32_t items)
{
	uint8_t piece[SEQUENCE_BYTES];
	uint64_t at;

	if (len > SEQUENCE_MOST)
		return false;
	if (s->n == s->cap) {
		const uint32_t cap = s->cap ? s->cap * 2 : 4;
		struct sequence_block *more = reallocarray(s->blocks, cap, sizeof(*more));

		if (!more)
			return false;
		s->blocks = more;
		s->cap = cap;
	}
	memcpy(piece, data, len);
	put_sum(piece, len, start);
	at = store_put(store, piece, len + SEQUENCE_SUM);
	if (at == STORE_FULL)
		return false;
	s->blocks[s->n++] = (struct sequence_block){start, at << 16 | len};
	s->last = items;
	return true;
}

uint32_t sequence_find(const struct sequence *s, uint32_t low, uint64_t place)
{
	uint32_t i;

	binary_search(i, low, s->n, s->blocks[i].start < place);
	return i > low ? i - 1 : low;
}

size_t sequence_load(const struct sequence *s, struct store *store, uint32_t block, uint8_t *to)
{
	size_t len;

	if (block >= s->n)
		return 0;
	len = s->blocks[block].at & UINT16_MAX;
	if (len <= SEQUENCE_MOST &&
	    store_get(store, s->blocks[block].at >> 16, len + SEQUENCE_SUM, to)) {
		uint8_t stored[SEQUENCE_SUM];

		memcpy(stored, to + len, SEQUENCE_SUM);
		put_sum(to, len, s->blocks[block].start);
		if (memcmp(stored, to + len, SEQUENCE_SUM) == 0)
			return len;
	}
	store->spoilt = true;
	return 0;
}
