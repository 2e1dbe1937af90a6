// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel stacks, and what was written to trace_marker_raw.
 *
 *	kernel_stack:   <stack trace >
 *	=> schedule (ffffffff81a2a142)
 *	=> do_wait (ffffffff8114e138)
 *	raw_data:       # 1 61 62 63 64
 */
#include "event/handlers/handlers.h"

struct stack {
	const struct event_field *caller;
};

static void *stack_bind(struct events *ev, struct event *e)
{
	struct stack *d = arena_alloc(&ev->arena, sizeof(*d));

	if (d)
		d->caller = handler_any_field(e, "caller");
	return d;
}

static void print_address(struct event_printer *p, uint64_t addr, struct buf *out)
{
	const struct symbol *sym = printer_symbol(p, addr);

	buf_put(out, "=> ", 3);
	if (sym) {
		buf_put(out, sym->name, sym->len);
		if (p->opt.offset) {
			buf_putc(out, '+');
			buf_hex_pad(out, (uint32_t)(addr - sym->addr), 1);
			buf_putc(out, ' ');
		}
		buf_put(out, " (", 2);
		buf_hex(out, addr);
		buf_put(out, ")\n", 2);
	} else {
		buf_hex(out, addr);
		buf_putc(out, '\n');
	}
}

/* The addresses run to the record's end or to one whose low 32 bits are all set. */
static bool stack_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			struct buf *out)
{
	const struct stack *d = e->handler_data;
	const uint32_t size = p->events->long_size == 4 ? 4 : 8;

	if (!d->caller) {
		buf_puts(out, "<CANT FIND FIELD caller>");
		return true;
	}
	buf_puts(out, "<stack trace >\n");
	for (uint32_t at = d->caller->offset; at <= r->size && r->size - at >= size; at += size) {
		uint64_t addr = record_uint(p->events, r, at, size);

		if ((uint32_t)addr == UINT32_MAX)
			break;
		print_address(p, addr, out);
	}
	return true;
}

enum { ID, BUF, NR_RAW };

static const char *const raw_names[NR_RAW] = {[ID] = "id", [BUF] = "buf"};

static void *raw_bind(struct events *ev, struct event *e)
{
	return handler_bind(ev, e, raw_names, NR_RAW);
}

static void print_bytes(const struct spur_record *r, uint32_t at, uint32_t n, struct buf *out)
{
	static const char digit[] = "0123456789abcdef";

	for (; n && at < r->size; n--, at++) {
		const uint8_t byte = r->data[at];

		buf_put(out, (char[]){' ', digit[byte >> 4], digit[byte & 15]}, 3);
	}
}

/*
 * Eight bytes for each long of the traced machine. On one of 32 bits that shows most bytes twice,
 * which is what the peer does.
 */
static bool raw_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		      struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	const uint32_t step = p->events->long_size == 4 ? 4 : 8;
	uint64_t id;

	if (!bound_need(p->events, &f[ID], r, &id, out)) {
		buf_putc(out, '!');
		return handler_give_up(p, e, r, out);
	}
	buf_put(out, "# ", 2);
	buf_hex(out, id);
	if (!f[BUF].field)
		return !bound_missing(&f[BUF], out);
	for (uint64_t at = f[BUF].field->offset; at < r->size; at += step)
		print_bytes(r, (uint32_t)at, 8, out);
	return true;
}

const struct event_handler stack_handlers[] = {
	{.system = "ftrace", .name = "kernel_stack", .bind = stack_bind, .print = stack_print},
	{.system = "ftrace", .name = "raw_data", .bind = raw_bind, .print = raw_print},
	{.name = NULL},
};
