/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pretty printing remembers about an event type, made once (pretty_bind.c, pretty_signal.c)
 * and used for every record (pretty.c). Private to them.
 */
#ifndef EVENT_PRETTY_BIND_H
#define EVENT_PRETTY_BIND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "event/event.h"
#include "event/pretty.h"
#include "event/pretty_tables.h"

#define PRETTY_CHUNK	 1024 /* events with one table of slots */
#define PRETTY_NR_CHUNKS 1024

#define RAW_DENSE  1024 /* calls below are found by index, */
#define RAW_SPARSE 8	/* the few above (private ones of ARM) by looking at each */

struct bound_arg {
	const char *label; /* ", name=" */
	uint32_t label_len;
	uint32_t offset; /* where the record has it */
	uint8_t size;	 /* 4 or 8 */
	uint8_t kind;	 /* enum arg_kind, never A_NONE */
	bool text_is_bytes;
	const struct event_field *text; /* what it points to, where the kernel recorded that */
};

struct bound_call {
	const char *name;
	uint32_t name_len;
	uint32_t nr;
	struct bound_arg *args;
	uint8_t ret; /* enum arg_kind */
};

/* The calls of an architecture by number. */
struct raw_calls {
	struct bound_call *dense[RAW_DENSE];
	struct bound_call *sparse[RAW_SPARSE];
	uint32_t sparse_nr[RAW_SPARSE];
	unsigned int nr_sparse;
};

struct binding;

/* Prints a record: false, with nothing appended, when it is not what the format promised. */
typedef bool pretty_print_fn(const struct pretty *pr, const struct binding *b,
			     const struct events *ev, const struct spur_record *r, struct buf *out);

struct binding {
	const struct event *event; /* whose binding this is */
	pretty_print_fn *print;
	struct bound_call call;	     /* of a call's own event, or a signal's fields */
	const struct raw_calls *raw; /* of the events that stand for all calls */
	struct bound_arg number, value;
	uint32_t values_end; /* of a stack: behind its last address, the first being `value` */
};

struct binder {
	pthread_mutex_t lock; /* guards everything here but the reading of slots */
	struct arena arena;
	const struct binding **chunks[PRETTY_NR_CHUNKS];
	const struct raw_calls *raw;
};

struct pretty {
	const struct pretty_arch *arch;
	const struct name_set *sets[PRETTY_NR_SETS];
	struct binder *binder;
};

/*
 * Fills in the binding of an event whose format is parsed; false when it is none that pretty
 * printing knows. The caller holds the binder's lock.
 */
bool pretty_bind(const struct pretty *pr, struct event *e, struct binding *b);
bool pretty_bind_signal(const struct pretty *pr, struct event *e, struct binding *b);
bool pretty_bind_stack(struct event *e, struct binding *b);

/* Where a field that is a number lies; false when it is none of 4 or 8 bytes. */
bool pretty_bind_number(const struct event_field *f, struct bound_arg *a);

pretty_print_fn pretty_print_enter, pretty_print_exit;
pretty_print_fn pretty_print_raw_enter, pretty_print_raw_exit;

static inline bool bound_read(const struct events *ev, const struct spur_record *r,
			      const struct bound_arg *a, uint64_t *value)
{
	if (a->offset > r->size || a->size > r->size - a->offset)
		return false;
	*value = load_uint(r->data + a->offset, a->size, ev->big_endian);
	return true;
}

#endif
