// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps in spur's own memory: hashes, arrays, and what all kinds have in common. */
#include "code/umap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- hashes ---- */

/*
 * A table of slots with linear probing, never more than half full, whose slots number
 * entries. Entries lie in chunks that never move:
 *
 *	head | key, up to 8 bytes | value
 *
 * A removed entry is chained to be used again. Slots after a removed one move up, so that there
 * are no tombstones.
 */

enum { CHUNK = 64, FIRST_SLOTS = 64 };

struct umap_entry {
	uint32_t hash;
	uint32_t used;	       /* 0: removed, newer is the next one that is */
	uint32_t newer, older; /* of an LRU map, and see above */
	uint8_t data[];
};

static struct umap_entry *entry(const struct umap *m, uint32_t number)
{
	return (struct umap_entry *)(m->chunks[(number - 1) / CHUNK] +
				     (size_t)((number - 1) % CHUNK) * m->entry_size);
}

static bool is_lru(const struct umap *m)
{
	return m->kind == MAP_LRU_HASH || m->kind == MAP_PERCPU_LRU_HASH;
}

/* ---- hashing; most keys are numbers ---- */

static uint64_t word(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t half_word(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Strings are long: four words at a time, which do not wait for each other. */
static uint64_t hash_long(const struct hash_seed *s, const uint8_t *key, size_t size)
{
	uint64_t lane[4] = {s->a, s->b, ~s->a, ~s->b}, hash;

	for (; size >= sizeof(lane); size -= sizeof(lane), key += sizeof(lane))
		for (int n = 0; n < 4; n++) {
			lane[n] = (lane[n] ^ word(key + 8 * n)) * 0x9fb21c651e98df25ull;
			lane[n] ^= lane[n] >> 29;
		}
	hash = hash_bytes(s, key, size);
	for (int n = 0; n < 4; n++)
		hash = hash_add(s, hash, lane[n]);
	return hash;
}

static uint32_t hash_key(const struct umap *m, const void *key)
{
	uint64_t hash;

	switch (m->base.key_size) {
	case 4: hash = hash_add(&m->seed, 0, half_word(key)); break;
	case 8: hash = hash_add(&m->seed, 0, word(key)); break;
	case 16:
		hash = hash_add(&m->seed, hash_add(&m->seed, 0, word(key)),
				word((const char *)key + 8));
		break;
	default: hash = hash_long(&m->seed, key, m->base.key_size); break;
	}
	return (uint32_t)(hash >> 32 ^ hash);
}

static bool same_key(const struct umap *m, const void *a, const void *b)
{
	switch (m->base.key_size) {
	case 4: return half_word(a) == half_word(b);
	case 8: return word(a) == word(b);
	case 16:
		return word(a) == word(b) && word((const char *)a + 8) == word((const char *)b + 8);
	default: return !memcmp(a, b, m->base.key_size);
	}
}

/* ---- slots ---- */

static uint32_t slot_entry(uint64_t slot)
{
	return (uint32_t)slot;
}

/* The slot of a key, or the free one where it would go. */
static size_t find_slot(const struct umap *m, const void *key, uint32_t hash)
{
	size_t at = hash & (m->nr_slots - 1);

	for (; m->slots[at]; at = (at + 1) & (m->nr_slots - 1))
		if (m->slots[at] >> 32 == hash &&
		    same_key(m, entry(m, slot_entry(m->slots[at]))->data, key))
			break;
	return at;
}

static bool grow(struct umap *m)
{
	const size_t nr = m->nr_slots ? m->nr_slots * 2 : FIRST_SLOTS;
	uint64_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t n = 0; n < m->nr_slots; n++) {
		size_t at = m->slots[n] >> 32 & (nr - 1);

		if (!m->slots[n])
			continue;
		while (slots[at])
			at = (at + 1) & (nr - 1);
		slots[at] = m->slots[n];
	}
	free(m->slots);
	m->slots = slots;
	m->nr_slots = nr;
	return true;
}

static void free_slot(struct umap *m, size_t hole)
{
	const size_t mask = m->nr_slots - 1;
	size_t at = hole;

	for (;;) {
		size_t home;

		at = (at + 1) & mask;
		if (!m->slots[at])
			break;
		home = m->slots[at] >> 32 & mask;
		/* An entry may move up unless its home slot is between the hole and its slot. */
		if (((at - home) & mask) >= ((at - hole) & mask)) {
			m->slots[hole] = m->slots[at];
			hole = at;
		}
	}
	m->slots[hole] = 0;
}

/* ---- the order of use ---- */

static void unchain(struct umap *m, uint32_t number)
{
	struct umap_entry *e = entry(m, number);

	if (e->newer)
		entry(m, e->newer)->older = e->older;
	else
		m->newest = e->older;
	if (e->older)
		entry(m, e->older)->newer = e->newer;
	else
		m->oldest = e->newer;
}

static void chain(struct umap *m, uint32_t number)
{
	struct umap_entry *e = entry(m, number);

	e->newer = 0;
	e->older = m->newest;
	if (m->newest)
		entry(m, m->newest)->newer = number;
	else
		m->oldest = number;
	m->newest = number;
}

static void touch(struct umap *m, uint32_t number)
{
	if (m->newest == number)
		return;
	unchain(m, number);
	chain(m, number);
}

/* ---- entries ---- */

static uint32_t take_entry(struct umap *m)
{
	uint32_t number = m->free_one;

	if (number) {
		m->free_one = entry(m, number)->newer;
		return number;
	}
	if (m->top % CHUNK == 0) {
		const size_t nr = m->top / CHUNK;
		uint8_t *chunk = calloc(CHUNK, m->entry_size);
		uint8_t **chunks = chunk ? realloc(m->chunks, (nr + 1) * sizeof(*chunks)) : NULL;

		if (!chunks) {
			free(chunk);
			return 0;
		}
		m->chunks = chunks;
		m->chunks[nr] = chunk;
	}
	return ++m->top;
}

static void drop(struct umap *m, size_t slot)
{
	const uint32_t number = slot_entry(m->slots[slot]);
	struct umap_entry *e = entry(m, number);

	if (is_lru(m))
		unchain(m, number);
	free_slot(m, slot);
	e->used = 0;
	e->newer = m->free_one;
	m->free_one = number;
	m->nr--;
}

static void drop_oldest(struct umap *m)
{
	const struct umap_entry *e = entry(m, m->oldest);

	drop(m, find_slot(m, e->data, e->hash));
}

static uint8_t *value_of(const struct umap *m, uint32_t number)
{
	return entry(m, number)->data + m->value_at;
}

/* 0: the map is full. */
static uint32_t insert(struct umap *m, const void *key, uint32_t hash)
{
	struct umap_entry *e;
	uint32_t number;

	if (m->nr >= m->base.entries && is_lru(m) && m->nr)
		drop_oldest(m);
	if (m->nr >= m->base.entries || (2 * m->nr >= m->nr_slots && !grow(m)))
		return 0;
	number = take_entry(m);
	if (!number)
		return 0;
	e = entry(m, number);
	e->hash = hash;
	e->used = 1;
	memcpy(e->data, key, m->base.key_size);
	m->slots[find_slot(m, key, hash)] = (uint64_t)hash << 32 | number;
	if (is_lru(m))
		chain(m, number);
	m->nr++;
	return number;
}

static void *hash_lookup(struct vm_map *map, const void *key)
{
	struct umap *m = (struct umap *)map;
	uint32_t number;

	if (!m->nr)
		return NULL;
	number = slot_entry(m->slots[find_slot(m, key, hash_key(m, key))]);
	if (!number)
		return NULL;
	if (is_lru(m))
		touch(m, number);
	return value_of(m, number);
}

static int hash_update(struct vm_map *map, const void *key, const void *value, uint64_t flags)
{
	struct umap *m = (struct umap *)map;
	const uint32_t hash = hash_key(m, key);
	uint32_t number = m->nr ? slot_entry(m->slots[find_slot(m, key, hash)]) : 0;

	if (number && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!number && flags == BPF_EXIST)
		return -ENOENT;
	if (number && is_lru(m))
		touch(m, number);
	if (!number)
		number = insert(m, key, hash);
	if (!number)
		return -E2BIG;
	memcpy(value_of(m, number), value, m->base.value_size);
	return 0;
}

static int hash_delete(struct vm_map *map, const void *key)
{
	struct umap *m = (struct umap *)map;
	size_t slot;

	if (!m->nr)
		return -ENOENT;
	slot = find_slot(m, key, hash_key(m, key));
	if (!m->slots[slot])
		return -ENOENT;
	drop(m, slot);
	return 0;
}

static bool hash_next(struct vm_map *map, uint64_t *at, const void **key, void **value)
{
	struct umap *m = (struct umap *)map;

	while (*at < m->top) {
		struct umap_entry *e = entry(m, (uint32_t)++ * at);

		if (e->used) {
			*key = e->data;
			*value = e->data + m->value_at;
			return true;
		}
	}
	return false;
}

static const struct vm_map_ops hash_ops = {
	.lookup = hash_lookup,
	.update = hash_update,
	.remove = hash_delete,
	.next = hash_next,
};

/* ---- beginning and end ---- */

/* False when its entries are too large. */
static bool umap_hash_init(struct umap *m, const struct map_def *def)
{
	uint64_t size;

	m->base.ops = &hash_ops;
	if (def->kind == MAP_STACK_TRACE) {
		/* The frames are the key, and the entry's number is the stack's. */
		m->base.key_size = def->value_size;
		m->base.value_size = 0;
	} else if (def->kind == MAP_RINGBUF) {
		m->base.entries = 0;
	}
	m->value_at = (m->base.key_size + 7) & ~7u;
	size = sizeof(struct umap_entry) + (uint64_t)m->value_at +
	       ((m->base.value_size + 7ull) & ~7ull);
	m->entry_size = (uint32_t)size;
	m->seed = hash_seed_new();
	return size <= UINT32_MAX / CHUNK;
}

static void umap_hash_free(struct umap *m)
{
	for (size_t n = 0; n * CHUNK < m->top; n++)
		free(m->chunks[n]);
	free(m->chunks);
	free(m->slots);
}

static void umap_hash_clear(struct umap *m)
{
	/*
	 * What is used again is used from the first one on, so that the order stays that of making.
	 */
	for (uint32_t n = m->top; n > 0; n--) {
		struct umap_entry *e = entry(m, n);

		e->used = 0;
		e->newer = n < m->top ? n + 1 : 0;
	}
	m->free_one = m->top ? 1 : 0;
	m->newest = m->oldest = 0;
	m->nr = 0;
	if (m->slots)
		memset(m->slots, 0, m->nr_slots * sizeof(*m->slots));
}

/* ---- stacks ---- */

int64_t umap_add_stack(struct umap *m, const uint64_t *frames, size_t n)
{
	uint64_t key[VTYPE_MAX_DEPTH] = {0};
	const size_t max = m->base.key_size / sizeof(*key);
	uint32_t hash, number;

	if (m->kind != MAP_STACK_TRACE || max > ARRAY_SIZE(key))
		return -EINVAL;
	if (n)
		memcpy(key, frames, (n < max ? n : max) * sizeof(*key));
	hash = hash_key(m, key);
	number = m->nr ? slot_entry(m->slots[find_slot(m, key, hash)]) : 0;
	if (!number)
		number = insert(m, key, hash);
	return number ? (int64_t)number : -ENOMEM;
}

size_t umap_stack(struct umap *m, int64_t number, uint64_t *frames, size_t max)
{
	const size_t room = m->base.key_size / sizeof(*frames);
	size_t n = 0;

	if (number < 1 || number > m->top || m->array || !entry(m, (uint32_t)number)->used)
		return 0;
	for (; n < max && n < room; n++) {
		frames[n] = word(entry(m, (uint32_t)number)->data + n * sizeof(*frames));
		if (!frames[n])
			break;
	}
	return n;
}

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
	.remove = vm_refuse_removal,
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
