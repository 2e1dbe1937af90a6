// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which files of Parquet have rows of which table. An exported table has the name it has in SQL,
 * but for `losses`; what a trace file is, is in `traces`.
 */
#include <string.h>
#include <strings.h>

#include "table/table.h"
#include "base/vec.h"
#include "query/fleet/columns.h"

#define LOST   "lost"
#define LOSSES "losses"

static const char *const no_events[] = {"traces", LOSSES, "clock_sync", NULL};

bool fleet_is_event(const struct fleet_file *file)
{
	for (size_t i = 0; no_events[i]; i++)
		if (strcasecmp(file->table, no_events[i]) == 0)
			return false;
	return !table_find(file->table);
}

const char *fleet_event_name(const char *table)
{
	const char *colon = strchr(table, ':');

	return colon ? colon + 1 : table;
}

static bool ends_with_event(const char *table, const char *event)
{
	const char *name = fleet_event_name(table);

	return name != table && strcasecmp(name, event) == 0;
}

static enum fleet_match match_event(const struct fleet_file *file, const char *name)
{
	const size_t system = (size_t)(fleet_event_name(name) - name);
	const char *known = file->state == FLEET_GOOD ? file->about->system : "";

	if (strcasecmp(file->table, name) == 0)
		return FLEET_ROWS;
	/* "system:event" always names it, and a file may tell its system. */
	if (ends_with_event(name, file->table))
		return !*known || strncasecmp(known, name, system - 1) == 0 ? FLEET_ROWS
									    : FLEET_NO_ROWS;
	return ends_with_event(file->table, name) ? FLEET_SEVERAL : FLEET_NO_ROWS;
}

enum fleet_match fleet_match(const struct fleet_file *file, const struct fleet_table *t)
{
	bool has;

	if (!file->parquet || !t->name)
		return FLEET_ROWS;
	if (t->kind == FLEET_EVENTS && strcasecmp(t->name, "events") != 0)
		return match_event(file, t->name);
	if (t->kind == FLEET_EVENTS)
		has = fleet_is_event(file);
	else
		has = strcasecmp(file->table, strcasecmp(t->name, LOST) == 0 ? LOSSES : t->name) ==
		      0;
	return has ? FLEET_ROWS : FLEET_NO_ROWS;
}

/* Whether a column is read or limited. */
static bool uses(const struct fleet_question *q, const struct fleet_limits *l, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < q->nr; i++)
		found |= strcasecmp(q->table->columns.at[q->columns[i]].name, name) == 0;
	vec_each (limit, l)
		found |= strcasecmp(q->table->columns.at[limit->column].name, name) == 0;
	return found;
}

void fleet_note_parquet(struct fleet *f, const struct file_list *list,
			const struct fleet_question *q, const struct fleet_limits *l)
{
	const struct query_options *o = &f->query->opt;
	const char *text = NULL;
	bool any = false;

	if (!o->note || f->noted == f->query->statement)
		return;
	if (strcasecmp(q->table->name, "events") == 0 && uses(q, l, "text")) {
		for (size_t i = 0; i < list->n; i++)
			any |= f->files.at[list->at[i]].parquet;
		text = "Parquet has no texts of events: the column text is NULL in its rows";
	} else if (strcasecmp(q->table->name, "files") == 0) {
		vec_each (file, &f->files)
			any |= file->parquet;
		text = "files has no rows of Parquet: ask traces for them";
	}
	if (!any)
		return;
	f->noted = f->query->statement;
	o->note(o->arg, text);
}
