/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that is freed all at once: what a parsed file consists of.
 *
 * An arena has a limit, so that a hostile file cannot use up the machine's memory: beyond it all
 * functions return NULL. Memory is zeroed and aligned to 16 bytes.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	size_t used; /* bytes handed out */
	size_t limit;
};

struct arena arena_new(size_t limit);
void arena_init(struct arena *a, size_t limit);
void arena_free(struct arena *a);

/* A local arena, freed where its scope ends: `scoped_arena scratch = arena_new(LIMIT);` */
#define scoped_arena struct arena __attribute__((cleanup(arena_free)))

void *arena_alloc(struct arena *a, size_t size);

/* count elements of size; NULL when the product does not fit. */
void *arena_array(struct arena *a, size_t count, size_t size);

/* A copy of so many elements, with room for one more, so that there is memory also for none. */
void *arena_copy(struct arena *a, const void *from, size_t count, size_t size);

/* A NUL-terminated copy of n bytes. */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_strdup(struct arena *a, const char *s);

#endif
