// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A binary heap of lanes. The top lane is the one that was just read. Comparing it with its two
 * children shows whether it is still the earliest; nothing else is needed while events come in
 * bursts of one CPU.
 */
#include "scan/scan.h"

#include <errno.h>
#include <stdlib.h>

#define RECORD_LIMIT   (64u << 20) /* no record is larger than a page */
#define PROGRESS_EVERY 65536	   /* records between two calls of progress() */

void scan_init(struct scan *s, const struct scan_options *opt)
{
	*s = (struct scan){0};
	if (opt)
		s->opt = *opt;
	buf_init(&s->saved, RECORD_LIMIT);
}

void scan_free(struct scan *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		lane_close(&s->lanes[i]);
	free(s->lanes);
	free(s->heap);
	buf_free(&s->saved);
}

/* ---- lanes ---- */

bool scan_asks_cpu(const struct scan_options *o, int64_t cpu)
{
	return !o->cpus || (cpu >= 0 && cpu < o->nr_cpus && o->cpus[cpu / 64] >> (cpu % 64) & 1);
}

static int grow(struct scan *s)
{
	uint32_t cap = s->cap ? s->cap * 2 : 8;
	struct lane *lanes = realloc(s->lanes, cap * sizeof(*lanes));
	struct scan_entry *heap;

	if (!lanes)
		return -ENOMEM;
	s->lanes = lanes;
	heap = realloc(s->heap, cap * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	s->heap = heap;
	s->cap = cap;
	return 0;
}

int scan_add_buffer(struct scan *s, const struct trace_buffer *b)
{
	for (uint32_t i = 0; i < b->data->nr_cpus; i++) {
		const struct dat_cpu *cpu = &b->data->cpus[i];
		struct lane *l;
		int rc;

		if ((!cpu->size && !cpu->feed) || !scan_asks_cpu(&s->opt, cpu->cpu))
			continue;
		if (s->nr == s->cap && grow(s) < 0)
			return -ENOMEM;
		l = &s->lanes[s->nr];
		rc = lane_open(l, b, cpu);
		/* Unreadable data have been noted as damage; other lanes can be read. */
		if (rc == -EBADMSG)
			continue;
		if (rc < 0)
			return rc;
		l->index = s->nr++;
		l->filter = s->opt.filter;
		l->stop = s->opt.stop;
	}
	return 0;
}

int scan_add_trace(struct scan *s, const struct spur_trace *t)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->nr_buffers; i++)
		if (!t->buffers[i].data->text)
			rc = scan_add_buffer(s, &t->buffers[i]);
	return rc;
}

void scan_seek(struct scan *s, uint64_t ts)
{
	for (uint32_t i = 0; i < s->nr; i++)
		lane_seek_time(&s->lanes[i], ts, s->lanes[i].nr_pages / 2);
}

/* ---- order ---- */

static inline bool earlier(const struct scan_entry *a, const struct scan_entry *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->lane < b->lane;
}

static inline struct scan_entry entry(const struct scan *s, uint32_t lane)
{
	return (struct scan_entry){s->lanes[lane].rec.ts, lane};
}

static inline void sift_down(struct scan *s, uint32_t at)
{
	struct scan_entry *h = s->heap, moved = h[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= s->nr_heap)
			break;
		if (child + 1 < s->nr_heap && earlier(&h[child + 1], &h[child]))
			child++;
		if (!earlier(&h[child], &moved))
			break;
		h[at] = h[child];
		at = child;
	}
	h[at] = moved;
}

void scan_restart(struct scan *s)
{
	s->nr_heap = 0;
	s->current = NULL;
	s->started = true;
	for (uint32_t i = 0; i < s->nr; i++)
		if (!s->lanes[i].ended)
			s->heap[s->nr_heap++] = entry(s, i);
	for (uint32_t i = s->nr_heap / 2; i-- > 0;)
		sift_down(s, i);
}

void scan_start(struct scan *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		lane_next(&s->lanes[i]);
	scan_restart(s);
}

/*
 * Moves the entry at a place of the heap up, at most to the place `first`; returns its new place.
 */
static inline uint32_t sift_up(struct scan *s, uint32_t at, uint32_t first)
{
	while (at && (at - 1) / 2 >= first && earlier(&s->heap[at], &s->heap[(at - 1) / 2])) {
		const uint32_t up = (at - 1) / 2;
		const struct scan_entry moved = s->heap[at];

		s->heap[at] = s->heap[up];
		s->heap[up] = moved;
		at = up;
	}
	return at;
}

/* Removes the entry at a place of the heap other than the first. */
static void drop(struct scan *s, uint32_t at)
{
	s->heap[at] = s->heap[--s->nr_heap];
	if (at < s->nr_heap)
		sift_down(s, sift_up(s, at, 1));
}

