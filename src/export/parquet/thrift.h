/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export: writing Thrift's compact protocol, in which Parquet's headers and footers
 * are.
 *
 * A struct is its fields one after the other, in the order of their numbers, and a zero byte. A
 * field's first byte has its type and how much higher its number is than that of the previous one.
 */
#ifndef EXPORT_PARQUET_THRIFT_H
#define EXPORT_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/proto.h"
#include "store/parquet/format.h"

#define THRIFT_DEPTH 8 /* structs in structs */

/* Begins in a struct: the caller sets `to`, and everything else to zero. */
struct thrift {
	struct buf *to;
	uint32_t depth;
	uint16_t last[THRIFT_DEPTH]; /* numbers of the fields written last, by depth */
};

void thrift_byte(struct thrift *t, uint16_t id, int8_t v);
void thrift_i32(struct thrift *t, uint16_t id, int32_t v);
void thrift_i64(struct thrift *t, uint16_t id, int64_t v);
void thrift_bool(struct thrift *t, uint16_t id, bool v);
void thrift_binary(struct thrift *t, uint16_t id, const void *data, size_t len);

/* A struct that is a field; its end, or that of the outermost one. */
void thrift_begin(struct thrift *t, uint16_t id);
void thrift_end(struct thrift *t);

/* A list of n elements, which follow: numbers, texts, or structs between thrift_item and _end. */
void thrift_list(struct thrift *t, uint16_t id, enum thrift_type type, uint32_t n);
void thrift_item(struct thrift *t);
void thrift_item_i32(struct thrift *t, int32_t v);
void thrift_item_binary(struct thrift *t, const void *data, size_t len);

#endif
