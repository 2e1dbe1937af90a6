// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intervals within intervals: calls of functions, interrupts of interrupts. A row has a track for
 * each depth; this merges them, the outer ones first.
 *
 * A range may have any number of intervals, so it is processed in parts of at most MOST intervals a
 * depth. An interval that continues after the end of a part is left there and entered again in the
 * next part, where it is not counted again.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "view/answers/answers.h"

#define MOST   8192 /* intervals of a depth in a part */
#define DEPTHS 256  /* deeper ones are left out */

struct level {
	uint32_t track;
	vec_of(struct view_interval) found;
	size_t next;
};

struct nest {
	const struct view_nested *user;
	struct view_index *index;
	uint32_t row;
	struct level *levels;
	size_t nr;
	uint64_t since, until; /* the whole range, on the index's time line */
	uint64_t from, to;     /* the part */
	struct nested_frame frames[DEPTHS];
	bool open[DEPTHS];
	bool failed;
};

static bool stopped(const struct nest *n)
{
	return n->user->stop && *n->user->stop;
}

/* ---- collecting a part ---- */

struct taking {
	struct nest *nest;
	struct level *level;
};

static bool take(void *arg, const struct view_interval *i)
{
	struct taking *t = arg;

	if (i->start < t->nest->from && i->start + i->dur <= t->nest->from)
		return true;
	/* The first one always fits, because a part must not be empty. */
	if (t->level->found.n >= MOST && i->start > t->nest->from) {
		t->nest->to = i->start < t->nest->to ? i->start : t->nest->to;
		return false;
	}
	t->nest->failed = !vec_add(&t->level->found, i);
	return !t->nest->failed && !stopped(t->nest);
}

static int collect(struct nest *n)
{
	n->to = n->until;
	for (size_t i = 0; i < n->nr; i++) {
		struct taking t = {n, &n->levels[i]};
		int rc;

		t.level->found.n = 0;
		t.level->next = 0;
		rc = view_index_each(n->index, n->row, t.level->track, n->from, n->to, take, &t);
		if (rc < 0 || n->failed)
			return rc < 0 ? rc : -ENOMEM;
	}
	return 0;
}

/* ---- going through it ---- */

/* Leaves the frames from a depth on, the innermost first. */
static void leave(struct nest *n, size_t depth)
{
	for (size_t i = n->nr; i-- > depth;) {
		if (n->open[i])
			n->user->leave(n->user->arg, &n->frames[i]);
		n->open[i] = false;
	}
}

static struct nested_frame *parent_of(struct nest *n, size_t depth, uint64_t start)
{
	while (depth-- > 0)
		if (n->open[depth] && n->frames[depth].end > start)
			return &n->frames[depth];
	return NULL;
}

static bool is_recursive(const struct nested_frame *f)
{
	for (const struct nested_frame *p = f->parent; p; p = p->parent)
		if (p->name == f->name)
			return true;
	return false;
}

/* Recorded times may overlap, or end after the caller's end: no time is counted twice. */
static void add_inner(struct nested_frame *outer, const struct nested_frame *f)
{
	const uint64_t from = f->start > outer->inner_until ? f->start : outer->inner_until;
	const uint64_t to = f->end < outer->end ? f->end : outer->end;

	if (to > from) {
		outer->inner += to - from;
		outer->inner_until = to;
	}
}

static void enter(struct nest *n, size_t depth, const struct view_interval *i)
{
	const uint64_t end = i->start + i->dur;
	struct nested_frame *f = &n->frames[depth];

	*f = (struct nested_frame){.start = i->start > n->from ? i->start : n->from,
				   .end = end < n->to ? end : n->to,
				   .name = i->value};
	/* Intervals that began before the range are counted in its first part. */
	f->counted = i->start >= n->from || n->from == n->since;
	if (f->counted) {
		const uint64_t begin = i->start > n->since ? i->start : n->since;

		f->whole = (end < n->until ? end : n->until) - begin;
	}
	f->parent = parent_of(n, depth, f->start);
	f->recursive = is_recursive(f);
	if (f->parent)
		add_inner(f->parent, f);
	n->open[depth] = true;
	if (n->user->enter)
		n->user->enter(n->user->arg, f);
}

/* The depth whose next interval begins first, the outermost of equal ones. */
static size_t earliest(const struct nest *n)
{
	size_t best = n->nr;
	uint64_t at = 0;

	for (size_t i = 0; i < n->nr; i++) {
		const struct level *l = &n->levels[i];
		uint64_t start;

		if (l->next >= l->found.n || l->found.at[l->next].start >= n->to)
			continue;
		start = l->found.at[l->next].start;
		start = start > n->from ? start : n->from;
		if (best == n->nr || start < at) {
			best = i;
			at = start;
		}
	}
	return best;
}

static void go_through(struct nest *n)
{
	size_t depth;

	while ((depth = earliest(n)) < n->nr) {
		leave(n, depth);
		enter(n, depth, &n->levels[depth].found.at[n->levels[depth].next++]);
	}
	leave(n, 0);
}

/* ---- the row ---- */

static int by_depth(const void *a, const void *b, void *tracks)
{
	const struct view_track *t = tracks;
	const uint32_t x = t[((const struct level *)a)->track].depth;
	const uint32_t y = t[((const struct level *)b)->track].depth;

	return (x > y) - (x < y);
}

static int find_levels(struct nest *n, const struct view_row *row, enum view_track_kind kind)
{
	n->levels = calloc(row->nr_tracks + 1, sizeof(*n->levels));
	if (!n->levels)
		return -ENOMEM;
	for (uint32_t i = 0; i < row->nr_tracks && n->nr < DEPTHS; i++)
		if (row->tracks[i].kind == kind)
			n->levels[n->nr++].track = i;
	qsort_r(n->levels, n->nr, sizeof(*n->levels), by_depth, (void *)row->tracks);
	return 0;
}

static void free_nest(struct nest *n)
{
	for (size_t i = 0; n->levels && i < n->nr; i++)
		vec_free(&n->levels[i].found);
	free(n->levels);
	free(n);
}

int view_nested(struct view *v, uint32_t row, enum view_track_kind kind, uint64_t since,
		uint64_t until, const struct view_nested *user)
{
	struct nest *n = calloc(1, sizeof(*n));
	struct view_place place;
	struct view_row r;
	int rc;

	if (!n)
		return -ENOMEM;
	if (!view_row(v, row, &place, &r) || until <= place.shift) {
		free_nest(n);
		return 0;
	}
	n->user = user;
	n->index = place.file->index;
	n->row = place.row;
	n->since = since > place.shift ? since - place.shift : 0;
	n->until = until - place.shift;
	rc = find_levels(n, &r, kind);
	for (n->from = n->since; rc == 0 && n->nr && n->from < n->until && !stopped(n);
	     n->from = n->to) {
		rc = collect(n);
		if (rc == 0)
			go_through(n);
	}
	free_nest(n);
	return rc;
}
