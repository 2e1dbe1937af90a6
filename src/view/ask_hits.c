// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hits of a search in few bytes each: the differences of time and offset to the hit before, and the
 * lane, as numbers of as many bytes as they need (seven bits in each, the last one without the
 * eighth). Every MARK hits a mark says where decoding can begin; the hit there stands for itself.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "view/ask_parts.h"

#define MARK	256
#define MAX_HIT 30 /* bytes: three numbers */

static size_t put(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (uint8_t)(v | 0x80);
	to[n++] = (uint8_t)v;
	return n;
}

static uint64_t get(const uint8_t *bytes, size_t len, size_t *at)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; *at < len && shift < 64; shift += 7) {
		const uint8_t b = bytes[(*at)++];

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			break;
	}
	return v;
}

/* Times of a lane may run backwards: small differences of both signs are small numbers. */
static uint64_t fold_sign(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unfold_sign(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

static bool make_room(struct ask_hits *h)
{
	const size_t cap = h->cap ? h->cap * 2 : 256;
	uint8_t *bytes;

	if (h->cap - h->len >= MAX_HIT)
		return true;
	bytes = realloc(h->bytes, cap);
	if (!bytes)
		return false;
	h->bytes = bytes;
	h->cap = cap;
	return true;
}

void ask_hits_add(struct ask_hits *h, const struct ask_id *id, bool keep)
{
	if (!h->n++)
		h->first = id->ts;
	/* Those that are kept are the first ones, without gaps. */
	if (!keep || h->kept + 1 != h->n || !make_room(h)) {
		h->failed |= keep;
		return;
	}
	if (h->kept % MARK == 0) {
		struct ask_mark *m = vec_push(&h->marks);

		if (!m) {
			h->failed = true;
			return;
		}
		*m = (struct ask_mark){.ts = id->ts, .offset = id->offset, .at = h->len};
		h->last_ts = id->ts;
		h->last_offset = id->offset;
	}
	h->len += put(h->bytes + h->len, fold_sign(id->ts - h->last_ts));
	h->len += put(h->bytes + h->len, fold_sign(id->offset - h->last_offset));
	h->len += put(h->bytes + h->len, id->lane);
	h->last_ts = id->ts;
	h->last_offset = id->offset;
	h->kept++;
}

void ask_hits_free(struct ask_hits *h)
{
	free(h->bytes);
	vec_free(&h->marks);
	*h = (struct ask_hits){0};
}

void ask_hits_forget(struct ask_hits *h)
{
	const uint64_t n = h->n, first = h->first;

	ask_hits_free(h);
	h->n = n;
	h->first = first;
}

size_t ask_hits_size(const struct ask_hits *h)
{
	return h->cap + h->marks.cap * sizeof(*h->marks.at);
}

/* Decodes one hit after the other from a mark on. */
struct decoder {
	const struct ask_hits *hits;
	size_t at;
	struct ask_id id;
};

static struct decoder decode_from(const struct ask_hits *h, size_t mark)
{
	const struct ask_mark *m = &h->marks.at[mark];

	return (struct decoder){.hits = h, .at = m->at, .id = {.ts = m->ts, .offset = m->offset}};
}

static void decode(struct decoder *d)
{
	d->id.ts += unfold_sign(get(d->hits->bytes, d->hits->len, &d->at));
	d->id.offset += unfold_sign(get(d->hits->bytes, d->hits->len, &d->at));
	d->id.lane = (uint32_t)get(d->hits->bytes, d->hits->len, &d->at);
}

bool ask_hits_get(const struct ask_hits *h, uint64_t n, struct ask_id *out)
{
	struct decoder d;

	if (n >= h->kept)
		return false;
	d = decode_from(h, (size_t)(n / MARK));
	for (uint64_t i = 0; i <= n % MARK; i++)
		decode(&d);
	*out = d.id;
	return true;
}

static uint64_t in_mark(const struct ask_hits *h, size_t mark)
{
	const uint64_t left = h->kept - (uint64_t)mark * MARK;

	return left < MARK ? left : MARK;
}

uint64_t ask_hits_before(const struct ask_hits *h, uint64_t ts)
{
	size_t low = 0, high = h->marks.n;
	struct decoder d;
	uint64_t n = 0;

	/* The last mark before the time, behind which it must be. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (h->marks.at[middle].ts < ts)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	d = decode_from(h, low - 1);
	for (; n < in_mark(h, low - 1); n++) {
		decode(&d);
		if (d.id.ts >= ts)
			break;
	}
	return (uint64_t)(low - 1) * MARK + n;
}

static void count(uint64_t ts, uint64_t since, uint64_t width, uint32_t n, uint64_t *bins,
		  uint64_t hits)
{
	if (ts >= since && (ts - since) / width < n)
		bins[(ts - since) / width] += hits;
}

/* Whether all hits from a mark to the next one fall into one bin or outside. */
static bool is_uniform(const struct ask_hits *h, size_t mark, uint64_t since, uint64_t width,
		       uint32_t n)
{
	uint64_t from, to;

	if (mark + 1 >= h->marks.n)
		return false;
	from = h->marks.at[mark].ts;
	to = h->marks.at[mark + 1].ts;
	if (to < from)
		return false;
	if (to < since || (from >= since && (from - since) / width >= n))
		return true;
	return from >= since && (from - since) / width == (to - since) / width;
}

void ask_hits_bins(const struct ask_hits *h, uint64_t since, uint64_t width, uint32_t n,
		   uint64_t *bins)
{
	for (size_t mark = 0; mark < h->marks.n; mark++) {
		struct decoder d;

		if (is_uniform(h, mark, since, width, n)) {
			count(h->marks.at[mark].ts, since, width, n, bins, in_mark(h, mark));
			continue;
		}
		d = decode_from(h, mark);
		for (uint64_t i = 0; i < in_mark(h, mark); i++) {
			decode(&d);
			count(d.id.ts, since, width, n, bins, 1);
		}
	}
	/* Of those that are not kept it is only known that they are near. */
	if (h->n > h->kept)
		count(h->kept ? h->last_ts : h->first, since, width, n, bins, h->n - h->kept);
}
