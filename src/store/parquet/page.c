// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages: decompressing, decoding values, and reading headers. */
#include <zlib.h>
#include <zstd.h>

#include "base/cursor.h"
#include "base/varint.h"
#include "store/parquet/parts.h"

/*
 * ---- snappy ----
 *
 * Its raw format: the size, then elements, whose first byte says in its two
 * lowest bits what they are: bytes that follow, or a copy of bytes that have come already.
 */

#define SHORT_LITERAL 60 /* the length is in the first byte below that, else in 1 to 4 others */

struct out {
	uint8_t *at;
	size_t n, size;
};

static bool literal(struct cursor *c, struct out *o, uint8_t tag)
{
	uint64_t len = tag >> 2;
	const uint8_t *from;

	if (len >= SHORT_LITERAL) {
		const unsigned int bytes = (unsigned int)len - SHORT_LITERAL + 1;

		len = 0;
		for (unsigned int i = 0; i < bytes; i++)
			len |= (uint64_t)cursor_u8(c) << 8 * i;
	}
	len++;
	if (len > o->size - o->n)
		return false;
	from = cursor_bytes(c, len);
	if (!from)
		return false;
	memcpy(o->at + o->n, from, len);
	o->n += len;
	return true;
}

static bool copy(struct cursor *c, struct out *o, uint8_t tag)
{
	size_t len = (size_t)(tag >> 2) + 1, back;

	if ((tag & 3) == 1) {
		len = (tag >> 2 & 7) + 4;
		back = (size_t)(tag >> 5) << 8 | cursor_u8(c);
	} else {
		back = (tag & 3) == 2 ? cursor_u16(c) : cursor_u32(c);
	}
	if (cursor_failed(c) || !back || back > o->n || len > o->size - o->n)
		return false;
	/* The two may overlap, and repeat what they have just written. */
	for (size_t i = 0; i < len; i++)
		o->at[o->n + i] = o->at[o->n - back + i];
	o->n += len;
	return true;
}

/* False: it is not what snappy writes, or has another size than `raw`. */
static bool snappy_unpack(const uint8_t *from, size_t size, uint8_t *to, size_t raw)
{
	struct out o = {.at = to, .size = raw};
	uint64_t told;
	const uint8_t *start = varint_get(from, from + size, &told);
	struct cursor c;

	if (!start || told != raw)
		return false;
	c = cursor_over(start, size - (size_t)(start - from), false);
	while (cursor_left(&c)) {
		const uint8_t tag = cursor_u8(&c);

		if (!(tag & 3 ? copy(&c, &o, tag) : literal(&c, &o, tag)))
			return false;
	}
	return !cursor_failed(&c) && o.n == raw;
}

/*
 * ---- the encodings of numbers and texts ----
 *
 * Bits are unpacked by loads of eight bytes, for which there
 * are PARQUET_PAD bytes after everything that is decoded. Texts stay where they are, but for those
 * that share beginnings.
 */

#define MAX_BLOCK (1u << 16)

static inline uint64_t load64(const uint8_t *p)
{
	return load_uint(p, 8, false);
}

/* How many bytes so many values take. */
static uint64_t bytes_for(uint64_t n, unsigned int width)
{
	return (n * width + 7) / 8;
}

/* ---- runs ---- */

static void unpack_narrow(const uint8_t *p, unsigned int width, uint32_t n, uint32_t *out)
{
	const uint64_t mask = width < 64 ? (1ull << width) - 1 : UINT64_MAX;

	if (width == 8) {
		for (uint32_t i = 0; i < n; i++)
			out[i] = p[i];
		return;
	}
	for (uint64_t i = 0, bit = 0; i < n; i++, bit += width)
		out[i] = (uint32_t)(load64(p + bit / 8) >> bit % 8 & mask);
}

