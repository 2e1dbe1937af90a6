/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hashing keys from untrusted files.
 *
 * Such keys are hashed with a seed that differs from run to run. Without it, a file could have keys
 * that all get the same slot of a struct map, so that a look-up compares all of them. The output
 * must not depend on the order of such a map.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_seed {
	uint64_t a, b;
};

/* An unpredictable seed. */
struct hash_seed hash_seed_new(void);

/* Adds one number to a hash, which is 0 at first. */
static inline uint64_t hash_add(const struct hash_seed *s, uint64_t hash, uint64_t value)
{
	hash = (hash ^ value ^ s->a) * 0x9fb21c651e98df25ull;
	hash = (hash ^ hash >> 32 ^ s->b) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 29;
}

uint64_t hash_bytes(const struct hash_seed *s, const void *data, size_t size);

#endif
