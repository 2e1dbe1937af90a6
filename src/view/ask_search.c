// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searches over all records, by threads in the background.
 *
 * Threads take slices of time as those of a report do and keep the hits of each. What is shown of a
 * search are the slices from the first to the first that is not finished yet, so that a hit that
 * has a number keeps it. A search is counted by those who use it, the view's list being one of
 * them; its threads end when nobody does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "event/names.h"
#include "report/parallel.h"
#include "scan/slices.h"
#include "view/ask_parts.h"

#define MAX_THREADS 4
#define HITS_MEMORY (64u << 20) /* bytes of all hits of a search */
#define TEXT_LIMIT  (1u << 20)

struct ask_search {
	struct view *view;
	uint64_t id;
	int refs; /* under the ask's lock */
	struct ask_sources sources;
	struct ask_wanted wanted;
	struct slicer slicer;
	bool slicing;
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
	volatile int stop;

	pthread_mutex_t lock; /* guards all that follows */
	struct {
		struct slot {
			struct ask_hits hits;
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
	struct ask_search *search;
	struct ask_cursor cursor;
	struct slice slice;
	struct ask_hits hits;
	struct buf line; /* for texts */
};

/* Puts the lanes on the slice's first records; what text comes before them does not matter here. */
static void enter_slice(struct searcher *w)
{
	struct merge *m = &w->cursor.merge;

	for (uint32_t i = 0; i < m->nr; i++) {
		struct lane *l = &m->lanes[i];

		lane_seek(l, (struct lane_pos){.page = w->slice.pages[i]});
		l->filter = ask_wanted_lane(&w->search->wanted, w->cursor.lanes[i].file);
		while (lane_next(l) && l->rec.ts < w->slice.begin)
			;
	}
	merge_restart(m);
	memset(w->cursor.folds, 0, w->cursor.sources->n * sizeof(*w->cursor.folds));
}

static void search_slice(struct searcher *w, bool keep)
{
	struct ask_cursor *c = &w->cursor;

	ask_hits_free(&w->hits);
	enter_slice(w);
	for (;;) {
		const struct lane *next = merge_first(&c->merge);

		if (!next || (!w->slice.last && next->rec.ts >= w->slice.end))
			break;
		if (!ask_cursor_next(c))
			break;
		if (ask_wanted_record(&w->search->wanted, c, &w->line))
			ask_hits_add(&w->hits, &c->id, keep);
	}
}

/* Whether hits may depend on names that are told elsewhere. */
static bool names_matter(const struct ask_cursor *c)
{
	for (size_t i = 0; i < c->emitter.nr_traces; i++) {
		const struct comm_overlay *names = c->emitter.traces[i].printer.learned;
		size_t unknown, learned;

		overlay_unknown(names, &unknown);
		overlay_learned(names, &learned);
		if (unknown || learned)
			return true;
	}
	return false;
}

/* Shows what is finished from the first slice on. Needs the lock. */
static void publish(struct ask_search *s)
{
	while (s->ready < s->slots.n && s->slots.at[s->ready].ready) {
		struct slot *slot = &s->slots.at[s->ready++];

		/* Those behind one that could not keep all would have other numbers. */
		if (s->truncated)
			ask_hits_forget(&slot->hits);
		slot->before = s->kept;
		s->found += slot->hits.n;
		s->kept += slot->hits.kept;
		s->truncated |= slot->hits.kept < slot->hits.n;
		s->over |= slot->end == UINT64_MAX;
	}
}

static void finish_slice(struct searcher *w)
{
	struct ask_search *s = w->search;
	struct slot *slot;

	pthread_mutex_lock(&s->lock);
	while (s->slots.n <= w->slice.number && vec_push(&s->slots))
		;
	if (s->slots.n > w->slice.number) {
		slot = &s->slots.at[w->slice.number];
		slot->hits = w->hits;
		slot->end = w->slice.last ? UINT64_MAX : w->slice.end;
		slot->ready = true;
		s->memory += ask_hits_size(&w->hits);
		w->hits = (struct ask_hits){0};
		publish(s);
	} else {
		s->failed = true;
	}
	pthread_mutex_unlock(&s->lock);
}

static void search(struct searcher *w)
{
	struct ask_search *s = w->search;
	bool named = false;

	while (!s->stop && slicer_next(&s->slicer, &w->slice)) {
		bool keep;

		pthread_mutex_lock(&s->lock);
		keep = s->memory < HITS_MEMORY && !s->truncated;
		pthread_mutex_unlock(&s->lock);
		search_slice(w, keep);
		if (!named && names_matter(&w->cursor)) {
			named = ask_history_names(&w->cursor);
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
	struct ask_search *s = search_;
	struct searcher *w = calloc(1, sizeof(*w));

	if (w) {
		w->search = s;
		buf_init(&w->line, TEXT_LIMIT);
		if (ask_cursor_open(&w->cursor, s->view, &s->sources, &s->stop, NULL) == 0 &&
		    slice_init(&w->slice, &s->slicer) == 0)
			search(w);
		ask_cursor_close(&w->cursor);
		slice_free(&w->slice);
		ask_hits_free(&w->hits);
		buf_free(&w->line);
	}
	free(w);
	pthread_mutex_lock(&s->lock);
	if (--s->working == 0)
		s->over = true;
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- starting and ending ---- */

static void free_search(struct ask_search *s)
{
	s->stop = 1;
	for (unsigned int i = 0; i < s->nr_threads; i++)
		pthread_join(s->threads[i], NULL);
	ask_wanted_free(&s->wanted);
	vec_each (slot, &s->slots)
		ask_hits_free(&slot->hits);
	vec_free(&s->slots);
	if (s->slicing)
		slicer_free(&s->slicer);
	ask_sources_free(&s->sources);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static int prepare(struct ask_search *s, const struct ask_search_options *o, int64_t *at,
		   struct spur_error *err)
{
	int rc = ask_sources_init(&s->sources, s->view);

	if (rc < 0)
		return error_set(err, rc, "out of memory");
	rc = ask_wanted_init(&s->wanted, s->view, o, at, err);
	if (rc < 0)
		return rc;
	rc = slicer_init(&s->slicer, ask_sources_lanes, &s->sources, 0, UINT64_MAX, CREW_SLICE);
	s->slicing = true;
	return rc < 0 ? error_set(err, rc, "out of memory") : 0;
}

static int start_threads(struct ask_search *s, struct spur_error *err)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const unsigned int nr = cpus < 1	     ? 1
				: cpus > MAX_THREADS ? MAX_THREADS
						     : (unsigned int)cpus;
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (rc == 0 && s->nr_threads < nr) {
		rc = pthread_create(&s->threads[s->nr_threads], NULL, search_main, s);
		s->nr_threads += rc == 0;
	}
	s->working = s->nr_threads;
	pthread_mutex_unlock(&s->lock);
	return s->nr_threads ? 0 : error_sys(err, -rc, "starting a thread");
}

/* Puts a search into the list; the one that had to go, or NULL. */
static struct ask_search *enlist(struct ask *a, struct ask_search *s)
{
	struct ask_search *oldest = NULL;
	size_t at = 0;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < ASK_SEARCHES; i++) {
		struct ask_search *other = a->searches[i];

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
	pthread_mutex_unlock(&a->lock);
	return oldest;
}

int64_t ask_search_start(struct view *v, const struct ask_search_options *o, int64_t *at,
			 struct spur_error *err)
{
	struct ask *a = view_ask(v);
	struct ask_search *s = a ? calloc(1, sizeof(*s)) : NULL, *oldest;
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
	ask_search_put(oldest);
	id = (int64_t)s->id;
	ask_search_put(s);
	return id;
}

struct ask_search *ask_search_get(struct view *v, uint64_t id)
{
	struct ask *a = view_ask(v);
	struct ask_search *found = NULL;

	if (!a)
		return NULL;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < ASK_SEARCHES; i++)
		if (a->searches[i] && a->searches[i]->id == id)
			found = a->searches[i];
	if (found)
		found->refs++;
	pthread_mutex_unlock(&a->lock);
	return found;
}

void ask_search_put(struct ask_search *s)
{
	struct ask *a = s ? view_ask(s->view) : NULL;
	bool last;

	if (!s)
		return;
	pthread_mutex_lock(&a->lock);
	last = --s->refs == 0;
	pthread_mutex_unlock(&a->lock);
	if (last)
		free_search(s);
}

bool ask_search_drop(struct view *v, uint64_t id)
{
	struct ask *a = view_ask(v);
	struct ask_search *s = NULL;

	if (!a)
		return false;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < ASK_SEARCHES; i++) {
		if (!a->searches[i] || a->searches[i]->id != id)
			continue;
		s = a->searches[i];
		a->searches[i] = NULL;
	}
	pthread_mutex_unlock(&a->lock);
	if (s)
		s->stop = 1;
	ask_search_put(s);
	return s != NULL;
}

/* ---- what it has found ---- */

const struct ask_sources *ask_search_sources(const struct ask_search *s)
{
	return &s->sources;
}

static double part_done(const struct ask_search *s)
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

void ask_search_state(struct ask_search *s, struct ask_search_state *out)
{
	pthread_mutex_lock(&s->lock);
	*out = (struct ask_search_state){.done = part_done(s),
					 .hits = s->found,
					 .kept = s->kept,
					 .truncated = s->truncated || s->failed,
					 .warning = s->wanted.warning.code ? s->wanted.warning.text
									   : NULL};
	pthread_mutex_unlock(&s->lock);
}

bool ask_search_hit(struct ask_search *s, uint64_t hit, struct ask_id *out)
{
	size_t low = 0, high;
	bool found = false;

	pthread_mutex_lock(&s->lock);
	high = s->ready;
	/* The last slice that begins at or before it. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->slots.at[middle].before <= hit)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && hit < s->kept)
		found = ask_hits_get(&s->slots.at[low - 1].hits, hit - s->slots.at[low - 1].before,
				     out);
	pthread_mutex_unlock(&s->lock);
	return found;
}

uint64_t ask_search_at(struct ask_search *s, uint64_t ts)
{
	size_t low = 0, high;
	uint64_t n;

	pthread_mutex_lock(&s->lock);
	high = s->ready;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->slots.at[middle].end <= ts)
			low = middle + 1;
		else
			high = middle;
	}
	n = low < s->ready ? s->slots.at[low].before + ask_hits_before(&s->slots.at[low].hits, ts)
			   : s->kept;
	pthread_mutex_unlock(&s->lock);
	return n;
}

void ask_search_bins(struct ask_search *s, uint64_t since, uint64_t width, uint32_t n,
		     uint64_t *bins)
{
	const uint64_t until = since + width * n;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->ready; i++) {
		const bool before = s->slots.at[i].end <= since;
		const bool behind = i && s->slots.at[i - 1].end >= until && until > since;

		if (!before && !behind)
			ask_hits_bins(&s->slots.at[i].hits, since, width, n, bins);
	}
	pthread_mutex_unlock(&s->lock);
}
