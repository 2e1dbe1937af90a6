// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cuts are guesses made from the times of a few pages. A trace whose times run backwards gets bad
 * cuts or none. That only costs time: when the previous slice has been read, the reader of a slice
 * checks that it began where that one ended.
 */
#include "scan/slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many pages are searched for a slice's first record, and for the last one before it. */
#define PAGES_AHEAD 64
#define PAGES_BACK  8

int slicer_init(struct slicer *s, int (*add)(const void *arg, struct scan *m), const void *arg,
		uint64_t since, uint64_t until, size_t slice_bytes)
{
	uint64_t page_size = 4096;
	int rc;

	*s = (struct slicer){.begin = since, .until = until};
	pthread_mutex_init(&s->lock, NULL);
	scan_init(&s->scouts, NULL);
	rc = add(arg, &s->scouts);
	if (rc < 0)
		return rc;
	s->pages = calloc(s->scouts.nr + 1, sizeof(*s->pages));
	s->steps = calloc(s->scouts.nr + 1, sizeof(*s->steps));
	s->spent = calloc(s->scouts.nr + 1, sizeof(*s->spent));
	if (!s->pages || !s->steps || !s->spent)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->scouts.nr; i++) {
		struct lane *l = &s->scouts.lanes[i];

		page_size = l->buffer->data->page_size;
		if (since) {
			lane_seek_time(l, since, l->nr_pages / 2);
			s->pages[i] = l->page_index;
		}
	}
	s->pages_per_slice = slice_bytes / page_size / (s->scouts.nr ? s->scouts.nr : 1);
	if (s->pages_per_slice < 1)
		s->pages_per_slice = 1;
	return 0;
}

void slicer_free(struct slicer *s)
{
	scan_free(&s->scouts);
	free(s->pages);
	free(s->steps);
	free(s->spent);
	pthread_mutex_destroy(&s->lock);
}

int slice_init(struct slice *sl, const struct slicer *s)
{
	*sl = (struct slice){.pages = calloc(s->scouts.nr + 1, sizeof(*sl->pages))};
	return sl->pages ? 0 : -ENOMEM;
}

void slice_free(struct slice *sl)
{
	free(sl->pages);
}

/* The lane with the most pages left, whose page boundaries the cuts follow. */
static struct lane *reference(struct slicer *s)
{
	struct lane *best = NULL;
	uint64_t most = 0;

	for (uint32_t i = 0; i < s->scouts.nr; i++) {
		struct lane *l = &s->scouts.lanes[i];
		uint64_t left = l->nr_pages > s->pages[i] ? l->nr_pages - s->pages[i] : 0;

		if (left > most && !s->spent[i]) {
			most = left;
			best = l;
		}
	}
	return most > s->pages_per_slice + s->pages_per_slice / 2 ? best : NULL;
}

/* The time at which the next slice begins; false if the rest is one slice. */
static bool find_cut(struct slicer *s, uint64_t *cut)
{
	struct lane *l;

	while ((l = reference(s)) != NULL) {
		uint64_t page = s->pages[l->index] + s->pages_per_slice;

		/* A page may be damaged or empty; then the next one is used. */
		for (uint64_t i = 0; i < s->pages_per_slice; i++)
			if (lane_page_time(l, page + i, cut) && *cut > s->begin)
				return *cut <= s->until;
		/* The number of pages may have been an estimate, and this lane has fewer. */
		s->spent[l->index] = true;
	}
	return false;
}

/* Finds where each lane starts in the slice that begins at `cut`. */
static void move_to(struct slicer *s, uint64_t cut)
{
	for (uint32_t i = 0; i < s->scouts.nr; i++) {
		struct lane *l = &s->scouts.lanes[i];

		/* Lanes differ in how many records they have: expect as many pages as last time. */
		lane_seek_time(l, cut, s->pages[i] + s->steps[i]);
		s->steps[i] = l->page_index - s->pages[i];
		s->pages[i] = l->page_index;
	}
}

bool slicer_next(struct slicer *s, struct slice *sl)
{
	uint64_t cut;
	bool more;

	pthread_mutex_lock(&s->lock);
	more = !s->done;
	if (more) {
		sl->number = s->number++;
		sl->begin = s->begin;
		memcpy(sl->pages, s->pages, s->scouts.nr * sizeof(*s->pages));
		sl->last = !find_cut(s, &cut);
		s->done = sl->last;
	}
	if (more && !sl->last) {
		sl->end = s->begin = cut;
		move_to(s, cut);
	}
	pthread_mutex_unlock(&s->lock);
	return more;
}

void slicer_stop(struct slicer *s)
{
	pthread_mutex_lock(&s->lock);
	s->done = true;
	pthread_mutex_unlock(&s->lock);
}

bool slice_enter(const struct slice *sl, struct lane *l,
		 void (*before)(void *arg, const struct lane *l), void *arg)
{
	const uint64_t guess = sl->pages[l->index];
	const uint64_t limit = sl->number ? guess + PAGES_AHEAD : UINT64_MAX;
	const struct lane_filter *filter = l->filter;
	bool shown = !before;

	l->filter = NULL;
	for (uint64_t back = 0; back <= PAGES_BACK && back <= guess; back++) {
		lane_seek(l, (struct lane_pos){.page = guess - back});
		while (lane_next(l) && l->rec.ts < sl->begin && l->page_index < limit) {
			if (before)
				before(arg, l);
			shown = true;
		}
		if (shown)
			break;
	}
	lane_set_filter(l, filter);
	return l->ended || l->rec.ts >= sl->begin;
}

struct lane_pos slice_place(const struct lane *l)
{
	return l->ended ? (struct lane_pos){.page = UINT64_MAX} : lane_tell(l);
}
