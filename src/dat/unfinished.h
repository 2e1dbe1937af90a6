/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/dat: the option DAT_OPT_REGIONS of a file that is being written.
 *
 * It says where each CPU's trace data are while no other option can, and how far the writer has
 * come with finishing the file:
 *
 *	u32 version: 1    u32 n, then n zero bytes, so that what follows is aligned
 *	u64 stage         enum dat_stage
 *	u64 unit          what lies between regions is taken out in multiples of this
 *	u64 whole         size of the file when the stage became DAT_STAGE_ENDED
 *	u64 reserve, u64 its size: where there is room for what is known at the end only
 *	u32 number of regions, u32 flags: 1 = sparse
 *	each: u32 buffer, u32 the CPU, u64 offset, u64 room, u64 size, u64 packed, u64 lead
 *
 *	DAT_STAGE_OPEN    Data are being appended. `size` is not updated yet: the data go up to
 *	                  the first page whose time and length are both zero, compressed ones have
 *	                  the number of their chunks in front. A region without an offset has not
 *	                  been begun; these are files without holes.
 *	DAT_STAGE_ENDED   No data come any more, `size` holds. The holes between the regions are
 *	                  being collapsed, the last one first. Each of them makes the file shorter
 *	                  and moves all that lies after it, so the size of the file tells how many
 *	                  are gone, at every moment.
 *	DAT_STAGE_PACKED  The data will stay at `packed`.
 *	DAT_STAGE_MOVING  Follows DAT_STAGE_ENDED where holes cannot be collapsed. The regions are
 *	                  being copied from `offset` to `packed`, the last one first and each from
 *	                  its end on; what has been copied is cut off. So what lies in front of the
 *	                  end of the file is still at `offset`, what would lie after it is at
 *	                  `packed`, and one region may be in both places.
 *
 * Each step to the next stage changes a single byte of the file, so at every moment the file says
 * where the regions are. `lead` bytes before a region belong to it: version 7 has the header
 * of its section there.
 */
#ifndef DAT_UNFINISHED_H
#define DAT_UNFINISHED_H

#include "dat/load.h"

enum dat_stage {
	DAT_STAGE_OPEN,
	DAT_STAGE_ENDED,
	DAT_STAGE_PACKED,
	DAT_STAGE_MOVING,
};

#define DAT_REGIONS_VERSION 1
#define DAT_REGIONS_SPARSE  1u
#define DAT_NO_CPU	    UINT32_MAX /* the region of a buffer without any */

/* Places in the aligned part. */
#define DAT_REGIONS_HEAD     48
#define DAT_REGIONS_EACH     48
#define DAT_REGIONS_AT_STAGE 0
#define DAT_REGIONS_SPARE    15 /* the bytes in front of the aligned part, at most */

struct dat_region {
	uint32_t buffer;
	uint32_t cpu;
	uint64_t offset, room, size, packed, lead;
};

struct dat_regions {
	uint64_t at; /* of the aligned part, in the file */
	uint64_t stage, unit, whole, reserve, reserve_size;
	uint32_t flags;
	uint32_t nr;
	struct dat_region *each;
};

/* False if the bytes are invalid, or there is no memory. */
bool dat_regions_parse(struct arena *a, const struct dat_option *o, bool big_endian,
		       struct dat_regions *r);

/* How many bytes are to be removed after region i. */
uint64_t dat_regions_hole(const struct dat_regions *r, uint32_t i);

/*
 * The first hole that is gone from a file of that size; all after it are gone as well. The number
 * of the last region, which has no hole after it: none is gone. UINT32_MAX: the file cannot have
 * that size.
 */
uint32_t dat_regions_gone(const struct dat_regions *r, uint64_t file_size);

/* Puts into `packed` where the regions are when the holes from that one on are gone. */
void dat_regions_place(struct dat_regions *r, uint32_t gone);

/*
 * DAT_STAGE_MOVING: how many bytes of region i, its lead first, are still at its offset in a file
 * of that size.
 */
uint64_t dat_region_unmoved(const struct dat_region *r, uint64_t file_size);

/* Corrects what the options say about the buffers; nothing to do for files that are finished. */
void dat_load_unfinished(struct dat_load *l);

/*
 * How many bytes of region i have been written, while data are being appended to it: whole pages of
 * that size, or whole chunks. It reads all of the chunks' heads. Negative errno.
 */
int64_t dat_region_end(const struct dat *d, const struct dat_regions *r, uint32_t i,
		       uint32_t page_size);

#endif
