// SPDX-License-Identifier: GPL-2.0-or-later
/* Encoding pages. The loops are made so that the compiler can use vector instructions. */
#include "export/parquet/encode.h"

#include <string.h>

#include <zlib.h>

#include "export/parquet/thrift.h"

/* Differences in a block, which is cut into parts; large ones have fewer bytes between them. */
#define PART  32
#define SMALL 128
#define LARGE 1024

/* Writes a number in little-endian order, with so many bytes. */
static inline void put_bytes(uint8_t *to, uint64_t v, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

/* ---- differences ---------------------------------------------------------------------- */

static inline uint32_t bytes_of(uint64_t v)
{
	return v ? (71 - (uint32_t)__builtin_clzll(v)) / 8 : 0;
}

#define PACK(bytes)                                                                                \
	for (uint32_t i = 0; i < PART; i++)                                                        \
	put_bytes(to + i * (bytes), v[i], bytes)

/* The compiler makes a loop of its own of every width. */
static uint8_t *pack_part(uint8_t *to, const uint64_t *v, uint32_t bytes)
{
	switch (bytes) {
	case 0: break;
	case 1: PACK(1); break;
	case 2: PACK(2); break;
	case 3: PACK(3); break;
	case 4: PACK(4); break;
	case 5: PACK(5); break;
	case 6: PACK(6); break;
	case 7: PACK(7); break;
	default: PACK(8); break;
	}
	return to + PART * bytes;
}

/* Of a block's differences. */
struct range {
	int64_t least, most;
};

static inline void subtract(uint64_t *diff, const uint64_t *v, uint32_t n, bool narrow,
			    struct range *r)
{
	int64_t least = INT64_MAX, most = INT64_MIN;

	for (uint32_t i = 0; i < n; i++) {
		int64_t d = (int64_t)(v[i + 1] - v[i]);

		if (narrow)
			d = (int32_t)d;
		diff[i] = (uint64_t)d;
		least = d < least ? d : least;
		most = d > most ? d : most;
	}
	r->least = least < r->least ? least : r->least;
	r->most = most > r->most ? most : r->most;
}

/* What is subtracted from all differences of a block. */
static int64_t base_of(const struct range *r)
{
	const bool saves =
		bytes_of((uint64_t)r->most - (uint64_t)r->least) < bytes_of((uint64_t)r->most);

	return r->least >= 0 && !saves ? 0 : r->least;
}

/* Less the base; what is left of the part is 0. Returns all bits that are set in any. */
static inline uint64_t take_base(uint64_t *diff, uint32_t n, int64_t base, bool narrow)
{
	uint64_t all = 0;

	for (uint32_t i = n; i < PART; i++)
		diff[i] = (uint64_t)base;
	for (uint32_t i = 0; i < PART; i++) {
		diff[i] -= (uint64_t)base;
		if (narrow)
			diff[i] = (uint32_t)diff[i];
		all |= diff[i];
	}
	return all;
}

/* v[0] is the number before the block's first one, n > 0 how many follow it. */
static void put_block(struct buf *to, const uint64_t *v, uint32_t n, uint32_t block, bool narrow)
{
	const uint32_t parts = block / PART;
	struct range r = {INT64_MAX, INT64_MIN};
	uint64_t diff[LARGE];
	uint8_t *widths, *at;
	int64_t base;

	if (!buf_room(to, VARINT_MOST + parts + block * 8))
		return;
	for (uint32_t i = 0; i < n; i += PART) {
		if (n - i >= PART)
			subtract(diff + i, v + i, PART, narrow, &r);
		else
			subtract(diff + i, v + i, n - i, narrow, &r);
	}
	base = base_of(&r);
	proto_varint(to, zigzag(base));
	widths = (uint8_t *)to->data + to->len;
	at = widths + parts;
	memset(widths, 0, parts);
	/* A part after the last number has no bytes. */
	for (uint32_t k = 0; k * PART < n; k++) {
		const uint32_t left = n - k * PART;
		const uint32_t bytes = bytes_of(
			take_base(diff + k * PART, left < PART ? left : PART, base, narrow));

		widths[k] = (uint8_t)(8 * bytes);
		at = pack_part(at, diff + k * PART, bytes);
	}
	to->len = (size_t)((char *)at - to->data);
}

void pq_put_delta(struct buf *to, const uint64_t *v, uint32_t n, bool narrow)
{
	const uint32_t block = n > LARGE ? LARGE : SMALL;
	int64_t first = n ? (int64_t)v[0] : 0;

	if (narrow)
		first = (int32_t)first;
	proto_varint(to, block);
	proto_varint(to, block / PART);
	proto_varint(to, n);
	proto_varint(to, zigzag(first));
	for (uint32_t i = 1; i < n; i += block)
		put_block(to, v + i - 1, n - i < block ? n - i : block, block, narrow);
}

/* ---- numbers as they are -------------------------------------------------------------- */

void pq_put_plain(struct buf *to, const uint64_t *v, uint32_t n, bool narrow)
{
	const uint32_t bytes = narrow ? 4 : 8;
	uint8_t *at;

	if (!buf_room(to, (size_t)n * bytes))
		return;
	at = (uint8_t *)to->data + to->len;
	to->len += (size_t)n * bytes;
	for (uint32_t i = 0; narrow && i < n; i++)
		put_bytes(at + 4 * (size_t)i, v[i], 4);
	for (uint32_t i = 0; !narrow && i < n; i++)
		put_bytes(at + 8 * (size_t)i, v[i], 8);
}

/* ---- runs ----------------------------------------------------------------------------- */

/* Whether all cells are the same: whether they are when moved by one. */
static bool all_equal(const void *cells, uint32_t width, uint32_t n)
{
	return memcmp(cells, (const char *)cells + width, (size_t)(n - 1) * width) == 0;
}

static uint32_t index_at(const void *cells, uint32_t width, uint32_t i, const uint16_t *places)
{
	switch (width) {
	case 1: return ((const uint8_t *)cells)[i] - 1u;
	case 2:
		return places ? places[((const uint16_t *)cells)[i] - 1]
			      : ((const uint16_t *)cells)[i] - 1u;
	default: return ((const uint32_t *)cells)[i] - 1;
	}
}

/* Eight at a time: none of them is 0, so that none borrows from its neighbour. */
static void pack_bytes(uint8_t *restrict to, const uint8_t *restrict cells, uint32_t n)
{
	uint32_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t eight;

		memcpy(&eight, cells + i, sizeof(eight));
		eight -= 0x0101010101010101ull;
		memcpy(to + i, &eight, sizeof(eight));
	}
	for (; i < n; i++)
		to[i] = (uint8_t)(cells[i] - 1);
}

