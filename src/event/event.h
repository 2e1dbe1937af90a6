/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event types: what the format files of a trace say about its records.
 *
 * `struct events` is the registry of one trace. It knows every event's system, name and id from the
 * moment it was added; the format itself is parsed when someone first asks for its fields
 * (event_ready()), because a trace carries thousands of formats and uses dozens.
 *
 * After the metadata has been loaded a registry is shared by all threads. What is computed late
 * (formats, symbols) is computed once under the registry's lock and never changes afterwards.
 * Format files are untrusted.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <spur/error.h>
#include <spur/record.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/map.h"

struct event_field;

/*
 * How the raw form shows arrays of characters. One whose bytes are all printable is shown as text,
 * any other as ARRAY[…], and from then on so is the same field of every later record: addresses and
 * other binary data are declared like text, and some of them happen to be printable.
 *
 * Records printed before their turn may have been shown in the wrong form. Which fields were shown
 * as text is remembered, so that this can be found out: see array_forms_stale().
 *
 * All zero: nothing is known of any field. The keys are fields, the values say nothing.
 */
struct array_forms {
	struct map binary; /* have contained something other than text */
	struct map text;   /* have been shown as text */
	bool lost;	   /* memory ran out, and something was not remembered */
};

void array_forms_free(struct array_forms *a);

/* Forgets everything. */
void array_forms_reset(struct array_forms *a);

/* Whether to show the field as text; `printable`: this record's bytes are. */
bool array_forms_text(struct array_forms *a, const struct event_field *f, bool printable);

/* Whether text that was printed with `later` would differ if it had known what `earlier` knows. */
bool array_forms_stale(const struct array_forms *later, const struct array_forms *earlier);

/* Learns what `from` knows about binary fields. False without memory. */
bool array_forms_adopt(struct array_forms *a, const struct array_forms *from);

enum field_flags {
	FIELD_ARRAY = 1 << 0,
	FIELD_POINTER = 1 << 1,
	FIELD_SIGNED = 1 << 2,
	FIELD_STRING = 1 << 3,	 /* an array of char that holds text */
	FIELD_DYNAMIC = 1 << 4,	 /* __data_loc: a u32 of length << 16 | offset in the record */
	FIELD_RELATIVE = 1 << 5, /* __rel_loc: the same, the offset counted from the field's end */
	FIELD_LONG = 1 << 6,	 /* of type long: its size is the traced machine's */
	FIELD_FLAG = 1 << 7,	 /* the print format shows it with __print_flags */
	FIELD_SYMBOLIC = 1 << 8, /* … with __print_symbolic */
};

struct event_field {
	const char *name;
	const char *type; /* as the format file spells it, without the name */
	uint32_t offset;
	uint32_t size;
	uint32_t elem_size;
	uint32_t array_len; /* 0 when the field is no array of known length */
	uint32_t flags;	    /* enum field_flags */

	/* The conversions by which the raw form shows the field: alone, and among all fields. */
	const struct plan_op *shown, *shown_in_turn;
};

struct event_plan;    /* the compiled print format, plan.h */
struct event_handler; /* a builtin printer that replaces it, handler.h */

enum event_state {
	EVENT_UNPARSED,
	EVENT_READY,	   /* fields and plan are there */
	EVENT_FIELDS_ONLY, /* the print format cannot be parsed: printed field by field */
	EVENT_BROKEN,	   /* not even the fields can be parsed: the record is opaque */
};

struct event {
	struct events *events;
	const char *system;
	const char *name;
	const char *format; /* the format file's text; not NUL-terminated */
	size_t format_len;
	int id;
	uint32_t index; /* in order of addition */

	/* Valid once event_ready() has returned. Common fields come first in `fields`. */
	int state;		  /* enum event_state; only through __atomic builtins */
	enum event_state parsed;  /* the future state; guarded by the registry's lock */
	const char *print_format; /* the rest of the text, once the fields have been read */
	struct event_field *fields;
	uint32_t nr_fields;
	uint32_t nr_common;
	const char *print_fmt; /* the text after "print fmt: ", NUL-terminated */
	struct event_plan *plan;
	const char *why; /* what in the format could not be understood, or NULL */
	bool beyond;	 /* …but libtraceevent may understand it: events->tep prints it */

	/* A builtin printer for this event and what it keeps about its fields. */
	const struct event_handler *handler;
	void *handler_data;
	bool by_plugin; /* a user's plugin prints it, through events->tep */
	bool added;	/* the file does not have it: see handler_add_events() */

	/* What the user wants for this event; set before anything is printed. */
	bool show_raw;	 /* fields and numbers, as event_printer's raw */
	bool no_handler; /* the print format although there is a handler */
};

