// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ftrace:user_stack with the files its addresses lie in, where the recording knows what was mapped
 * (trace-cmd record --proc-map):
 *
 *	<user stack trace>
 *	=> /usr/lib/libc.so.6+0x26ad0 (7f1e2a026ad0)
 *	=> 55d0c8a01139
 */
#include "event/pretty_bind.h"

static bool print_stack(const struct pretty *pr, const struct binding *b, const struct events *ev,
			const struct spur_record *r, struct buf *out)
{
	const uint32_t size = b->value.size;
	const uint32_t end = b->values_end < r->size ? b->values_end : r->size;
	int pid = (int)record_int(ev, r, b->number.offset, b->number.size);

	buf_puts(out, "<user stack trace>\n");
	for (uint32_t at = b->value.offset; at + size <= end; at += size) {
		const uint64_t addr = record_uint(ev, r, at, size);
		uint64_t start = 0;
		const char *path;

		if (!addr)
			break;
		path = ev->map_of ? ev->map_of(ev->map_arg, pid, addr, &start) : NULL;
		buf_puts(out, "=> ");
		if (path) {
			buf_puts(out, path);
			buf_puts(out, "+0x");
			buf_hex(out, addr - start);
			buf_puts(out, " (");
		}
		buf_hex(out, addr);
		buf_puts(out, path ? ")\n" : "\n");
	}
	return true;
}

bool pretty_bind_stack(struct event *e, struct binding *b)
{
	const struct event_field *caller = event_field_find(e, "caller");

	if (!caller || !pretty_bind_number(event_field_find(e, "tgid"), &b->number))
		return false;
	b->value.offset = caller->offset;
	b->value.size = (uint8_t)e->events->long_size;
	b->values_end = caller->offset + caller->size;
	b->print = print_stack;
	return true;
}
