// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flushes of address translations.
 *
 *	tlb_flush:      pages=-1 reason=flush on task switch (0)
 */
#include "event/handlers/handlers.h"

enum { PAGES, REASON, NR_TLB };

static const char *const names[NR_TLB] = {[PAGES] = "pages", [REASON] = "reason"};

static const char *const reasons[] = {
	"flush on task switch",
	"remote shootdown",
	"local shootdown",
	"local mm shootdown",
};

static void *tlb_bind(struct events *ev, struct event *e)
{
	return handler_bind(ev, e, names, NR_TLB);
}

static bool tlb_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t val;

	buf_puts(out, "pages=");
	if (bound_show(p->events, &f[PAGES], r, &val, out))
		buf_i64(out, (int64_t)val);
	if (!bound_need(p->events, &f[REASON], r, &val, out))
		return handler_give_up(p, e, r, out);
	buf_puts(out, " reason=");
	if (val < sizeof(reasons) / sizeof(reasons[0]))
		buf_puts(out, reasons[val]);
	buf_put(out, " (", 2);
	buf_i64(out, (int64_t)val);
	buf_putc(out, ')');
	return true;
}

const struct event_handler tlb_handlers[] = {
	{.system = "tlb", .name = "tlb_flush", .bind = tlb_bind, .print = tlb_print},
	{.name = NULL},
};