/* The next run: how many of the n values wanted it has; 0 when it has none. */
static uint32_t decode_run(struct cursor *c, unsigned int width, uint32_t n, uint32_t *out)
{
	const uint64_t head = compact_varint(c);
	const bool packed = head & 1;
	uint64_t count = packed ? (head >> 1) * 8 : head >> 1, all;
	const uint8_t *p;

	if (cursor_failed(c) || head > UINT32_MAX)
		return 0;
	all = packed ? (head >> 1) * width : (width + 7) / 8;
	count = count < n ? count : n;
	if (packed) {
		/* The last one may be shorter than its groups of eight. */
		if (bytes_for(count, width) > cursor_left(c))
			return 0;
		p = cursor_bytes(c, all < cursor_left(c) ? all : cursor_left(c));
		unpack_narrow(p, width, (uint32_t)count, out);
	} else {
		uint32_t v = 0;

		p = cursor_bytes(c, all);
		if (!p)
			return 0;
		for (uint64_t i = 0; i < all; i++)
			v |= (uint32_t)p[i] << 8 * i;
		for (uint64_t i = 0; i < count; i++)
			out[i] = v;
	}
	return (uint32_t)count;
}

bool decode_runs(struct cursor *c, unsigned int width, uint32_t n, uint32_t *out)
{
	if (width > 32)
		return false;
	for (uint32_t i = 0, got; i < n; i += got) {
		got = decode_run(c, width, n - i, out + i);
		if (!got)
			return false;
	}
	return true;
}

int64_t decode_levels(struct cursor *c, uint32_t n, uint32_t *scratch, uint8_t *missing)
{
	int64_t there = 0;

	if (!decode_runs(c, 1, n, scratch))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t level = scratch[i] & 1;

		missing[i] = (uint8_t)!level;
		there += level;
	}
	return there;
}

/* ---- differences ---- */

static inline uint64_t unpack_wide(const uint8_t *p, uint64_t bit, unsigned int width)
{
	const unsigned int shift = bit % 8;
	uint64_t v = load64(p + bit / 8) >> shift;

	if (shift + width > 64)
		v |= (uint64_t)p[bit / 8 + 8] << (64 - shift);
	return width < 64 ? v & ((1ull << width) - 1) : v;
}

/* The differences of a part, which have been checked to be there. */
static uint64_t add_up(const uint8_t *p, unsigned int width, uint32_t n, uint64_t least,
		       uint64_t value, int64_t *out)
{
	for (uint32_t i = 0; i < n; i++) {
		value += least + (width ? unpack_wide(p, (uint64_t)i * width, width) : 0);
		out[i] = (int64_t)value;
	}
	return value;
}

struct deltas {
	uint32_t parts, part; /* of a block, and how many values one has */
	uint64_t value;
};

/* One block; how many values it had, 0 when it is damaged. */
static uint32_t decode_block(struct cursor *c, struct deltas *d, uint32_t n, int64_t *out)
{
	const uint64_t least = (uint64_t)unzigzag(compact_varint(c));
	const uint8_t *widths = cursor_bytes(c, d->parts);
	uint32_t done = 0;

	for (uint32_t k = 0; widths && k < d->parts && done < n; k++) {
		const uint32_t count = n - done < d->part ? n - done : d->part;
		const uint64_t all = bytes_for(d->part, widths[k]);
		const uint8_t *p;

		if (widths[k] > 64 || bytes_for(count, widths[k]) > cursor_left(c))
			return 0;
		p = cursor_bytes(c, all < cursor_left(c) ? all : cursor_left(c));
		d->value = add_up(p, widths[k], count, least, d->value, out + done);
		done += count;
	}
	return done;
}

bool decode_deltas(struct cursor *c, uint32_t n, int64_t *out)
{
	const uint64_t block = compact_varint(c), parts = compact_varint(c);
	const uint64_t count = compact_varint(c);
	struct deltas d = {.value = (uint64_t)unzigzag(compact_varint(c))};

	if (cursor_failed(c) || count != n || !block || block % 128 || block > MAX_BLOCK ||
	    !parts || parts > block || block % parts || block / parts % 32)
		return false;
	d.parts = (uint32_t)parts;
	d.part = (uint32_t)(block / parts);
	if (n)
		out[0] = (int64_t)d.value;
	for (uint32_t i = 1, got; i < n; i += got) {
		got = decode_block(c, &d, n - i, out + i);
		if (!got)
			return false;
	}
	return true;
}

