// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compressed records: each holds a piece of one stream of zstd, in which other records lie, not
 * always whole ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "import/perf_parts.h"

#define RECORD_HEAD 8
#define MAX_OUT	    (64u << 20) /* bytes of one record, unpacked: what perf makes is 512 kB */

struct perf_unpack {
	ZSTD_DStream *stream;
	struct buf out; /* what has been unpacked and is not a whole record yet */
};

void perf_unpack_free(struct perf_unpack *u)
{
	if (!u)
		return;
	ZSTD_freeDStream(u->stream);
	buf_free(&u->out);
	free(u);
}

static struct perf_unpack *unpack_new(void)
{
	struct perf_unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	buf_init(&u->out, MAX_OUT);
	u->stream = ZSTD_createDStream();
	if (!u->stream || ZSTD_isError(ZSTD_initDStream(u->stream))) {
		perf_unpack_free(u);
		return NULL;
	}
	return u;
}

/* Whole records go on; what is left of one waits for the next piece. */
static int take_records(struct perf *p, struct buf *out)
{
	size_t at = 0;

	while (out->len - at >= RECORD_HEAD && p->im->rc == 0) {
		struct cursor c = perf_cursor(p, out->data + at, out->len - at);
		struct perf_record r = {.type = cursor_u32(&c)};
		uint32_t size;

		r.misc = cursor_u16(&c);
		size = cursor_u16(&c);
		if (size < RECORD_HEAD)
			return -EBADMSG;
		if (size - RECORD_HEAD > cursor_left(&c))
			break;
		r.body = cursor_sub(&c, size - RECORD_HEAD);
		at += size;
		perf_record(p, &r);
	}
	memmove(out->data, out->data + at, out->len - at);
	out->len -= at;
	return 0;
}

static int unpack(struct perf *p, struct perf_unpack *u, const void *data, size_t size)
{
	ZSTD_inBuffer in = {data, size, 0};

	for (;;) {
		ZSTD_outBuffer out;
		const size_t before = in.pos;
		size_t left;
		int rc;

		if (!buf_room(&u->out, ZSTD_DStreamOutSize()))
			return -EBADMSG;
		out = (ZSTD_outBuffer){u->out.data + u->out.len, ZSTD_DStreamOutSize(), 0};
		left = ZSTD_decompressStream(u->stream, &out, &in);
		if (ZSTD_isError(left))
			return -EBADMSG;
		u->out.len += out.pos;
		rc = take_records(p, &u->out);
		if (rc < 0)
			return rc;
		/* All of it has been taken, and all that it had has come out. */
		if (in.pos == in.size && out.pos < out.size)
			return 0;
		if (in.pos == before && !out.pos)
			return -EBADMSG;
	}
}

int perf_unpack_record(struct perf *p, const void *data, size_t size)
{
	int rc;

	/* perf does not compress what is compressed. */
	if (p->depth)
		return -EBADMSG;
	if (!p->unpack)
		p->unpack = unpack_new();
	if (!p->unpack)
		return -ENOMEM;
	p->depth++;
	rc = unpack(p, p->unpack, data, size);
	p->depth--;
	return rc;
}