/* Where the fields that every record starts with lie; filled when the first format is parsed. */
struct event_common {
	struct event_field type, flags, preempt_count, pid, lock_depth;
	bool has_flags, has_preempt_count, has_pid, has_lock_depth;
	bool usual; /* type, flags and pid are as in struct usual_head, in this machine's order */
};

struct symbols;
struct printk_formats;
struct comms;
struct tep_bridge;

/* Whose text to match: trace-cmd 3.4 with libtraceevent 1.8.4, or 3.1.6 with 1.7.1. */
enum event_compat {
	COMPAT_34,
	COMPAT_31,
};

/* A task of this machine that runs a guest's CPU, and what the guest's functions are called. */
struct event_guest {
	int pid;
	struct symbols *symbols; /* of the guest's registry */
};

struct events {
	bool big_endian;
	unsigned int long_size; /* of the traced kernel: 4 or 8 */
	unsigned int page_size;
	enum event_compat compat;

	struct arena arena;
	struct event **list; /* in order of addition */
	size_t nr, cap;
	struct map by_id;
	struct event **direct; /* by id, for the ids below nr_direct; built by events_seal() */
	size_t nr_direct;
	struct event_common common;

	struct symbols *symbols;
	struct map functions; /* symbols by the hash of their name, for formats that name them */
	bool functions_indexed;
	struct printk_formats *printk;
	struct comms *comms;
	/* What is mapped at an address of a task: its path and start, or NULL. May be NULL. */
	const char *(*map_of)(void *arg, int pid, uint64_t addr, uint64_t *start);
	void *map_arg;
	struct event_guest *guests; /* by increasing pid; owned */
	size_t nr_guests;
	struct tep_bridge *tep; /* libtraceevent, for users' plugins; tep.h. NULL: not needed */

	pthread_mutex_t lock; /* guards everything computed late */
};

struct events *events_new(void);
void events_free(struct events *ev);

/*
 * Adds the event that a format file describes. The text must live as long as the registry. Only
 * the lines "name:" and "ID:" are looked at. An event whose id is taken replaces the older one's
 * entry in look-ups. -EBADMSG when the text has no name or id.
 */
int events_add(struct events *ev, const char *system, const char *text, size_t len,
	       struct spur_error *err);

/* Call once when all events have been added: builds the tables that look-ups use. */
int events_seal(struct events *ev);

struct event *events_find(const struct events *ev, const char *system, const char *name);

/* Parses the format unless that has been done, and returns its state. Thread-safe. */
enum event_state event_parse(struct event *e);

static inline enum event_state event_ready(struct event *e)
{
	int state = __atomic_load_n(&e->state, __ATOMIC_ACQUIRE);

	return state != EVENT_UNPARSED ? (enum event_state)state : event_parse(e);
}

static inline struct event *events_by_id(const struct events *ev, int id)
{
	if (id >= 0 && (size_t)id < ev->nr_direct)
		return ev->direct[id];
	return map_get(&ev->by_id, (uint64_t)(uint32_t)id);
}

/* The field of that name among all (or only the common) fields, or NULL. */
const struct event_field *event_field_find(struct event *e, const char *name);
const struct event_field *event_common_find(struct event *e, const char *name);

/* ---- values ---------------------------------------------------------------------------- */

/* A number of 1, 2, 4 or 8 bytes in the record; 0 when it does not lie inside. */
static inline uint64_t record_uint(const struct events *ev, const struct spur_record *r,
				   uint32_t offset, uint32_t size)
{
	if (offset > r->size || size > r->size - offset)
		return 0;
	return load_uint(r->data + offset, size, ev->big_endian);
}

/* The same with its sign extended. */
static inline int64_t record_int(const struct events *ev, const struct spur_record *r,
				 uint32_t offset, uint32_t size)
{
	uint64_t v = record_uint(ev, r, offset, size);

	return size && size < 8 ? (int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size) : (int64_t)v;
}

/* How records begin on all known kernels: these fields are read most often. */
struct usual_head {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
};

static inline bool record_usual_head(const struct events *ev, const struct spur_record *r,
				     struct usual_head *head)
{
	if (__builtin_expect(!ev->common.usual || r->size < sizeof(*head), 0))
		return false;
	memcpy(head, r->data, sizeof(*head));
	return true;
}

/*
 * The record's event type. The common fields are at the same place in all events of a trace.
 * NULL when the record is too short or the id unknown.
 */
static inline struct event *events_of_record(const struct events *ev, const struct spur_record *r)
{
	const struct event_field *type = &ev->common.type;
	struct usual_head head;

	if (record_usual_head(ev, r, &head))
		return events_by_id(ev, head.type);
	if (type->offset > r->size || type->size > r->size - type->offset)
		return NULL;
	return events_by_id(ev, (int)load_uint(r->data + type->offset, type->size, ev->big_endian));
}

