/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The encodings of Parquet's pages that are written here.
 *
 * Widths are whole bytes although the format counts bits: pages are compressed, and a compressor
 * finds in bytes what it would not find in numbers that begin anywhere. Measured over recordings, a
 * page of times becomes a seventh smaller than with the narrowest widths, and is made faster.
 */
#ifndef EXPORT_PARQUET_ENCODE_H
#define EXPORT_PARQUET_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "parquet/format.h"

/*
 * DELTA_BINARY_PACKED: blocks of 128 differences, each less the smallest one of its block, in four
 * parts with a width of their own. `narrow`: numbers of 32 bits, whose differences wrap there.
 */
void pq_put_delta(struct buf *to, const uint64_t *v, uint32_t n, bool narrow);

/* PLAIN: little-endian numbers of 32 or 64 bits. */
void pq_put_plain(struct buf *to, const uint64_t *v, uint32_t n, bool narrow);

/*
 * RLE_DICTIONARY: a byte with the width of numbers below `limit`, and the numbers as one run of
 * either kind of the hybrid encoding.
 */
void pq_put_indexes(struct buf *to, const uint32_t *v, uint32_t n, uint32_t limit);

/*
 * Definition levels of a page: its length, and a bit per row, which is clear where the value is
 * missing. `present` NULL: none is missing.
 */
void pq_put_levels(struct buf *to, const uint64_t *present, uint32_t n);

/* Of a page, as its header has it. */
uint32_t pq_checksum(const struct buf *body);

#endif
