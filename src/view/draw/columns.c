// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of pixels of tiles; see web/columns.js and web/draw_ticks.js, which do the same. */
#include "view/draw/internal.h"

#include <errno.h>
#include <math.h>

#include "base/vec.h"

#define EDGE 2 /* pixels that slices go on outside of the picture */
#define NONE INT32_MIN

/* Columns while they are filled. */
struct filling {
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
	struct view *view; /* of ticks */
	bool failed;
};

struct draw_scale draw_scale(uint64_t since, uint64_t until, int32_t width)
{
	struct draw_scale s = {.since = since, .until = until, .width = width};

	s.per_pixel = (double)(until - since) / width;
	s.level = tile_level((uint64_t)s.per_pixel);
	return s;
}

static double position(const struct draw_scale *s, uint64_t ts)
{
	return ((double)ts - (double)s->since) / s->per_pixel;
}

static void push(struct filling *f, struct draw_column c)
{
	struct draw_column *last = f->out->list.n ? &f->out->list.at[f->out->list.n - 1] : NULL;

	if (last && !c.wide && !last->wide && last->x1 == c.x0 && last->value == c.value &&
	    last->cover == c.cover && !c.n) {
		last->x1 = c.x1;
		return;
	}
	f->failed |= !vec_add(&f->out->list, &c);
}

/* Adds the column of what was too small to be drawn alone. */
static void end_column(struct filling *f)
{
	const double eighths = floor(f->covered * DRAW_EIGHTHS + 0.5);

	if (f->column != NONE)
		push(f, (struct draw_column){.x0 = f->column,
					     .x1 = f->column + 1,
					     .value = f->best,
					     .n = f->n,
					     .cover = eighths < 1	       ? 1
						      : eighths > DRAW_EIGHTHS ? DRAW_EIGHTHS
									       : (uint8_t)eighths});
	f->column = NONE;
	f->covered = f->most = 0;
	f->n = 0;
}

static void begin_column(struct filling *f, int32_t x)
{
	if (x != f->column) {
		end_column(f);
		f->column = x;
		f->covered = x == f->beside ? f->rest : 0;
	}
}

static void fill(struct filling *f, double width, uint32_t value)
{
	f->covered += width;
	if (width >= f->most) {
		f->most = width;
		f->best = value;
	}
}

/*
 * What is narrower than a column is in one column or in two, and each gets its part of what is
 * covered. Otherwise a CPU that is always busy would look uneven.
 */
static void spread(struct filling *f, double x, double width, double covered, uint32_t value)
{
	const double column = floor(x);
	const double here = column + 1 - x < width ? (column + 1 - x) / width : 1;

	if (column >= 0) {
		begin_column(f, (int32_t)column);
		fill(f, covered * here, value);
	}
	if (here < 1 - 1e-9 && column + 1 < f->scale->width) {
		begin_column(f, (int32_t)column + 1);
		fill(f, covered * (1 - here), value);
	}
}

static void push_wide(struct filling *f, double x, double w, const struct view_interval *i)
{
	const struct draw_scale *s = f->scale;
	int32_t left, right;

	left = x < -EDGE ? -EDGE : (int32_t)floor(x + 0.5);
	right = x + w > s->width + EDGE ? s->width + EDGE : (int32_t)floor(x + w + 0.5);
	right = right > left ? right : left + 1;
	if (f->column == left - 1 && x < left)
		f->covered += left - x;
	end_column(f);
	push(f, (struct draw_column){.x0 = left,
				     .x1 = right,
				     .value = i->value,
				     .cover = DRAW_EIGHTHS,
				     .flags = (uint8_t)i->flags,
				     .wide = true});
	f->beside = x + w > right ? right : NONE;
	f->rest = x + w - right;
}

static void take_interval(struct filling *f, const struct view_interval *i)
{
	const struct draw_scale *s = f->scale;
	const uint64_t until = i->start + i->dur;
	const uint64_t start = i->start < f->drawn ? f->drawn : i->start;
	const double x = position(s, start), w = (double)(until - start) / s->per_pixel;

	if (w < 1)
		spread(f, x, w, w, i->value);
	else
		push_wide(f, x, w, i);
	f->drawn = until;
}

static void take_intervals(struct filling *f, const struct view_tile *t)
{
	vec_each (i, &t->intervals) {
		/* An interval that began in an earlier tile has been drawn with that tile. */
		if (i->start + i->dur > f->from && i->start < f->to && i->start + i->dur > f->drawn)
			take_interval(f, i);
	}
}

