// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a page, and the records on it that are not plain.
 *
 * While a page is open, data_offset <= pos <= end <= the bytes the caller gave. A record is
 * returned only when all of it lies before end.
 */
#include "ring/ring.h"

#include <errno.h>

#define COMMIT_MASK    ((1u << 27) - 1)
#define MISSING_EVENTS (1u << 31)
#define MISSING_STORED (1u << 30)

/* An absolute time stamp has 59 bits; the upper ones are those of the time before it. */
#define STAMP_BITS 59

enum { TYPE_PADDING = 29, TYPE_EXTEND = 30, TYPE_STAMP = 31 };

/* What the kernel could not count or could not store is "some". */
static int64_t lost_before(const struct ring_layout *l, const uint8_t *data, size_t size,
			   uint64_t commit, uint32_t end)
{
	int64_t count;

	if (!(commit & MISSING_EVENTS))
		return 0;
	if (!(commit & MISSING_STORED) || size - end < l->commit_size)
		return -1;
	count = (int64_t)load_uint(data + end, l->commit_size, l->big_endian);
	return count > 0 ? count : -1;
}

int ring_page_open(struct ring_page *p, const struct ring_layout *layout, const void *data,
		   size_t size)
{
	const struct ring_layout *l = layout;
	const uint8_t *bytes = data;
	uint32_t committed, room;
	uint64_t commit;

	if (!ring_page_size_ok(l->page_size) || size > l->page_size || size < l->data_offset)
		return -EBADMSG;
	commit = load_uint(bytes + l->commit_offset, l->commit_size, l->big_endian);
	committed = commit & COMMIT_MASK;
	if (committed > l->page_size - l->data_offset)
		return -EBADMSG;
	room = (uint32_t)size - l->data_offset;
	*p = (struct ring_page){
		.layout = l,
		.data = bytes,
		.pos = l->data_offset,
		.end = l->data_offset + (committed < room ? committed : room),
		.page_ts = load_uint(bytes, 8, l->big_endian),
		.big_endian = l->big_endian,
		.damaged = committed > room,
	};
	p->ts = p->page_ts;
	p->lost = p->damaged ? -!!(commit & MISSING_EVENTS)
			     : lost_before(l, bytes, size, commit, p->end);
	return 0;
}

static void decode_time(const struct ring_page *p, uint32_t type, uint32_t word,
			struct ring_raw *raw)
{
	uint64_t time = ((uint64_t)word << RING_DELTA_BITS) + raw->delta;

	raw->kind = RING_TIME_EXTEND;
	if (type == TYPE_STAMP) {
		raw->kind = RING_TIME_STAMP;
		time |= p->ts >> STAMP_BITS << STAMP_BITS;
	}
	raw->delta = time;
	raw->length = 0;
}

/*
 * Fills in everything but `next` and says where the data start; false when not even the header is
 * there or a length makes no sense.
 */
static bool decode(const struct ring_page *p, uint32_t pos, struct ring_raw *raw, uint32_t *start)
{
	uint32_t left = p->end - pos, word, type, second;

	if (left < 4)
		return false;
	word = ring_word(p, pos);
	type = p->big_endian ? word >> RING_DELTA_BITS : word & 31;
	*raw = (struct ring_raw){
		.kind = RING_DATA,
		.delta = p->big_endian ? word & ((1u << RING_DELTA_BITS) - 1) : word >> 5,
		.length = type * 4,
		.pos = pos,
	};
	*start = pos + 4;
	if (type >= 1 && type <= RING_MAX_WORDS)
		return true;
	if (type == TYPE_PADDING && raw->delta == 0) {
		raw->kind = RING_PADDING;
		raw->length = left - 4;
		return true;
	}
	if (left < 8)
		return false;
	second = ring_word(p, pos + 4);
	*start = pos + 8;
	if (type == TYPE_EXTEND || type == TYPE_STAMP) {
		decode_time(p, type, second, raw);
		return true;
	}
	/* Both lengths count the word they stand in. */
	if (second < 4 || second > left - 4)
		return false;
	if (type == TYPE_PADDING) {
		*start = pos + 4;
		raw->kind = RING_PADDING;
		raw->length = second;
	} else {
		raw->length = (second - 4 + 3) & ~3u;
	}
	return true;
}

bool ring_page_raw(const struct ring_page *p, uint32_t pos, struct ring_raw *raw)
{
	uint32_t start;

	if (pos < p->layout->data_offset || pos >= p->end || !decode(p, pos, raw, &start) ||
	    raw->length > p->end - start)
		return false;
	raw->next = start + raw->length;
	return true;
}

bool ring_page_next_rare(struct ring_page *p, struct ring_event *e)
{
	struct ring_raw raw;

	while (ring_page_raw(p, p->pos, &raw)) {
		p->pos = raw.next;
		p->ts = raw.kind == RING_TIME_STAMP ? raw.delta : p->ts + raw.delta;
		if (raw.kind == RING_DATA) {
			e->ts = p->ts;
			e->data = p->data + raw.next - raw.length;
			e->size = raw.length;
			e->delta = (uint32_t)raw.delta;
			e->pos = raw.pos;
			return true;
		}
	}
	if (p->pos < p->end) {
		p->damaged = true;
		p->end = p->pos;
	}
	return false;
}
