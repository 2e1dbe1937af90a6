// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of pixels of tiles; see web/columns.js and web/draw_ticks.js, which do the same. */
#include "view/draw/columns.h"

#include <errno.h>
#include <math.h>

#include "base/vec.h"

#define EDGE 2 /* pixels that slices go on outside of the picture */
#define NONE INT32_MIN

struct collector {
	struct draw_columns *out;
	const struct draw_scale *scale;
	uint64_t from, to; /* of the tile, within the range */
	uint64_t drawn;	   /* until when slices were drawn */
	/* The column that is being filled, or NONE. */
	int32_t column;
	double covered, most;
	uint32_t best, n;
	/* The column that a wide slice reaches into, without being drawn there, and how far. */
	int32_t beside;
	double rest;
	bool failed;
};

struct draw_scale draw_scale(uint64_t since, uint64_t until, int32_t width)
{
	struct draw_scale s = {.since = since, .until = until, .width = width};

	s.per_pixel = (double)(until - since) / width;
	while (s.level < VIEW_MOST_LEVEL - VIEW_TILE_SHIFT &&
	       (double)(2ull << s.level) <= s.per_pixel)
		s.level++;
	return s;
}

static double position(const struct draw_scale *s, uint64_t ts)
{
	return ((double)ts - (double)s->since) / s->per_pixel;
}

static void push(struct collector *g, struct draw_column c)
{
	struct draw_column *last = g->out->list.n ? &g->out->list.at[g->out->list.n - 1] : NULL;

	if (last && !c.wide && !last->wide && last->x1 == c.x0 && last->value == c.value &&
	    last->cover == c.cover && !c.n) {
		last->x1 = c.x1;
		return;
	}
	last = vec_push(&g->out->list);
	if (last)
		*last = c;
	else
		g->failed = true;
}

/* What was too small to be seen alone. */
static void end_column(struct collector *g)
{
	const double eighths = floor(g->covered * DRAW_EIGHTHS + 0.5);

	if (g->column != NONE)
		push(g, (struct draw_column){.x0 = g->column,
					     .x1 = g->column + 1,
					     .value = g->best,
					     .n = g->n,
					     .cover = eighths < 1	       ? 1
						      : eighths > DRAW_EIGHTHS ? DRAW_EIGHTHS
									       : (uint8_t)eighths});
	g->column = NONE;
	g->covered = g->most = 0;
	g->n = 0;
}

static void begin_column(struct collector *g, int32_t x)
{
	if (x != g->column) {
		end_column(g);
		g->column = x;
		g->covered = x == g->beside ? g->rest : 0;
	}
}

static void fill(struct collector *g, double width, uint32_t value)
{
	g->covered += width;
	if (width >= g->most) {
		g->most = width;
		g->best = value;
	}
}

/*
 * What is narrower than a column lies in one or in two of them: each gets its part of what is
 * covered, or what is busy all the time would look uneven.
 */
static void spread(struct collector *g, double x, double width, double covered, uint32_t value)
{
	const double column = floor(x);
	const double here = column + 1 - x < width ? (column + 1 - x) / width : 1;

	if (column >= 0) {
		begin_column(g, (int32_t)column);
		fill(g, covered * here, value);
	}
	if (here < 1 - 1e-9 && column + 1 < g->scale->width) {
		begin_column(g, (int32_t)column + 1);
		fill(g, covered * (1 - here), value);
	}
}

static void push_wide(struct collector *g, double x, double w, const struct view_interval *i)
{
	const struct draw_scale *s = g->scale;
	int32_t left, right;

	left = x < -EDGE ? -EDGE : (int32_t)floor(x + 0.5);
	right = x + w > s->width + EDGE ? s->width + EDGE : (int32_t)floor(x + w + 0.5);
	right = right > left ? right : left + 1;
	if (g->column == left - 1 && x < left)
		g->covered += left - x;
	end_column(g);
	push(g, (struct draw_column){.x0 = left,
				     .x1 = right,
				     .value = i->value,
				     .cover = DRAW_EIGHTHS,
				     .flags = (uint8_t)i->flags,
				     .wide = true});
	g->beside = x + w > right ? right : NONE;
	g->rest = x + w - right;
}

static void take_interval(struct collector *g, const struct view_interval *i)
{
	const struct draw_scale *s = g->scale;
	const uint64_t until = i->start + i->dur;
	const uint64_t start = i->start < g->drawn ? g->drawn : i->start;
	const double x = position(s, start), w = (double)(until - start) / s->per_pixel;

	if (w < 1)
		spread(g, x, w, w, i->value);
	else
		push_wide(g, x, w, i);
	g->drawn = until;
}

static void take_intervals(struct collector *g, const struct view_tile *t)
{
	for (size_t k = 0; k < t->intervals.n; k++) {
		const struct view_interval *i = &t->intervals.at[k];

		/* One that began in an earlier tile has been drawn with that. */
		if (i->start + i->dur > g->from && i->start < g->to && i->start + i->dur > g->drawn)
			take_interval(g, i);
	}
}

static void take_bins(struct collector *g, const struct view_tile *t, uint64_t base)
{
	const uint64_t width = 1ull << g->scale->level;

	for (size_t k = 0; k < t->bins.n; k++) {
		const struct view_bin *b = &t->bins.at[k];
		const uint64_t start = base + b->bin * width;

		if (start + width <= g->from || start >= g->to)
			continue;
		spread(g, position(g->scale, start), (double)width / g->scale->per_pixel,
		       (double)b->busy / g->scale->per_pixel, b->top);
	}
	if (g->to > g->drawn)
		g->drawn = g->to;
}

