/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builtin printers: events whose text is not what their print format says, either because
 * trace-cmd's users are used to a shorter form (sched_switch) or because the format cannot say it
 * (function_graph's tree, stacks). One table entry and one function each.
 */
#ifndef EVENT_HANDLER_H
#define EVENT_HANDLER_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/record.h>

#include "base/buf.h"
#include "event/event.h"

struct event_handler {
	const char *system;
	const char *name;
	/* The fields that print() reads: e->handler_data is a struct bound_field for each. */
	const char *const *fields;
	size_t nr_fields;
	/*
	 * Instead of `fields`: looks up the fields once and returns what print() needs, out of the
	 * registry's arena. Returning NULL leaves the event to its print format.
	 */
	void *(*bind)(struct events *ev, struct event *e);
	/*
	 * Appends the text. False: nothing was appended, use the print format after all. A text may
	 * end in a newline (stacks do); the caller removes one.
	 */
	bool (*print)(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out);
	/* Learns the names of tasks that print() would learn, without a text. May be NULL. */
	void (*learn)(struct event_printer *p, const struct event *e, const struct spur_record *r);
	/* It uses the record that follows, whatever it is: that record must not be filtered out. */
	bool looks_ahead;
};

/* The handler for an event, or NULL. Called when the event is parsed. */
const struct event_handler *handler_find(const char *system, const char *name);

/* What the handler's print() needs, or NULL when the event is left to its print format. */
void *handler_bind(const struct event_handler *h, struct event *e);

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

/*
 * Functions of the kernel that print formats call and that libtraceevent's plugins know:
 * jbd2_dev_to_name(), scsi_trace_parse_cdb(), … A print plan looks them up by name.
 *
 * Where the result is shown as text (%s) it is what the function appended to `out`; where it is
 * used as a number it is the returned value, and the text is to be dropped.
 */

enum print_arg_kind {
	/* args[i] is the value of the expression. */
	PRINT_ARG_NUMBER,
	/* args[i] is a pointer to text, NUL-terminated, that lives during the call. */
	PRINT_ARG_STRING,
	/* args[i] is where in the record the expression points (it is __get_dynamic_array() or an
	   array), or PRINT_NO_BYTES. */
	PRINT_ARG_BYTES,
};

#define PRINT_NO_BYTES	    UINT64_MAX
#define PRINT_FUNC_MAX_ARGS 4

struct print_func {
	const char *name;
	unsigned int nr_args;
	enum print_arg_kind args[PRINT_FUNC_MAX_ARGS];
	uint64_t (*call)(struct event_printer *p, const struct spur_record *r, const uint64_t *args,
			 struct buf *out);
};

/* The function of that name (not NUL-terminated), or NULL. */
const struct print_func *print_func_find(const char *name, size_t len);

#endif
