// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pieces are put one behind the other into chunks; none reaches over the end of one, so that it can
 * be copied out of it at once. Full chunks go into the file in their order.
 */
#include "view/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"

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
			/* Its disk may be full: memory is what is left. */
			s->most *= 2;
			return;
		}
		free(s->chunks.at[s->filed]);
		s->chunks.at[s->filed++] = NULL;
	}
}

static uint8_t *add_chunk(struct store *s)
{
	uint8_t *chunk = malloc(STORE_CHUNK), **slot;

	if (!chunk)
		return NULL;
	slot = vec_push(&s->chunks);
	if (!slot) {
		free(chunk);
		return NULL;
	}
	*slot = chunk;
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
	pthread_mutex_lock(&s->lock);
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
	pthread_mutex_unlock(&s->lock);
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
