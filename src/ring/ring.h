/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's ring buffer: one sub-buffer ("page") and the records in it.
 *
 *	+0           u64   time stamp of the page
 *	+8           long  commit: bytes of data that follow, and two flags
 *	                   bit 31: events were lost before this page
 *	                   bit 30: …and their number stands after the data, as a long
 *	+8+long      data  records
 *
 * A record starts with a u32: 5 bits of type or length, 27 bits of time since the last record (the
 * type in the low bits on little-endian machines, in the high bits on big-endian ones):
 *
 *	0        the length follows as a u32 (counting itself), then the data
 *	1 … 28   the data are this many words of 4 bytes
 *	29       padding: with a time delta it is a discarded event, its length in a u32;
 *	         without one nothing follows on the page
 *	30       time extend: the upper bits of a delta in a u32
 *	31       an absolute time stamp, its upper bits in a u32
 */
#ifndef RING_RING_H
#define RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"

struct ring_layout {
	bool big_endian;
	uint32_t page_size;
	uint32_t commit_offset; /* 8 */
	uint32_t commit_size;	/* the traced kernel's long: 4 or 8 */
	uint32_t data_offset;	/* commit_offset + commit_size */
};

/* Sub-buffers are a power of two within these bounds; anything else is refused. */
#define RING_MIN_PAGE 128u
#define RING_MAX_PAGE (16u << 20)

struct ring_page {
	const struct ring_layout *layout;
	const uint8_t *data; /* the page's first byte */
	uint32_t pos;	     /* of the next record, from data; never after end */
	uint32_t end;	     /* end of the committed data, from data */
	uint64_t ts;	     /* time of the record last returned; at first the page's */
	uint64_t page_ts;
	int64_t lost;	 /* before this page: 0, a count, or -1 for an unknown one */
	bool big_endian; /* the layout's, close at hand for the walk */
	bool damaged;	 /* the data end inside a record */
};

struct ring_event {
	uint64_t ts;
	const uint8_t *data;
	uint32_t size;
	uint32_t delta;
	uint32_t pos; /* of the record's header in the page */
};

/* The layout every kernel has, when nothing better is known: data follow a long of long_size. */
struct ring_layout ring_layout_default(bool big_endian, unsigned int long_size, uint32_t page_size);

/*
 * Corrects a layout by the text of events/header_page: where commit lies, how long the traced
 * kernel's long is, where the data start. False, and the layout unchanged, when the text says
 * nothing of use.
 */
bool ring_layout_parse(struct ring_layout *layout, const char *text, size_t size);

static inline bool ring_page_size_ok(uint32_t size)
{
	return size >= RING_MIN_PAGE && size <= RING_MAX_PAGE && (size & (size - 1)) == 0;
}

/*
 * Starts reading a page of `size` bytes (at most page_size; less when the file is cut off). Returns
 * 0, or -EBADMSG when its header makes no sense.
 */
int ring_page_open(struct ring_page *p, const struct ring_layout *layout, const void *data,
		   size_t size);

/* The records that are not plain: long data, padding, time. Use ring_page_next(). */
bool ring_page_next_rare(struct ring_page *p, struct ring_event *e);

#define RING_DELTA_BITS 27
#define RING_MAX_WORDS	28 /* of data whose length stands in the record's first word */

