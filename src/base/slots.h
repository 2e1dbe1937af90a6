/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zeroed memory by a key, which may come from an untrusted file. All slots have the same size, stay
 * where they are, and are freed together.
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"

struct slots {
	struct arena arena;
	struct map map;
	struct hash_seed seed;
	size_t size; /* of each */
	uint64_t last_key;
	void *last;
};

void slots_init(struct slots *s, size_t size, size_t memory_limit);
void slots_free(struct slots *s);

/* The slot of a key, or NULL. */
void *slots_find(struct slots *s, uint64_t key);
/* The slot of a key, which is created if there is none; NULL beyond the limit. */
void *slots_get_other(struct slots *s, uint64_t key);

static inline void *slots_get(struct slots *s, uint64_t key)
{
	return s->last && s->last_key == key ? s->last : slots_get_other(s, key);
}

#endif
