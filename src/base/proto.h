/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing protobuf messages into a buffer.
 *
 * A message is a sequence of fields; a message in a message is a field of bytes, whose length is
 * put in front of it when it is complete (proto_begin(), proto_end()). As always with buffers, what
 * does not fit is dropped, and buf_full() is true then.
 */
#ifndef BASE_PROTO_H
#define BASE_PROTO_H

#include "base/buf.h"
#include "base/varint.h"

enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2 };

static inline void proto_varint(struct buf *b, uint64_t v)
{
	if (buf_room(b, VARINT_MOST))
		b->len = (size_t)((char *)varint_put((uint8_t *)b->data + b->len, v) - b->data);
}

static inline void proto_tag(struct buf *b, uint32_t field, enum proto_wire wire)
{
	proto_varint(b, (uint64_t)field << 3 | wire);
}

/* A number, also a negative one (int32 and int64, not sint), a truth value or one of an enum. */
static inline void proto_number(struct buf *b, uint32_t field, uint64_t v)
{
	uint8_t *to;

	if (!buf_room(b, 2 * (size_t)VARINT_MOST))
		return;
	to = varint_put((uint8_t *)b->data + b->len, (uint64_t)field << 3 | PROTO_VARINT);
	b->len = (size_t)((char *)varint_put(to, v) - b->data);
}

static inline void proto_bytes(struct buf *b, uint32_t field, const void *data, size_t len)
{
	proto_tag(b, field, PROTO_BYTES);
	proto_varint(b, len);
	buf_put(b, data, len);
}

/* A string. Bytes that are no UTF-8 become the characters of the same number. */
void proto_text(struct buf *b, uint32_t field, const char *text, size_t len);

/* Begins a message within a message; the result is for proto_end(). */
static inline size_t proto_begin(struct buf *b, uint32_t field)
{
	proto_tag(b, field, PROTO_BYTES);
	buf_putc(b, 0);
	return b->len;
}

/* The same for a length of more than one byte; use proto_end(). */
void proto_end_long(struct buf *b, size_t start);

static inline void proto_end(struct buf *b, size_t start)
{
	if (__builtin_expect(!b->full && b->len - start < 0x80, 1))
		b->data[start - 1] = (char)(b->len - start);
	else
		proto_end_long(b, start);
}

#endif
