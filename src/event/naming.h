/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that a print format has for a field's numbers: __print_symbolic and __print_flags. */
#ifndef EVENT_NAMING_H
#define EVENT_NAMING_H

#include "event/event.h"

struct plan_op;

/* The operations of a print format that name a field's values: "%s%s" of a state are two. */
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
