// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages: their headers, and decompressing what follows these. */
#include <zlib.h>
#include <zstd.h>

#include "store/parquet/compact.h"
#include "store/parquet/parts.h"

#define MAX_PAGE (256u << 20) /* bytes, decompressed */

static uint32_t size_of(struct cursor *c, const struct compact_field *f)
{
	const int64_t v = compact_int(c, f);

	if (v < 0 || v > INT32_MAX)
		c->failed = true;
	return (uint32_t)v;
}

/* What differs between the kinds of pages: the numbers of the fields. */
static void read_kind(struct cursor *c, const struct compact_field *in, struct pq_header *h)
{
	const bool v2 = in->id == 8;

	if (in->type != THRIFT_STRUCT) {
		c->failed = true;
		return;
	}
	for (struct compact_field f = {0}; compact_next(c, &f);) {
		if (f.id == 1)
			h->values = size_of(c, &f);
		else if (f.id == (v2 ? 4 : 2))
			h->encoding = (enum pq_encoding)size_of(c, &f);
		else if (v2 && f.id == 5)
			h->levels = size_of(c, &f);
		else if (v2 && f.id == 6)
			h->others = size_of(c, &f);
		else if (v2 && f.id == 7)
			h->is_packed = compact_bool(c, &f);
		else
			compact_skip(c, &f);
	}
}

bool page_header(struct cursor *c, struct pq_header *h)
{
	*h = (struct pq_header){.is_packed = true};
	for (struct compact_field f = {0}; compact_next(c, &f);) {
		switch (f.id) {
		case 1: h->type = (enum pq_page)size_of(c, &f); break;
		case 2: h->raw = size_of(c, &f); break;
		case 3: h->packed = size_of(c, &f); break;
		case 4:
			h->crc = (uint32_t)compact_int(c, &f);
			h->has_crc = true;
			break;
		case 5:
		case 7:
		case 8: read_kind(c, &f, h); break;
		default: compact_skip(c, &f);
		}
	}
	return !cursor_failed(c);
}

static bool unpack(void *zstd, enum pq_codec codec, const uint8_t *from, size_t size, uint8_t *to,
		   size_t raw)
{
	if (codec == PQ_SNAPPY)
		return snappy_unpack(from, size, to, raw);
	return ZSTD_decompressDCtx(zstd, to, raw, from, size) == raw;
}

const uint8_t *page_body(const struct pq_header *h, enum pq_codec codec, const uint8_t *packed,
			 struct pq_budget *b, struct pq_room *to, const char **why)
{
	const uint64_t plain = (uint64_t)h->levels + h->others;
	size_t raw;

	if (h->has_crc && crc32(0, packed, h->packed) != h->crc) {
		*why = "its checksum is another one";
		return NULL;
	}
	if (plain > h->raw || plain > h->packed || h->others) {
		*why = "its levels are longer than itself";
		return NULL;
	}
	raw = h->raw - (size_t)plain;
	if (codec == PQ_UNCOMPRESSED || !h->is_packed) {
		*why = "its size is not what it says";
		return raw == h->packed - plain ? packed + plain : NULL;
	}
	*why = "it is larger than pages may be";
	if (h->raw > MAX_PAGE || !pq_room(b, to, raw))
		return NULL;
	memset((char *)to->at + raw, 0, PARQUET_PAD);
	*why = "it cannot be decompressed";
	/* Nothing may have been compressed at all. */
	if (!raw && h->packed == plain)
		return to->at;
	packed += plain;
	return unpack(b->unpacker, codec, packed, h->packed - (size_t)plain, to->at, raw) ? to->at
											  : NULL;
}
