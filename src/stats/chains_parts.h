/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of struct call_chains share; private to chains*.c.
 *
 *	stack	functions a task is in, the outermost first
 *	chain	a node of the tree of chains: a function or an event; below it are its callers
 *
 * A function is its name, compared by address: each symbol and each event has a name of its own,
 * whatever it says. NULL is a function without a symbol.
 */
#ifndef STATS_CHAINS_PARTS_H
#define STATS_CHAINS_PARTS_H

#include "stats/chains.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "event/names.h"

#define NO_TASK	   (-1)
#define MAX_FRAMES 10000 /* of a stack; a machine's has fewer, a hostile file's may not */

struct stack {
	int pid;
	const char **frames;
	size_t n, cap;

	/* Among those of other tasks, the newest first; next also chains unused ones. */
	struct stack *next, *prev;
	struct stack *below; /* the next older one of the same task */
};

struct chain {
	struct chain *same; /* of equal hash */
	const struct chain *callee;
	const char *func; /* NULL: unknown, or the root of a task */
	struct chain *callers;
	struct chain *sibling;	/* another caller of the same callee */
	struct chain *top_next; /* another chain that is shown by itself */
	struct chain *next;	/* another node of the tree */
	uint64_t count;
	size_t nr_callers;
	size_t rank; /* while sorting: where it stood before */
	int pid;
	bool event;
};

struct chain_tree {
	struct arena arena;
	struct hash_seed seed;
	struct map nodes, roots;
	struct chain *all; /* but the roots */
	struct chain *tops;
	size_t nr_tops;
	struct chain *root; /* found last */
	uint64_t total;	    /* chains counted */
	uint64_t dropped;
};

/* Notes that say the same of a task, one after the other. */
struct name_run {
	struct name_run *older;
	const char *name; /* NUL-terminated */
	size_t len;
	uint64_t notes;
};

struct task_name {
	struct task_name *next;
	struct name_run *newest;
	uint64_t notes;
	uint64_t first; /* among all notes by pid, once these have been sorted */
	int pid;
};

struct task_names {
	struct arena arena;
	struct map by_pid;
	struct task_name *all;
	size_t nr;
	uint64_t notes;
	bool settled;
};

void names_init(struct task_names *n, size_t memory_limit);
void names_free(struct task_names *n);

/* Notes that a task has this name. */
void names_note(struct task_names *n, int pid, const char *name, size_t len);

/* To be called before names are looked up, each time when there may be new notes. */
bool names_settle(struct task_names *n);
const char *names_find(const struct task_names *n, int pid);

void tree_init(struct chain_tree *t, size_t memory_limit);
void tree_free(struct chain_tree *t);

/* Counts a chain: the last function, which is an event or not, called by the one before, … */
void tree_count(struct chain_tree *t, int pid, const char *const *frames, size_t n, bool event);

/* Sorts by count; of equals the newest first, unless they have been sorted before. */
bool tree_sort(struct chain_tree *t);

/* names NULL: tasks are not told apart. */
void tree_print(const struct chain_tree *t, const struct task_names *names, struct buf *out);

#endif