static void take_bins(struct filling *f, const struct view_tile *t, uint64_t base)
{
	const uint64_t width = 1ull << f->scale->level;

	vec_each (b, &t->bins) {
		const uint64_t start = base + b->bin * width;

		if (start + width <= f->from || start >= f->to)
			continue;
		spread(f, position(f->scale, start), (double)width / f->scale->per_pixel,
		       (double)b->busy / f->scale->per_pixel, b->top);
	}
	if (f->to > f->drawn)
		f->drawn = f->to;
}

static void take_slices(void *arg, const struct tile_part *p)
{
	struct filling *f = arg;

	f->from = p->from;
	f->to = p->to;
	if (p->tile->has_bins)
		take_bins(f, p->tile, p->base);
	else
		take_intervals(f, p->tile);
}

static int fill_columns(const struct tile_source *from, struct filling *f,
			void (*take)(void *arg, const struct tile_part *p))
{
	const struct draw_scale *s = f->scale;
	int rc;

	f->column = f->beside = NONE;
	f->out->list.n = 0;
	rc = tiles_each(from, (struct tile_range){s->since, s->until, s->level}, &f->out->tile,
			take, f);
	/* Not earlier, because a column may be in two tiles. */
	end_column(f);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	return f->failed ? -ENOMEM : 0;
}

int draw_columns_from(const struct tile_source *from, const struct draw_scale *s,
		      struct draw_columns *out)
{
	struct filling f = {.out = out, .scale = s};

	return fill_columns(from, &f, take_slices);
}

bool draw_read_columns(struct draw_frame *f, uint32_t row, uint32_t track)
{
	const struct tile_source from = {tile_of_view, f->view, row, track};
	int rc = draw_columns_from(&from, &f->scale, &f->columns);

	if (rc < 0)
		f->rc = rc;
	return f->columns.list.n > 0;
}

/* ---- ticks ---- */

static void take_tick(struct filling *f, uint64_t ts, uint32_t mask, uint32_t n)
{
	if (ts < f->from || ts >= f->to)
		return;
	begin_column(f, (int32_t)floor(position(f->scale, ts)));
	f->best = f->n ? f->best | mask : mask;
	f->n += n;
}

/* A bit for the class of an event type. */
static uint32_t mask_of(const struct view *v, uint32_t type)
{
	return 1u << (view_class(type < view_events(v) ? view_event(v, type, NULL) : NULL) & 31);
}

static void take_ticks(void *arg, const struct tile_part *p)
{
	struct filling *f = arg;
	const struct view_tile *t = p->tile;

	f->from = p->from;
	f->to = p->to;
	for (size_t k = 0; !t->has_bins && k < t->intervals.n; k++) {
		const struct view_interval *i = &t->intervals.at[k];

		take_tick(f, i->start, mask_of(f->view, i->value), 1 + i->flags);
	}
	for (size_t k = 0; t->has_bins && k < t->bins.n; k++) {
		const struct view_bin *b = &t->bins.at[k];
		const uint64_t start = p->base + ((uint64_t)b->bin << p->level);

		take_tick(f, start > f->from ? start : f->from, b->mask, b->n);
	}
}

int draw_columns_of_ticks(struct view *v, uint32_t row, uint32_t track, const struct draw_scale *s,
			  struct draw_columns *out)
{
	const struct tile_source from = {tile_of_view, v, row, track};
	struct filling f = {.out = out, .scale = s, .view = v};

	return fill_columns(&from, &f, take_ticks);
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

static void add_covered(void *covered, const struct tile_part *p)
{
	const struct view_tile *t = p->tile;
	const uint64_t width = 1ull << p->level;
	uint64_t *sum = covered;

	for (size_t k = 0; !t->has_bins && k < t->intervals.n; k++) {
		const struct view_interval *i = &t->intervals.at[k];

		*sum += common(i->start, i->start + i->dur, p->from, p->to);
	}
	for (size_t k = 0; t->has_bins && k < t->bins.n; k++) {
		const uint64_t at = p->base + t->bins.at[k].bin * width;

		if (common(at, at + width, p->from, p->to) * 2 >= width)
			*sum += t->bins.at[k].busy;
	}
}

int draw_covered(struct view *v, uint32_t row, uint32_t track, uint64_t since, uint64_t until,
		 struct view_tile *tile, uint64_t *covered)
{
	const struct draw_scale s = draw_scale(since, until, (int32_t)VIEW_TILE_BINS);
	const struct tile_source from = {tile_of_view, v, row, track};

	*covered = 0;
	return tiles_each(&from, (struct tile_range){since, until, s.level}, tile, add_covered,
			  covered);
}