/* ---- as they are ---- */

static unsigned int stored_size(enum pq_physical stored)
{
	return stored == PQ_STORED_INT32 || stored == PQ_STORED_FLOAT ? 4 : 8;
}

bool decode_plain(struct cursor *c, enum pq_physical stored, uint32_t n, int64_t *out)
{
	const bool is_bool = stored == PQ_STORED_BOOLEAN;
	const unsigned int size = stored_size(stored);
	const uint8_t *p = cursor_bytes(c, is_bool ? bytes_for(n, 1) : (uint64_t)n * size);

	if (!p)
		return false;
	if (is_bool)
		for (uint32_t i = 0; i < n; i++)
			out[i] = p[i / 8] >> i % 8 & 1;
	else if (size == 4)
		for (uint32_t i = 0; i < n; i++)
			out[i] = (int64_t)load_uint(p + (size_t)i * 4, 4, false);
	else
		for (uint32_t i = 0; i < n; i++)
			out[i] = (int64_t)load_uint(p + (size_t)i * 8, 8, false);
	return true;
}

/* The first bytes of all values, then the second ones, … */
bool decode_split(struct cursor *c, enum pq_physical stored, uint32_t n, int64_t *out)
{
	const unsigned int size = stored_size(stored);
	const uint8_t *p = cursor_bytes(c, (uint64_t)n * size);

	if (!p || stored == PQ_STORED_BOOLEAN)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = 0;

		for (unsigned int k = 0; k < size; k++)
			v |= (uint64_t)p[(size_t)k * n + i] << 8 * k;
		out[i] = (int64_t)v;
	}
	return true;
}

/* ---- texts ---- */

bool decode_texts(struct cursor *c, uint32_t n, struct parquet_text *out)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t len = cursor_u32(c);
		const uint8_t *at = cursor_bytes(c, len);

		if (!at)
			return false;
		out[i] = (struct parquet_text){(const char *)at, len};
	}
	return true;
}

bool decode_long_texts(struct cursor *c, uint32_t n, int64_t *lengths, struct parquet_text *out)
{
	if (!decode_deltas(c, n, lengths))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at;

		if (lengths[i] < 0 || lengths[i] > UINT32_MAX)
			return false;
		at = cursor_bytes(c, (uint64_t)lengths[i]);
		if (!at)
			return false;
		out[i] = (struct parquet_text){(const char *)at, (uint32_t)lengths[i]};
	}
	return true;
}

/* The room that all of them take; false when a text takes more of the one before than that has. */
static bool add_sizes(const int64_t *prefixes, const struct parquet_text *rest, uint32_t n,
		      uint64_t *sum)
{
	uint64_t before = 0;

	*sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (prefixes[i] < 0 || (uint64_t)prefixes[i] > before)
			return false;
		before = (uint64_t)prefixes[i] + rest[i].len;
		if (before > UINT32_MAX)
			return false;
		*sum += before;
	}
	return true;
}

bool decode_prefixed(struct cursor *c, uint32_t n, int64_t *lengths, struct pq_budget *b,
		     struct pq_room *heap, struct parquet_text *out)
{
	const char *before = "";
	uint64_t sum;
	char *to;

	if (!decode_deltas(c, n, lengths) || !decode_long_texts(c, n, lengths + n, out) ||
	    !add_sizes(lengths, out, n, &sum) || !pq_room(b, heap, sum))
		return false;
	to = heap->at;
	for (uint32_t i = 0; i < n; i++) {
		const size_t prefix = (size_t)lengths[i];

		memcpy(to, before, prefix);
		memcpy(to + prefix, out[i].at, out[i].len);
		out[i] = (struct parquet_text){to, (uint32_t)prefix + out[i].len};
		before = to;
		to += out[i].len;
	}
	return true;
}

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

	for (struct compact_field f = compact_struct(c, in); compact_next(c, &f);) {
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
