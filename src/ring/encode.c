// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing the few numbers of a page that are not copied: its head, and the first record's delta;
 * and records anew.
 */
#include "ring/encode.h"

#include <errno.h>

#define MISSING_EVENTS (1u << 31)
#define MISSING_STORED (1u << 30)

/* The head of a page whose data are in place, and what was lost before it. */
static void put_head(const struct ring_layout *l, uint8_t *page, uint64_t ts, uint32_t end,
		     int64_t lost)
{
	uint64_t commit = end - l->data_offset;
	bool counted = lost > 0 && l->page_size - end >= l->commit_size &&
		       (l->commit_size > 4 || lost <= INT32_MAX);

	if (lost)
		commit |= MISSING_EVENTS;
	if (counted) {
		commit |= MISSING_STORED;
		store_uint(page + end, (uint64_t)lost, l->commit_size, l->big_endian);
	}
	store_uint(page, ts, 8, l->big_endian);
	store_uint(page + l->commit_offset, commit, l->commit_size, l->big_endian);
}

/* The page's time is that of its first record, which then needs none of its own. */
static void clear_delta(const struct ring_layout *l, uint8_t *word)
{
	uint32_t v = (uint32_t)load_uint(word, 4, l->big_endian);

	v = l->big_endian ? v >> RING_DELTA_BITS << RING_DELTA_BITS : v & 31;
	store_uint(word, v, 4, l->big_endian);
}

void ring_cut(const struct ring_page *p, const struct ring_part *part, uint8_t *to)
{
	const struct ring_layout *l = p->layout;
	uint32_t n = part->end > part->first ? part->end - part->first : 0;

	memset(to, 0, l->page_size);
	/* The head may have fields that are not known here. */
	memcpy(to, p->data, l->data_offset);
	memcpy(to + l->data_offset, p->data + part->first, n);
	if (n >= 4)
		clear_delta(l, to + l->data_offset);
	put_head(l, to, part->ts, l->data_offset + n, part->lost);
}

int ring_mend(const struct ring_layout *layout, uint8_t *page, size_t size)
{
	struct ring_page p;
	struct ring_event e;
	int rc = ring_page_open(&p, layout, page, size);

	if (rc)
		return rc;
	while (ring_page_next(&p, &e))
		;
	if (!p.damaged && size == layout->page_size)
		return 0;
	memset(page + p.end, 0, layout->page_size - p.end);
	put_head(layout, page, p.page_ts, p.end, p.lost);
	return 0;
}

/* ---- new records ---- */

#define TYPE_EXTEND 30
#define LOST_ROOM   8  /* for the number of lost events, after the data */
#define MAX_HEAD    16 /* a time extend, a record's word and its length */

static void put_word(const struct ring_fill *f, uint32_t at, uint32_t type, uint32_t delta)
{
	const bool big = f->layout->big_endian;

	store_uint(f->page + at, big ? type << RING_DELTA_BITS | delta : delta << 5 | type, 4, big);
}

void ring_fill_begin(struct ring_fill *f, const struct ring_layout *layout, uint8_t *page,
		     int64_t lost)
{
	*f = (struct ring_fill){
		.layout = layout, .page = page, .end = layout->data_offset, .lost = lost};
}

uint32_t ring_fill_room(const struct ring_layout *layout)
{
	return (layout->page_size - layout->data_offset - LOST_ROOM - MAX_HEAD) & ~3u;
}

bool ring_fill_add(struct ring_fill *f, uint64_t ts, const void *data, uint32_t size)
{
	const uint32_t room = ring_fill_room(f->layout), used = f->end - f->layout->data_offset;
	const uint32_t words = size / 4 + (size % 4 != 0);
	uint64_t delta = f->any ? ts - f->last : 0;

	if (size > room || words * 4 > room - (used < room ? used : room))
		return false;
	if (f->any && (ts < f->last || delta >> RING_DELTA_BITS > UINT32_MAX))
		return false;
	if (!f->any)
		f->first = ts;
	if (delta >> RING_DELTA_BITS) {
		put_word(f, f->end, TYPE_EXTEND, delta & ((1u << RING_DELTA_BITS) - 1));
		store_uint(f->page + f->end + 4, delta >> RING_DELTA_BITS, 4,
			   f->layout->big_endian);
		f->end += 8;
		delta = 0;
	}
	put_word(f, f->end, words && words <= RING_MAX_WORDS ? words : 0, (uint32_t)delta);
	f->end += 4;
	if (!words || words > RING_MAX_WORDS) {
		store_uint(f->page + f->end, words * 4 + 4, 4, f->layout->big_endian);
		f->end += 4;
	}
	memcpy(f->page + f->end, data, size);
	memset(f->page + f->end + size, 0, words * 4 - size);
	f->end += words * 4;
	f->last = ts;
	f->any = true;
	return true;
}

void ring_fill_end(struct ring_fill *f)
{
	memset(f->page, 0, f->layout->data_offset);
	memset(f->page + f->end, 0, f->layout->page_size - f->end);
	put_head(f->layout, f->page, f->first, f->end, f->lost);
}
