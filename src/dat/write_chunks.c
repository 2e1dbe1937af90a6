// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compressing: metadata in one block each, trace data in chunks of some pages (chunks.c says how
 * they are stored). The number of a region's chunks is written behind each of them, so that a
 * reader of an unfinished file never sees half of one.
 */
#include <errno.h>
#include <stdlib.h>

#include "dat/chunks.h"
#include "dat/write_parts.h"

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

/* ---- pages ----------------------------------------------------------------------------- */

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
	uint8_t *chunk = r->chunk + head, number[4];
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
	out_store(o, number, r->nr_chunks, 4);
	if (r->spill >= 0)
		return 0;
	return out_write(o, number, 4, o->table.each[i].offset);
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
			/* Those before have not been lost, these were never there. */
			if (rc)
				r->nr_waiting -= some;
		}
	}
	return rc;
}
