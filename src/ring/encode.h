/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making pages: out of pages, which cutting a trace into pieces needs, and of records that come
 * from elsewhere.
 *
 * Records of pages are never encoded anew. A part of a page keeps its bytes as they are, so that
 * every kind of time (deltas, extends, absolute stamps) stays right by itself; only where the time
 * begins and how much there is of it is written again.
 */
#ifndef RING_ENCODE_H
#define RING_ENCODE_H

#include "ring/ring.h"

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
