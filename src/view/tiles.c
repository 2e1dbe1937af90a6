// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tiles of a view: those of a file's index, moved to the view's time line and numbers.
 *
 * A file whose first record is `shift` later than the view's has another grid of bins. A tile of
 * the view then lies in two neighbouring tiles of the index. Intervals are moved exactly. Bins are
 * moved by whole bins, the nearest ones, because a bin cannot be cut in two.
 */
#include <errno.h>

#include "base/vec.h"
#include "view/index/levels.h"
#include "view/view.h"

/* ---- tiles that are moved ---- */

struct move {
	struct view_index *index;
	const struct spur_trace *trace;
	uint32_t row, track, level;
	bool ticks;
	uint64_t shift;
	int64_t first;	 /* bin of the index's grid with which the view's tile begins, … */
	int64_t nearest; /* … and the one whose bins are taken for its first one */
	int64_t since, until;
};

static int take_intervals(const struct move *m, const struct view_tile *from, struct view_tile *to)
{
	vec_each (in, &from->intervals) {
		const struct view_interval *before =
			to->intervals.n ? &to->intervals.at[to->intervals.n - 1] : NULL;
		const int64_t start = (int64_t)in->start, end = start + (int64_t)in->dur;

		/* One that reaches from tile to tile is in both. */
		if (start >= m->until || (in->dur ? end <= m->since : start < m->since) ||
		    (before && !m->ticks && before->start == in->start + m->shift &&
		     before->dur == in->dur))
			continue;
		if (!vec_add(&to->intervals, in))
			return -ENOMEM;
		to->intervals.at[to->intervals.n - 1].start += m->shift;
	}
	return 0;
}

static int take_bins(const struct move *m, const struct view_tile *from, int64_t tile,
		     struct view_tile *to)
{
	vec_each (b, &from->bins) {
		const int64_t bin = tile * VIEW_TILE_BINS + b->bin - m->nearest;

		if (bin < 0 || bin >= VIEW_TILE_BINS)
			continue;
		if (!vec_add(&to->bins, b))
			return -ENOMEM;
		to->bins.at[to->bins.n - 1].bin = (uint32_t)bin;
	}
	return 0;
}

static void bin_tick(struct binning *b, const struct events *ev, const struct view_interval *i)
{
	const uint32_t mask = i->value < ev->nr ? 1u << view_class(ev->list[i->value]) : 0;

	binning_add_starts(b, i->start, 1 + i->flags, mask);
}

/* Makes bins of a tile's intervals, as the index would have done if there were more of them. */
static int make_bins(const struct move *m, struct view_tile *t, int64_t tile)
{
	struct binning b = {.out = t, .level = m->level, .first = (uint64_t)tile * VIEW_TILE_BINS};
	const uint64_t since = b.first << m->level, until = (b.first + VIEW_TILE_BINS) << m->level;

	if (t->has_bins)
		return 0;
	t->has_bins = true;
	vec_each (i, &t->intervals) {
		if (m->ticks) {
			bin_tick(&b, m->trace->events, i);
			continue;
		}
		if (i->start >= since && i->start < until)
			binning_add_starts(&b, i->start, 1, 0);
		binning_add_interval(&b, i, since, until);
	}
	binning_finish(&b);
	t->intervals.n = 0;
	return b.failed ? -ENOMEM : 0;
}

static int join_tiles(const struct move *m, struct view_tile parts[2], int64_t tile,
		      struct view_tile *out)
{
	int rc = 0;

	out->complete = parts[0].complete && parts[1].complete;
	out->has_bins = parts[0].has_bins || parts[1].has_bins;
	for (int i = 0; i < 2 && rc == 0; i++) {
		if (!out->has_bins) {
			rc = take_intervals(m, &parts[i], out);
			continue;
		}
		rc = make_bins(m, &parts[i], tile + i);
		if (rc == 0)
			rc = take_bins(m, &parts[i], tile + i, out);
	}
	return rc;
}

static int moved_tile(const struct move *m, struct view_tile *out)
{
	struct view_tile parts[2] = {{.complete = true}, {.complete = true}};
	/* Rounded down: a division would round what is negative up. */
	const int64_t tile = m->first >> 9;
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++)
		if (tile + i >= 0)
			rc = view_index_tile(m->index, m->row, m->track, m->level,
					     (uint64_t)(tile + i), &parts[i]);
	if (rc == 0)
		rc = join_tiles(m, parts, tile, out);
	view_tile_free(&parts[0]);
	view_tile_free(&parts[1]);
	return rc;
}

/* ---- values ---- */

