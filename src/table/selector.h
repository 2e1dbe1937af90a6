/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records and values as a user names them.
 *
 * `[system:]event[/filter/]` selects records: the events whose names match (both parts may be
 * globs), and of these the records that pass the filter, an expression of the report's filter
 * language. A name of a value is a field of the event, or pid, comm and cpu of the record itself
 * where the event has no field of that name.
 */
#ifndef TABLE_SELECTOR_H
#define TABLE_SELECTOR_H

#include <stdbool.h>

#include "table/analysis.h"
#include "table/walk.h"
#include "event/filter.h"

struct event_selector {
	struct events *events;
	struct event **at; /* the events that match */
	size_t n;
	struct filter *filter; /* NULL: all of their records */
};

/* The two parts of such a text; the filter's end is NULL if there is no filter. */
struct selector_text {
	const char *event;
	size_t event_len;
	const char *filter;
	size_t filter_len;
};

/* -EINVAL when there is no event, or the second slash is missing. */
int selector_split(const char *text, struct selector_text *out, struct spur_error *err);

/*
 * -EINVAL if the text is wrong; -ENOENT if the trace has no such event, with the nearest name in
 * err. Call selector_free() in any case.
 */
int selector_parse(struct event_selector *c, struct events *ev, const char *text,
		   struct spur_error *err);
/* The same from a text that has been split. */
int selector_parse_parts(struct event_selector *c, struct events *ev,
			 const struct selector_text *text, struct spur_error *err);
void selector_free(struct event_selector *c);

/* Whether a record of one of its events matches. */
static inline bool selector_matches(const struct event_selector *c, struct event *e,
				    const struct spur_record *r)
{
	return !c->filter || filter_match(c->filter, NULL, e, r) == FILTER_MATCH;
}

/* ---- values by name ---- */

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
	const char *
		text; /* NULL: a number; points into the record, or is valid as long as the trace */
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

/* False if the record does not have it. `comms` may be NULL if no reference is to a comm. */
bool field_ref_get(const struct events *ev, const struct field_ref *ref, struct comm_times *comms,
		   const struct spur_record *r, struct ref_value *v);

#endif
