/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files that parse formats share. Others use event.h. */
#ifndef EVENT_FORMAT_H
#define EVENT_FORMAT_H

#include "event/event.h"
#include "event/token.h"

#define FORMAT_MAX_SIZE	  (1024 * 1024)
#define FORMAT_MAX_FIELDS 2000

/* The name and the id at the head of a format file; false when they are not there. */
bool format_head(struct lexer *l, struct token *name, int *id);

/*
 * Reads the fields and nothing else, once; false when they cannot be read. Needs the lock, like
 * everything below that changes an event.
 */
bool format_read_fields(struct event *e);

/* Fields by name while the format is still being parsed: any, only common ones, any but those. */
const struct event_field *event_field_named(const struct event *e, const char *name);
const struct event_field *event_common_named(const struct event *e, const char *name);
const struct event_field *event_own_field_named(const struct event *e, const char *name);

#endif
