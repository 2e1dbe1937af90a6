/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/api: the public names of internal structs. struct spur_event, spur_field and
 * spur_table are struct event, event_field and table under names of their own, so that the public
 * headers do not show their members. struct spur_trace is the same inside and outside.
 */
#ifndef API_API_H
#define API_API_H

#include <spur/trace.h>

#include "event/event.h"

static inline struct event *event_in(struct spur_event *e)
{
	return (struct event *)e;
}

static inline struct spur_event *event_out(struct event *e)
{
	return (struct spur_event *)e;
}

static inline const struct event_field *field_in(const struct spur_field *f)
{
	return (const struct event_field *)f;
}

static inline const struct spur_field *field_out(const struct event_field *f)
{
	return (const struct spur_field *)f;
}

#endif
