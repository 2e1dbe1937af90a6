// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Each lane has a few windows of the same number of pages. Pages before `next` have been loaded or
 * are being loaded, by any number of threads. If a lane goes back to a page that no window has any
 * more, it reads the page itself.
 */
#include "scan/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define MEMORY	    (24u << 20) /* of all windows together */
#define WINDOW	    (256u << 10)
#define MOST_PAGES  64 /* of a window */
#define MAX_WINDOWS 8  /* of a lane; … */
#define MIN_WINDOWS 3  /* … fewer are not worth it */
#define UNLOOKED    15 /* windows that are not looked at after one with few records to skip */

enum state { FREE, LOADING, READY };

struct window {
	enum state state;
	struct dat_pages *pages;
	uint8_t *copies; /* of the pages, if they were compressed */
	uint64_t first;	 /* page */
	uint32_t n;	 /* pages that could be read; … */
	int code; /* … and the result of dat_pages_get() for the next one; 1: it was not read */
	struct dat_page at[MOST_PAGES];
	uint32_t first_break[MOST_PAGES + 1];
	struct lane_break_list breaks;
};

struct ahead_lane {
	struct ahead *ahead;
	struct lane *lane;
	uint32_t per_window; /* pages */
	struct window windows[MAX_WINDOWS];
	struct window *current; /* has the page that the lane stands on, or NULL */
	struct lane_skips skips;
	uint64_t at;	   /* the page that the lane has looked up last */
	uint64_t next;	   /* the first page that has not been loaded */
	uint32_t unlooked; /* windows that will not be looked at */
	bool begun;	   /* the lane has read a page */
	bool ended;	   /* there are no pages from `next` on */
};

struct ahead {
	pthread_mutex_t lock; /* guards the states, and the members of lanes above */
	pthread_cond_t loaded;
	uint32_t nr_windows, nr;
	struct ahead_lane *lanes;
	void (*wanted)(void *arg);
	void *wanted_arg;
};

/* ---- loading ---- */

/* Copies a page that would disappear when another chunk is decompressed. */
static void keep_page(const struct ahead_lane *al, struct window *w)
{
	const size_t size = al->lane->buffer->data->page_size;

	memcpy(w->copies + w->n * size, w->at[w->n].data, w->at[w->n].size);
	w->at[w->n].data = w->copies + w->n * size;
}

static void read_pages(const struct ahead_lane *al, struct window *w)
{
	w->n = 0;
	w->code = 1;
	while (w->n < al->per_window) {
		w->code = dat_pages_get(w->pages, w->first + w->n, &w->at[w->n]);
		if (w->code <= 0)
			return;
		if (w->copies)
			keep_page(al, w);
		w->n++;
	}
}

/* Finds the records that cannot be skipped. Returns whether they are few. */
static bool look_at(const struct ahead_lane *al, struct window *w)
{
	uint64_t records = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		w->first_break[i] = (uint32_t)w->breaks.n;
		records += lane_find_breaks(&al->skips, &w->at[i], &w->breaks);
	}
	w->first_break[w->n] = (uint32_t)w->breaks.n;
	return w->breaks.n <= records / 2;
}

/* Loads the next window. Needs the lock; it is released while pages are read. */
static void load_next(struct ahead_lane *al, struct window *w)
{
	struct ahead *a = al->ahead;
	const bool look = !al->unlooked;
	bool worth = true;

	w->state = LOADING;
	w->first = al->next;
	w->breaks.n = 0;
	al->next += al->per_window;
	al->unlooked -= !look;
	pthread_mutex_unlock(&a->lock);
	read_pages(al, w);
	if (look && al->skips.filter)
		worth = look_at(al, w);
	pthread_mutex_lock(&a->lock);
	w->state = READY;
	al->ended |= w->code == 0;
	al->unlooked = worth ? al->unlooked : UNLOOKED;
	pthread_cond_broadcast(&a->loaded);
}

/* Frees the windows that the lane has left. Needs the lock. */
static void reclaim(struct ahead_lane *al)
{
	for (uint32_t i = 0; i < al->ahead->nr_windows; i++) {
		struct window *w = &al->windows[i];

		if (w->state == READY && w != al->current && w->first + al->per_window <= al->at)
			w->state = FREE;
	}
}

/* A window that is not in use, or NULL. Needs the lock. */
static struct window *spare(struct ahead_lane *al)
{
	reclaim(al);
	for (uint32_t i = 0; i < al->ahead->nr_windows; i++)
		if (al->windows[i].state == FREE)
			return &al->windows[i];
	return NULL;
}

bool ahead_load(struct ahead *a)
{
	struct ahead_lane *least = NULL;
	struct window *to = NULL;

	pthread_mutex_lock(&a->lock);
	for (uint32_t i = 0; i < a->nr; i++) {
		struct ahead_lane *al = &a->lanes[i];
		struct window *w;

		if (!al->begun || al->ended ||
		    (least && al->next - al->at >= least->next - least->at))
			continue;
		w = spare(al);
		if (w) {
			least = al;
			to = w;
		}
	}
	if (least)
		load_next(least, to);
	pthread_mutex_unlock(&a->lock);
	return least;
}

/* ---- lanes ---- */

static inline bool has(const struct ahead_lane *al, const struct window *w, uint64_t index)
{
	return index >= w->first && index - w->first < al->per_window;
}

