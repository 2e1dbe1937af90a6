// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A picture of a view: the title, the ruler, rows with their names, and what the colours mean.
 *
 *	title: files, range			DRAW_HEAD
 *	ruler					DRAW_RULER
 *	names | rows				as high as the layout says
 *	legend					DRAW_FOOT
 *
 * Times are those of the trace's clock, as other commands show and take them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "view/draw/internal.h"

#define USUAL_ROOM	900 /* pixels of rows when no height is given */
#define APART		110 /* at least between the lines of the ruler */
#define ABOVE		(DRAW_HEAD + DRAW_RULER)
#define SWATCH		11
#define MAX_BESIDE_NAME 18 /* a lane that begins higher has the name of its row beside it */

static int32_t put(struct draw_frame *f, int32_t x, int32_t y, int32_t size, uint32_t colour,
		   int32_t room, const char *text)
{
	const struct draw_shape how = {.x = x, .y = y, .h = size, .colour = colour};

	return picture_text(f->picture, how, room, text);
}

static int32_t put_bold(struct draw_frame *f, int32_t x, int32_t y, int32_t size, uint32_t colour,
			int32_t room, const char *text)
{
	const struct draw_shape how = {.x = x, .y = y, .h = size, .colour = colour, .bold = true};

	return picture_text(f->picture, how, room, text);
}

/* ---- times ---- */

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"\xc2\xb5s", 1000}, {"ns", 1}};

static size_t unit_of(uint64_t ns)
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && ns < units[i].ns)
		i++;
	return i;
}

static void span_text(uint64_t ns, char *text, size_t size)
{
	const size_t u = unit_of(ns);
	const double v = (double)ns / (double)units[u].ns;

	snprintf(text, size, "%.*f %s",
		 units[u].ns == 1 ? 0
		 : v >= 100	  ? 1
		 : v >= 10	  ? 2
				  : 3,
		 v, units[u].name);
}

/* Seconds with so many digits after the point. */
static void seconds_text(uint64_t ns, int digits, char *text, size_t size)
{
	char parts[16];

	snprintf(parts, sizeof(parts), "%09llu", (unsigned long long)(ns % 1000000000));
	snprintf(text, size, "%llu%s%.*s", (unsigned long long)(ns / 1000000000), digits ? "." : "",
		 digits, parts);
}

/* 1, 2 or 5 times a power of ten, at least so many; 0: there is none. */
static uint64_t nice_step(double at_least)
{
	for (uint64_t power = 1; power <= UINT64_MAX / 100; power *= 10)
		for (int m = 1; m <= 5; m += m == 1 ? 1 : 3)
			if ((double)(power * (uint64_t)m) >= at_least)
				return power * (uint64_t)m;
	return 0;
}

static void ruler_text(uint64_t t, uint64_t step, char *text, size_t size)
{
	const size_t u = unit_of(t > step ? t : step);
	int digits = 0;

	for (uint64_t unit = units[u].ns; unit > step; unit /= 10)
		digits++;
	if (t)
		snprintf(text, size, "%.*f %s", digits, (double)t / (double)units[u].ns,
			 units[u].name);
	else
		snprintf(text, size, "0");
}

/* ---- the head ---- */

static void draw_title(struct draw_frame *f)
{
	const uint64_t origin = view_origin(f->view);
	const int32_t middle = DRAW_HEAD / 2;
	char from[40], to[40], span[32], text[160], missing[DAT_MISSING_WORDS];
	int32_t x = DRAW_PAD;

	picture_rect(f->picture, 0, 0, f->picture->width, ABOVE, f->theme.panel);
	for (size_t i = 0; i < view_nr_files(f->view); i++) {
		const char *name = file_name_of(view_file(f->view, i)->path);

		if (view_file(f->view, i)->trace)
			x += 12 + put_bold(f, x, middle, 14, f->theme.text,
					   f->picture->width / 2 - x, name);
	}
	if (view_nanoseconds(f->view)) {
		span_text(f->o->until - f->o->since, span, sizeof(span));
		seconds_text(origin + f->o->since, 6, from, sizeof(from));
		seconds_text(origin + f->o->until, 6, to, sizeof(to));
		snprintf(text, sizeof(text), "%s \xe2\x80\x93 %s s, %s", from, to, span);
	} else {
		snprintf(text, sizeof(text), "%llu \xe2\x80\x93 %llu",
			 (unsigned long long)(origin + f->o->since),
			 (unsigned long long)(origin + f->o->until));
	}
	x += 12 + put(f, x, middle, 12, f->theme.dim, f->picture->width - x - DRAW_PAD, text);
	if (view_missing(f->view, missing))
		put(f, x, middle, 12, f->theme.text, f->picture->width - x - DRAW_PAD, missing);
}

