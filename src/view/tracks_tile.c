// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tiles of a track: its intervals when they are few, and bins otherwise.
 *
 * Bins are taken from the track's levels where they are stored, and computed from the intervals in
 * between. While a track is being made there are stretches with many intervals and no bins on their
 * level yet: then those of finer levels stand in for them, which is near enough for a moment.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "view/ticks.h"
#include "view/tracks.h"

#define MANY_BLOCKS 160 /* that are not read when something else will do */

struct tiler {
	const struct track *track;
	struct store *store;
	struct track_reader reader;
	struct view_tile *out;
	uint32_t level;
	uint64_t first; /* bin of the tile */
	bool whole;	/* nothing is being made */
	uint64_t limit; /* what lies behind is not to be read */
	int rc;
	/* The bin in the making. */
	bool open;
	uint64_t bin;
	uint64_t busy;
	uint32_t n, mask;
	struct shares shares;
};

static uint64_t end_of(const struct view_interval *i)
{
	return i->start + i->dur;
}

static bool overlaps(const struct view_interval *i, uint64_t since)
{
	return i->start >= since || end_of(i) > since;
}

/* ---- bins ---- */

static void close_bin(struct tiler *t)
{
	struct view_bin *b = t->open ? vec_push(&t->out->bins) : NULL;

	if (t->open && !b)
		t->rc = -ENOMEM;
	if (b)
		*b = (struct view_bin){.bin = (uint32_t)(t->bin - t->first),
				       .n = t->n,
				       .busy = t->busy,
				       .top = shares_top(&t->shares),
				       .mask = t->mask};
	shares_clear(&t->shares);
	t->open = false;
}

static inline void open_bin(struct tiler *t, uint64_t bin)
{
	if (t->open && t->bin == bin)
		return;
	close_bin(t);
	t->open = true;
	t->bin = bin;
	t->busy = 0;
	t->n = t->mask = 0;
}

static inline void add(struct tiler *t, uint32_t value, uint64_t ns)
{
	t->busy += ns;
	if (!shares_add(&t->shares, value, ns))
		t->rc = -ENOMEM;
}

/* Adds what an interval has of a stretch of time. */
static void add_interval(struct tiler *t, const struct view_interval *i, uint64_t since,
			 uint64_t until)
{
	uint64_t ts = i->start > since ? i->start : since;
	uint64_t end = end_of(i) < until ? end_of(i) : until;

	if (i->start >= since) {
		open_bin(t, i->start >> t->level);
		t->n++;
		if (t->track->types)
			t->mask |= types_mask(t->track->types, i->value);
	}
	while (ts < end) {
		const uint64_t bin = ts >> t->level, border = (bin + 1) << t->level;
		const uint64_t to = end < border ? end : border;

		open_bin(t, bin);
		add(t, i->value, to - ts);
		ts = to;
	}
}

static void add_stored(struct tiler *t, const struct stored_bin *b, uint32_t level)
{
	open_bin(t, b->bin << level >> t->level);
	t->n += b->n;
	t->mask |= b->mask;
	if (!t->track->types)
		add(t, b->top, b->busy);
}

static void read_intervals(struct tiler *t, uint64_t since, uint64_t until)
{
	struct view_interval i;

	until = until < t->limit ? until : t->limit;
	if (since >= until)
		return;
	track_seek(&t->reader, since);
	while (t->rc == 0 && track_next(&t->reader, &i) && i.start < until)
		if (overlaps(&i, since))
			add_interval(t, &i, since, until);
}

/* Whether a stretch without stored bins is too long to be read. */
static bool is_long(const struct tiler *t, uint64_t since, uint64_t until)
{
	const struct seq *s = &t->track->seq;

	if (t->track->ticks)
		return ticks_far(t->track->ticks, since, until);
	return seq_find(s, 0, until) - seq_find(s, 0, since) > MANY_BLOCKS;
}

/*
 * Everything of a stretch of time that begins and ends with a bin of the tile, by what is stored on
 * this level. Goes down one level at a time.
 */
static void read_stretch(struct tiler *t, uint32_t level, uint64_t since, uint64_t until)
{
	struct level_reader *stored = malloc(sizeof(*stored));
	struct stored_bin b;

	if (!stored) {
		t->rc = -ENOMEM;
		return;
	}
	level_read(stored, t->track->levels, t->store, level, since >> level);
	while (t->rc == 0 && since < until) {
		bool more;

		while ((more = level_next(stored, &b)) && b.bin << level < since)
			;
		more = more && b.bin << level < until;
		if (since < (more ? b.bin << level : until)) {
			const uint64_t to = more ? b.bin << level : until;

			if (!t->whole && level && is_long(t, since, to))
				read_stretch(t, level - 1, since, to);
			else
				read_intervals(t, since, to);
		}
		if (!more)
			break;
		add_stored(t, &b, level);
		since = (b.bin + 1) << level;
	}
	free(stored);
}