static uint32_t row_value(struct view *v, uint32_t file, uint32_t row)
{
	const int64_t number = view_row_number(v, file, row);

	return number < 0 ? UINT32_MAX : (uint32_t)number;
}

static uint32_t map_value(struct view *v, const struct view_place *at, const struct view_row *row,
			  enum view_track_kind kind, uint32_t value)
{
	int64_t number;

	/* What is not known has no number in any file. */
	if (value == UINT32_MAX)
		return value;
	switch (kind) {
	case VIEW_RUNNING:
		return row->kind == VIEW_CPU_ROW ? row_value(v, at->file_number, value) : value;
	case VIEW_STATE:
		if (!(value >> VIEW_STATE_BITS))
			return value;
		number = row_value(v, at->file_number, (value >> VIEW_STATE_BITS) - 1);
		return (value & ((1u << VIEW_STATE_BITS) - 1)) | ((uint32_t)number + 1)
									 << VIEW_STATE_BITS;
	case VIEW_IRQ:
	case VIEW_SOFTIRQ:
	case VIEW_SYSCALL:
	case VIEW_CALL:
		number = view_name_number(v, at->file_number, value);
		return number < 0 ? VIEW_NO_NAME : (uint32_t)number;
	case VIEW_EVENTS: return value + at->file->first_event;
	default: return value;
	}
}

static void map_tile(struct view *v, const struct view_place *at, const struct view_row *row,
		     enum view_track_kind kind, struct view_tile *t)
{
	/* The numbers of the first file are the view's as long as there is no other. */
	if (view_nr_files(v) == 1)
		return;
	for (size_t i = 0; i < t->intervals.n; i++)
		t->intervals.at[i].value = map_value(v, at, row, kind, t->intervals.at[i].value);
	for (size_t i = 0; i < t->bins.n; i++)
		if (t->bins.at[i].busy)
			t->bins.at[i].top = map_value(v, at, row, kind, t->bins.at[i].top);
}

int view_tile(struct view *v, uint32_t row, uint32_t track, uint32_t level, uint64_t tile,
	      struct view_tile *out)
{
	const uint64_t half = level ? 1ull << (level - 1) : 0;
	struct view_place at;
	struct view_row info;
	struct move m;
	int rc;

	if (level > VIEW_MOST_LEVEL || tile > 1ull << (VIEW_MOST_LEVEL - level) ||
	    !view_row(v, row, &at, &info) || track >= info.nr_tracks)
		return -ENOENT;
	out->intervals.n = out->bins.n = 0;
	out->has_bins = false;
	if (!at.shift) {
		rc = view_index_tile(at.file->index, at.row, track, level, tile, out);
	} else {
		const int64_t bin = (int64_t)(tile * VIEW_TILE_BINS);
		const uint64_t whole = at.shift >> level;

		m = (struct move){
			.index = at.file->index,
			.trace = at.file->trace,
			.row = at.row,
			.track = track,
			.level = level,
			.ticks = info.tracks[track].kind == VIEW_EVENTS,
			.shift = at.shift,
			.first = bin - (int64_t)whole - (whole << level != at.shift),
			.nearest = bin - (int64_t)((at.shift + half) >> level),
			.since = (int64_t)((uint64_t)bin << level) - (int64_t)at.shift,
		};
		m.until = m.since + ((int64_t)VIEW_TILE_BINS << level);
		rc = moved_tile(&m, out);
	}
	if (rc == 0)
		map_tile(v, &at, &info, info.tracks[track].kind, out);
	return rc;
}

/* ---- the tiles of a range ---- */

int tile_of_view(const struct tile_source *from, uint32_t level, uint64_t tile,
		 struct view_tile *out)
{
	return view_tile(from->view, from->row, from->track, level, tile, out);
}

int tiles_each(const struct tile_source *from, struct tile_range range, struct view_tile *tile,
	       void (*take)(void *arg, const struct tile_part *p), void *arg)
{
	const uint32_t shift = range.level + VIEW_TILE_SHIFT;

	for (uint64_t i = range.since >> shift; i <= (range.until - 1) >> shift; i++) {
		const uint64_t base = i << shift, end = base + (1ull << shift);
		const struct tile_part part = {.tile = tile,
					       .level = range.level,
					       .base = base,
					       .from = base > range.since ? base : range.since,
					       .to = end < range.until ? end : range.until};
		const int rc = from->tile(from, range.level, i, tile);

		if (rc < 0)
			return rc;
		take(arg, &part);
	}
	return 0;
}

uint32_t tile_level(uint64_t width)
{
	uint32_t level = 0;

	while (level < VIEW_MOST_LEVEL - VIEW_TILE_SHIFT && 2ull << level <= width)
		level++;
	return level;
}
