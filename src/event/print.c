// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Printing an event: by a user's plugin, by a builtin handler, by its plan, or field by field.
 */
#include "event/event.h"

#include <errno.h>

#include "event/handler.h"
#include "event/names.h"
#include "event/plan.h"
#include "event/tep.h"

int event_printer_init(struct event_printer *p, struct events *ev)
{
	*p = (struct event_printer){.events = ev};
	buf_init(&p->scratch, PLAN_MAX_TEXT);
	p->learned = overlay_new(ev->comms);
	return p->learned ? 0 : -ENOMEM;
}

void event_printer_done(struct event_printer *p)
{
	function_stacks_free(p->stacks);
	overlay_free(p->learned);
	array_forms_free(&p->arrays);
	buf_free(&p->scratch);
	p->stacks = NULL;
	p->learned = NULL;
	p->arrays = (struct array_forms){0};
}

static bool print_by_handler(struct event_printer *p, struct event *e, const struct spur_record *r,
			     struct buf *out)
{
	const struct event_handler *h = e->handler;

	if (!h || e->no_handler || p->no_handlers)
		return false;
	return h->print(p, e, r, out);
}

void event_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		 struct buf *out)
{
	const bool raw = p->raw || e->show_raw;

	event_ready(e);
	if (__builtin_expect(event_by_tep(e, p), 0))
		tep_bridge_print(p->events->tep, e, r, raw, out);
	else if (raw)
		event_print_fields(p, e, r, out);
	else if (!print_by_handler(p, e, r, out))
		event_print_plan(p, e, r, out);
}