static inline uint32_t ring_word(const struct ring_page *p, uint32_t pos)
{
	uint32_t word;

	memcpy(&word, p->data + pos, sizeof(word));
	if (p->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		word = __builtin_bswap32(word);
	return word;
}

#define RING_HEAD 4 /* bytes of that word; a plain record's data follow it */

/* Whether the record at a place is a plain one: its size, and the time since the one before it. */
static inline bool ring_page_plain(const struct ring_page *p, uint32_t pos, uint32_t *delta,
				   uint32_t *size)
{
	uint32_t left = p->end - pos, word, type;

	if (__builtin_expect(left < 8, 0))
		return false;
	word = ring_word(p, pos);
	type = p->big_endian ? word >> RING_DELTA_BITS : word & 31;
	*delta = p->big_endian ? word & ((1u << RING_DELTA_BITS) - 1) : word >> 5;
	*size = type * 4;
	return __builtin_expect(type - 1 < RING_MAX_WORDS && *size <= left - RING_HEAD, 1);
}

/*
 * The next record; false at the end. `damaged` then tells whether the end was a proper one.
 *
 * Nothing runs as often as this: plain records are decoded here, the rest elsewhere.
 */
static inline bool ring_page_next(struct ring_page *p, struct ring_event *e)
{
	uint32_t pos = p->pos, delta, size;

	if (__builtin_expect(!ring_page_plain(p, pos, &delta, &size), 0))
		return ring_page_next_rare(p, e);
	p->ts += delta;
	p->pos = pos + RING_HEAD + size;
	e->ts = p->ts;
	e->data = p->data + pos + RING_HEAD;
	e->size = size;
	e->delta = delta;
	e->pos = pos;
	return true;
}

/* What stands between records, for people who debug ring buffers. */
enum ring_kind { RING_DATA, RING_PADDING, RING_TIME_EXTEND, RING_TIME_STAMP };
struct ring_raw {
	enum ring_kind kind;
	uint64_t delta;	 /* or the absolute time */
	uint32_t length; /* of the data; of padding with the word the length stands in */
	uint32_t pos;
	uint32_t next; /* where the one after it starts; the end of the page's data at last */
};

/*
 * Decodes whatever stands at pos, data or not; false at the end of the page, and when what stands
 * there reaches over it. An absolute time gets its upper bits from p->ts.
 */
bool ring_page_raw(const struct ring_page *p, uint32_t pos, struct ring_raw *raw);

/* ---- making pages ---- */

/*
 * Pages are made from parts of other pages, to cut a trace into pieces, and from records that come
 * from elsewhere. Records of pages are never encoded anew: their bytes are copied, so that every
 * kind of time (deltas, extends, absolute stamps) stays right; only the page's head and the first
 * delta are written again.
 */

/* Records of a page that stand in a row. */
struct ring_part {
	uint32_t first; /* place of the first one, as ring_event.pos has it */
	uint64_t ts;	/* the time of that one */
	uint32_t end;	/* place of the first one that is left out; p->end for none */
	int64_t lost;	/* before them: as of struct ring_page */
};

/*
 * Writes a page of its own with a part of an open one. `to` has page_size bytes. A number of lost
 * events that does not fit after the data becomes "some".
 */
void ring_cut(const struct ring_page *p, const struct ring_part *part, uint8_t *to);

/*
 * Makes a good page of the first `size` bytes of one, in place: what is missing becomes zeros, and
 * the page ends after its last whole record. Returns -EBADMSG when it is no page at all.
 */
int ring_mend(const struct ring_layout *layout, uint8_t *page, size_t size);

/* A page that is being filled, record by record. */
struct ring_fill {
	const struct ring_layout *layout;
	uint8_t *page;	      /* page_size bytes */
	uint32_t end;	      /* of its data so far */
	uint64_t first, last; /* times */
	int64_t lost;	      /* before it: as of struct ring_page */
	bool any;	      /* there is a record on it */
};

/* Begins a page; `lost` as of struct ring_page. */
void ring_fill_begin(struct ring_fill *f, const struct ring_layout *layout, uint8_t *page,
		     int64_t lost);

/*
 * Adds a record. False when it does not fit after the others, or its time is not one that can
 * follow theirs: it has to begin a page of its own then.
 */
bool ring_fill_add(struct ring_fill *f, uint64_t ts, const void *data, uint32_t size);

/* Writes the page's head; the rest of it becomes zeros. */
void ring_fill_end(struct ring_fill *f);

/* How many bytes the largest record has that a page takes. */
uint32_t ring_fill_room(const struct ring_layout *layout);

#endif
