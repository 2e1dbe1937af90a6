/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the builtin printers share: how they bind to an event's fields and read them.
 *
 * A printer names its fields in a table; the names become places once, and print() reads by index.
 * Numbers are read without their sign, as libtraceevent's plugins do: a pid of -1
 * shows as 4294967295.
 *
 * A plugin that misses a field says so in its text, and the event's print format follows. The
 * functions here do the same.
 *
 * Private to src/event.
 */
#ifndef EVENT_HANDLERS_HANDLERS_H
#define EVENT_HANDLERS_HANDLERS_H

#include "base/array.h"
#include "event/event.h"
#include "event/format.h"
#include "event/handler.h"
#include "event/names.h"

/* The large groups of printers; each array ends with an entry without a name. */
extern const struct event_handler sched_handlers[];
extern const struct event_handler function_handlers[];
extern const struct event_handler fgraph_handlers[];
extern const struct event_handler stack_handlers[];
extern const struct event_handler kvm_handlers[];

struct bound_field {
	const char *name;
	const struct event_field *field; /* NULL: the event has no such field */
	uint32_t offset;
	uint32_t size; /* 1, 2, 4 or 8 when it is a number, else 0 */
};

struct bound_field handler_bind_field(const struct event *e, const char *name);

/* Binds n fields in the registry's arena; NULL without memory. Missing fields do not matter. */
struct bound_field *handler_bind_fields(const struct event *e, const char *const *names, size_t n);

/* A row of a table of printers. */
#define HANDLER(in, called, names, printer)                                                        \
	{                                                                                          \
		.system = (in), .name = (called), .fields = (names),                               \
		.nr_fields = ARRAY_SIZE(names), .print = (printer)                                 \
	}

/* Reads a number; false when there is no such field or it is none. */
static inline bool bound_get(const struct events *ev, const struct bound_field *b,
			     const struct spur_record *r, uint64_t *value)
{
	*value = 0;
	if (!b->size)
		return false;
	*value = record_uint(ev, r, b->offset, b->size);
	return true;
}

/* Says in the text why a field could not be read. Always false. */
bool bound_missing(const struct bound_field *b, struct buf *out);

/* Reads a number, or says what is wrong. */
static inline bool bound_need(const struct events *ev, const struct bound_field *b,
			      const struct spur_record *r, uint64_t *value, struct buf *out)
{
	return bound_get(ev, b, r, value) || bound_missing(b, out);
}

/* The same with the words used where a number is only shown. */
bool bound_show(const struct events *ev, const struct bound_field *b, const struct spur_record *r,
		uint64_t *value, struct buf *out);

/* Appends "0x" and at least `width` digits. */
void buf_hex_pad(struct buf *b, uint64_t v, unsigned int width);

/* Ends a text whose fields are missing: its print format follows. Always true. */
bool handler_give_up(struct event_printer *p, struct event *e, const struct spur_record *r,
		     struct buf *out);

/* The same with a mark in front, as the plugins of the scheduler and of ftrace end theirs. */
bool handler_spoil(struct event_printer *p, struct event *e, const struct spur_record *r,
		   struct buf *out);

/* The bytes of a text field, up to its NUL, cut to the record. */
const char *handler_text(const struct events *ev, const struct event_field *f,
			 const struct spur_record *r, size_t *len);

/* ---- what the function tracers keep per printer (function.c) ---- */

/* The function at an address, through a small table of those seen last. NULL when unknown. */
const struct symbol *printer_symbol(struct event_printer *p, uint64_t addr);

#endif
