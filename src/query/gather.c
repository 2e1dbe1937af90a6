// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of a derived table, sorted into groups while they are made. SQLite would sort the rows
 * themselves, which takes longer than making them.
 *
 * A row is stored as the columns that the statement uses, eight bytes each: those of the group
 * once, the others in the group's blocks, in the order in which the rows came. Texts are not
 * copied, so the analysis must not be freed before this.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "query/parts.h"
#include "table/table.h"

#define FIRST_SLOTS 1024
#define FIRST_ROWS  4	 /* of a group's first block; each further one is twice as large, … */
#define MOST_ROWS   1024 /* … up to this */

union gathered {
	int64_t number;
	const char *text;
};

struct block {
	struct block *next;
	uint32_t n, cap; /* rows */
	union gathered values[];
};

struct pile {
	uint64_t hash, n; /* n rows */
	struct block *first, *last;
	union gathered key[];
};

struct gather {
	const struct table *table;
	const struct limits *limits;
	int nr_key, nr_rest;
	struct hash_seed seed;
	struct arena arena;
	struct pile **slots; /* never more than half of them are used */
	size_t nr_slots, n;
	struct pile **sorted;
	/* The current row: in sorted, in the block, and how many rows of the pile follow. */
	size_t at;
	const struct block *block;
	uint32_t row;
	uint64_t left;
};

static const struct column *column_of(const struct gather *g, int i)
{
	return &g->table->columns[g->limits->group[i]];
}

static union gathered read_value(const struct column *c, const void *row)
{
	return row_is_text(c) ? (union gathered){.text = row_text(c, row)}
			      : (union gathered){.number = row_number(c, row)};
}

struct gather *gather_new(const struct table *t, const struct limits *l, size_t memory)
{
	struct gather *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->table = t;
	g->limits = l;
	g->nr_key = l->nr_key;
	g->nr_rest = l->nr_group - l->nr_key;
	g->seed = hash_seed_new();
	arena_init(&g->arena, memory);
	g->nr_slots = FIRST_SLOTS;
	g->slots = calloc(g->nr_slots, sizeof(struct pile *));
	if (g->slots)
		return g;
	gather_free(g);
	return NULL;
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	arena_free(&g->arena);
	free(g->slots);
	free(g->sorted);
	free(g);
}

/* ---- adding ---- */

static bool grow_slots(struct gather *g)
{
	const size_t nr = g->nr_slots * 2;
	struct pile **slots = calloc(nr, sizeof(struct pile *));

	if (!slots)
		return false;
	for (size_t i = 0; i < g->nr_slots; i++) {
		struct pile *p = g->slots[i];
		size_t at = p ? p->hash & (nr - 1) : 0;

		while (p && slots[at])
			at = (at + 1) & (nr - 1);
		if (p)
			slots[at] = p;
	}
	free(g->slots);
	g->slots = slots;
	g->nr_slots = nr;
	return true;
}

static uint64_t hash_key(const struct gather *g, const union gathered *key)
{
	uint64_t hash = 0;

	for (int i = 0; i < g->nr_key; i++) {
		const bool bytes = row_is_text(column_of(g, i)) && key[i].text;

		hash = hash_add(&g->seed, hash,
				bytes ? hash_bytes(&g->seed, key[i].text, strlen(key[i].text))
				      : (uint64_t)key[i].number);
	}
	return hash;
}

static bool same_key(const struct gather *g, const union gathered *a, const union gathered *b)
{
	for (int i = 0; i < g->nr_key; i++) {
		if (a[i].number == b[i].number)
			continue;
		if (!row_is_text(column_of(g, i)) || !a[i].text || !b[i].text ||
		    strcmp(a[i].text, b[i].text) != 0)
			return false;
	}
	return true;
}

/* The pile of a key; NULL: there is no memory for another one. */
static struct pile *find_pile(struct gather *g, const union gathered *key)
{
	const uint64_t hash = hash_key(g, key);
	const size_t size = (size_t)g->nr_key * sizeof(*key);
	size_t at = hash & (g->nr_slots - 1);
	struct pile *p;

