// SPDX-License-Identifier: LGPL-2.1-or-later
/* The list of tables. */
#include "table/table.h"

#include <stdlib.h>
#include <string.h>

#include "table/calls.h"
#include "table/overview.h"
#include "table/sched.h"
#include "table/spans.h"
#include "table/stacks.h"
#include "table/walk.h"

const char *const row_open_names[] = {
	[ROW_WHOLE] = NULL,
	[ROW_OPEN_START] = "start",
	[ROW_OPEN_END] = "end",
	[ROW_OPEN_BOTH] = "both",
};

const struct table *const tables[] = {
	&slices_table,	 &states_table, &wakeups_table, &syscalls_table, &irqs_table,
	&softirqs_table, &block_table,	&calls_table,	&stacks_table,	 &samples_table,
	&tasks_table,	 &cpus_table,	&lost_table,	&files_table,	 NULL,
};

const struct table *table_find(const char *name)
{
	for (const struct table *const *t = tables; *t; t++)
		if (strcmp((*t)->name, name) == 0)
			return *t;
	return NULL;
}

bool table_possible(const struct table *t, const struct spur_trace *trace)
{
	const struct events *ev = trace->events;

	for (const char *const *need = t->needs; need && *need; need++) {
		size_t i = 0;

		while (i < ev->nr && !event_named(ev->list[i], *need))
			i++;
		if (i < ev->nr)
			return true;
	}
	for (size_t i = 0; t->wants && i < ev->nr; i++)
		if (t->wants(ev->list[i]))
			return true;
	return !t->needs;
}

void *table_begin(const struct table *t, const struct table_source *src)
{
	void *analysis = calloc(1, t->analysis_size);

	if (analysis && t->begin(analysis, src) == 0)
		return analysis;
	table_free(t, analysis);
	return NULL;
}

void table_free(const struct table *t, void *analysis)
{
	if (analysis && t->free)
		t->free(analysis);
	free(analysis);
}
