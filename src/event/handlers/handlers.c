// SPDX-License-Identifier: LGPL-2.1-or-later
/* All builtin printers, group by group, and what they share: binding and reading fields. */
#include "event/handlers/handlers.h"

#include <string.h>

#include "base/num.h"
#include "event/handler.h"

static const struct event_handler *const groups[] = {
	sched_handlers, function_handlers, fgraph_handlers, stack_handlers,    kmem_handlers,
	kvm_handlers,	timer_handlers,	   futex_handlers,  mac80211_handlers, tlb_handlers,
};

const struct event_handler *handler_find(const char *system, const char *name)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		for (const struct event_handler *h = groups[i]; h->name; h++)
			if (strcmp(h->name, name) == 0 && strcmp(h->system, system) == 0)
				return h;
	return NULL;
}

static const struct event_field *find(const struct event *e, uint32_t from, uint32_t to,
				      const char *name)
{
	for (uint32_t i = from; i < to; i++)
		if (strcmp(e->fields[i].name, name) == 0)
			return &e->fields[i];
	return NULL;
}

const struct event_field *handler_field(const struct event *e, const char *name)
{
	return find(e, e->nr_common, e->nr_fields, name);
}

const struct event_field *handler_any_field(const struct event *e, const char *name)
{
	return find(e, 0, e->nr_fields, name);
}

struct bound_field handler_bind_field(const struct event *e, const char *name)
{
	struct bound_field b = {.name = name, .field = handler_field(e, name)};

	if (b.field) {
		uint32_t size = b.field->size;

		b.offset = b.field->offset;
		b.size = size == 1 || size == 2 || size == 4 || size == 8 ? size : 0;
	}
	return b;
}

struct bound_field *handler_bind(struct events *ev, const struct event *e, const char *const *names,
				 size_t n)
{
	struct bound_field *b = arena_array(&ev->arena, n, sizeof(*b));

	for (size_t i = 0; b && i < n; i++)
		b[i] = handler_bind_field(e, names[i]);
	return b;
}

bool bound_missing(const struct bound_field *b, struct buf *out)
{
	if (b->field) {
		buf_putc(out, ' ');
		buf_puts(out, b->name);
		buf_puts(out, "=INVALID");
	} else {
		buf_puts(out, "<CANT FIND FIELD ");
		buf_puts(out, b->name);
		buf_putc(out, '>');
	}
	return false;
}

bool bound_show(const struct events *ev, const struct bound_field *b, const struct spur_record *r,
		uint64_t *value, struct buf *out)
{
	if (bound_get(ev, b, r, value))
		return true;
	buf_puts(out, "CAN'T FIND FIELD \"");
	buf_puts(out, b->name);
	buf_putc(out, '"');
	return false;
}

void buf_hex_pad(struct buf *b, uint64_t v, unsigned int width)
{
	char digits[NUM_MAX_HEX];
	size_t n = num_hex(digits, v);

	buf_put(b, "0x", 2);
	if (n < width)
		buf_fill(b, '0', width - n);
	buf_put(b, digits, n);
}

bool handler_give_up(struct event_printer *p, struct event *e, const struct spur_record *r,
		     struct buf *out)
{
	event_print_plan(p, e, r, out);
	return true;
}

const char *handler_text(const struct events *ev, const struct event_field *f,
			 const struct spur_record *r, size_t *len)
{
	const char *text;

	*len = 0;
	if (f->flags & (FIELD_DYNAMIC | FIELD_RELATIVE)) {
		text = (const char *)field_bytes(ev, f, r, len);
	} else {
		if (f->offset >= r->size)
			return "";
		text = (const char *)r->data + f->offset;
		*len = f->size < r->size - f->offset ? f->size : r->size - f->offset;
	}
	*len = text ? strnlen(text, *len) : 0;
	return text ? text : "";
}
