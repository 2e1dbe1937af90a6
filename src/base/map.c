// SPDX-License-Identifier: LGPL-2.1-or-later
/* Setting and removing; looking up is in the header. */
#include "base/map.h"

#include <stdlib.h>

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

static struct map_slot *find_slot(struct map_slot *slots, size_t cap, uint64_t key)
{
	size_t i = map_mix(key);

	while (slots[i & (cap - 1)].value && slots[i & (cap - 1)].key != key)
		i++;
	return &slots[i & (cap - 1)];
}

static bool grow(struct map *m)
{
	size_t cap = m->cap ? m->cap * 2 : 16;
	struct map_slot *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].value)
			*find_slot(slots, cap, m->slots[i].key) = m->slots[i];
	free(m->slots);
	m->slots = slots;
	m->cap = cap;
	return true;
}

bool map_set(struct map *m, uint64_t key, void *value)
{
	struct map_slot *s;

	if (m->n * 2 >= m->cap && !grow(m))
		return false;
	s = find_slot(m->slots, m->cap, key);
	if (!s->value)
		m->n++;
	*s = (struct map_slot){key, value};
	return true;
}

/*
 * Entries after a slot that becomes free may have been inserted there because it was occupied. The
 * first such entry moves into it and leaves a free slot itself.
 */
static void close_up(struct map *m, size_t hole)
{
	const size_t mask = m->cap - 1;

	for (size_t i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
		const size_t home = map_mix(m->slots[i].key) & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].value = NULL;
}

void *map_remove(struct map *m, uint64_t key)
{
	struct map_slot *s = m->n ? find_slot(m->slots, m->cap, key) : NULL;
	void *value = s ? s->value : NULL;

	if (value) {
		m->n--;
		close_up(m, (size_t)(s - m->slots));
	}
	return value;
}

uint64_t map_hash(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}