static struct window *find(struct ahead_lane *al, uint64_t index)
{
	for (uint32_t i = 0; i < al->ahead->nr_windows; i++)
		if (al->windows[i].state != FREE && has(al, &al->windows[i], index))
			return &al->windows[i];
	return NULL;
}

/* The lane continues elsewhere, so the loaded windows are useless. Needs the lock. */
static void move(struct ahead_lane *al, uint64_t index)
{
	for (uint32_t i = 0; al->next != index && i < al->ahead->nr_windows; i++)
		if (al->windows[i].state == READY)
			al->windows[i].state = FREE;
	al->next = index;
	al->ended = false;
}

/* Needs the lock. NULL: the lane has to read the page itself. */
static struct window *wait_for(struct ahead_lane *al, uint64_t index)
{
	struct ahead *a = al->ahead;
	struct window *w, *other;

	if (!al->begun)
		al->skips = lane_skips(al->lane);
	al->begun = true;
	al->at = index;
	al->current = NULL;
	for (;;) {
		w = find(al, index);
		if (w && w->state == READY)
			return w;
		if (!w && index < al->next)
			return NULL;
		if (!w)
			move(al, index);
		/* Another thread is loading it; meanwhile this one loads the next window. */
		other = w && al->ended ? NULL : spare(al);
		if (other)
			load_next(al, other);
		else if (w)
			pthread_cond_wait(&a->loaded, &a->lock);
		else
			return NULL;
	}
}

/* Whether other threads should load. Needs the lock. */
static bool is_short(const struct ahead_lane *al)
{
	return !al->ended &&
	       al->next - al->at < (uint64_t)al->per_window * al->ahead->nr_windows / 2;
}

int ahead_get(struct ahead_lane *al, uint64_t index, struct dat_page *page,
	      struct lane_breaks *breaks)
{
	struct ahead *a = al->ahead;
	struct window *w = al->current;
	bool wanted;
	uint32_t i;

	*breaks = (struct lane_breaks){0};
	if (!w || !has(al, w, index)) {
		pthread_mutex_lock(&a->lock);
		w = al->current = wait_for(al, index);
		wanted = is_short(al);
		pthread_mutex_unlock(&a->lock);
		if (wanted)
			a->wanted(a->wanted_arg);
	}
	if (!w)
		return AHEAD_MISS;
	i = (uint32_t)(index - w->first);
	if (i >= w->n)
		return w->code == 0 || (i == w->n && w->code != -E2BIG) ? w->code : AHEAD_MISS;
	*page = w->at[i];
	if (w->breaks.n)
		*breaks = (struct lane_breaks){.filter = al->skips.filter,
					       .at = w->breaks.at + w->first_break[i],
					       .n = w->first_break[i + 1] - w->first_break[i]};
	return 1;
}

/* ---- memory ---- */

static int open_lane(struct ahead *a, struct ahead_lane *al, struct lane *l)
{
	const struct dat_buffer *b = l->buffer->data;
	int rc = 0;

	al->ahead = a;
	al->lane = l;
	al->per_window = b->page_size < WINDOW ? WINDOW / b->page_size : 1;
	if (al->per_window > MOST_PAGES)
		al->per_window = MOST_PAGES;
	for (uint32_t i = 0; rc == 0 && i < a->nr_windows; i++) {
		struct window *w = &al->windows[i];

		rc = dat_pages_open_small(l->buffer->trace->dat, b, l->cpu, &w->pages);
		if (rc == 0 && b->compressed)
			w->copies = malloc((size_t)al->per_window * b->page_size);
		if (b->compressed && !w->copies)
			rc = -ENOMEM;
	}
	return rc;
}

struct ahead *ahead_new(struct scan *s, void (*wanted)(void *arg), void *arg)
{
	const uint32_t windows = s->nr ? MEMORY / WINDOW / s->nr : 0;
	struct ahead *a = windows < MIN_WINDOWS ? NULL : calloc(1, sizeof(*a));
	bool ok;

	if (!a)
		return NULL;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->loaded, NULL);
	a->wanted = wanted;
	a->wanted_arg = arg;
	a->nr_windows = windows < MAX_WINDOWS ? windows : MAX_WINDOWS;
	a->lanes = calloc(s->nr, sizeof(*a->lanes));
	ok = a->lanes != NULL;
	for (; ok && a->nr < s->nr; a->nr++)
		ok = !s->lanes[a->nr].cpu->feed &&
		     open_lane(a, &a->lanes[a->nr], &s->lanes[a->nr]) == 0;
	if (!ok) {
		ahead_free(a);
		return NULL;
	}
	for (uint32_t i = 0; i < s->nr; i++)
		s->lanes[i].ahead = &a->lanes[i];
	return a;
}

void ahead_free(struct ahead *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->nr; i++) {
		struct ahead_lane *al = &a->lanes[i];

		if (al->lane)
			al->lane->ahead = NULL;
		for (uint32_t k = 0; k < a->nr_windows; k++) {
			dat_pages_close(al->windows[k].pages);
			free(al->windows[k].copies);
			vec_free(&al->windows[k].breaks);
		}
	}
	pthread_cond_destroy(&a->loaded);
	pthread_mutex_destroy(&a->lock);
	free(a->lanes);
	free(a);
}
