// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel memory: the function that allocates or frees goes before the print format's text.
 *
 *	kmalloc:        (alloc_pipe_info+0x4e) call_site=… ptr=… bytes_req=…
 */
#include "event/handlers/handlers.h"

static const char *const names[] = {"call_site"};

static void *kmem_bind(struct events *ev, struct event *e)
{
	return handler_bind(ev, e, names, 1);
}

static bool kmem_print(struct event_printer *p, struct event *e, const struct spur_record *r,
		       struct buf *out)
{
	const struct symbol *sym;
	uint64_t addr;

	if (bound_get(p->events, e->handler_data, r, &addr)) {
		sym = printer_symbol(p, addr);
		if (sym) {
			buf_putc(out, '(');
			buf_put(out, sym->name, sym->len);
			buf_putc(out, '+');
			buf_hex_pad(out, (uint32_t)(addr - sym->addr), 1);
			buf_put(out, ") ", 2);
		}
	}
	event_print_plan(p, e, r, out);
	return true;
}

#define KMEM(event)                                                                                \
	{                                                                                          \
		.system = "kmem", .name = event, .bind = kmem_bind, .print = kmem_print            \
	}

const struct event_handler kmem_handlers[] = {
	KMEM("kfree"),
	KMEM("kmalloc"),
	KMEM("kmalloc_node"),
	KMEM("kmem_cache_alloc"),
	KMEM("kmem_cache_alloc_node"),
	KMEM("kmem_cache_free"),
	{.name = NULL},
};
