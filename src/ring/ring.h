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
	bool big_endian; /* copied from the layout, for speed */
	bool damaged;	 /* the data end inside a record */
};

struct ring_event {
	uint64_t ts;
	const uint8_t *data;
	uint32_t size;
	uint32_t delta;
	uint32_t pos; /* of the record's header in the page */
};

/* The layout of all known kernels: the data follow a long of long_size. */
struct ring_layout ring_layout_default(bool big_endian, unsigned int long_size, uint32_t page_size);

/*
 * Corrects a layout by the text of events/header_page: the place of commit, the size of the traced
 * kernel's long, and the start of the data. If the text is of no use, it returns false and changes
 * nothing.
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

/* The rarer kinds of records: long data, padding, time. Use ring_page_next(). */
bool ring_page_next_rare(struct ring_page *p, struct ring_event *e);

#define RING_DELTA_BITS 27
#define RING_MAX_WORDS	28 /* of data whose length is in the record's first word */

static inline uint32_t ring_word(const struct ring_page *p, uint32_t pos)
{
	uint32_t word;

	memcpy(&word, p->data + pos, sizeof(word));
	if (p->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		word = __builtin_bswap32(word);
	return word;
}

#define RING_HEAD 4 /* bytes of that word, which a plain record's data follow */

/* The size of the record at `pos`, if it is a plain one, and the time since the previous record. */
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
 * The next record; false at the end. `damaged` is set if the data end inside a record.
 *
 * This runs most often of all, so plain records are decoded inline.
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

/* All kinds of entries in a page, for people who debug ring buffers. */
enum ring_kind { RING_DATA, RING_PADDING, RING_TIME_EXTEND, RING_TIME_STAMP };
struct ring_raw {
	enum ring_kind kind;
	uint64_t delta;	 /* or the absolute time */
	uint32_t length; /* of the data; for padding, including the word that has the length */
	uint32_t pos;
	uint32_t next; /* start of the next one, or the end of the page's data */
};

/*
 * Decodes the entry at pos, data or not; false at the end of the page, or if the entry does not end
 * in the page. An absolute time gets its upper bits from p->ts.
 */
bool ring_page_raw(const struct ring_page *p, uint32_t pos, struct ring_raw *raw);

/* ---- making pages ---- */

/*
 * Pages are made from parts of other pages, to cut a trace into pieces, and from records that come
 * from elsewhere. Records of pages are never encoded again: their bytes are copied, so every kind
 * of time (deltas, extends, absolute stamps) stays correct. Only the page's header and the first
 * delta are rewritten.
 */

/* Consecutive records of a page. */
struct ring_part {
	uint32_t first; /* of the first record, as in struct ring_event */
	uint64_t ts;	/* the time of that one */
	uint32_t end;	/* of the first record after them; p->end for none */
	int64_t lost;	/* before them, as in struct ring_page */
};

/*
 * Writes a page with some records of an open page. `to` has page_size bytes. If there is no space
 * for the number of lost events after the data, it becomes unknown.
 */
void ring_cut(const struct ring_page *p, const struct ring_part *part, uint8_t *to);

/*
 * Repairs a page in place of which only the first `size` bytes are there: the rest becomes zeros,
 * and the page ends after its last complete record. -EBADMSG if it is no page at all.
 */
int ring_mend(const struct ring_layout *layout, uint8_t *page, size_t size);

/* A page that is being filled, record by record. */
struct ring_fill {
	const struct ring_layout *layout;
	uint8_t *page;	      /* page_size bytes */
	uint32_t end;	      /* of its data so far */
	uint64_t first, last; /* times */
	int64_t lost;	      /* before it, as in struct ring_page */
	bool any;	      /* there is a record on it */
};

/* Begins a page; `lost` as in struct ring_page. */
void ring_fill_begin(struct ring_fill *f, const struct ring_layout *layout, uint8_t *page,
		     int64_t lost);

/*
 * Adds a record. False if there is no space for it, or if its time cannot follow the previous one:
 * then it has to begin a new page.
 */
bool ring_fill_add(struct ring_fill *f, uint64_t ts, const void *data, uint32_t size);

/* Writes the page's header; the rest of the page becomes zeros. */
void ring_fill_end(struct ring_fill *f);

/* The size of the largest record that fits into a page. */
uint32_t ring_fill_room(const struct ring_layout *layout);

#endif
