// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/tasktable.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct task *task_table_find(const struct task_table *t, int32_t pid)
{
	const size_t place = (size_t)(uintptr_t)map_get(&t->places, (uint32_t)pid);

	return place ? &t->at[place - 1] : NULL;
}

struct task *task_table_get(struct task_table *t, int32_t pid)
{
	struct task *task = task_table_find(t, pid);

	if (task)
		return task;
	task = vec_push(t);
	if (!task)
		return NULL;
	if (!map_set(&t->places, (uint32_t)pid, (void *)(uintptr_t)t->n)) {
		t->n--;
		return NULL;
	}
	task->pid = pid;
	return task;
}

void task_table_free(struct task_table *t)
{
	map_free(&t->places);
	vec_free(t);
}

void task_set_name(struct task *t, const char *name, size_t len)
{
	len = len < TASK_COMM ? len : TASK_COMM - 1;
	memset(t->name, 0, sizeof(t->name));
	for (size_t i = 0; i < len; i++)
		t->name[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
}

/* ---- changes ---- */

static bool create(struct task_table *t, const struct task_change *c)
{
	const struct task *by = task_table_find(t, c->other);
	const int32_t tgid = by ? by->tgid : 0, ppid = by ? by->ppid : 0;
	struct task *task = task_table_get(t, c->pid);

	if (!task)
		return false;
	task->dead = false;
	task->tgid = c->flags & CLONE_THREAD ? tgid : c->pid;
	task->ppid = c->flags & (CLONE_THREAD | CLONE_PARENT) ? ppid : tgid;
	task_set_name(task, c->name, strlen(c->name));
	return true;
}

static bool rename_task(struct task_table *t, const struct task_change *c)
{
	struct task *task = task_table_get(t, c->pid), before;

	if (!task)
		return false;
	before = *task;
	task->dead = false;
	task_set_name(task, c->name, strlen(c->name));
	return strcmp(before.name, task->name) != 0;
}

/* The thread that executes a program becomes the first of its process; all others have ended. */
static bool execute(struct task_table *t, const struct task_change *c)
{
	struct task *old = task_table_find(t, c->other), *task = task_table_get(t, c->pid);
	bool changed;

	if (!task)
		return false;
	if (old && c->other != c->pid)
		old->dead = true;
	changed = task->tgid != c->pid;
	task->dead = false;
	task->tgid = c->pid;
	return changed;
}

bool task_table_apply(struct task_table *t, const struct task_change *c)
{
	struct task *task;

	switch (c->kind) {
	case TASK_IS_NEW: return create(t, c);
	case TASK_IS_RENAMED: return rename_task(t, c);
	case TASK_EXECUTES: return execute(t, c);
	default: break;
	}
	task = task_table_find(t, c->pid);
	if (task)
		task->dead = true;
	return false;
}

void task_table_drop_dead(struct task_table *t)
{
	struct task_table living = {0};

	vec_each (task, t) {
		struct task *kept = task->dead ? NULL : task_table_get(&living, task->pid);

		if (kept)
			*kept = *task;
		else if (!task->dead) {
			task_table_free(&living);
			return;
		}
	}
	task_table_free(t);
	*t = living;
}