static void make_bins(struct tiler *t)
{
	const struct levels *l = t->track->levels;
	const uint64_t since = t->first << t->level, last = (t->first + VIEW_TILE_BINS);

	t->out->has_bins = true;
	t->out->intervals.n = 0;
	/* Above the top level all is in one bin, and is the same as there. */
	if (l && t->whole && t->level > l->top) {
		if (since == 0)
			read_stretch(t, l->top, 0, 1ull << l->top);
	} else {
		read_stretch(t, t->level, since, last << t->level);
	}
	close_bin(t);
}

/* ---- intervals ---- */

/* False: there are too many of them. */
static bool list_intervals(struct tiler *t)
{
	const uint64_t since = t->first << t->level;
	uint64_t until = (t->first + VIEW_TILE_BINS) << t->level;
	struct view_interval i, *slot;

	until = until < t->limit ? until : t->limit;
	if (since >= until)
		return true;
	track_seek(&t->reader, since);
	while (track_next(&t->reader, &i) && i.start < until) {
		if (!overlaps(&i, since))
			continue;
		if (t->out->intervals.n == VIEW_MOST_INTERVALS)
			return false;
		slot = vec_push(&t->out->intervals);
		if (!slot) {
			t->rc = -ENOMEM;
			return true;
		}
		*slot = i;
	}
	return true;
}

int track_tile(const struct track *track, struct store *store, uint32_t level, uint64_t tile,
	       bool bins, struct view_tile *out)
{
	struct tiler *t;
	int rc;

	out->intervals.n = out->bins.n = 0;
	out->has_bins = false;
	/* Nothing is later than MOST_TIME, and the end of a tile must be a number. */
	if (level > VIEW_MOST_LEVEL || tile > MOST_TIME >> level >> VIEW_TILE_SHIFT) {
		out->complete = true;
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->track = track;
	t->store = store;
	t->out = out;
	t->level = level;
	t->first = tile << VIEW_TILE_SHIFT;
	t->whole = __atomic_load_n(&track->maker->done, __ATOMIC_ACQUIRE);
	out->complete = t->whole || (tile + 1) << VIEW_TILE_SHIFT << level <= track->maker->until;
	/* Records that have not been counted yet are many. */
	t->limit = track->ticks && !t->whole ? track->maker->until : UINT64_MAX;
	t->rc = track_open(&t->reader, track, store);
	if (t->rc == 0 && (bins || !list_intervals(t)))
		make_bins(t);
	track_close(&t->reader);
	shares_free(&t->shares);
	rc = t->rc;
	free(t);
	return rc;
}

/* ---- single intervals ---- */

/* The last one that begins at or before a time, looked for from `from` on. */
static bool last_before(struct track_reader *r, uint64_t from, uint64_t ts,
			struct view_interval *out, struct view_interval *behind, bool *more)
{
	bool found = false;
	struct view_interval i;

	track_seek(r, from);
	while ((*more = track_next(r, &i)) && i.start <= ts) {
		*out = i;
		found = true;
	}
	if (*more)
		*behind = i;
	return found;
}

/* A time before which the one before `ts` may be found; false: there is nothing before. */
static bool step_back(const struct track *t, uint64_t *from)
{
	const uint64_t before = t->ticks ? ticks_before(t->ticks, *from) : 0;

	if (!*from)
		return false;
	/* What is read from a file may be in any order. */
	*from = before < *from ? before : 0;
	return true;
}

bool track_at(const struct track *t, struct store *store, uint64_t ts, int dir,
	      struct view_interval *out)
{
	struct track_reader *r = malloc(sizeof(*r));
	struct view_interval behind;
	bool found = false, more = false;
	uint64_t from = ts;

	if (r && track_open(r, t, store) == 0) {
		do
			found = last_before(r, from, ts, out, &behind, &more);
		while (!found && dir < 0 && step_back(t, &from));
		if (dir > 0 && (!found || (end_of(out) <= ts && out->start != ts))) {
			found = more;
			*out = more ? behind : *out;
		}
		track_close(r);
	}
	free(r);
	return found;
}

int track_each(const struct track *t, struct store *store, uint64_t since, uint64_t until,
	       bool (*take)(void *arg, const struct view_interval *i), void *arg)
{
	struct track_reader *r = malloc(sizeof(*r));
	struct view_interval i;
	int rc = r ? track_open(r, t, store) : -ENOMEM;

	if (rc == 0) {
		track_seek(r, since);
		while (track_next(r, &i) && i.start < until)
			if (overlaps(&i, since) && !take(arg, &i))
				break;
		track_close(r);
	}
	free(r);
	return rc;
}
