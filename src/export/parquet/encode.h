/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export: the encodings of Parquet's pages that are written here.
 *
 * Widths are whole bytes although the format counts bits, because compressors find patterns in
 * bytes, but not in numbers that begin at any bit. Measured over recordings, pages of times are a
 * seventh smaller than with the narrowest widths, and encoding is faster.
 */
#ifndef EXPORT_PARQUET_ENCODE_H
#define EXPORT_PARQUET_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/parquet/format.h"

/*
 * DELTA_BINARY_PACKED: blocks of differences, each less the smallest one of its block, in parts of
 * 32 with a width of their own. `narrow`: numbers of 32 bits, whose differences wrap there.
 *
 * The smallest is not subtracted if that saves no byte: then equal differences have equal bytes in
 * all blocks, which makes a page of times 3 % smaller.
 */
void pq_put_delta(struct buf *to, const uint64_t *v, uint32_t n, bool narrow);

/* PLAIN: little-endian numbers of 32 or 64 bits. */
void pq_put_plain(struct buf *to, const uint64_t *v, uint32_t n, bool narrow);

/*
 * RLE_DICTIONARY: a byte with the width of numbers below `limit`, and the numbers as one run of
 * either kind of the hybrid encoding. The numbers are `cells` of 1, 2 or 4 bytes, none of them 0,
 * less 1; or, of cells of 2 bytes, what `places` has for those.
 */
void pq_put_indexes(struct buf *to, const void *cells, uint32_t width, uint32_t n, uint32_t limit,
		    const uint16_t *places);

/*
 * Definition levels of a page: its length, and a bit per row, which is clear where the value is
 * missing. `present` NULL: none is missing.
 */
void pq_put_levels(struct buf *to, const uint64_t *present, uint32_t n);

/* Of a page, as its header has it. */
uint32_t pq_checksum(const struct buf *body);

#endif
