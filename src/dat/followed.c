// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DAT_OPT_FOLLOWED: whose events were recorded, when it was not everybody's. It is text:
 *
 *	1 CHILDREN\n		the version; 1: what these tasks created was followed, too
 *	PID\n			any number of them
 *
 * The kernel records a switch when it is from or to such a task, and other events when such a task
 * writes them. Who ran on a CPU otherwise is not in the file.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "dat/load.h"

#define FOLLOWED_VERSION 1
#define MAX_FOLLOWED	 (1u << 22)

struct pids {
	int32_t *at;
	size_t n, cap;
};

static int by_number(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static bool is_in(const int32_t *pids, size_t n, int32_t pid)
{
	return n && bsearch(&pid, pids, n, sizeof(pid), by_number);
}

bool dat_decode_followed(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_followed *f = &l->d->followed;
	size_t n = 0;

	/* Of a later version nothing is known. */
	if (dat_text_number(c, UINT64_MAX, ' ') != FOLLOWED_VERSION)
		return cursor_left(c) > 0;
	f->children = dat_text_number(c, 1, '\n') != 0;
	f->pids = arena_array(&l->d->arena, cursor_left(c) / 2 + 1, sizeof(*f->pids));
	if (!f->pids)
		return false;
	while (cursor_left(c) > 1 && n < MAX_FOLLOWED)
		f->pids[n++] = (int32_t)dat_text_number(c, INT32_MAX, '\n');
	if (cursor_failed(c))
		return false;
	f->is = true;
	f->nr = n;
	qsort(f->pids, n, sizeof(*f->pids), by_number);
	return true;
}

/* Adds tasks that followed ones have created; whether there were any. */
static bool add_children(const struct dat *d, struct pids *p)
{
	const size_t before = p->n;

	for (size_t i = 0; i < d->nr_tasks; i++) {
		const struct dat_task *t = &d->tasks[i];
		int32_t *slot;

		if (t->kind != DAT_TASK_NEW || is_in(p->at, before, t->pid) ||
		    !(is_in(p->at, before, t->ppid) || is_in(p->at, before, t->tgid)))
			continue;
		slot = vec_push(p);
		if (!slot)
			return false;
		*slot = t->pid;
	}
	qsort(p->at, p->n, sizeof(*p->at), by_number);
	return p->n > before;
}

void dat_find_followed(struct dat_load *l)
{
	struct dat_followed *f = &l->d->followed;
	struct pids p = {0};
	int32_t *all;

	if (!f->is || !f->children || !l->d->nr_tasks)
		return;
	for (size_t i = 0; i < f->nr; i++) {
		int32_t *slot = vec_push(&p);

		if (slot)
			*slot = f->pids[i];
	}
	while (p.n && add_children(l->d, &p))
		;
	all = arena_array(&l->d->arena, p.n + 1, sizeof(*all));
	if (all && p.n > f->nr) {
		memcpy(all, p.at, p.n * sizeof(*all));
		f->pids = all;
		f->nr = p.n;
	}
	vec_free(&p);
}

bool dat_follows(const struct dat *d, int32_t pid)
{
	return !d->followed.is || is_in(d->followed.pids, d->followed.nr, pid);
}
