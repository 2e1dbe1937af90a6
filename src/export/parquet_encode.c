// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/parquet_encode.h"

#include <string.h>
#include <zlib.h>

#include "export/thrift.h"

#define BLOCK 128 /* differences in a block, … */
#define PARTS 4	  /* … which is cut into this many */
#define PART  (BLOCK / PARTS)

/* Little-endian, of so many bytes. */
static inline void put_bytes(uint8_t *to, uint64_t v, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

/* ---- differences ---- */

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

/* The n differences of a block, n > 0; what is left of it is 0. Returns the smallest. */
static int64_t subtract(uint64_t *diff, const uint64_t *v, uint32_t n, bool narrow)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		int64_t d = (int64_t)(v[i + 1] - v[i]);

		if (narrow)
			d = (int32_t)d;
		diff[i] = (uint64_t)d;
		least = d < least ? d : least;
	}
	for (uint32_t i = 0; i < n; i++) {
		diff[i] -= (uint64_t)least;
		if (narrow)
			diff[i] = (uint32_t)diff[i];
	}
	for (uint32_t i = n; i < BLOCK; i++)
		diff[i] = 0;
	return least;
}

/* v[0] is the number before the block's first one. */
static void put_block(struct buf *to, const uint64_t *v, uint32_t n, bool narrow)
{
	uint64_t diff[BLOCK];
	uint8_t *widths, *at;

	if (!buf_room(to, VARINT_MOST + PARTS + BLOCK * 8))
		return;
	buf_varint(to, zigzag(subtract(diff, v, n, narrow)));
	widths = (uint8_t *)to->data + to->len;
	at = widths + PARTS;
	for (uint32_t k = 0; k < PARTS; k++) {
		uint64_t all = 0;

		for (uint32_t i = 0; i < PART; i++)
			all |= diff[k * PART + i];
		widths[k] = (uint8_t)(8 * bytes_of(all));
		/* A part behind the last number has no bytes. */
		if (k * PART < n)
			at = pack_part(at, diff + k * PART, bytes_of(all));
	}
	to->len = (size_t)((char *)at - to->data);
}

void pq_put_delta(struct buf *to, const uint64_t *v, uint32_t n, bool narrow)
{
	int64_t first = n ? (int64_t)v[0] : 0;

	if (narrow)
		first = (int32_t)first;
	buf_varint(to, BLOCK);
	buf_varint(to, PARTS);
	buf_varint(to, n);
	buf_varint(to, zigzag(first));
	for (uint32_t i = 1; i < n; i += BLOCK)
		put_block(to, v + i - 1, n - i < BLOCK ? n - i : BLOCK, narrow);
}

/* ---- numbers as they are ---- */

void pq_put_plain(struct buf *to, const uint64_t *v, uint32_t n, bool narrow)
{
	const uint32_t bytes = narrow ? 4 : 8;

	if (!buf_room(to, (size_t)n * bytes))
		return;
	for (uint32_t i = 0; i < n; i++, to->len += bytes)
		put_bytes((uint8_t *)to->data + to->len, v[i], bytes);
}

/* ---- runs ---- */

static bool all_equal(const uint32_t *v, uint32_t n)
{
	uint32_t other = 0;

	for (uint32_t i = 1; i < n; i++)
		other |= v[i] ^ v[0];
	return other == 0;
}

/* One run of groups of eight numbers, the last one filled up. */
static void put_packed(struct buf *to, const uint32_t *v, uint32_t n, uint32_t bytes)
{
	const uint32_t groups = (n + 7) / 8;
	uint8_t *at;

	buf_varint(to, (uint64_t)groups << 1 | 1);
	if (!buf_room(to, (size_t)groups * 8 * bytes))
		return;
	at = (uint8_t *)to->data + to->len;
	if (bytes == 1)
		for (uint32_t i = 0; i < n; i++)
			at[i] = (uint8_t)v[i];
	else
		for (uint32_t i = 0; i < n; i++)
			put_bytes(at + (size_t)i * bytes, v[i], bytes);
	memset(at + (size_t)n * bytes, 0, (size_t)(groups * 8 - n) * bytes);
	to->len += (size_t)groups * 8 * bytes;
}

void pq_put_indexes(struct buf *to, const uint32_t *v, uint32_t n, uint32_t limit)
{
	const uint32_t bytes = limit > 1 ? bytes_of(limit - 1) : 1;

	buf_putc(to, (char)(8 * bytes));
	if (!n || !all_equal(v, n)) {
		put_packed(to, v, n, bytes);
		return;
	}
	buf_varint(to, (uint64_t)n << 1);
	for (uint32_t i = 0; i < bytes; i++)
		buf_putc(to, (char)(v[0] >> 8 * i));
}

void pq_put_levels(struct buf *to, const uint64_t *present, uint32_t n)
{
	const uint32_t groups = (n + 7) / 8;
	const size_t start = to->len;
	uint32_t size;

	buf_fill(to, 0, sizeof(size));
	if (!present) {
		buf_varint(to, (uint64_t)n << 1);
		buf_putc(to, 1);
	} else {
		buf_varint(to, (uint64_t)groups << 1 | 1);
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
