// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks by pid. The memory of one that was removed holds a pointer to the next such one. */
#include <errno.h>
#include <string.h>

#include "table/sched_parts.h"

void task_set_init(struct task_set *s, size_t task_size)
{
	*s = (struct task_set){.odd = hash_seed_new().a | 1, .task_size = task_size};
	arena_init(&s->arena, (size_t)MAX_TASKS * (task_size + 64));
}

void task_set_free(struct task_set *s)
{
	map_free(&s->by_key);
	arena_free(&s->arena);
}

void *task_set_add(struct task_set *s, int32_t pid, int *failed)
{
	void *task = s->unused;

	if (s->by_key.n >= MAX_TASKS) {
		*failed = *failed ? *failed : -E2BIG;
		return NULL;
	}
	if (task) {
		memcpy(&s->unused, task, sizeof(s->unused));
		memset(task, 0, s->task_size);
	} else {
		task = arena_alloc(&s->arena, s->task_size);
	}
	if (!task || !map_set(&s->by_key, (uint32_t)pid * s->odd, task)) {
		*failed = *failed ? *failed : -ENOMEM;
		return NULL;
	}
	return task;
}

void task_set_remove(struct task_set *s, int32_t pid)
{
	void *task = map_remove(&s->by_key, (uint32_t)pid * s->odd);

	if (!task)
		return;
	s->last = NULL;
	memcpy(task, &s->unused, sizeof(s->unused));
	s->unused = task;
}
