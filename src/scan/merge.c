// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A binary heap of lanes. The lane at the top has just been read from: whether it is still the
 * earliest costs one comparison with its two children, which is all that happens as long as events
 * come in bursts of one CPU.
 */
#include "scan/merge.h"

#include <errno.h>
#include <stdlib.h>

#define RECORD_LIMIT (64u << 20) /* no record is larger than a page */

void merge_init(struct merge *m)
{
	*m = (struct merge){0};
	buf_init(&m->saved, RECORD_LIMIT);
}

void merge_free(struct merge *m)
{
	for (uint32_t i = 0; i < m->nr; i++)
		lane_close(&m->lanes[i]);
	free(m->lanes);
	free(m->heap);
	buf_free(&m->saved);
}

static int grow(struct merge *m)
{
	uint32_t cap = m->cap ? m->cap * 2 : 8;
	struct lane *lanes = realloc(m->lanes, cap * sizeof(*lanes));
	struct merge_entry *heap;

	if (!lanes)
		return -ENOMEM;
	m->lanes = lanes;
	heap = realloc(m->heap, cap * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	m->heap = heap;
	m->cap = cap;
	return 0;
}

int merge_add_buffer(struct merge *m, const struct trace_buffer *b)
{
	for (uint32_t i = 0; i < b->data->nr_cpus; i++) {
		int rc;

		if (!b->data->cpus[i].size && !b->data->cpus[i].feed)
			continue;
		if (m->nr == m->cap && grow(m) < 0)
			return -ENOMEM;
		rc = lane_open(&m->lanes[m->nr], b, &b->data->cpus[i]);
		/* Data that cannot be read at all have been noted as damage; the rest can. */
		if (rc == -EBADMSG)
			continue;
		if (rc < 0)
			return rc;
		m->lanes[m->nr].index = m->nr;
		m->nr++;
	}
	return 0;
}

static inline bool earlier(const struct merge_entry *a, const struct merge_entry *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->lane < b->lane;
}

static inline struct merge_entry entry(const struct merge *m, uint32_t lane)
{
	return (struct merge_entry){m->lanes[lane].rec.ts, lane};
}

static inline void sift_down(struct merge *m, uint32_t at)
{
	struct merge_entry *h = m->heap, moved = h[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= m->nr_heap)
			break;
		if (child + 1 < m->nr_heap && earlier(&h[child + 1], &h[child]))
			child++;
		if (!earlier(&h[child], &moved))
			break;
		h[at] = h[child];
		at = child;
	}
	h[at] = moved;
}

void merge_restart(struct merge *m)
{
	m->nr_heap = 0;
	m->current = NULL;
	for (uint32_t i = 0; i < m->nr; i++)
		if (!m->lanes[i].ended)
			m->heap[m->nr_heap++] = entry(m, i);
	for (uint32_t i = m->nr_heap / 2; i-- > 0;)
		sift_down(m, i);
}

void merge_start(struct merge *m)
{
	for (uint32_t i = 0; i < m->nr; i++)
		lane_next(&m->lanes[i]);
	merge_restart(m);
}

/* Moves what is at a place of the heap up, at most to the place `first`; where it is then. */
static inline uint32_t sift_up(struct merge *m, uint32_t at, uint32_t first)
{
	while (at && (at - 1) / 2 >= first && earlier(&m->heap[at], &m->heap[(at - 1) / 2])) {
		const uint32_t up = (at - 1) / 2;
		const struct merge_entry moved = m->heap[at];

		m->heap[at] = m->heap[up];
		m->heap[up] = moved;
		at = up;
	}
	return at;
}

/* Removes what is at a place of the heap that is not the first. */
static void drop(struct merge *m, uint32_t at)
{
	m->heap[at] = m->heap[--m->nr_heap];
	if (at < m->nr_heap)
		sift_down(m, sift_up(m, at, 1));
}

