// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Grouping while a trace is read: how often each combination of values occurs, in one pass. Rows
 * are then returned group by group, each as often as it occurred, because SQLite reads sorted rows
 * six times as fast as it sorts them; or once, if a statement only counts them.
 *
 * A group's key is its values one after the other: a byte for the type, then a number's eight
 * bytes, or a text's length and bytes. If memory is too small, the scan can be abandoned (SQLite
 * sorts then), or made in several passes over the trace, each for a range [low, high] of hash
 * values.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/order.h"
#include "query/parts.h"

#define GROUPS_MEMORY (24u << 20)
#define KEY_MAX	      (8u << 20)
#define FIRST_SLOTS   1024

struct group {
	uint64_t hash, count;
	uint32_t len;
	char key[];
};

struct groups {
	const struct cell *cells;
	const struct limits *limits;
	struct hash_seed seed;
	struct arena arena;
	struct group **slots; /* never more than half of them are used */
	size_t nr_slots, n;
	struct buf key;
	uint64_t low, high; /* hash values of this pass */
	struct group **sorted;
	size_t at;     /* in sorted: the row's group, + 1 */
	uint64_t left; /* its remaining rows */
};

static bool make_slots(struct groups *g, size_t nr)
{
	struct group **slots = calloc(nr, sizeof(struct group *));

	if (!slots)
		return false;
	for (size_t i = 0; i < g->nr_slots; i++) {
		struct group *group = g->slots[i];
		size_t at;

		if (!group)
			continue;
		for (at = group->hash & (nr - 1); slots[at]; at = (at + 1) & (nr - 1))
			;
		slots[at] = group;
	}
	free(g->slots);
	g->slots = slots;
	g->nr_slots = nr;
	return true;
}

struct groups *groups_new(const struct cell *cells, const struct limits *l)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->cells = cells;
	g->limits = l;
	g->seed = hash_seed_new();
	g->high = UINT64_MAX;
	arena_init(&g->arena, GROUPS_MEMORY);
	buf_init(&g->key, KEY_MAX);
	if (!make_slots(g, FIRST_SLOTS)) {
		groups_free(g);
		return NULL;
	}
	return g;
}

void groups_free(struct groups *g)
{
	if (!g)
		return;
	arena_free(&g->arena);
	buf_free(&g->key);
	free(g->slots);
	free(g->sorted);
	free(g);
}

/* ---- keys ---- */

static void put_value(struct buf *key, const struct cell_value *v)
{
	const uint32_t len = (uint32_t)v->len;

	if (!buf_room(key, 1 + sizeof(v->number)))
		return;
	key->data[key->len++] = (char)v->type;
	if (v->type == VALUE_NUMBER) {
		memcpy(key->data + key->len, &v->number, sizeof(v->number));
		key->len += sizeof(v->number);
	} else if (v->type == VALUE_TEXT) {
		memcpy(key->data + key->len, &len, sizeof(len));
		key->len += sizeof(len);
		buf_put(key, v->text, v->len);
	}
}

/* Reads the value at a place of a key and returns the next one's. */
static const char *get_value(const char *key, struct cell_value *v)
{
	uint32_t len;

	*v = (struct cell_value){.type = (enum value_type) * key++};
	if (v->type == VALUE_NUMBER) {
		memcpy(&v->number, key, sizeof(v->number));
		key += sizeof(v->number);
	} else if (v->type == VALUE_TEXT) {
		memcpy(&len, key, sizeof(len));
		v->text = key + sizeof(len);
		v->len = len;
		key = v->text + len;
	}
	return key;
}

/* ---- adding ---- */

struct key {
	uint64_t hash;
	const char *data;
	uint32_t len;
};

static enum groups_result new_group(struct groups *g, const struct key *k, uint64_t count,
				    size_t at)
{
	struct group *group;

	if (g->n >= g->limits->most_groups)
		return GROUPS_FULL;
	group = arena_alloc(&g->arena, sizeof(*group) + k->len);
	if (!group)
		return GROUPS_FULL;
	group->hash = k->hash;
	group->count = count;
	group->len = k->len;
	memcpy(group->key, k->data, k->len);
	g->slots[at] = group;
	g->n++;
	if (g->n * 2 > g->nr_slots && !make_slots(g, g->nr_slots * 2))
		return GROUPS_NO_MEMORY;
	return GROUPS_OK;
}

static inline enum groups_result count(struct groups *g, const struct key *k, uint64_t more)
{
	for (size_t at = k->hash & (g->nr_slots - 1);; at = (at + 1) & (g->nr_slots - 1)) {
		struct group *group = g->slots[at];

		if (!group)
			return new_group(g, k, more, at);
		if (group->hash == k->hash && group->len == k->len &&
		    memcmp(group->key, k->data, k->len) == 0) {
			group->count += more;
			return GROUPS_OK;
		}
	}
}

