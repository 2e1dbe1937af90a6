// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The columns of an event type's table: what every record has, then the event's own fields, then
 * the buffer. A field that the print format shows by name has a second column with that name.
 *
 * Names of fields are a stranger's words. Those that would collide get something added: SQLite
 * does not tell upper from lower case.
 */
#include "table/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "event/plan.h"

#define MAX_CELLS 1900 /* SQLite has a limit of 2000 */
#define MAX_NAME  200
#define MAX_DEPTH 64 /* of print formats' expressions that are looked through */

static const struct {
	const char *name;
	enum cell_kind kind;
	const char *about;
} usual[] =
	{
		{"ts", CELL_TS, "time in nanoseconds"},
		{"cpu", CELL_CPU, "CPU it was recorded on"},
		{"pid", CELL_PID, "task that was running"},
		{"comm", CELL_COMM, "name of that task"},
},
  of_events[] = {
	  {"system", CELL_SYSTEM, "the event's system"},
	  {"event", CELL_EVENT, "the event's name"},
	  {"text", CELL_REPORT, "its text as 'spur report' shows it"},
};

static const char buffer_about[] = "the buffer it was recorded in, '' for the top one";

static bool taken(const struct cells *cells, const char *name)
{
	/* The last column's name is taken from the start. */
	if (strcasecmp(name, "buffer") == 0)
		return true;
	vec_each (c, cells)
		if (strcasecmp(c->name, name) == 0)
			return true;
	return false;
}

static int add(struct cells *cells, const char *name, const struct cell *like)
{
	struct cell *c;
	char *copy;

	copy = strdup(name);
	c = copy ? vec_push(cells) : NULL;
	if (!c) {
		free(copy);
		return -ENOMEM;
	}
	*c = *like;
	c->name = copy;
	return 0;
}

/* args_NAME for a field that is called as what every record has, NAME_2 for other doubles. */
static int add_field(struct cells *cells, const char *name, const char *behind,
		     const struct cell *like)
{
	char text[MAX_NAME + 48];

	if (cells->n >= MAX_CELLS)
		return 0;
	snprintf(text, sizeof(text), "%.*s%s", MAX_NAME, *name ? name : "field", behind);
	if (taken(cells, text))
		snprintf(text, sizeof(text), "args_%.*s%s", MAX_NAME, name, behind);
	for (unsigned int i = 2; taken(cells, text); i++)
		snprintf(text, sizeof(text), "%.*s%s_%u", MAX_NAME, name, behind, i);
	return add(cells, text, like);
}

/* ---- what the print format says about a field ---- */

/* Fields of ftrace's own events and of probes hold addresses whatever their format says. */
static bool known_address(const struct event *e, const struct event_field *f)
{
	static const char *const of_ftrace[] = {"ip", "parent_ip", "func", NULL};
	static const char *const of_probes[] = {"__probe_ip", "__probe_func", "__probe_ret_ip",
						NULL};
	const char *const *list = strcmp(e->system, "ftrace") == 0 ? of_ftrace : of_probes;

	while (*list && strcmp(*list, f->name) != 0)
		list++;
	return *list;
}

static bool is_function(const struct event *e, const struct event_field *f)
{
	if (f->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC) ||
	    (f->size != 4 && f->size != 8))
		return false;
	for (uint32_t i = 0; e->plan && !e->plan->printk && i < e->plan->nr_ops; i++) {
		const struct plan_op *op = &e->plan->ops[i];
		const struct expr *arg = op->arg;

		if (op->kind != PLAN_POINTER || !op->spec ||
		    !strchr("sSfF", op->spec->text[op->spec->pointer]) ||
		    !op->spec->text[op->spec->pointer])
			continue;
		for (int depth = 0; arg && arg->kind == EXPR_CAST && depth < MAX_DEPTH; depth++)
			arg = arg->cast.item;
		if (arg && arg->kind == EXPR_FIELD && arg->field.at == f)
			return true;
	}
	return known_address(e, f);
}

static enum cell_kind kind_of(const struct event_field *f)
{
	if (f->flags & FIELD_STRING)
		return CELL_STRING;
	if (f->flags & (FIELD_ARRAY | FIELD_DYNAMIC))
		return CELL_ARRAY;
	return f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8 ? CELL_NUMBER
									    : CELL_ARRAY;
}

static int add_event_field(struct cells *cells, struct event *e, const struct event_field *f)
{
	struct cell like = {.kind = kind_of(f), .field = f, .about = f->type};
	int rc = add_field(cells, f->name, "", &like);

	if (like.kind == CELL_NUMBER)
		like.names = naming_find(e, f);
	if (rc == 0 && like.names.nr) {
		like.kind = CELL_NAMED;
		like.about = "the same by name";
		rc = add_field(cells, f->name, "_name", &like);
	} else if (rc == 0 && like.kind == CELL_NUMBER && is_function(e, f)) {
		like.kind = CELL_SYMBOL;
		like.about = "the function at that address";
		rc = add_field(cells, f->name, "_sym", &like);
	}
	return rc;
}

int cells_make(struct cells *cells, struct event *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(usual) / sizeof(usual[0]); i++)
		rc = add(cells, usual[i].name,
			 &(struct cell){.kind = usual[i].kind, .about = usual[i].about});
	for (size_t i = 0; !e && rc == 0 && i < sizeof(of_events) / sizeof(of_events[0]); i++)
		rc = add(cells, of_events[i].name,
			 &(struct cell){.kind = of_events[i].kind, .about = of_events[i].about});
	if (e && event_ready(e) != EVENT_BROKEN)
		for (uint32_t i = e->nr_common; rc == 0 && i < e->nr_fields; i++)
			rc = add_event_field(cells, e, &e->fields[i]);
	return rc < 0 ? rc
		      : add(cells, "buffer",
			    &(struct cell){.kind = CELL_BUFFER, .about = buffer_about});
}

void cells_free(struct cells *cells)
{
	vec_each (c, cells)
		free(c->name);
	vec_free(cells);
}

bool cell_is_text(const struct cell *c)
{
	return c->kind != CELL_TS && c->kind != CELL_CPU && c->kind != CELL_PID &&
	       c->kind != CELL_NUMBER;
}