struct ruler {
	uint64_t step, base; /* base: what all labels are relative to */
};

static struct ruler ruler_of(const struct draw_frame *f)
{
	const uint64_t begin = view_origin(f->view) + f->o->since;
	struct ruler r = {.step = nice_step(f->scale.per_pixel * APART)};

	if (r.step && r.step <= UINT64_MAX / 1000 && begin >= r.step * 1000)
		r.base = begin - begin % (r.step * 1000);
	return r;
}

/* The time and place of line number i; false: it is not in the picture. */
static bool line_of(const struct draw_frame *f, const struct ruler *r, uint32_t i, uint64_t *t,
		    int32_t *x)
{
	const uint64_t begin = view_origin(f->view) + f->o->since;
	const uint64_t first = r->step ? (r->step - begin % r->step) % r->step : 0;
	const uint64_t after = first + i * r->step;

	*t = begin + after;
	*x = (int32_t)floor((double)after / f->scale.per_pixel + 0.5);
	return r->step && after < f->o->until - f->o->since && *x < f->scale.width;
}

static void draw_ruler(struct draw_frame *f)
{
	const bool ns = view_nanoseconds(f->view);
	const struct ruler r = ruler_of(f);
	const int32_t middle = DRAW_HEAD + DRAW_RULER * 2 / 5;
	char text[64];
	uint64_t t;
	int32_t x;

	for (uint32_t i = 0; line_of(f, &r, i, &t, &x); i++) {
		picture_rect(f->picture, DRAW_GUTTER + x, DRAW_HEAD + DRAW_RULER * 3 / 5, 1,
			     DRAW_RULER * 2 / 5, f->theme.line);
		text[0] = '+';
		text[1] = '\0';
		if (ns)
			ruler_text(t - r.base, r.step, text + (r.base != 0),
				   sizeof(text) - (r.base != 0));
		else
			snprintf(text + (r.base != 0), sizeof(text) - 1, "%llu",
				 (unsigned long long)(t - r.base));
		put(f, DRAW_GUTTER + x + 4, middle, 11, f->theme.text, f->scale.width - x - 4,
		    text);
	}
	snprintf(text, sizeof(text), "%llu", (unsigned long long)r.base);
	if (ns) {
		int digits = 9;

		for (uint64_t unit = r.step * 1000; unit >= 10 && digits; unit /= 10)
			digits--;
		seconds_text(r.base, digits, text, sizeof(text) - 3);
		snprintf(text + strlen(text), 3, " s");
	}
	put(f, DRAW_PAD, middle, 11, f->theme.dim, DRAW_GUTTER - 2 * DRAW_PAD,
	    r.base ? text : "time");
	picture_rect(f->picture, 0, ABOVE - 1, f->picture->width, 1, f->theme.line);
}

/* ---- rows ---- */

static void label_row(struct draw_frame *f, const struct draw_item *item, int32_t y)
{
	const struct view_row *r = &item->info;
	const int32_t middle = y + (item->h / 2 < 12 ? item->h / 2 : 12);
	int32_t x = 2 * DRAW_PAD, w;
	char text[64];

	if (r->kind == VIEW_TASK_ROW) {
		picture_rect(f->picture, x, middle - 4, 8, 8,
			     draw_name_colour(&f->theme, r->name && *r->name ? r->name : "? "));
		x += 13;
		w = put(f, x, middle, 12, f->theme.text, DRAW_GUTTER - x - 50,
			draw_task_text(r, false, text, sizeof(text)));
		snprintf(text, sizeof(text), "%lld", (long long)r->number);
		put(f, x + w + w / 16 + 6, middle, 11, f->theme.dim, 60, text);
		return;
	}
	snprintf(text, sizeof(text), "CPU %lld", (long long)r->number);
	put(f, x, middle, 12, f->theme.text, DRAW_GUTTER - x - DRAW_PAD,
	    r->kind == VIEW_CPU_ROW ? text : "runnable tasks");
}

