// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * High-resolution timers.
 *
 *	hrtimer_start:        hrtimer=0xff11 function=tick_sched_timer/0x0 expires=9 softexpires=8
 *	hrtimer_expire_entry: hrtimer=0xff11 now=123 function=tick_sched_timer/0x0
 */
#include "event/handlers/handlers.h"

enum { TIMER, HRTIMER, FUNCTION, NOW, EXPIRES, SOFTEXPIRES, NR_TIMER };

static const char *const names[NR_TIMER] = {
	[TIMER] = "timer", [HRTIMER] = "hrtimer", [FUNCTION] = "function",
	[NOW] = "now",	   [EXPIRES] = "expires", [SOFTEXPIRES] = "softexpires",
};

static void *timer_bind(struct events *ev, struct event *e)
{
	return handler_bind(ev, e, names, NR_TIMER);
}

static void print_timer(const struct event_printer *p, const struct bound_field *f,
			const struct spur_record *r, struct buf *out)
{
	uint64_t val;

	buf_puts(out, "hrtimer=");
	if (bound_get(p->events, &f[TIMER], r, &val) ||
	    bound_show(p->events, &f[HRTIMER], r, &val, out))
		buf_hex_pad(out, val, 1);
}

static void print_number(const struct event_printer *p, const char *label,
			 const struct bound_field *f, const struct spur_record *r, struct buf *out)
{
	uint64_t val;

	buf_puts(out, label);
	if (bound_show(p->events, f, r, &val, out))
		buf_u64(out, val);
}

/* The name with its distance from the address, which is 0 or wraps around; at most 127 bytes. */
static void print_function(struct event_printer *p, const struct bound_field *f,
			   const struct spur_record *r, struct buf *out)
{
	const struct symbol *sym;
	uint64_t addr;
	size_t start;

	if (!bound_get(p->events, f, r, &addr))
		return;
	buf_puts(out, " function=");
	sym = printer_symbol(p, addr);
	if (!sym) {
		buf_hex_pad(out, addr, 8);
		return;
	}
	start = out->len;
	buf_put(out, sym->name, sym->len);
	buf_putc(out, '/');
	buf_hex_pad(out, sym->addr - addr, 1);
	if (out->len - start > 127)
		out->len = start + 127;
}

static bool expire_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			 struct buf *out)
{
	const struct bound_field *f = e->handler_data;

	print_timer(p, f, r, out);
	print_number(p, " now=", &f[NOW], r, out);
	print_function(p, &f[FUNCTION], r, out);
	return true;
}

static bool start_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	const struct bound_field *f = e->handler_data;

	print_timer(p, f, r, out);
	print_function(p, &f[FUNCTION], r, out);
	print_number(p, " expires=", &f[EXPIRES], r, out);
	print_number(p, " softexpires=", &f[SOFTEXPIRES], r, out);
	return true;
}

const struct event_handler timer_handlers[] = {
	{.system = "timer",
	 .name = "hrtimer_expire_entry",
	 .bind = timer_bind,
	 .print = expire_print},
	{.system = "timer", .name = "hrtimer_start", .bind = timer_bind, .print = start_print},
	{.name = NULL},
};
