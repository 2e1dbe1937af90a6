/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash map from 64-bit keys to pointers: open addressing, never more than half full. For strings
 * the key is map_hash() of their bytes, and the value contains the string.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: the slot is free */
};

struct map {
	struct map_slot *slots;
	size_t cap; /* a power of two, or 0 */
	size_t n;
};

void map_free(struct map *m);

/* Sets key to value (not NULL), replacing what was there. False without memory. */
bool map_set(struct map *m, uint64_t key, void *value);

/* Removes a key; returns its value, or NULL. */
void *map_remove(struct map *m, uint64_t key);

uint64_t map_hash(const void *data, size_t size);

static inline uint64_t map_mix(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ull;
	return key ^ (key >> 29);
}

static inline void *map_get(const struct map *m, uint64_t key)
{
	if (!m->n)
		return NULL;
	for (size_t i = map_mix(key);; i++) {
		const struct map_slot *s = &m->slots[i & (m->cap - 1)];

		if (!s->value || s->key == key)
			return s->value;
	}
}

#endif
