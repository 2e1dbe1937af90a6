// SPDX-License-Identifier: LGPL-2.1-or-later
/* An arena is a list of blocks, newest first; only the newest one has room. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE (64 * 1024)
#define ALIGNMENT  16

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	_Alignas(ALIGNMENT) unsigned char data[];
};

struct arena arena_new(size_t limit)
{
	return (struct arena){.limit = limit};
}

void arena_init(struct arena *a, size_t limit)
{
	*a = arena_new(limit);
}

void arena_free(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	a->used = 0;
}

static struct arena_block *add_block(struct arena *a, size_t need)
{
	size_t size = need > BLOCK_SIZE / 4 ? need : BLOCK_SIZE;
	struct arena_block *b = calloc(1, sizeof(*b) + size);

	if (!b)
		return NULL;
	b->size = size;
	/*
	 * A block for one large piece is inserted after the newest block, which still has free
	 * space.
	 */
	if (size == need && a->blocks) {
		b->next = a->blocks->next;
		a->blocks->next = b;
	} else {
		b->next = a->blocks;
		a->blocks = b;
	}
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->blocks;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (size > a->limit - a->used)
		return NULL;
	if (!b || b->size - b->used < size)
		b = add_block(a, size);
	if (!b)
		return NULL;
	p = b->data + b->used;
	b->used += size;
	a->used += size;
	return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : arena_alloc(a, bytes);
}

void *arena_copy(struct arena *a, const void *from, size_t count, size_t size)
{
	void *copy = count < SIZE_MAX ? arena_array(a, count + 1, size) : NULL;

	if (copy && count)
		memcpy(copy, from, count * size);
	return copy;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	if (copy)
		memcpy(copy, s, n);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}
