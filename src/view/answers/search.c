// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searches over all records, by threads in the background.
 *
 * Threads search slices of time, as those of a report do, and store the hits of each slice. Hits
 * are shown up to the first slice that is not finished, so the number of a hit never changes. A
 * search counts its users, of which the view's list is one. Without users its threads end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/varint.h"
#include "base/vec.h"
#include "event/names.h"
#include "scan/slices.h"
#include "view/answers/internal.h"

/* ---- hits ---- */

/*
 * A hit is stored in few bytes: the differences of time and offset to the hit before, and the lane
 * (base/varint.h). Every MARK hits a mark says where decoding can begin; the hit there does not
 * depend on the one before.
 */

#define MARK	256
#define MAX_HIT (3 * VARINT_MOST) /* bytes */

static bool make_room(struct search_hits *h)
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

void search_hits_add(struct search_hits *h, const struct view_record_id *id, bool keep)
{
	uint8_t *to;

	if (!h->n++)
		h->first = id->ts;
	/* The stored hits are the first ones, without gaps. */
	if (!keep || h->kept + 1 != h->n || !make_room(h)) {
		h->failed |= keep;
		return;
	}
	if (h->kept % MARK == 0) {
		const struct search_mark m = {.ts = id->ts, .offset = id->offset, .at = h->len};

		if (!vec_add(&h->marks, &m)) {
			h->failed = true;
			return;
		}
		h->last_ts = id->ts;
		h->last_offset = id->offset;
	}
	/* Times of a lane may run backwards. */
	to = varint_put(h->bytes + h->len, zigzag((int64_t)(id->ts - h->last_ts)));
	to = varint_put(to, zigzag((int64_t)(id->offset - h->last_offset)));
	h->len = (size_t)(varint_put(to, id->lane) - h->bytes);
	h->last_ts = id->ts;
	h->last_offset = id->offset;
	h->kept++;
}

void search_hits_free(struct search_hits *h)
{
	free(h->bytes);
	vec_free(&h->marks);
	*h = (struct search_hits){0};
}

void search_hits_forget(struct search_hits *h)
{
	const uint64_t n = h->n, first = h->first;

	search_hits_free(h);
	h->n = n;
	h->first = first;
}

/* Decodes one hit after the other from a mark on. */
struct decoder {
	const uint8_t *at, *end;
	struct view_record_id id;
};

static struct decoder decode_from(const struct search_hits *h, size_t mark)
{
	const struct search_mark *m = &h->marks.at[mark];

	return (struct decoder){.at = h->bytes + m->at,
				.end = h->bytes + h->len,
				.id = {.ts = m->ts, .offset = m->offset}};
}

static void decode(struct decoder *d)
{
	uint64_t ts, offset, lane;

	d->at = varint_get(d->at, d->end, &ts);
	d->at = varint_get(d->at, d->end, &offset);
	d->at = varint_get(d->at, d->end, &lane);
	d->id.ts += (uint64_t)unzigzag(ts);
	d->id.offset += (uint64_t)unzigzag(offset);
	d->id.lane = (uint32_t)lane;
}

bool search_hits_get(const struct search_hits *h, uint64_t n, struct view_record_id *out)
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

static uint64_t in_mark(const struct search_hits *h, size_t mark)
{
	const uint64_t left = h->kept - (uint64_t)mark * MARK;

	return left < MARK ? left : MARK;
}

uint64_t search_hits_before(const struct search_hits *h, uint64_t ts)
{
	struct decoder d;
	uint64_t n = 0;
	size_t mark;

	/* The last mark before the time; the hit comes after it. */
	binary_search(mark, 0, h->marks.n, h->marks.at[mark].ts < ts);
	if (!mark)
		return 0;
	d = decode_from(h, --mark);
	for (; n < in_mark(h, mark); n++) {
		decode(&d);
		if (d.id.ts >= ts)
			break;
	}
	return (uint64_t)mark * MARK + n;
}

static void count(uint64_t ts, uint64_t since, uint64_t width, uint32_t n, uint64_t *bins,
		  uint64_t hits)
{
	if (ts >= since && (ts - since) / width < n)
		bins[(ts - since) / width] += hits;
}

