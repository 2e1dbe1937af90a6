// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trace data are compressed in chunks of some pages each:
 *
 *	u32 number of chunks, each:
 *		u32 stored size    u32 full size    data
 *
 * Nothing in the file tells where chunk n is. This index remembers places that readers came by:
 * every stride-th chunk up to the frontier, the farthest anyone has been. It has a fixed number of
 * entries; when they are used up it forgets every second one and doubles the stride, so that a file
 * of any size costs a few hundred kilobytes and a search at most stride steps.
 */
#include "dat/chunks.h"

#include "base/vec.h"

#define MAX_ENTRIES 8192

struct dat_chunks {
	struct {
		struct dat_chunk_place *at; /* [i] is chunk i * stride */
		size_t n, cap;
	} entries;
	uint64_t stride;
	uint64_t count;
	uint64_t pages_each;
	struct dat_chunk_place first;
	struct dat_chunk_place frontier;
	bool begun;
	bool complete; /* the frontier is the end */
};

struct dat_chunks *dat_chunks_new(struct arena *a)
{
	struct dat_chunks *c = arena_alloc(a, sizeof(*c));

	if (c)
		c->stride = 1;
	return c;
}

void dat_chunks_free(struct dat_chunks *c)
{
	if (c)
		vec_free(&c->entries);
}

void dat_chunks_begin(struct dat_chunks *c, pthread_mutex_t *lock, uint64_t offset, uint64_t count,
		      uint64_t pages_each)
{
	pthread_mutex_lock(lock);
	if (!c->begun) {
		c->begun = true;
		c->first.offset = offset;
		c->frontier = c->first;
		c->count = count;
		c->pages_each = pages_each;
	}
	pthread_mutex_unlock(lock);
}

static void thin_out(struct dat_chunks *c)
{
	for (size_t i = 0; 2 * i < c->entries.n; i++)
		c->entries.at[i] = c->entries.at[2 * i];
	c->entries.n = (c->entries.n + 1) / 2;
	c->stride *= 2;
}

static void remember(struct dat_chunks *c, const struct dat_chunk_place *place)
{
	struct dat_chunk_place *slot;

	if (place->number % c->stride || place->number / c->stride != c->entries.n)
		return;
	if (c->entries.n == MAX_ENTRIES) {
		thin_out(c);
		if (place->number % c->stride)
			return;
	}
	slot = vec_push(&c->entries);
	if (slot)
		*slot = *place;
}

void dat_chunks_learn(struct dat_chunks *c, pthread_mutex_t *lock,
		      const struct dat_chunk_place *from, const struct dat_chunk_place *to)
{
	pthread_mutex_lock(lock);
	if (from->number == c->frontier.number) {
		remember(c, from);
		c->frontier = *to;
		if (to->page - from->page > c->pages_each)
			c->pages_each = to->page - from->page;
	}
	pthread_mutex_unlock(lock);
}

void dat_chunks_learn_end(struct dat_chunks *c, pthread_mutex_t *lock,
			  const struct dat_chunk_place *end)
{
	pthread_mutex_lock(lock);
	if (end->number == c->frontier.number)
		c->complete = true;
	pthread_mutex_unlock(lock);
}

struct dat_chunk_place dat_chunks_find(struct dat_chunks *c, pthread_mutex_t *lock, uint64_t page)
{
	struct dat_chunk_place place;
	size_t at = 0, behind;

	pthread_mutex_lock(lock);
	place = page < c->frontier.page ? c->first : c->frontier;
	behind = page < c->frontier.page ? c->entries.n : 0;
	while (at < behind) {
		size_t middle = at + (behind - at) / 2;

		if (c->entries.at[middle].page <= page)
			at = middle + 1;
		else
			behind = middle;
	}
	if (at)
		place = c->entries.at[at - 1];
	pthread_mutex_unlock(lock);
	return place;
}

bool dat_chunks_count(struct dat_chunks *c, pthread_mutex_t *lock, uint64_t *count)
{
	bool begun;

	pthread_mutex_lock(lock);
	begun = c->begun;
	*count = c->count;
	pthread_mutex_unlock(lock);
	return begun;
}

bool dat_chunks_end(struct dat_chunks *c, pthread_mutex_t *lock, struct dat_chunk_place *end)
{
	uint64_t more;
	bool complete;

	pthread_mutex_lock(lock);
	*end = c->frontier;
	complete = c->complete;
	if (!complete && c->count > end->number &&
	    !__builtin_mul_overflow(c->count - end->number, c->pages_each, &more))
		end->page += more;
	pthread_mutex_unlock(lock);
	return complete;
}
