// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decompressing snappy's raw format: the size, then elements, whose first byte says in its two
 * lowest bits what they are: bytes that follow, or a copy of bytes that have come already.
 */
#include "base/cursor.h"
#include "base/varint.h"
#include "store/parquet/parts.h"

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

bool snappy_unpack(const uint8_t *from, size_t size, uint8_t *to, size_t raw)
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