/* What the lanes of a row are, beside them. */
static void label_lanes(struct draw_frame *f, const struct draw_item *item, int32_t y)
{
	static const char *const names[] = {[VIEW_IRQ] = "interrupts",
					    [VIEW_SOFTIRQ] = "softirqs",
					    [VIEW_SYSCALL] = "system calls",
					    [VIEW_CALL] = "functions"};
	const char *last = NULL;

	for (size_t i = 0; i < item->nr_lanes; i++) {
		const struct draw_lane *lane = &f->layout.lanes.at[item->lane + i];
		const enum view_track_kind kind = item->info.tracks[lane->tracks[0]].kind;

		if (lane->kind != DRAW_NESTED)
			continue;
		if (names[kind] != last && lane->y > MAX_BESIDE_NAME)
			draw_lane_label(f, y + lane->y + lane->h / 2, names[kind]);
		last = names[kind];
	}
}

static void draw_backgrounds(struct draw_frame *f, int32_t bottom)
{
	const int32_t width = f->picture->width;
	const struct ruler r = ruler_of(f);
	uint64_t t;
	int32_t x;

	vec_each (item, &f->layout.items) {
		if (f->top + item->y >= bottom)
			break;
		picture_rect(f->picture, 0, f->top + item->y, width, item->h,
			     item->is_row ? f->theme.row : f->theme.bg);
		if (item->is_row)
			picture_rect(f->picture, 0, f->top + item->y, DRAW_GUTTER, item->h,
				     f->theme.panel);
	}
	for (uint32_t i = 0; line_of(f, &r, i, &t, &x); i++)
		picture_rect(f->picture, DRAW_GUTTER + x, ABOVE, 1, bottom - ABOVE, f->theme.grid);
	vec_each (item, &f->layout.items) {
		if (f->top + item->y + item->h <= bottom)
			picture_rect(f->picture, 0, f->top + item->y + item->h - 1, width, 1,
				     f->theme.line);
	}
}

static void draw_rows(struct draw_frame *f, int32_t bottom)
{
	for (size_t i = 0; i < f->layout.items.n && f->rc == 0; i++) {
		const struct draw_item *item = &f->layout.items.at[i];
		const int32_t y = f->top + item->y;
		int32_t w;

		/* What is not whole is left out. */
		if (y + item->h > bottom)
			break;
		if (!item->is_row) {
			w = put_bold(f, DRAW_PAD, y + item->h / 2, 11, f->theme.dim,
				     f->picture->width - 2 * DRAW_PAD, item->title);
			put(f, DRAW_PAD + w + 6, y + item->h / 2, 11, f->theme.dim, 200,
			    item->note);
			continue;
		}
		label_row(f, item, y);
		label_lanes(f, item, y);
		draw_row(f, item, y);
	}
	picture_rect(f->picture, DRAW_GUTTER - 1, DRAW_HEAD, 1, bottom - DRAW_HEAD, f->theme.line);
}

/* ---- the legend ---- */

static int32_t legend_entry(struct draw_frame *f, int32_t x, int32_t y, int32_t high,
			    uint32_t colour, enum draw_kind texture, const char *text)
{
	const int32_t top = y + SWATCH / 2 - high;
	const int32_t width = SWATCH + 5 + draw_text_width(text, 11);

	if (x + width + DRAW_PAD > f->picture->width)
		return x;
	picture_rect(f->picture, x, top, SWATCH, high, colour);
	if (texture != DRAW_RECT)
		picture_hatch(f->picture, texture, x, top, SWATCH, high,
			      texture == DRAW_LOST ? f->theme.lost : 0);
	put(f, x + SWATCH + 5, y, 11, f->theme.dim, width, text);
	return x + width + 16;
}