static inline int events_record_pid(const struct events *ev, const struct spur_record *r)
{
	const struct event_field *pid = &ev->common.pid;
	struct usual_head head;

	if (record_usual_head(ev, r, &head))
		return head.pid;
	return ev->common.has_pid ? (int)record_uint(ev, r, pid->offset, pid->size) : -1;
}

static inline unsigned int events_record_flags(const struct events *ev, const struct spur_record *r)
{
	const struct event_field *flags = &ev->common.flags;
	struct usual_head head;

	if (record_usual_head(ev, r, &head))
		return head.flags;
	if (!ev->common.has_flags)
		return 0;
	return (unsigned int)record_uint(ev, r, flags->offset, flags->size);
}

/*
 * Reads a field as a number, sign-extended when it is signed. False when the field does not lie in
 * the record or is not of 1, 2, 4 or 8 bytes.
 */
bool field_number(const struct events *ev, const struct event_field *f, const struct spur_record *r,
		  uint64_t *value);

/*
 * Where a field's bytes lie: itself, or what its __data_loc/__rel_loc points to, cut to the record.
 * Returns NULL and size 0 when it lies outside.
 */
const uint8_t *field_bytes(const struct events *ev, const struct event_field *f,
			   const struct spur_record *r, size_t *size);

/* ---- printing -------------------------------------------------------------------------- */

struct function_stacks;
struct comm_overlay;

/* Options of builtin printers (`-O name:option`). */
struct event_options {
	bool parent;	   /* function: show the caller */
	bool no_indent;	   /* function: do not indent by call depth */
	bool offset;	   /* function: show the offset in the function */
	bool fgraph_tail;  /* function_graph: name the function at its end */
	bool fgraph_depth; /* function_graph: show the depth */
	bool retval_skip;  /* function_graph: do not show what functions return, … */
	bool retval_dec;   /* … show it as a decimal number, … */
	bool retval_hex;   /* … or always as a hexadecimal one */
};

/*
 * What one thread needs to print events. Everything in it belongs to that thread; the registry is
 * shared and only read.
 */
struct event_printer {
	struct events *events;
	bool raw;	  /* fields with their numbers, as `report -R` */
	bool no_handlers; /* the builtin printers stay off, as `report -N` */

	struct event_options opt;

	/* How texts that contain a time show it, as the report's own column. */
	enum { TIME_IN_USEC, TIME_IN_NSEC, TIME_AS_COUNTER } time_style;

	/*
	 * The record that follows in time order in the same buffer, or NULL. When the handler takes
	 * it (function_graph prints a leaf call and its return as one line) it calls take_next(),
	 * and the record is not shown again.
	 */
	const struct spur_record *(*peek_next)(void *stream);
	void (*take_next)(void *stream);
	void *stream;

	/* Names of tasks learned while printing; looked up before the registry's own table. */
	struct comm_overlay *learned;
	/* Which arrays of characters are no text; learned while printing too. */
	struct array_forms arrays;
	/* Call stacks by which the function tracer's output is indented; owned by the handler. */
	struct function_stacks *stacks;
	struct buf scratch;
};

int event_printer_init(struct event_printer *p, struct events *ev);
void event_printer_done(struct event_printer *p);

/* Appends the event's text, what follows "name: " in a report line. */
void event_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		 struct buf *out);

/*
 * Learns the names of tasks that event_print() would learn from the record: forms of a report that
 * show fields instead of this text know the same names.
 */
void event_learn(struct event_printer *p, struct event *e, const struct spur_record *r);

/* Appends " field=value field=value", the raw form. */
void event_print_fields(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out);

/* Appends one field's value as the raw form shows it (numbers, ARRAY[…], text). */
void event_print_field(struct event_printer *p, const struct event_field *f,
		       const struct spur_record *r, struct buf *out);

/* Appends the print format's text by the compiled plan, ignoring handlers. */
void event_print_plan(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out);

struct plan_op;

/*
 * Names that a print format has for a field's numbers (__print_symbolic, __print_flags): the
 * operations that print them. "%s%s" of a state are two.
 */
struct naming {
	const struct plan_op *ops; /* NULL: nothing does */
	uint32_t nr;
};

struct naming naming_find(struct event *e, const struct event_field *f);

/* Whether the field alone decides about the name: equal values have equal ones. */
bool naming_alone(const struct naming *n, const struct event_field *f);

/* Appends the name that a record's value has. */
void naming_print(const struct naming *n, struct event_printer *p, const struct spur_record *r,
		  struct buf *to);

#endif
