// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of tasks for the histogram of chains.
 *
 * A task may have had several names: forked under its parent's, then a program's. libtraceevent
 * notes a name with every scheduler event, sorts all notes by pid, and later finds one of a task's
 * by bisection: which of them, depends on how many notes there are of all tasks. As people compare
 * this text the same one is found here, from the numbers of notes alone. When notes are looked up
 * for the first time those there are stay, and tasks without any get one.
 */
#include "stats/chains_parts.h"

#include <stdlib.h>
#include <string.h>

void names_init(struct task_names *n, size_t memory_limit)
{
	*n = (struct task_names){0};
	arena_init(&n->arena, memory_limit);
}

void names_free(struct task_names *n)
{
	map_free(&n->by_pid);
	arena_free(&n->arena);
}

static struct task_name *add_task(struct task_names *n, int pid)
{
	struct task_name *t = arena_alloc(&n->arena, sizeof(*t));

	if (!t || !map_set(&n->by_pid, (uint32_t)pid, t))
		return NULL;
	t->pid = pid;
	t->next = n->all;
	n->all = t;
	n->nr++;
	return t;
}

void names_note(struct task_names *n, int pid, const char *name, size_t len)
{
	struct task_name *t = map_get(&n->by_pid, (uint32_t)pid);
	struct name_run *run = t ? t->newest : NULL;

	if (t && n->settled)
		return;
	if (!run || run->len != len || memcmp(run->name, name, len) != 0) {
		t = t ? t : add_task(n, pid);
		run = t ? arena_alloc(&n->arena, sizeof(*run)) : NULL;
		if (run)
			run->name = arena_strndup(&n->arena, name, len);
		if (!run || !run->name)
			return;
		run->len = len;
		run->older = t->newest;
		t->newest = run;
	}
	run->notes++;
	t->notes++;
}

static int by_pid(const void *a, const void *b)
{
	const struct task_name *x = *(struct task_name *const *)a;
	const struct task_name *y = *(struct task_name *const *)b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

bool names_settle(struct task_names *n)
{
	struct task_name **sorted = calloc(n->nr + 1, sizeof(struct task_name *));
	size_t i = 0;

	if (!sorted)
		return false;
	for (struct task_name *t = n->all; t; t = t->next)
		sorted[i++] = t;
	if (n->nr > 1)
		qsort(sorted, n->nr, sizeof(*sorted), by_pid);
	n->notes = 0;
	for (i = 0; i < n->nr; i++) {
		sorted[i]->first = n->notes;
		n->notes += sorted[i]->notes;
	}
	free(sorted);
	n->settled = true;
	return true;
}

/* The note of the task that a bisection of all notes meets, counted from the task's newest. */
static uint64_t bisect(const struct task_names *n, const struct task_name *t)
{
	uint64_t low = 0, high = n->notes;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (mid < t->first)
			low = mid + 1;
		else if (mid - t->first >= t->notes)
			high = mid;
		else
			return mid - t->first;
	}
	return 0;
}

const char *names_find(const struct task_names *n, int pid)
{
	const struct task_name *t = map_get(&n->by_pid, (uint32_t)pid);
	const struct name_run *run = t ? t->newest : NULL;
	uint64_t number;

	if (!pid)
		return "<idle>";
	if (!run)
		return "<...>";
	number = bisect(n, t);
	while (number >= run->notes && run->older) {
		number -= run->notes;
		run = run->older;
	}
	return run->name;
}
