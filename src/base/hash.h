/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hashing keys that a stranger has chosen.
 *
 * Keys from a file go into a struct map through a seed that differs from run to run: without it a
 * file could be made whose keys all fall into the same place, and every look-up would go through
 * all of them. Nothing that is shown may depend on the order of such a map.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_seed {
	uint64_t a, b;
};

/* A seed that cannot be foreseen. */
struct hash_seed hash_seed_new(void);

/* Adds one number to a hash; the first one goes on top of 0. */
static inline uint64_t hash_add(const struct hash_seed *s, uint64_t hash, uint64_t value)
{
	hash = (hash ^ value ^ s->a) * 0x9fb21c651e98df25ull;
	hash = (hash ^ hash >> 32 ^ s->b) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 29;
}

uint64_t hash_bytes(const struct hash_seed *s, const void *data, size_t size);

#endif