enum groups_result groups_add(struct groups *g, struct reader *rd, struct event *e,
			      const struct spur_record *r)
{
	struct key k;

	buf_reset(&g->key);
	for (int i = 0; i < g->limits->nr_group; i++) {
		struct cell_value v;

		reader_get(rd, &g->cells[g->limits->group[i]], e, r, &v);
		put_value(&g->key, &v);
	}
	if (buf_full(&g->key))
		return GROUPS_NO_MEMORY;
	k = (struct key){hash_bytes(&g->seed, g->key.data, g->key.len), g->key.data,
			 (uint32_t)g->key.len};
	return k.hash < g->low || k.hash > g->high ? GROUPS_OK : count(g, &k, 1);
}

/* ---- parts ---- */

struct groups *groups_part(const struct groups *whole)
{
	struct groups *g = groups_new(whole->cells, whole->limits);

	if (g)
		g->seed = whole->seed;
	return g;
}

enum groups_result groups_join(struct groups *g, const struct groups *part)
{
	enum groups_result got = GROUPS_OK;

	for (size_t i = 0; got == GROUPS_OK && i < part->nr_slots; i++) {
		const struct group *group = part->slots[i];

		if (group)
			got = count(g, &(struct key){group->hash, group->key, group->len},
				    group->count);
	}
	return got;
}

/* ---- several passes ---- */

void groups_clear(struct groups *g)
{
	arena_free(&g->arena);
	arena_init(&g->arena, GROUPS_MEMORY);
	memset(g->slots, 0, g->nr_slots * sizeof(struct group *));
	free(g->sorted);
	g->sorted = NULL;
	g->n = g->at = 0;
	g->left = 0;
}

bool groups_shrink(struct groups *g)
{
	struct arena before = g->arena;

	if (g->high == g->low)
		return false;
	g->high = g->low + (g->high - g->low) / 2;
	arena_init(&g->arena, GROUPS_MEMORY);
	g->n = 0;
	for (size_t i = 0; i < g->nr_slots; i++) {
		struct group *group = g->slots[i];
		const size_t size = group ? sizeof(*group) + group->len : 0;

		g->slots[i] = NULL;
		if (!group || group->hash > g->high)
			continue;
		g->slots[i] = arena_alloc(&g->arena, size);
		if (g->slots[i]) {
			memcpy(g->slots[i], group, size);
			g->n++;
		}
	}
	arena_free(&before);
	/* The remaining groups are inserted again, because their slots depend on the hash. */
	return make_slots(g, g->nr_slots);
}

bool groups_more(const struct groups *g)
{
	return g->high != UINT64_MAX;
}

void groups_again(struct groups *g)
{
	groups_clear(g);
	g->low = g->high + 1;
	g->high = UINT64_MAX;
}

/* ---- rows ---- */

/* In SQLite's order of values. */
static int compare_values(const struct cell_value *a, const struct cell_value *b)
{
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->type == VALUE_NUMBER)
		return a->number < b->number ? -1 : a->number > b->number;
	return a->type == VALUE_TEXT ? order_texts(a->text, a->len, b->text, b->len) : 0;
}

static int compare_groups(const void *a, const void *b, void *limits)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;
	const struct limits *l = limits;
	const char *p = x->key, *q = y->key;
	int order = 0;

	for (int i = 0; order == 0 && i < l->nr_group; i++) {
		struct cell_value v, w;

		p = get_value(p, &v);
		q = get_value(q, &w);
		order = l->descends[i] ? compare_values(&w, &v) : compare_values(&v, &w);
	}
	return order;
}

void groups_sort(struct groups *g)
{
	size_t n = 0;

	free(g->sorted);
	g->sorted = calloc(g->n + 1, sizeof(struct group *));
	g->at = 0;
	g->left = 0;
	for (size_t i = 0; g->sorted && i < g->nr_slots; i++)
		if (g->slots[i])
			g->sorted[n++] = g->slots[i];
	if (n)
		qsort_r(g->sorted, n, sizeof(struct group *), compare_groups, (void *)g->limits);
}

bool groups_next(struct groups *g, bool once)
{
	if (g->left) {
		g->left--;
		return true;
	}
	if (!g->sorted || g->at >= g->n)
		return false;
	g->left = once || g->limits->once ? 0 : g->sorted[g->at]->count - 1;
	g->at++;
	return true;
}

int64_t groups_count(const struct groups *g)
{
	return (int64_t)g->sorted[g->at - 1]->count;
}

bool groups_value(const struct groups *g, int column, struct cell_value *v)
{
	const char *key = g->sorted[g->at - 1]->key;

	for (int i = 0; i < g->limits->nr_group; i++) {
		key = get_value(key, v);
		if (g->limits->group[i] == column)
			return true;
	}
	return false;
}