/* Whether all hits from a mark to the next one fall into one bin or outside. */
static bool is_uniform(const struct search_hits *h, size_t mark, uint64_t since, uint64_t width,
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

void search_hits_bins(const struct search_hits *h, uint64_t since, uint64_t width, uint32_t n,
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
	/* Hits that are not stored are only known to be near. */
	if (h->n > h->kept)
		count(h->kept ? h->last_ts : h->first, since, width, n, bins, h->n - h->kept);
}

/* ---- searches ---- */

#define MAX_THREADS 4
#define HITS_MEMORY (64u << 20) /* bytes of all hits of a search */
#define TEXT_LIMIT  (1u << 20)

struct view_search {
	struct view *view;
	uint64_t id;
	int refs; /* under the lock of struct answers */
	struct view_sources sources;
	struct search_match wanted;
	struct slicer slicer;
	bool slicing;
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
	volatile int stop;

	pthread_mutex_t lock; /* guards all that follows */
	struct {
		struct slot {
			struct search_hits hits;
			uint64_t before; /* kept hits in the slices before */
			uint64_t end;	 /* time; UINT64_MAX: of the last one */
			bool ready;
		} * at;
		size_t n, cap;
	} slots;	/* by slice */
	size_t ready;	/* so many from the first one on */
	uint64_t found; /* in these */
	uint64_t kept;
	size_t memory;
	unsigned int working;
	bool truncated, failed, over;
};

/* ---- a thread ---- */

struct searcher {
	struct view_search *search;
	struct view_cursor cursor;
	struct slice slice;
	struct search_hits hits;
	struct buf line; /* for texts */
};

/* Puts the lanes on the slice's first records; what text comes before them does not matter here. */
static void enter_slice(struct searcher *w)
{
	struct scan *m = &w->cursor.scan;

	for (uint32_t i = 0; i < m->nr; i++) {
		struct lane *l = &m->lanes[i];

		lane_seek(l, (struct lane_pos){.page = w->slice.pages[i]});
		l->filter = search_match_lane(&w->search->wanted, w->cursor.lanes[i]->file);
		while (lane_next(l) && l->rec.ts < w->slice.begin)
			;
	}
	scan_restart(m);
	memset(w->cursor.folds, 0, w->cursor.sources->n * sizeof(*w->cursor.folds));
}

static void search_slice(struct searcher *w, bool keep)
{
	struct view_cursor *c = &w->cursor;

	search_hits_free(&w->hits);
	enter_slice(w);
	for (;;) {
		const struct lane *next = scan_first(&c->scan);

		if (!next || (!w->slice.last && next->rec.ts >= w->slice.end))
			break;
		if (!view_cursor_next(c))
			break;
		if (search_match_record(&w->search->wanted, c, &w->line))
			search_hits_add(&w->hits, &c->id, keep);
	}
}

/* Publishes the finished slices from the first one on. Needs the lock. */
static void publish(struct view_search *s)
{
	while (s->ready < s->slots.n && s->slots.at[s->ready].ready) {
		struct slot *slot = &s->slots.at[s->ready++];

		/* After a slice that could not store all its hits the numbers would be wrong. */
		if (s->truncated)
			search_hits_forget(&slot->hits);
		slot->before = s->kept;
		s->found += slot->hits.n;
		s->kept += slot->hits.kept;
		s->truncated |= slot->hits.kept < slot->hits.n;
		s->over |= slot->end == UINT64_MAX;
	}
}

static void finish_slice(struct searcher *w)
{
	struct view_search *s = w->search;
	struct slot *slot;

	mutex_hold(&s->lock);
	while (s->slots.n <= w->slice.number && vec_push(&s->slots))
		;
	if (s->slots.n > w->slice.number) {
		slot = &s->slots.at[w->slice.number];
		slot->hits = w->hits;
		slot->end = w->slice.last ? UINT64_MAX : w->slice.end;
		slot->ready = true;
		s->memory += w->hits.cap + w->hits.marks.cap * sizeof(*w->hits.marks.at);
		w->hits = (struct search_hits){0};
		publish(s);
	} else {
		s->failed = true;
	}
}

static void search(struct searcher *w)
{
	struct view_search *s = w->search;
	bool named = false;

	while (!s->stop && slicer_next(&s->slicer, &w->slice)) {
		bool keep;

		pthread_mutex_lock(&s->lock);
		keep = s->memory < HITS_MEMORY && !s->truncated;
		pthread_mutex_unlock(&s->lock);
		search_slice(w, keep);
		if (!named && view_history_names_matter(&w->cursor)) {
			named = view_history_names(&w->cursor);
			if (!named)
				break;
			search_slice(w, keep);
		}
		if (s->stop)
			break;
		finish_slice(w);
	}
}

static void *search_main(void *search_)
{
	struct view_search *s = search_;
	struct searcher *w = calloc(1, sizeof(*w));

	if (w) {
		w->search = s;
		buf_init(&w->line, TEXT_LIMIT);
		if (view_cursor_open(&w->cursor, s->view, &s->sources, &s->stop, NULL) == 0 &&
		    slice_init(&w->slice, &s->slicer) == 0)
			search(w);
		view_cursor_close(&w->cursor);
		slice_free(&w->slice);
		search_hits_free(&w->hits);
		buf_free(&w->line);
	}
	free(w);
	mutex_hold(&s->lock);
	if (--s->working == 0)
		s->over = true;
	return NULL;
}

/* ---- starting and ending ---- */

static void free_search(struct view_search *s)
{
	s->stop = 1;
	for (unsigned int i = 0; i < s->nr_threads; i++)
		pthread_join(s->threads[i], NULL);
	search_match_free(&s->wanted);
	vec_each (slot, &s->slots)
		search_hits_free(&slot->hits);
	vec_free(&s->slots);
	if (s->slicing)
		slicer_free(&s->slicer);
	view_sources_free(&s->sources);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static int prepare(struct view_search *s, const struct view_search_options *o, int64_t *at,
		   struct spur_error *err)
{
	int rc = view_sources_init(&s->sources, s->view);

	if (rc < 0)
		return error_set(err, rc, "out of memory");
	rc = search_match_init(&s->wanted, s->view, o, at, err);
	if (rc < 0)
		return rc;
	rc = slicer_init(&s->slicer, view_sources_lanes, &s->sources, 0, UINT64_MAX, SLICE_BYTES);
	s->slicing = true;
	return rc < 0 ? error_set(err, rc, "out of memory") : 0;
}

static int start_threads(struct view_search *s, struct spur_error *err)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const unsigned int nr = cpus < 1	     ? 1
				: cpus > MAX_THREADS ? MAX_THREADS
						     : (unsigned int)cpus;
	int rc = 0;

	mutex_hold(&s->lock);
	while (rc == 0 && s->nr_threads < nr) {
		rc = pthread_create(&s->threads[s->nr_threads], NULL, search_main, s);
		s->nr_threads += rc == 0;
	}
	s->working = s->nr_threads;
	return s->nr_threads ? 0 : error_sys(err, -rc, "starting a thread");
}

/* Adds a search to the list; returns one that had to be removed, or NULL. */
static struct view_search *enlist(struct answers *a, struct view_search *s)
{
	struct view_search *oldest = NULL;
	size_t at = 0;

	mutex_hold(&a->lock);
	for (size_t i = 0; i < ANSWERS_SEARCHES; i++) {
		struct view_search *other = a->searches[i];

		if (!other) {
			at = i;
			oldest = NULL;
			break;
		}
		if (!oldest || other->id < oldest->id) {
			oldest = other;
			at = i;
		}
	}
	s->id = a->next_search++;
	a->searches[at] = s;
	return oldest;
}

int64_t view_search_start(struct view *v, const struct view_search_options *o, int64_t *at,
			  struct spur_error *err)
{
	struct answers *a = view_answers(v);
	struct view_search *s = a ? calloc(1, sizeof(*s)) : NULL, *oldest;
	int64_t id;
	int rc;

	*at = -1;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->view = v;
	s->refs = 2;
	pthread_mutex_init(&s->lock, NULL);
	rc = prepare(s, o, at, err);
	if (rc == 0)
		rc = start_threads(s, err);
	if (rc < 0) {
		free_search(s);
		return rc;
	}
	oldest = enlist(a, s);
	if (oldest)
		oldest->stop = 1;
	view_search_put(oldest);
	id = (int64_t)s->id;
	view_search_put(s);
	return id;
}

/* The place of a search in the list, or NULL. Needs the lock. */
static struct view_search **slot_of(struct answers *a, uint64_t id)
{
	for (size_t i = 0; i < ANSWERS_SEARCHES; i++)
		if (a->searches[i] && a->searches[i]->id == id)
			return &a->searches[i];
	return NULL;
}

struct view_search *view_search_get(struct view *v, uint64_t id)
{
	struct answers *a = view_answers(v);
	struct view_search **slot;

	if (!a)
		return NULL;
	mutex_hold(&a->lock);
	slot = slot_of(a, id);
	if (!slot)
		return NULL;
	(*slot)->refs++;
	return *slot;
}

void view_search_put(struct view_search *s)
{
	struct answers *a = s ? view_answers(s->view) : NULL;
	bool last;

	if (!s)
		return;
	pthread_mutex_lock(&a->lock);
	last = --s->refs == 0;
	pthread_mutex_unlock(&a->lock);
	if (last)
		free_search(s);
}

bool view_search_drop(struct view *v, uint64_t id)
{
	struct answers *a = view_answers(v);
	struct view_search *s = NULL, **slot;

	if (!a)
		return false;
	pthread_mutex_lock(&a->lock);
	slot = slot_of(a, id);
	if (slot) {
		s = *slot;
		s->stop = 1;
		*slot = NULL;
	}
	pthread_mutex_unlock(&a->lock);
	view_search_put(s);
	return s != NULL;
}

/* ---- what it has found ---- */

const struct view_sources *view_search_sources(const struct view_search *s)
{
	return &s->sources;
}

static double part_done(const struct view_search *s)
{
	const uint64_t origin = view_origin(s->view);
	const double all = (double)view_duration(s->view);
	double done;

	if (s->over)
		return 1;
	if (!s->ready || s->slots.at[s->ready - 1].end <= origin || all <= 0)
		return 0;
	done = (double)(s->slots.at[s->ready - 1].end - origin) / all;
	return done < 0.999 ? done : 0.999;
}

void view_search_state(struct view_search *s, struct view_search_state *out)
{
	mutex_hold(&s->lock);
	*out = (struct view_search_state){.done = part_done(s),
					  .hits = s->found,
					  .kept = s->kept,
					  .truncated = s->truncated || s->failed,
					  .warning = s->wanted.warning.code ? s->wanted.warning.text
									    : NULL};
}

bool view_search_hit(struct view_search *s, uint64_t hit, struct view_record_id *out)
{
	bool found = false;
	size_t i;

	mutex_hold(&s->lock);
	/* The last slice that begins at or before it. */
	binary_search(i, 0, s->ready, s->slots.at[i].before <= hit);
	if (i && hit < s->kept)
		found = search_hits_get(&s->slots.at[i - 1].hits, hit - s->slots.at[i - 1].before,
					out);
	return found;
}

bool view_search_number(struct view_search *s, const struct view_record_id *id,
			const volatile int *stop, uint64_t *n)
{
	struct view_cursor c;
	bool found = view_cursor_open(&c, s->view, &s->sources, stop, NULL) == 0 &&
		     view_cursor_to_time(&c, id->ts, true, NULL) == 0;

	while (found && (found = view_cursor_next(&c) && c.id.ts == id->ts))
		if (view_record_is(&c.id, id))
			break;
	*n = found ? c.n : 0;
	view_cursor_close(&c);
	return found;
}

uint64_t view_search_at(struct view_search *s, uint64_t ts)
{
	size_t i;

	mutex_hold(&s->lock);
	binary_search(i, 0, s->ready, s->slots.at[i].end <= ts);
	return i < s->ready ? s->slots.at[i].before + search_hits_before(&s->slots.at[i].hits, ts)
			    : s->kept;
}

void view_search_bins(struct view_search *s, uint64_t since, uint64_t width, uint32_t n,
		      uint64_t *bins)
{
	const uint64_t until = since + width * n;

	mutex_hold(&s->lock);
	for (size_t i = 0; i < s->ready; i++) {
		const bool before = s->slots.at[i].end <= since;
		const bool after = i && s->slots.at[i - 1].end >= until && until > since;

		if (!before && !after)
			search_hits_bins(&s->slots.at[i].hits, since, width, n, bins);
	}
}