void scan_went_back(struct scan *s, uint32_t lane)
{
	uint32_t at = 0;

	while (at < s->nr_heap && s->heap[at].lane != lane)
		at++;
	if (s->lanes[lane].ended) {
		/* The lane was stopped while it moved and stands on no record. */
		if (at < s->nr_heap)
			drop(s, at);
		return;
	}
	if (at == s->nr_heap)
		s->nr_heap++;
	s->heap[at] = entry(s, lane);
	/* The current lane stays at the top until it moves on. */
	sift_up(s, at, 1);
}

/* Moves the lane at a place of the heap to its next record and restores the order. */
static inline void advance(struct scan *s, uint32_t at)
{
	struct scan_entry *e = &s->heap[at];

	if (lane_next(&s->lanes[e->lane])) {
		e->ts = s->lanes[e->lane].rec.ts;
	} else {
		*e = s->heap[--s->nr_heap];
		if (at >= s->nr_heap)
			return;
	}
	/* A lane's times may run backwards, and the lane may be in the middle of the heap. */
	sift_down(s, sift_up(s, at, 0));
}

/* The same for the first lane, which mostly stays the first. */
static inline void advance_first(struct scan *s)
{
	struct lane *l = s->current;

	if (__builtin_expect(lane_next(l), 1))
		s->heap[0].ts = l->rec.ts;
	else
		s->heap[0] = s->heap[--s->nr_heap];
	if (s->nr_heap > 1)
		sift_down(s, 0);
}

/* Whether the lane read from last still stands on the record it gave. */
static inline bool current_stays(const struct scan *s)
{
	return s->current && !s->left;
}

const struct lane *scan_first(struct scan *s)
{
	if (current_stays(s)) {
		advance(s, 0);
		s->current = NULL;
	}
	return s->nr_heap ? &s->lanes[s->heap[0].lane] : NULL;
}

static inline const struct lane *step(struct scan *s)
{
	s->current = s->nr_heap ? &s->lanes[s->heap[0].lane] : NULL;
	s->left = false;
	return s->current;
}

const struct lane *scan_step(struct scan *s)
{
	if (current_stays(s))
		advance_first(s);
	return step(s);
}

/* ---- records ---- */

void scan_progress(const struct scan *s)
{
	uint64_t done = 0, total = 0;

	if (!s->opt.progress)
		return;
	for (uint32_t i = 0; i < s->nr; i++) {
		const struct lane *l = &s->lanes[i];

		done += l->ended ? l->nr_pages : l->page_index;
		total += l->nr_pages;
	}
	s->opt.progress(s->opt.progress_arg, done, total);
}

static void begin(struct scan *s)
{
	if (s->opt.since)
		scan_seek(s, s->opt.since);
	scan_start(s);
}

const struct spur_record *scan_next(struct scan *s)
{
	if (__builtin_expect(!s->started, 0))
		begin(s);
	do {
		if (current_stays(s))
			advance_first(s);
		if (!step(s))
			return NULL;
		if (++s->read % PROGRESS_EVERY == 0)
			scan_progress(s);
	} while (s->current->rec.ts < s->opt.since);
	s->record = s->current->rec;
	return s->opt.has_until && s->record.ts > s->opt.until ? NULL : &s->record;
}

/* Moves the current lane on although its record is still needed, so the record is copied. */
static void leave_current(struct scan *s)
{
	if (!current_stays(s))
		return;
	buf_reset(&s->saved);
	buf_put(&s->saved, s->record.data, s->record.size);
	advance(s, 0);
	s->left = true;
	s->record.data = (const uint8_t *)s->saved.data;
	s->record.size = s->record.room = (uint32_t)s->saved.len;
}

static uint32_t find_next(struct scan *s)
{
	uint32_t best;

	leave_current(s);
	best = s->nr_heap;
	for (uint32_t i = 0; i < s->nr_heap; i++) {
		if (s->lanes[s->heap[i].lane].buffer != s->current->buffer)
			continue;
		if (best == s->nr_heap || earlier(&s->heap[i], &s->heap[best]))
			best = i;
	}
	return best;
}

const struct spur_record *scan_peek(struct scan *s)
{
	const uint32_t at = s->current ? find_next(s) : s->nr_heap;

	return at < s->nr_heap ? &s->lanes[s->heap[at].lane].rec : NULL;
}

static const struct spur_record *peek(void *scan)
{
	return scan_peek(scan);
}

/* scan_next() will not return the record that scan_peek() returns now. */
static void skip(void *scan)
{
	struct scan *s = scan;
	const uint32_t at = s->current ? find_next(s) : s->nr_heap;

	if (at < s->nr_heap)
		advance(s, at);
}

void scan_look_ahead(struct scan *s, struct event_printer *p)
{
	p->peek_next = peek;
	p->take_next = skip;
	p->stream = s;
}