typedef void (*take_tile)(struct collector *g, const struct view_tile *t, uint64_t base,
			  const void *arg);

static void take_slices(struct collector *g, const struct view_tile *t, uint64_t base,
			const void *arg)
{
	if (t->has_bins)
		take_bins(g, t, base);
	else
		take_intervals(g, t);
}

/* All tiles of the range, one after the other. */
static int each_tile(const struct draw_source *from, const struct draw_scale *s,
		     struct draw_columns *out, take_tile take, const void *arg)
{
	const uint32_t shift = s->level + VIEW_TILE_SHIFT;
	struct collector g = {.out = out, .scale = s, .column = NONE, .beside = NONE};

	out->list.n = 0;
	for (uint64_t i = s->since >> shift; i <= (s->until - 1) >> shift; i++) {
		const uint64_t base = i << shift, end = base + (1ull << shift);
		int rc = from->tile(from, s->level, i, &out->tile);

		if (rc < 0)
			return rc == -ENOENT ? 0 : rc;
		g.from = base > s->since ? base : s->since;
		g.to = end < s->until ? end : s->until;
		take(&g, &out->tile, base, arg);
	}
	/* Only now: a column may be in two tiles. */
	end_column(&g);
	return g.failed ? -ENOMEM : 0;
}

static int tile_of_view(const struct draw_source *from, uint32_t level, uint64_t tile,
			struct view_tile *out)
{
	return view_tile(from->view, from->row, from->track, level, tile, out);
}

int draw_columns_from(const struct draw_source *from, const struct draw_scale *s,
		      struct draw_columns *out)
{
	return each_tile(from, s, out, take_slices, NULL);
}

int draw_columns_of(struct view *v, uint32_t row, uint32_t track, const struct draw_scale *s,
		    struct draw_columns *out)
{
	const struct draw_source from = {tile_of_view, v, row, track};

	return draw_columns_from(&from, s, out);
}

/* ---- ticks ---- */

struct classes {
	unsigned int (*of)(const void *arg, uint32_t type);
	const void *arg;
};

static void take_tick(struct collector *g, uint64_t ts, uint32_t mask, uint32_t n)
{
	if (ts < g->from || ts >= g->to)
		return;
	begin_column(g, (int32_t)floor(position(g->scale, ts)));
	g->best = g->n ? g->best | mask : mask;
	g->n += n;
}

static void take_ticks(struct collector *g, const struct view_tile *t, uint64_t base,
		       const void *arg)
{
	const struct classes *c = arg;

	for (size_t k = 0; !t->has_bins && k < t->intervals.n; k++) {
		const struct view_interval *i = &t->intervals.at[k];

		take_tick(g, i->start, 1u << (c->of(c->arg, i->value) & 31), 1 + i->flags);
	}
	for (size_t k = 0; t->has_bins && k < t->bins.n; k++) {
		const struct view_bin *b = &t->bins.at[k];
		const uint64_t start = base + ((uint64_t)b->bin << g->scale->level);

		take_tick(g, start > g->from ? start : g->from, b->mask, b->n);
	}
}

int draw_columns_of_ticks(struct view *v, uint32_t row, uint32_t track, const struct draw_scale *s,
			  unsigned int (*class_of)(const void *arg, uint32_t type), const void *arg,
			  struct draw_columns *out)
{
	const struct draw_source from = {tile_of_view, v, row, track};
	const struct classes c = {class_of, arg};

	return each_tile(&from, s, out, take_ticks, &c);
}

void draw_columns_free(struct draw_columns *c)
{
	vec_free(&c->list);
	view_tile_free(&c->tile);
}

/* ---- sums ---- */

static uint64_t common(uint64_t a0, uint64_t a1, uint64_t b0, uint64_t b1)
{
	const uint64_t from = a0 > b0 ? a0 : b0, to = a1 < b1 ? a1 : b1;

	return to > from ? to - from : 0;
}

int draw_covered(struct view *v, uint32_t row, uint32_t track, uint64_t since, uint64_t until,
		 struct view_tile *tile, uint64_t *covered)
{
	const struct draw_scale s = draw_scale(since, until, (int32_t)VIEW_TILE_BINS);
	const uint32_t shift = s.level + VIEW_TILE_SHIFT;
	const uint64_t width = 1ull << s.level;

	*covered = 0;
	for (uint64_t i = since >> shift; i <= (until - 1) >> shift; i++) {
		int rc = view_tile(v, row, track, s.level, i, tile);

		if (rc < 0)
			return rc;
		for (size_t k = 0; !tile->has_bins && k < tile->intervals.n; k++) {
			const struct view_interval *at = &tile->intervals.at[k];
			const uint64_t from = at->start > i << shift ? at->start : i << shift;

			*covered += common(from, at->start + at->dur, since,
					   until < (i + 1) << shift ? until : (i + 1) << shift);
		}
		for (size_t k = 0; tile->has_bins && k < tile->bins.n; k++) {
			const uint64_t at = (i << shift) + tile->bins.at[k].bin * width;

			if (common(at, at + width, since, until) * 2 >= width)
				*covered += tile->bins.at[k].busy;
		}
	}
	return 0;
}