	for (; (p = g->slots[at]) != NULL; at = (at + 1) & (g->nr_slots - 1))
		if (p->hash == hash && same_key(g, p->key, key))
			return p;
	p = arena_alloc(&g->arena, sizeof(*p) + size);
	if (!p)
		return NULL;
	*p = (struct pile){.hash = hash};
	memcpy(p->key, key, size);
	g->slots[at] = p;
	g->n++;
	return g->n * 2 <= g->nr_slots || grow_slots(g) ? p : NULL;
}

/* The place of another row in a pile; NULL without memory. */
static union gathered *add_row(struct gather *g, struct pile *p)
{
	struct block *b = p->last;

	if (!b || b->n == b->cap) {
		const uint32_t cap = !b ? FIRST_ROWS : b->cap < MOST_ROWS ? b->cap * 2 : MOST_ROWS;

		b = arena_alloc(&g->arena,
				sizeof(*b) + (size_t)cap * g->nr_rest * sizeof(union gathered));
		if (!b)
			return NULL;
		*b = (struct block){.cap = cap};
		if (p->last)
			p->last->next = b;
		else
			p->first = b;
		p->last = b;
	}
	return b->values + (size_t)b->n++ * g->nr_rest;
}

bool gather_add(struct gather *g, const void *row)
{
	union gathered key[MAX_GROUP_CELLS], *rest;
	struct pile *p;

	for (int i = 0; i < g->nr_key; i++)
		key[i] = read_value(column_of(g, i), row);
	p = find_pile(g, key);
	if (!p)
		return false;
	p->n++;
	if (!g->nr_rest)
		return true;
	rest = add_row(g, p);
	for (int i = 0; rest && i < g->nr_rest; i++)
		rest[i] = read_value(column_of(g, g->nr_key + i), row);
	return rest != NULL;
}

/* ---- rows ---- */

/* In SQLite's order of values: what is not known comes first, and ROW_NULL is the least number. */
static int compare_values(const struct column *c, const union gathered *a, const union gathered *b)
{
	if (!row_is_text(c))
		return a->number < b->number ? -1 : a->number > b->number;
	return a->text && b->text ? strcmp(a->text, b->text)
				  : (a->text != NULL) - (b->text != NULL);
}

static int compare_piles(const void *a, const void *b, void *gather)
{
	const struct pile *x = *(struct pile *const *)a, *y = *(struct pile *const *)b;
	const struct gather *g = gather;
	int order = 0;

	for (int i = 0; order == 0 && i < g->nr_key; i++) {
		order = compare_values(column_of(g, i), &x->key[i], &y->key[i]);
		order = g->limits->descends[i] ? -order : order;
	}
	return order;
}

bool gather_sort(struct gather *g)
{
	size_t n = 0;

	g->sorted = calloc(g->n + 1, sizeof(struct pile *));
	for (size_t i = 0; g->sorted && i < g->nr_slots; i++)
		if (g->slots[i])
			g->sorted[n++] = g->slots[i];
	if (n)
		qsort_r(g->sorted, n, sizeof(struct pile *), compare_piles, g);
	return g->sorted != NULL;
}

bool gather_next(struct gather *g)
{
	const struct pile *p;

	if (g->left) {
		g->left--;
		if (g->nr_rest && ++g->row == g->block->n) {
			g->block = g->block->next;
			g->row = 0;
		}
		return true;
	}
	if (g->at >= g->n)
		return false;
	p = g->sorted[g->at++];
	/* If other columns differ within a group, each row has to be returned. */
	g->left = g->limits->once && !g->nr_rest ? 0 : p->n - 1;
	g->block = p->first;
	g->row = 0;
	return true;
}

bool gather_value(const struct gather *g, int column, int64_t *number, const char **text)
{
	const union gathered *from = g->sorted[g->at - 1]->key;
	int i = 0;

	while (i < g->limits->nr_group && g->limits->group[i] != column)
		i++;
	if (i == g->limits->nr_group)
		return false;
	if (i >= g->nr_key)
		from = g->block->values + (size_t)g->row * g->nr_rest - g->nr_key;
	if (row_is_text(column_of(g, i)))
		*text = from[i].text;
	else
		*number = from[i].number;
	return true;
}
