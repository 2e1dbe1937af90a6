// SPDX-License-Identifier: GPL-2.0-or-later
/* Metadata as bytes: meta.c and options.c the other way round. */
#include "dat/write_parts.h"

void out_store(const struct dat_out *o, void *at, uint64_t v, unsigned int size)
{
	uint8_t *p = at;

	for (unsigned int i = 0; i < size; i++)
		p[o->big_endian ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

void out_put(const struct dat_out *o, struct buf *b, uint64_t v, unsigned int size)
{
	uint8_t bytes[8];

	out_store(o, bytes, v, size);
	buf_put(b, bytes, size);
}

void out_put_string(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s) + 1);
}

void out_put_head(const struct dat_out *o, struct buf *b, uint32_t page_size)
{
	static const char magic[] = "\x17\x08\x44tracing";

	buf_put(b, magic, sizeof(magic) - 1);
	out_put_string(b, o->version == 6 ? "6" : "7");
	buf_putc(b, o->big_endian);
	buf_putc(b, (char)o->long_size);
	out_put(o, b, page_size, 4);
}

/* ---- tables ---------------------------------------------------------------------------- */

static void put_span(const struct dat_out *o, struct buf *b, const struct dat_span *s,
		     unsigned int width)
{
	out_put(o, b, s->size, width);
	if (s->size)
		buf_put(b, s->data, s->size);
}

void out_put_headers(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	out_put_string(b, "header_page");
	put_span(o, b, &c->header_page, 8);
	out_put_string(b, "header_event");
	put_span(o, b, &c->header_event, 8);
}

void out_put_ftrace(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	out_put(o, b, c->nr_ftrace, 4);
	for (size_t i = 0; i < c->nr_ftrace; i++)
		put_span(o, b, &c->ftrace[i], 8);
}

void out_put_events(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	out_put(o, b, c->nr_systems, 4);
	for (size_t i = 0; i < c->nr_systems; i++) {
		const struct dat_out_system *s = &c->systems[i];

		out_put_string(b, s->name);
		out_put(o, b, s->nr, 4);
		for (size_t k = 0; k < s->nr; k++)
			put_span(o, b, &s->formats[k], 8);
	}
}

void out_put_kallsyms(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	put_span(o, b, &c->kallsyms, 4);
}

void out_put_printk(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	put_span(o, b, &c->printk, 4);
}

void out_put_cmdlines(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	put_span(o, b, &c->cmdlines, 8);
}

/* ---- options --------------------------------------------------------------------------- */

void out_put_option(const struct dat_out *o, struct buf *b, unsigned int id, const void *data,
		    size_t size)
{
	out_put(o, b, id, 2);
	out_put(o, b, size, 4);
	if (size)
		buf_put(b, data, size);
}

bool out_is_layout(unsigned int id)
{
	switch (id) {
	case DAT_OPT_DONE:
	case DAT_OPT_BUFFER:
	case DAT_OPT_BUFFER_TEXT:
	case DAT_OPT_CPUCOUNT:
	case DAT_OPT_STRINGS:
	case DAT_OPT_HEADER_INFO:
	case DAT_OPT_FTRACE_EVENTS:
	case DAT_OPT_EVENT_FORMATS:
	case DAT_OPT_KALLSYMS:
	case DAT_OPT_PRINTK:
	case DAT_OPT_CMDLINES:
	case DAT_OPT_REGIONS: return true;
	default: return false;
	}
}

size_t out_options_room(const struct dat_out *o, size_t now)
{
	if (o->options_room)
		return now + o->options_room;
	return o->sparse ? now + OUT_SPARE_OPTIONS + (size_t)OUT_SPARE_EACH_CPU * o->table.nr : now;
}

void out_put_options(const struct dat_out *o, struct buf *b, const struct dat_contents *c,
		     unsigned int but)
{
	for (size_t i = 0; i < c->nr_options; i++) {
		const struct dat_out_option *option = &c->options[i];

		if (!out_is_layout(option->id) && option->id != but)
			out_put_option(o, b, option->id, option->data.data, option->data.size);
	}
}
