// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "view/ask.h"

static uint64_t key_of(uint32_t buffer, int64_t number)
{
	return (uint64_t)buffer << 32 | (uint32_t)number;
}

int ask_rows_add(struct ask_rows *s, const struct view_row *r)
{
	struct map *of = r->kind == VIEW_CPU_ROW ? &s->cpus : &s->tasks;

	if (r->kind == VIEW_COUNTER_ROW)
		return 0;
	return map_set(of, key_of(r->buffer, r->number), s) ? 0 : -ENOMEM;
}

void ask_rows_free(struct ask_rows *s)
{
	map_free(&s->cpus);
	map_free(&s->tasks);
}

bool ask_rows_have_cpu(const struct ask_rows *s, uint32_t buffer, uint32_t cpu)
{
	return map_get(&s->cpus, key_of(buffer, cpu));
}

bool ask_rows_have_task(const struct ask_rows *s, uint32_t buffer, int64_t pid)
{
	return map_get(&s->tasks, key_of(buffer, pid));
}
