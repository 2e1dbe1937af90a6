// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps in spur's own memory: arrays, and what all kinds have in common; hashes are in umap_hash.c.
 */
#include "code/umap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/umap_parts.h"

/* ---- arrays ---- */

static size_t array_step(const struct umap *m)
{
	return ((size_t)m->base.value_size + 7) & ~(size_t)7;
}

static void *array_lookup(struct vm_map *map, const void *key)
{
	const struct umap *m = (const struct umap *)map;
	uint32_t index;

	memcpy(&index, key, sizeof(index));
	return index < map->entries ? m->array + index * array_step(m) : NULL;
}

static int array_update(struct vm_map *map, const void *key, const void *value, uint64_t flags)
{
	return vm_store_value(map, array_lookup(map, key), value, flags);
}

static int array_delete(struct vm_map *map, const void *key)
{
	return -EINVAL;
}

/* The keys of an array are in front of its values. */
static bool array_next(struct vm_map *map, uint64_t *at, const void **key, void **value)
{
	const struct umap *m = (const struct umap *)map;
	uint32_t *keys = (uint32_t *)(m->array + map->entries * array_step(m));

	if (*at >= map->entries)
		return false;
	*key = &keys[*at];
	*value = m->array + *at * array_step(m);
	++*at;
	return true;
}

static void *array_value(struct vm_map *map)
{
	return ((struct umap *)map)->array;
}

static const struct vm_map_ops array_ops = {
	.lookup = array_lookup,
	.update = array_update,
	.remove = array_delete,
	.next = array_next,
	.value = array_value,
};

/* ---- making ---- */

static bool make_array(struct umap *m, const struct map_def *def)
{
	uint32_t *keys;
	size_t size;

	if (__builtin_mul_overflow((size_t)def->entries, array_step(m) + sizeof(*keys), &size))
		return false;
	m->base.ops = &array_ops;
	m->base.key_size = sizeof(uint32_t);
	m->array = calloc(1, size + 1);
	if (!m->array)
		return false;
	keys = (uint32_t *)(m->array + def->entries * array_step(m));
	for (uint32_t n = 0; n < def->entries; n++)
		keys[n] = n;
	if (def->content && def->entries)
		memcpy(m->array, def->content, def->value_size);
	m->nr = def->entries;
	return true;
}

struct umap *umap_new(const struct map_def *def)
{
	const bool is_array = def->kind == MAP_ARRAY || def->kind == MAP_PERCPU_ARRAY;
	struct umap *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->kind = def->kind;
	m->flagged = def->flagged && def->value_size >= sizeof(uint64_t);
	m->base = (struct vm_map){
		.key_size = def->key_size,
		.value_size = def->value_size,
		.entries = def->entries,
		.number = def->number,
	};
	if (is_array ? make_array(m, def) : umap_hash_init(m, def))
		return m;
	free(m);
	return NULL;
}

void umap_free(struct umap *m)
{
	if (!m)
		return;
	umap_hash_free(m);
	free(m->array);
	free(m);
}

void *umap_lookup(struct umap *m, const void *key)
{
	return m->base.ops->lookup(&m->base, key);
}

int umap_update(struct umap *m, const void *key, const void *value, uint64_t flags)
{
	return m->base.ops->update(&m->base, key, value, flags);
}

int umap_delete(struct umap *m, const void *key)
{
	return m->base.ops->remove(&m->base, key);
}

bool umap_next(struct umap *m, uint64_t *at, const void **key, void **value)
{
	return m->base.ops->next(&m->base, at, key, value);
}

void umap_zero(struct umap *m)
{
	const size_t flag = m->flagged ? sizeof(uint64_t) : 0;
	const void *key;
	void *value;
	uint64_t at = 0;

	while (umap_next(m, &at, &key, &value))
		memset((uint8_t *)value + flag, 0, m->base.value_size - flag);
}

void umap_clear(struct umap *m)
{
	if (m->array)
		memset(m->array, 0, m->base.entries * array_step(m));
	else
		umap_hash_clear(m);
}

/* ---- all of a unit ---- */

struct vm_map **umaps_new(const struct unit *u)
{
	struct vm_map **maps = calloc(u->maps.n + 1, sizeof(*maps));

	for (size_t n = 0; maps && n < u->maps.n; n++) {
		struct umap *m = umap_new(u->maps.at[n]);

		if (!m) {
			umaps_free(maps, u->maps.n);
			return NULL;
		}
		maps[n] = &m->base;
	}
	return maps;
}

void umaps_free(struct vm_map **maps, size_t n)
{
	for (size_t i = 0; maps && i < n; i++)
		umap_free((struct umap *)maps[i]);
	free(maps);
}