static void pack_places(uint8_t *restrict to, const uint16_t *restrict cells, uint32_t n,
			const uint16_t *restrict places)
{
	for (uint32_t i = 0; i < n; i++)
		put_bytes(to + 2 * (size_t)i, places[cells[i] - 1], 2);
}

/* One run of groups of eight numbers, the last one filled up. */
static void put_packed(struct buf *to, const void *cells, uint32_t width, uint32_t n,
		       uint32_t bytes, const uint16_t *places)
{
	const uint32_t groups = (n + 7) / 8;
	uint8_t *at;

	proto_varint(to, (uint64_t)groups << 1 | 1);
	if (!buf_room(to, (size_t)groups * 8 * bytes))
		return;
	at = (uint8_t *)to->data + to->len;
	if (width == 1 && bytes == 1)
		pack_bytes(at, cells, n);
	else if (places && bytes == 2)
		pack_places(at, cells, n, places);
	else
		for (uint32_t i = 0; i < n; i++)
			put_bytes(at + (size_t)i * bytes, index_at(cells, width, i, places), bytes);
	memset(at + (size_t)n * bytes, 0, (size_t)(groups * 8 - n) * bytes);
	to->len += (size_t)groups * 8 * bytes;
}

void pq_put_indexes(struct buf *to, const void *cells, uint32_t width, uint32_t n, uint32_t limit,
		    const uint16_t *places)
{
	const uint32_t bytes = limit > 1 ? bytes_of(limit - 1) : 1;

	buf_putc(to, (char)(8 * bytes));
	if (!n || !all_equal(cells, width, n)) {
		put_packed(to, cells, width, n, bytes, places);
		return;
	}
	proto_varint(to, (uint64_t)n << 1);
	for (uint32_t i = 0; i < bytes; i++)
		buf_putc(to, (char)(index_at(cells, width, 0, places) >> 8 * i));
}

void pq_put_levels(struct buf *to, const uint64_t *present, uint32_t n)
{
	const uint32_t groups = (n + 7) / 8;
	const size_t start = to->len;
	uint32_t size;

	buf_fill(to, 0, sizeof(size));
	if (!present) {
		proto_varint(to, (uint64_t)n << 1);
		buf_putc(to, 1);
	} else {
		proto_varint(to, (uint64_t)groups << 1 | 1);
		for (uint32_t i = 0; i < groups; i++)
			buf_putc(to, (char)(present[i / 8] >> 8 * (i % 8)));
	}
	if (buf_full(to))
		return;
	size = (uint32_t)(to->len - start - sizeof(size));
	put_bytes((uint8_t *)to->data + start, size, sizeof(size));
}

uint32_t pq_checksum(const struct buf *body)
{
	return (uint32_t)crc32(0, (const Bytef *)body->data, (uInt)body->len);
}
