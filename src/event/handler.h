/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builtin printers: events whose text is not what their print format says, either because
 * trace-cmd's users are used to a shorter form (sched_switch) or because the format cannot say it
 * (function_graph's tree, stacks). One table entry and one function each.
 */
#ifndef EVENT_HANDLER_H
#define EVENT_HANDLER_H

#include "event/event.h"

struct event_handler {
	const char *system;
	const char *name;
	/*
	 * Looks up the fields once and returns what print() needs, out of the registry's arena.
	 * Returning NULL leaves the event to its print format.
	 */
	void *(*bind)(struct events *ev, struct event *e);
	/*
	 * Appends the text. False: nothing was appended, use the print format after all. A text may
	 * end in a newline (stacks do); the caller removes one.
	 */
	bool (*print)(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out);
	/* It looks at the record that follows, whatever that is: nothing may be left out before. */
	bool looks_ahead;
};

/* The handler for an event, or NULL. Called when the event is parsed. */
const struct event_handler *handler_find(const char *system, const char *name);

/*
 * Adds the events that have no format file although their records are in the trace: the blk
 * tracer's. To be called when all format files have been added, before events_seal().
 */
int handler_add_events(struct events *ev, struct spur_error *err);

/*
 * The function tracer's call stacks of a printer. They depend on all function events before, so a
 * part of a trace is printed right only by a printer that went through what comes before it.
 */
void function_stacks_free(struct function_stacks *s);

/* Whether the printer has indented anything by them. */
bool function_stacks_used(const struct event_printer *p);

/* Moves the stacks over an event without printing it. Other events than functions are ignored. */
void function_stacks_track(struct event_printer *p, struct event *e, const struct spur_record *r);

/* Replaces p's stacks by a copy of those of `from`. False without memory. */
bool function_stacks_copy(struct event_printer *p, const struct event_printer *from);

#endif
