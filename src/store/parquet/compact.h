/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading Thrift's compact protocol, in which Parquet's headers and footers are.
 *
 * A struct is read field by field:
 *
 *	for (struct compact_field f = {0}; compact_next(c, &f);)
 *		switch (f.id) {
 *		case 1: x = compact_int(c, &f); break;
 *		default: compact_skip(c, &f);
 *		}
 *
 * What is not what it should be makes the cursor fail, and with it everything that follows. A list
 * never has more elements than there are bytes left.
 */
#ifndef STORE_PARQUET_COMPACT_H
#define STORE_PARQUET_COMPACT_H

#include "base/cursor.h"
#include "store/parquet/format.h"

struct compact_field {
	uint32_t id;
	uint8_t type; /* enum thrift_type */
};

/* The next field of the struct; false at its end. The field must be read or skipped. */
bool compact_next(struct cursor *c, struct compact_field *f);
void compact_skip(struct cursor *c, const struct compact_field *f);

int64_t compact_int(struct cursor *c, const struct compact_field *f);
bool compact_bool(struct cursor *c, const struct compact_field *f);
/* NULL when it failed. */
const uint8_t *compact_binary(struct cursor *c, const struct compact_field *f, uint32_t *len);

/* How many elements follow, which are of that type. */
uint32_t compact_list(struct cursor *c, const struct compact_field *f, enum thrift_type of);

uint64_t compact_varint(struct cursor *c);

static inline int64_t compact_zigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

#endif
