// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encodes metadata and trace data, which metadata.c and pages.c decode. */
#include "dat/write/out.h"

#include <errno.h>
#include <stdlib.h>

/* ---- numbers and strings -------------------------------------------------------------- */

void out_store(const struct dat_out *o, void *at, uint64_t v, unsigned int size)
{
	store_uint(at, v, size, o->big_endian);
}

void out_put(const struct dat_out *o, struct buf *b, uint64_t v, unsigned int size)
{
	buf_uint(b, v, size, o->big_endian);
}

void out_put_string(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s) + 1);
}

void out_put_head(const struct dat_out *o, struct buf *b, uint32_t page_size)
{
	buf_put(b, DAT_MAGIC, DAT_MAGIC_SIZE);
	out_put_string(b, o->version == 6 ? "6" : "7");
	buf_putc(b, o->big_endian);
	buf_putc(b, (char)o->long_size);
	out_put(o, b, page_size, 4);
}

/* ---- tables --------------------------------------------------------------------------- */

static void put_span(const struct dat_out *o, struct buf *b, const struct dat_span *s,
		     unsigned int width)
{
	out_put(o, b, s->size, width);
	if (s->size)
		buf_put(b, s->data, s->size);
}

static void put_headers(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	out_put_string(b, "header_page");
	put_span(o, b, &c->header_page, 8);
	out_put_string(b, "header_event");
	put_span(o, b, &c->header_event, 8);
}

static void put_ftrace(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	out_put(o, b, c->nr_ftrace, 4);
	for (size_t i = 0; i < c->nr_ftrace; i++)
		put_span(o, b, &c->ftrace[i], 8);
}

static void put_events(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
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

static void put_kallsyms(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	put_span(o, b, &c->kallsyms, 4);
}

static void put_printk(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	put_span(o, b, &c->printk, 4);
}

static void put_cmdlines(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	put_span(o, b, &c->cmdlines, 8);
}

const struct out_table out_tables[DAT_NR_TABLES] = {
	{DAT_OPT_HEADER_INFO, "headers", put_headers},
	{DAT_OPT_FTRACE_EVENTS, "ftrace events", put_ftrace},
	{DAT_OPT_EVENT_FORMATS, "events format", put_events},
	{DAT_OPT_KALLSYMS, "kallsyms", put_kallsyms},
	{DAT_OPT_PRINTK, "printk", put_printk},
	{DAT_OPT_CMDLINES, "command lines", put_cmdlines},
};

/* ---- options -------------------------------------------------------------------------- */

void out_put_option(const struct dat_out *o, struct buf *b, unsigned int id, const void *data,
		    size_t size)
{
	out_put(o, b, id, 2);
	out_put(o, b, size, 4);
	if (size)
		buf_put(b, data, size);
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

		if (!dat_is_layout(option->id) && option->id != but)
			out_put_option(o, b, option->id, option->data.data, option->data.size);
	}
}

/* ---- compressing ---------------------------------------------------------------------- */

/*
 * Metadata are compressed in one block each, trace data in chunks of some pages (pages.c says how
 * they are stored). The number of a region's chunks is written after each of them, so that a reader
 * of an unfinished file never sees half of one.
 */

static int put_block(const struct dat_out *o, struct buf *b, void *encoder, const void *data,
		     size_t n)
{
	size_t cap = o->codec->bound(n), head = b->len;
	int64_t got;

	if (n > UINT32_MAX || cap > UINT32_MAX)
		return -EFBIG;
	buf_fill(b, 0, 8);
	if (!buf_room(b, cap))
		return -ENOMEM;
	got = o->codec->encode(encoder, data, n, b->data + b->len, cap);
	if (got < 0)
		return (int)got;
	b->len += (size_t)got;
	out_store(o, b->data + head, (uint64_t)got, 4);
	out_store(o, b->data + head + 4, n, 4);
	return 0;
}

int out_put_compressed(const struct dat_out *o, struct buf *b, const void *data, size_t n)
{
	void *encoder = o->codec->open_encoder();
	int rc = encoder ? put_block(o, b, encoder, data, n) : -ENOMEM;

	if (encoder)
		o->codec->close_encoder(encoder);
	return rc;
}

int out_put_text_chunks(const struct dat_out *o, struct buf *b, const void *data, size_t n)
{
	const size_t each = (size_t)DAT_CHUNK_PAGES * 4096;
	void *encoder = o->codec->open_encoder();
	int rc = encoder ? 0 : -ENOMEM;

	out_put(o, b, (n + each - 1) / each, 4);
	for (size_t at = 0; at < n && !rc; at += each)
		rc = put_block(o, b, encoder, (const char *)data + at,
			       n - at < each ? n - at : each);
	if (encoder)
		o->codec->close_encoder(encoder);
	return rc;
}

/* ---- pages ---------------------------------------------------------------------------- */

static int prepare(struct dat_out *o, struct out_region *r)
{
	const size_t n = (size_t)DAT_CHUNK_PAGES * r->page_size;

	if (!r->encoder)
		r->encoder = o->codec->open_encoder();
	if (!r->chunk)
		r->chunk = malloc(12 + o->codec->bound(n));
	if (!r->waiting)
		r->waiting = malloc(n);
	return r->encoder && r->chunk && r->waiting ? 0 : -ENOMEM;
}

static int write_chunk(struct dat_out *o, uint32_t i, const void *pages, size_t n)
{
	struct out_region *r = &o->regions[i];
	const size_t size = n * r->page_size, head = r->nr_chunks ? 0 : 4;
	uint8_t *chunk = r->chunk + head;
	int64_t got = o->codec->encode(r->encoder, pages, size, chunk + 8, o->codec->bound(size));
	int rc;

	if (got < 0)
		return (int)got;
	out_store(o, chunk, (uint64_t)got, 4);
	out_store(o, chunk + 4, size, 4);
	if (head)
		out_store(o, r->chunk, 0, 4);
	rc = out_append(o, i, r->chunk, head + 8 + (size_t)got, head + 8 + (size_t)got);
	if (rc)
		return rc;
	r->nr_chunks++;
	return r->spill >= 0 ? 0 : out_write_number(o, r->nr_chunks, 4, o->table.each[i].offset);
}

int out_flush_region(struct dat_out *o, uint32_t i)
{
	struct out_region *r = &o->regions[i];
	int rc;

	if (!r->nr_waiting)
		return 0;
	rc = write_chunk(o, i, r->waiting, r->nr_waiting);
	if (!rc)
		r->nr_waiting = 0;
	return rc;
}

/*
 * Files with holes are recordings: what is handed over must be in the file when this returns. Files
 * without are made of others, so their pages wait until a chunk is full.
 */
int out_compress_pages(struct dat_out *o, uint32_t i, const void *pages, size_t n)
{
	struct out_region *r = &o->regions[i];
	const char *p = pages;
	int rc = prepare(o, r);

	while (n && !rc) {
		size_t some = DAT_CHUNK_PAGES - r->nr_waiting;

		if (some > n)
			some = n;
		memcpy(r->waiting + r->nr_waiting * r->page_size, p, some * r->page_size);
		r->nr_waiting += some;
		p += some * r->page_size;
		n -= some;
		if (r->nr_waiting == DAT_CHUNK_PAGES || o->sparse) {
			rc = out_flush_region(o, i);
			/* Removes the pages of this call; those of earlier calls still wait. */
			if (rc)
				r->nr_waiting -= some;
		}
	}
	return rc;
}
