// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of chains. Every task has a root, below which are the functions and events that ended
 * its chains, below each its callers, and so on outwards. New nodes go to the front of their
 * lists.
 *
 * A node without a function is taken for a root: what it calls for is counted as a chain of its
 * own, although it is only a function nobody knows. So does trace-cmd, whose counts these are.
 */
#include "stats/chains_parts.h"

#include <stdlib.h>

#define MEMORY_LIMIT (512u << 20)

void tree_init(struct chain_tree *t, size_t memory_limit)
{
	*t = (struct chain_tree){.seed = hash_seed_new()};
	arena_init(&t->arena, memory_limit ? memory_limit : MEMORY_LIMIT);
}

void tree_free(struct chain_tree *t)
{
	map_free(&t->nodes);
	map_free(&t->roots);
	arena_free(&t->arena);
}

static struct chain *root_of(struct chain_tree *t, int pid)
{
	struct chain *root = t->root;

	if (root && root->pid == pid)
		return root;
	root = map_get(&t->roots, (uint32_t)pid);
	if (!root) {
		root = arena_alloc(&t->arena, sizeof(*root));
		if (!root || !map_set(&t->roots, (uint32_t)pid, root))
			return NULL;
		root->pid = pid;
	}
	return t->root = root;
}

static struct chain *add_caller(struct chain_tree *t, struct chain *callee, const char *func,
				uint64_t key, struct chain *same)
{
	struct chain *c = arena_alloc(&t->arena, sizeof(*c));

	if (!c || !map_set(&t->nodes, key, c))
		return NULL;
	c->same = same;
	c->callee = callee;
	c->func = func;
	c->pid = callee->pid;
	c->next = t->all;
	t->all = c;
	c->sibling = callee->callers;
	callee->callers = c;
	callee->nr_callers++;
	if (!callee->func) {
		c->top_next = t->tops;
		t->tops = c;
		t->nr_tops++;
	}
	return c;
}

static struct chain *caller_of(struct chain_tree *t, struct chain *callee, const char *func,
			       bool event)
{
	uint64_t key =
		hash_add(&t->seed, hash_add(&t->seed, 0, (uintptr_t)callee), (uintptr_t)func);
	struct chain *first = map_get(&t->nodes, key), *c;

	for (c = first; c; c = c->same)
		if (c->callee == callee && c->func == func)
			return c;
	c = add_caller(t, callee, func, key, first);
	if (c)
		c->event = event;
	return c;
}

void tree_count(struct chain_tree *t, int pid, const char *const *frames, size_t n, bool event)
{
	struct chain *c = root_of(t, pid);

	for (; c; c = caller_of(t, c, frames[n], event), event = false) {
		t->total += !c->func;
		c->count++;
		if (!n--)
			return;
	}
	t->dropped++;
}

/* ---- sorting ---- */

static int by_count(const void *a, const void *b)
{
	const struct chain *x = *(struct chain *const *)a, *y = *(struct chain *const *)b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct chain **link_of(struct chain *c, bool tops)
{
	return tops ? &c->top_next : &c->sibling;
}

/* Sorts a list with the help of an array that has room for it. */
static void sort_list(struct chain **list, bool tops, struct chain **sorted)
{
	size_t n = 0;

	for (struct chain *c = *list; c; c = *link_of(c, tops)) {
		c->rank = n;
		sorted[n++] = c;
	}
	if (n > 1)
		qsort(sorted, n, sizeof(*sorted), by_count);
	for (size_t i = 0; i < n; i++) {
		*list = sorted[i];
		list = link_of(sorted[i], tops);
	}
	*list = NULL;
}

bool tree_sort(struct chain_tree *t)
{
	size_t most = t->nr_tops;
	struct chain **sorted;

	for (const struct chain *c = t->all; c; c = c->next)
		if (c->nr_callers > most)
			most = c->nr_callers;
	sorted = calloc(most + 1, sizeof(struct chain *));
	if (!sorted)
		return false;
	sort_list(&t->tops, true, sorted);
	for (struct chain *c = t->all; c; c = c->next)
		sort_list(&c->callers, false, sorted);
	free(sorted);
	return true;
}
