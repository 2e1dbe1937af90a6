// SPDX-License-Identifier: LGPL-2.1-or-later
/* Slots: an arena for the memory, and a map from a hash of the key to the slot. */
#include "base/slots.h"

void slots_init(struct slots *s, size_t size, size_t memory_limit)
{
	*s = (struct slots){.seed = hash_seed_new(), .size = size};
	arena_init(&s->arena, memory_limit);
}

void slots_free(struct slots *s)
{
	map_free(&s->map);
	arena_free(&s->arena);
}

void *slots_find(struct slots *s, uint64_t key)
{
	if (!s->last || s->last_key != key) {
		void *found = map_get(&s->map, hash_add(&s->seed, 0, key));

		if (!found)
			return NULL;
		s->last = found;
		s->last_key = key;
	}
	return s->last;
}

void *slots_get_other(struct slots *s, uint64_t key)
{
	void *slot = slots_find(s, key);

	if (slot)
		return slot;
	slot = arena_alloc(&s->arena, s->size);
	if (!slot || !map_set(&s->map, hash_add(&s->seed, 0, key), slot))
		return NULL;
	s->last = slot;
	s->last_key = key;
	return slot;
}