static void draw_legend(struct draw_frame *f, int32_t top)
{
	static const struct {
		enum view_state state;
		int32_t high;
		enum draw_kind texture;
		const char *text;
	} states[] = {
		{VIEW_RUNNABLE, 7, DRAW_RECT, "runnable"},
		{VIEW_PREEMPTED, 7, DRAW_RECT, "preempted"},
		{VIEW_BLOCKED, 7, DRAW_HATCH, "blocked"},
		{VIEW_SLEEPING, 2, DRAW_RECT, "sleeping"},
		{VIEW_STOPPED, 4, DRAW_HATCH, "stopped"},
		{VIEW_UNKNOWN, 6, DRAW_HATCH, "unknown"},
	};
	const int32_t middle = top + DRAW_FOOT / 2;
	int32_t x = DRAW_GUTTER;

	picture_rect(f->picture, 0, top, f->picture->width, DRAW_FOOT, f->theme.panel);
	picture_rect(f->picture, 0, top, f->picture->width, 1, f->theme.line);
	put(f, DRAW_PAD, middle, 11, f->theme.dim, DRAW_GUTTER - DRAW_PAD, "spur view");
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		x = legend_entry(f, x, middle, states[i].high,
				 draw_state_colour(&f->theme, states[i].state), states[i].texture,
				 states[i].text);
	x = legend_entry(f, x, middle, SWATCH, f->theme.panel, DRAW_LOST, "events lost");
	for (unsigned int c = 0; view_classes[c]; c++)
		if (f->rank[c] != UINT8_MAX)
			x = legend_entry(f, x, middle, 5, draw_class_colour(&f->theme, c, false),
					 DRAW_RECT, view_classes[c]);
}

/* ---- the whole ---- */

/* Classes by how many events they have; those without any have no rank. */
static void rank_classes(struct draw_frame *f)
{
	uint64_t counts[32] = {0};
	unsigned char rank = 0;

	memset(f->rank, UINT8_MAX, sizeof(f->rank));
	for (size_t i = 0; i < view_nr_files(f->view); i++) {
		const struct view_file *file = view_file(f->view, i);

		for (uint32_t k = 0; file->trace && k < file->trace->events->nr; k++)
			counts[view_class(file->trace->events->list[k]) & 31] +=
				view_index_count(file->index, k);
	}
	for (;;) {
		int best = -1;

		for (int c = 0; c < 32; c++)
			if (counts[c] && (best < 0 || counts[c] < counts[best]))
				best = c;
		if (best < 0)
			return;
		counts[best] = 0;
		f->rank[best] = rank++;
	}
}

static int check(const struct draw_options *o, struct spur_error *err)
{
	if (o->until <= o->since)
		return error_set(err, -EINVAL, "there is no time between begin and end");
	if (o->width < DRAW_LEAST_WIDTH || o->width > DRAW_MOST)
		return error_set(err, -EINVAL, "a picture is between %d and %d pixels wide",
				 DRAW_LEAST_WIDTH, DRAW_MOST);
	if (o->height && (o->height < DRAW_LEAST_HEIGHT || o->height > DRAW_MOST))
		return error_set(err, -EINVAL, "a picture is between %d and %d pixels high",
				 DRAW_LEAST_HEIGHT, DRAW_MOST);
	return 0;
}

static int finish(struct draw_frame *f, struct spur_error *err)
{
	struct picture *p = f->picture;
	int32_t bottom;

	if (!f->o->height)
		p->height = ABOVE + f->layout.height + DRAW_FOOT;
	if (p->height > DRAW_MOST || (int64_t)p->height * p->width > DRAW_MOST_PIXELS)
		return error_set(err, -EINVAL,
				 "the picture would have %d x %d pixels; choose fewer rows or a "
				 "height",
				 p->width, p->height);
	bottom = p->height - DRAW_FOOT;
	draw_title(f);
	draw_ruler(f);
	draw_backgrounds(f, bottom);
	draw_rows(f, bottom);
	draw_legend(f, bottom);
	if (f->rc < 0 || p->failed)
		return error_set(err, f->rc < 0 ? f->rc : -ENOMEM, "out of memory");
	return 0;
}

int draw_view(struct view *v, const struct draw_options *o, struct picture *p,
	      struct spur_error *err)
{
	struct draw_frame f = {.view = v, .o = o, .picture = p, .theme = draw_theme(o->dark)};
	int32_t room = o->height ? o->height - ABOVE - DRAW_FOOT : USUAL_ROOM;
	int rc = check(o, err);

	picture_init(p, o->width, o->height, f.theme.bg);
	if (rc < 0)
		return rc;
	f.scale = draw_scale(o->since, o->until, o->width - DRAW_GUTTER);
	f.top = ABOVE;
	rank_classes(&f);
	rc = draw_lay_out(&f, room, o->height != 0);
	rc = rc < 0 ? error_set(err, rc, "out of memory") : finish(&f, err);
	draw_layout_free(&f.layout);
	draw_columns_free(&f.columns);
	return rc;
}
