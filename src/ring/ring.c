// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pages: their layout, the rarer kinds of records on them, and writing them.
 *
 * While a page is open, data_offset <= pos <= end <= the bytes that the caller gave. A record is
 * returned only when all of it lies before end.
 */
#include "ring/ring.h"

#include <errno.h>

/* ---- layout ---- */

/*
 * How the traced kernel lays out a page, from the text it gives about it (events/header_page):
 *
 *	field: u64 timestamp;	offset:0;	size:8;	signed:0;
 *	field: local_t commit;	offset:8;	size:8;	signed:1;
 *	field: int overwrite;	offset:8;	size:1;	signed:1;
 *	field: char data;	offset:16;	size:4080;	signed:0;
 *
 * Only the size of commit tells how long the kernel's long is: a 32-bit program may have recorded a
 * 64-bit kernel.
 */

#define MAX_NUMBER 65536u /* no offset or size in a page's header is larger */

struct field {
	uint32_t offset, size;
};

/* The number after `key`, in the text from `at` to `end`. */
static bool number_after(const char *at, const char *end, const char *key, uint32_t *out)
{
	size_t len = strlen(key);
	const char *p = memmem(at, (size_t)(end - at), key, len);
	uint32_t n = 0;

	if (!p || p + len == end || p[len] < '0' || p[len] > '9')
		return false;
	for (p += len; p < end && *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (uint32_t)(*p - '0');
		if (n > MAX_NUMBER)
			return false;
	}
	*out = n;
	return true;
}

/* The field declared as "… NAME;" on a line of its own. */
static bool find_field(const char *text, size_t size, const char *name, struct field *f)
{
	const char *end = text + size, *at = memmem(text, size, name, strlen(name)), *line_end;

	if (!at)
		return false;
	line_end = memchr(at, '\n', (size_t)(end - at));
	if (!line_end)
		line_end = end;
	return number_after(at, line_end, "offset:", &f->offset) &&
	       number_after(at, line_end, "size:", &f->size);
}

struct ring_layout ring_layout_default(bool big_endian, unsigned int long_size, uint32_t page_size)
{
	uint32_t size = long_size == 4 ? 4 : 8;

	return (struct ring_layout){
		.big_endian = big_endian,
		.page_size = page_size,
		.commit_offset = 8,
		.commit_size = size,
		.data_offset = 8 + size,
	};
}

bool ring_layout_parse(struct ring_layout *layout, const char *text, size_t size)
{
	struct field time, commit, data;

	if (!find_field(text, size, " timestamp;", &time) ||
	    !find_field(text, size, " commit;", &commit) ||
	    !find_field(text, size, " data;", &data))
		return false;
	if (time.offset != 0 || time.size != 8 || (commit.size != 4 && commit.size != 8) ||
	    commit.offset < 8 || data.offset < commit.offset + commit.size ||
	    data.offset > RING_MIN_PAGE / 2)
		return false;
	layout->commit_offset = commit.offset;
	layout->commit_size = commit.size;
	layout->data_offset = data.offset;
	return true;
}

/* ---- reading ---- */

#define COMMIT_MASK    ((1u << 27) - 1)
#define MISSING_EVENTS (1u << 31)
#define MISSING_STORED (1u << 30)

/* An absolute time stamp has 59 bits; its upper bits are those of the previous time. */
#define STAMP_BITS 59

enum { TYPE_PADDING = 29, TYPE_EXTEND = 30, TYPE_STAMP = 31 };

/* If the kernel could not count the events or store their number, the result is -1: unknown. */
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
 * Fills in everything but `next`, and finds the start of the data; false if the header is
 * incomplete or a length makes no sense.
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
	/* Both lengths include the word that contains them. */
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

/* ---- writing ---- */

/* Writes the header of a page that has its data, and the number of events lost before it. */
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

/* The page's time is that of its first record, whose delta becomes 0. */
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
	/* The header may have fields that are unknown here. */
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

#define LOST_ROOM 8  /* for the number of lost events, after the data */
#define MAX_HEAD  16 /* a time extend, a record's word and its length */

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
