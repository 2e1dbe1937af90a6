/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records a user means by `[system:]event[/filter/]`: events whose names match (both parts
 * may be globs), and of these the records that pass the filter, which is an expression of the
 * report's filter language.
 */
#ifndef TABLE_CHOICE_H
#define TABLE_CHOICE_H

#include <stdbool.h>

#include "table/walk.h"
#include "event/filter.h"

struct event_choice {
	struct events *events;
	struct event **at; /* those that are meant */
	size_t n;
	struct filter *filter; /* NULL: all of their records */
};

/* The two parts of such a text; the filter's end is NULL when there is none. */
struct choice_text {
	const char *event;
	size_t event_len;
	const char *filter;
	size_t filter_len;
};

/* -EINVAL when there is no event, or the second slash is missing. */
int choice_split(const char *text, struct choice_text *out, struct spur_error *err);

/*
 * -EINVAL when the text is wrong; -ENOENT when the trace describes no such event, with the nearest
 * name in err. choice_free() is due in any case.
 */
int choice_make(struct event_choice *c, struct events *ev, const char *text,
		struct spur_error *err);
/* The same from a text that has been taken apart. */
int choice_make_parts(struct event_choice *c, struct events *ev, const struct choice_text *text,
		      struct spur_error *err);
void choice_free(struct event_choice *c);

/* Whether a record of an event that it has is meant. */
static inline bool choice_takes(const struct event_choice *c, struct event *e,
				const struct spur_record *r)
{
	return !c->filter || filter_match(c->filter, NULL, e, r) == FILTER_MATCH;
}

#endif
