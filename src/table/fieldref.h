/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A value of a record by its name: a field of the event, or pid, comm and cpu of the record itself
 * where the event has no field of that name.
 */
#ifndef TABLE_FIELDREF_H
#define TABLE_FIELDREF_H

#include "table/parts.h"

enum ref_kind {
	REF_NUMBER, /* a field */
	REF_TEXT,   /* a field */
	REF_PID,
	REF_COMM,
	REF_CPU,
};

struct field_ref {
	enum ref_kind kind;
	const struct event_field *field; /* of the first two */
};

struct ref_value {
	const char *text; /* NULL: a number; it lies in the record, or lives as long as the trace */
	size_t len;
	int64_t number;
};

/* -ENOENT with the nearest name, -EINVAL when the field is neither a number nor text. */
int field_ref_find(struct event *e, const char *name, size_t len, struct field_ref *ref,
		   struct spur_error *err);

static inline bool field_ref_is_text(const struct field_ref *ref)
{
	return ref->kind == REF_TEXT || ref->kind == REF_COMM;
}

/* False when the record does not have it. `comms` may be NULL where no reference is to a comm. */
bool field_ref_get(const struct events *ev, const struct field_ref *ref, struct comm_times *comms,
		   const struct spur_record *r, struct ref_value *v);

#endif
