// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The function tracer: a function's name, indented by what is known of its callers.
 *
 *	function:       vfs_read
 *	function:          rw_verify_area <-- vfs_read		(-O parent)
 *	func_repeats:   vfs_read (count: 3  last_ts:    12.345678)
 */
#include "event/handlers/handlers.h"

enum { IP, PARENT_IP, COUNT, TOP_DELTA, BOTTOM_DELTA, NR_FUNCTION };

static const char *const function_names[NR_FUNCTION] = {
	[IP] = "ip",
	[PARENT_IP] = "parent_ip",
	[COUNT] = "count",
	[TOP_DELTA] = "top_delta_ts",
	[BOTTOM_DELTA] = "bottom_delta_ts",
};

static void *function_bind(struct events *ev, struct event *e)
{
	return handler_bind(ev, e, function_names, NR_FUNCTION);
}

static void print_name(const struct event_printer *p, const struct symbol *sym, uint64_t addr,
		       struct buf *out)
{
	if (!sym) {
		buf_hex_pad(out, addr, 1);
		return;
	}
	buf_put(out, sym->name, sym->len);
	if (p->opt.offset) {
		buf_putc(out, '+');
		buf_hex_pad(out, (uint32_t)(addr - sym->addr), 1);
		buf_putc(out, ' ');
	}
}

static unsigned int depth_of(struct event_printer *p, const struct spur_record *r,
			     const struct symbol *parent, const struct symbol *func)
{
	return parent && !p->opt.no_indent ? printer_call_depth(p, r->cpu, parent, func) : 0;
}

/* False when a field is missing, which the text then says. */
static bool print_call(struct event_printer *p, const struct bound_field *f,
		       const struct spur_record *r, struct buf *out)
{
	const struct symbol *func, *parent;
	uint64_t ip, parent_ip;
	unsigned int depth;

	if (!bound_need(p->events, &f[IP], r, &ip, out) ||
	    !bound_need(p->events, &f[PARENT_IP], r, &parent_ip, out)) {
		buf_putc(out, '!');
		return false;
	}
	func = printer_symbol(p, ip);
	parent = printer_symbol(p, parent_ip);
	depth = depth_of(p, r, parent, func);
	if (depth)
		buf_fill(out, ' ', 3 * depth);
	print_name(p, func, ip, out);
	if (p->opt.parent) {
		buf_put(out, " <-- ", 5);
		print_name(p, parent, parent_ip, out);
	}
	return true;
}

static bool function_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			   struct buf *out)
{
	return print_call(p, e->handler_data, r, out) || handler_give_up(p, e, r, out);
}

/* A time as the report's own column shows it, without its colon. */
static void print_time(const struct event_printer *p, uint64_t ts, struct buf *out)
{
	uint64_t per_second = 1000000;
	unsigned int digits = 6;

	if (p->time_style == TIME_AS_COUNTER) {
		buf_u64_pad(out, ts, 12, ' ');
		return;
	}
	if (p->time_style == TIME_IN_NSEC) {
		per_second = 1000000000;
		digits = 9;
	} else {
		ts = (ts + 500) / 1000;
	}
	buf_u64_pad(out, ts / per_second, 5, ' ');
	buf_putc(out, '.');
	buf_u64_pad(out, ts % per_second, digits, '0');
}

static bool repeats_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			  struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	uint64_t count, top, bottom;

	print_call(p, f, r, out);
	if (!bound_need(p->events, &f[COUNT], r, &count, out) ||
	    !bound_need(p->events, &f[TOP_DELTA], r, &top, out) ||
	    !bound_need(p->events, &f[BOTTOM_DELTA], r, &bottom, out)) {
		buf_putc(out, '!');
		return handler_give_up(p, e, r, out);
	}
	buf_puts(out, " (count: ");
	buf_i64(out, (int64_t)count);
	buf_puts(out, "  last_ts: ");
	print_time(p, r->ts - (top << 32 | bottom), out);
	buf_putc(out, ')');
	return true;
}

void function_stacks_track(struct event_printer *p, struct event *e, const struct spur_record *r)
{
	const struct bound_field *f = e->handler_data;
	const struct symbol *func, *parent;
	uint64_t ip, parent_ip;

	if (!f || !e->handler || e->handler->bind != function_bind)
		return;
	if (!bound_get(p->events, &f[IP], r, &ip) ||
	    !bound_get(p->events, &f[PARENT_IP], r, &parent_ip))
		return;
	func = printer_symbol(p, ip);
	parent = printer_symbol(p, parent_ip);
	depth_of(p, r, parent, func);
}

const struct event_handler function_handlers[] = {
	{.system = "ftrace", .name = "function", .bind = function_bind, .print = function_print},
	{.system = "ftrace", .name = "func_repeats", .bind = function_bind, .print = repeats_print},
	{.name = NULL},
};
