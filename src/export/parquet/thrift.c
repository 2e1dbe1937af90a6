// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing Thrift: the head of a field says how far its number is from that of the one before. */
#include "export/parquet/thrift.h"

#define MAX_STEP 15 /* between numbers of fields that fit into a byte; elements of a short list */

static void put_field(struct thrift *t, uint16_t id, enum thrift_type type)
{
	const uint32_t step = (uint32_t)id - t->last[t->depth];

	if (step >= 1 && step <= MAX_STEP) {
		buf_putc(t->to, (char)(step << 4 | type));
	} else {
		buf_putc(t->to, (char)type);
		proto_varint(t->to, zigzag(id));
	}
	t->last[t->depth] = id;
}

void thrift_byte(struct thrift *t, uint16_t id, int8_t v)
{
	put_field(t, id, THRIFT_BYTE);
	buf_putc(t->to, (char)v);
}

void thrift_i32(struct thrift *t, uint16_t id, int32_t v)
{
	put_field(t, id, THRIFT_I32);
	proto_varint(t->to, zigzag(v));
}

void thrift_i64(struct thrift *t, uint16_t id, int64_t v)
{
	put_field(t, id, THRIFT_I64);
	proto_varint(t->to, zigzag(v));
}

void thrift_bool(struct thrift *t, uint16_t id, bool v)
{
	put_field(t, id, v ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_binary(struct thrift *t, uint16_t id, const void *data, size_t len)
{
	put_field(t, id, THRIFT_BINARY);
	thrift_item_binary(t, data, len);
}

void thrift_begin(struct thrift *t, uint16_t id)
{
	put_field(t, id, THRIFT_STRUCT);
	thrift_item(t);
}

void thrift_end(struct thrift *t)
{
	buf_putc(t->to, 0);
	if (t->depth)
		t->depth--;
}

void thrift_list(struct thrift *t, uint16_t id, enum thrift_type type, uint32_t n)
{
	put_field(t, id, THRIFT_LIST);
	if (n < MAX_STEP) {
		buf_putc(t->to, (char)(n << 4 | type));
	} else {
		buf_putc(t->to, (char)(0xf0 | type));
		proto_varint(t->to, n);
	}
}

void thrift_item(struct thrift *t)
{
	if (t->depth < THRIFT_DEPTH - 1)
		t->depth++;
	t->last[t->depth] = 0;
}

void thrift_item_i32(struct thrift *t, int32_t v)
{
	proto_varint(t->to, zigzag(v));
}

void thrift_item_binary(struct thrift *t, const void *data, size_t len)
{
	proto_varint(t->to, len);
	buf_put(t->to, data, len);
}
