// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/columns.h"

#include <errno.h>
#include <string.h>

#define FINER 3 /* bins are at most 1/8 of a column */

__extension__ typedef unsigned __int128 wide;

int32_t column_at(const struct column_scale *s, uint64_t ts)
{
	wide at;

	if (ts < s->since)
		return -1;
	at = (wide)(ts - s->since) * (wide)s->width / (s->until - s->since);
	return at > INT32_MAX ? INT32_MAX : (int32_t)at;
}

uint64_t column_time(const struct column_scale *s, int32_t column)
{
	const uint64_t span = s->until - s->since;
	uint64_t after;

	if (column <= 0)
		return s->since;
	after = (uint64_t)(((wide)span * (wide)column + (wide)s->width - 1) / (wide)s->width);
	return s->since + after;
}

/* ---- filling them ---- */

struct gather {
	const struct column_scale *scale;
	uint32_t (*map)(uint32_t value);
	struct column *out;
	uint64_t from, to; /* of the tile, within the range */
};

/* When there are too many values the one with least time makes room. */
static void add_part(struct column *c, uint32_t value, uint64_t ns)
{
	size_t least = 0;

	c->busy += ns;
	for (size_t i = 0; i < COLUMN_VALUES; i++) {
		if (!c->parts[i].ns || c->parts[i].value == value) {
			least = i;
			break;
		}
		if (c->parts[i].ns < c->parts[least].ns)
			least = i;
	}
	if (c->parts[least].value != value)
		c->parts[least].ns = 0;
	c->parts[least].value = value;
	c->parts[least].ns += ns;
	if (c->parts[least].ns > c->most) {
		c->most = c->parts[least].ns;
		c->value = value;
	}
}

static void take_interval(struct gather *g, const struct view_interval *i)
{
	const uint64_t from = i->start > g->from ? i->start : g->from;
	const uint64_t end = i->start + i->dur, to = end < g->to ? end : g->to;
	const uint32_t value = g->map ? g->map(i->value) : i->value;

	if (to <= from) {
		/* What takes no time is there all the same. */
		if (!i->dur && i->start >= g->from && i->start < g->to)
			add_part(&g->out[column_at(g->scale, i->start)], value, 1);
		return;
	}
	for (int32_t x = column_at(g->scale, from); x < g->scale->width; x++) {
		const uint64_t left = column_time(g->scale, x);
		const uint64_t right = column_time(g->scale, x + 1);
		const uint64_t a = from > left ? from : left, b = to < right ? to : right;

		if (left >= to)
			break;
		if (b > a)
			add_part(&g->out[x], value, b - a);
		g->out[x].whole |= i->start <= left && end >= right;
	}
}

/* A bin lies in one column or in two. */
static void take_bin(struct gather *g, uint64_t start, uint64_t width, const struct view_bin *b)
{
	const uint64_t begin = start > g->from ? start : g->from;
	const uint64_t end = start + width < g->to ? start + width : g->to;
	const uint32_t value = g->map ? g->map(b->top) : b->top;
	uint64_t border, first;
	int32_t x;

	if (end <= begin)
		return;
	x = column_at(g->scale, begin);
	border = column_time(g->scale, x + 1);
	g->out[x].count += b->n;
	if (!b->busy)
		return;
	first = border >= end ? b->busy
			      : (uint64_t)((wide)b->busy * (border - begin) / (end - begin));
	if (first)
		add_part(&g->out[x], value, first);
	if (b->busy > first && x + 1 < g->scale->width)
		add_part(&g->out[x + 1], value, b->busy - first);
}

static void take_tile(struct gather *g, const struct view_tile *t, uint64_t base, uint32_t level,
		      bool ticks)
{
	for (size_t k = 0; !t->has_bins && k < t->intervals.n; k++) {
		const struct view_interval *i = &t->intervals.at[k];

		if (!ticks)
			take_interval(g, i);
		else if (i->start >= g->from && i->start < g->to)
			g->out[column_at(g->scale, i->start)].count += 1 + i->flags;
	}
	for (size_t k = 0; t->has_bins && k < t->bins.n; k++)
		take_bin(g, base + ((uint64_t)t->bins.at[k].bin << level), 1ull << level,
			 &t->bins.at[k]);
}

static uint32_t level_of(const struct column_scale *s)
{
	const uint64_t column = (s->until - s->since) / (uint64_t)s->width;
	uint32_t level = 0;

	while (level < VIEW_MOST_LEVEL - VIEW_TILE_SHIFT && 2ull << (level + FINER) <= column)
		level++;
	return level;
}

int columns_gather(struct view *v, uint32_t row, uint32_t track, const struct column_scale *s,
		   uint32_t (*map)(uint32_t value), struct view_tile *tile, struct column *out)
{
	const uint32_t level = level_of(s), shift = level + VIEW_TILE_SHIFT;
	struct gather g = {.scale = s, .map = map, .out = out};
	struct view_place place;
	struct view_row info;
	bool ticks;

	memset(out, 0, (size_t)s->width * sizeof(*out));
	if (!view_row(v, row, &place, &info) || track >= info.nr_tracks)
		return 0;
	ticks = info.tracks[track].kind == VIEW_EVENTS;
	for (uint64_t i = s->since >> shift; i <= (s->until - 1) >> shift; i++) {
		const uint64_t base = i << shift, end = base + (1ull << shift);
		int rc = view_tile(v, row, track, level, i, tile);

		if (rc < 0)
			return rc == -ENOENT ? 0 : rc;
		g.from = base > s->since ? base : s->since;
		g.to = end < s->until ? end : s->until;
		take_tile(&g, tile, base, level, ticks);
	}
	return 0;
}

uint32_t column_eighths(const struct column_scale *s, const struct column *c)
{
	const double width = (double)(s->until - s->since) / s->width;
	const double eighths = (double)c->busy / width * 8;

	if (!c->busy)
		return 0;
	if (c->whole)
		return 8;
	return eighths < 1 ? 1 : eighths > 7.5 ? 8 : (uint32_t)(eighths + 0.5);
}
