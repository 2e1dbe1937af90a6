// SPDX-License-Identifier: GPL-2.0-or-later
/* Thrift's compact protocol, as far as Parquet's metadata needs it. */
#include "store/parquet/parts.h"

#include "base/varint.h"

#define MAX_DEPTH 16 /* of what is skipped: structs in lists in structs */

uint64_t compact_varint(struct cursor *c)
{
	uint64_t v = 0;
	const uint8_t *rest = c->failed ? NULL : varint_get(c->pos, c->end, &v);

	if (!rest) {
		c->failed = true;
		return 0;
	}
	c->pos = rest;
	return v;
}

bool compact_next(struct cursor *c, struct compact_field *f)
{
	const uint8_t first = cursor_u8(c);
	int64_t id = f->id + (first >> 4);

	if (cursor_failed(c) || first == 0)
		return false;
	if (!(first >> 4))
		id = unzigzag(compact_varint(c));
	f->type = first & 15;
	f->id = (uint32_t)id;
	if (id < 0 || id > INT16_MAX)
		c->failed = true;
	return !cursor_failed(c);
}

/* ---- skipping ---- */

static void skip(struct cursor *c, uint8_t type, bool in_list, unsigned int depth);

static void skip_list(struct cursor *c, unsigned int depth)
{
	const uint8_t head = cursor_u8(c);
	const uint64_t n = head >> 4 == 15 ? compact_varint(c) : head >> 4;

	for (uint64_t i = 0; i < n && !cursor_failed(c); i++)
		skip(c, head & 15, true, depth);
}

static void skip_map(struct cursor *c, unsigned int depth)
{
	const uint64_t n = compact_varint(c);
	const uint8_t types = n ? cursor_u8(c) : 0;

	for (uint64_t i = 0; i < n && !cursor_failed(c); i++) {
		skip(c, types >> 4, true, depth);
		skip(c, types & 15, true, depth);
	}
}

static void skip_struct(struct cursor *c, unsigned int depth)
{
	for (struct compact_field f = {0}; compact_next(c, &f);)
		skip(c, f.type, false, depth);
}

static void skip(struct cursor *c, uint8_t type, bool in_list, unsigned int depth)
{
	if (depth >= MAX_DEPTH) {
		c->failed = true;
		return;
	}
	switch (type) {
	case THRIFT_TRUE:
	case THRIFT_FALSE: cursor_skip(c, in_list); break;
	case THRIFT_BYTE: cursor_skip(c, 1); break;
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64: compact_varint(c); break;
	case THRIFT_DOUBLE: cursor_skip(c, 8); break;
	case THRIFT_BINARY: cursor_skip(c, compact_varint(c)); break;
	case THRIFT_LIST:
	case THRIFT_SET: skip_list(c, depth + 1); break;
	case THRIFT_MAP: skip_map(c, depth + 1); break;
	case THRIFT_STRUCT: skip_struct(c, depth + 1); break;
	default: c->failed = true;
	}
}

void compact_skip(struct cursor *c, const struct compact_field *f)
{
	skip(c, f->type, false, 0);
}

/* ---- values ---- */

int64_t compact_int(struct cursor *c, const struct compact_field *f)
{
	if (f->type == THRIFT_BYTE)
		return (int8_t)cursor_u8(c);
	if (f->type != THRIFT_I16 && f->type != THRIFT_I32 && f->type != THRIFT_I64)
		c->failed = true;
	return unzigzag(compact_varint(c));
}

bool compact_bool(struct cursor *c, const struct compact_field *f)
{
	if (f->type != THRIFT_TRUE && f->type != THRIFT_FALSE)
		c->failed = true;
	return f->type == THRIFT_TRUE;
}

const uint8_t *compact_binary(struct cursor *c, const struct compact_field *f, uint32_t *len)
{
	uint64_t n;

	if (f->type != THRIFT_BINARY)
		c->failed = true;
	n = compact_varint(c);
	*len = n <= cursor_left(c) ? (uint32_t)n : 0;
	return cursor_bytes(c, n);
}

uint32_t compact_list(struct cursor *c, const struct compact_field *f, enum thrift_type of)
{
	uint64_t n;
	uint8_t head;

	if (f->type != THRIFT_LIST)
		c->failed = true;
	head = cursor_u8(c);
	n = head >> 4 == 15 ? compact_varint(c) : head >> 4;
	if (n > cursor_left(c) || (n && (head & 15) != of))
		c->failed = true;
	return cursor_failed(c) ? 0 : (uint32_t)n;
}