void merge_went_back(struct merge *m, uint32_t lane)
{
	uint32_t at = 0;

	while (at < m->nr_heap && m->heap[at].lane != lane)
		at++;
	if (m->lanes[lane].ended) {
		/* It was stopped on its way and stands on no record. */
		if (at < m->nr_heap)
			drop(m, at);
		return;
	}
	if (at == m->nr_heap)
		m->nr_heap++;
	m->heap[at] = entry(m, lane);
	/* The current lane stays at the top until it moves on. */
	sift_up(m, at, 1);
}

/* Moves the lane at a place of the heap to its next record and restores the order. */
static inline void advance(struct merge *m, uint32_t at)
{
	struct merge_entry *e = &m->heap[at];

	if (lane_next(&m->lanes[e->lane])) {
		e->ts = m->lanes[e->lane].rec.ts;
	} else {
		*e = m->heap[--m->nr_heap];
		if (at >= m->nr_heap)
			return;
	}
	/* A lane's times may run backwards, and a lane may leave from the middle. */
	sift_down(m, sift_up(m, at, 0));
}

/* The same for the lane that comes first. It mostly stays the first. */
static inline void advance_first(struct merge *m)
{
	struct lane *l = m->current;

	if (__builtin_expect(lane_next(l), 1))
		m->heap[0].ts = l->rec.ts;
	else
		m->heap[0] = m->heap[--m->nr_heap];
	if (m->nr_heap > 1)
		sift_down(m, 0);
}

/* Whether the lane read from last still stands on the record it gave. */
static inline bool current_stays(const struct merge *m)
{
	return m->current && !m->left;
}

const struct lane *merge_first(struct merge *m)
{
	if (current_stays(m)) {
		advance(m, 0);
		m->current = NULL;
	}
	return m->nr_heap ? &m->lanes[m->heap[0].lane] : NULL;
}

static inline const struct lane *step(struct merge *m)
{
	m->current = m->nr_heap ? &m->lanes[m->heap[0].lane] : NULL;
	m->left = false;
	return m->current;
}

const struct lane *merge_step(struct merge *m)
{
	if (current_stays(m))
		advance_first(m);
	return step(m);
}

const struct spur_record *merge_next(struct merge *m)
{
	if (current_stays(m))
		advance_first(m);
	if (!step(m))
		return NULL;
	m->record = m->current->rec;
	return &m->record;
}

/* Moves the current lane on although its record is still needed: its bytes are kept aside. */
static void leave_current(struct merge *m)
{
	if (!current_stays(m))
		return;
	buf_reset(&m->saved);
	buf_put(&m->saved, m->record.data, m->record.size);
	advance(m, 0);
	m->left = true;
	m->record.data = (const uint8_t *)m->saved.data;
	m->record.size = m->record.room = (uint32_t)m->saved.len;
}

static uint32_t find_next(struct merge *m)
{
	uint32_t best;

	leave_current(m);
	best = m->nr_heap;
	for (uint32_t i = 0; i < m->nr_heap; i++) {
		if (m->lanes[m->heap[i].lane].buffer != m->current->buffer)
			continue;
		if (best == m->nr_heap || earlier(&m->heap[i], &m->heap[best]))
			best = i;
	}
	return best;
}

const struct spur_record *merge_peek(struct merge *m)
{
	uint32_t at;

	if (!m->current)
		return NULL;
	at = find_next(m);
	return at < m->nr_heap ? &m->lanes[m->heap[at].lane].rec : NULL;
}

void merge_take(struct merge *m)
{
	uint32_t at;

	if (!m->current)
		return;
	at = find_next(m);
	if (at < m->nr_heap)
		advance(m, at);
}

static const struct spur_record *peek(void *merge)
{
	return merge_peek(merge);
}

static void take(void *merge)
{
	merge_take(merge);
}

void merge_feed(struct merge *m, struct event_printer *p)
{
	p->peek_next = peek;
	p->take_next = take;
	p->stream = m;
}
