// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is in the lanes of a row: slices with their names, states, ticks, counters, and where events
 * were lost. See web/draw_slices.js, draw_states.js, draw_ticks.js, draw_counter.js, draw_marks.js.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "view/draw/internal.h"

#define GAP_FROM    4 /* slices as wide as this are separated from the next by a line */
#define LABEL_FROM  22
#define STATE_FROM  64 /* a state as wide as this is named */
#define PAD	    4
#define LEAST_COVER 4 /* eighths of a lane: what is short and nested must be seen, too */
#define LETTERS	    11
#define SPARSE	    7 /* pixels between ticks that are drawn wider */
#define NOTCH	    3
#define AREA_PART   0.18 /* of a counter's colour below its line */
#define NO_CPU	    UINT32_MAX

/*
 * In eighths of the lane: waiting for a CPU is half as high as running, sleep is a line, and what
 * is not known is hatched.
 */
static const struct {
	const char *name; /* NULL: it is not written into it */
	uint8_t high;
	bool hatched;
} states[] = {
	[VIEW_RUNNABLE] = {"runnable", 5, false}, [VIEW_PREEMPTED] = {"preempted", 5, false},
	[VIEW_SLEEPING] = {NULL, 1, false},	  [VIEW_BLOCKED] = {"blocked", 5, true},
	[VIEW_STOPPED] = {"stopped", 3, true},	  [VIEW_DEAD] = {NULL, 0, false},
	[VIEW_UNKNOWN] = {"unknown", 4, true},
};

#define UNNAMED "<...>" /* a task, as the report calls it */

/* Where a track is drawn. */
struct place {
	const struct draw_item *item;
	uint32_t track;
	int32_t y, h;
};

const char *draw_task_text(const struct view_row *r, bool number, char *text, size_t size)
{
	const char *name = r->name && *r->name ? r->name : UNNAMED;

	if (number)
		snprintf(text, size, "%s %lld", name, (long long)r->number);
	else
		snprintf(text, size, "%s", name);
	return text;
}

static uint32_t task_colour(const struct draw_frame *f, const struct view_row *r)
{
	return draw_name_colour(&f->theme, r->name && *r->name ? r->name : UNNAMED);
}

static uint32_t colour_of(struct draw_frame *f, const struct place *at, uint32_t value)
{
	const struct view_row *r = &at->item->info;
	const enum view_track_kind kind = r->tracks[at->track].kind;
	struct view_row task;
	const char *name;

	if (kind == VIEW_STATE)
		return draw_state_colour(&f->theme, view_state_of(value));
	if (kind == VIEW_RUNNING && r->kind == VIEW_TASK_ROW)
		return task_colour(f, r);
	if (kind == VIEW_RUNNING)
		return view_row(f->view, value, NULL, &task) ? task_colour(f, &task)
							     : draw_name_colour(&f->theme, "?");
	name = view_name(f->view, value);
	return draw_name_colour(&f->theme, name ? name : "?");
}

/* What a slice is called, in full or shorter. */
static const char *text_of(struct draw_frame *f, const struct place *at, uint32_t value, bool full,
			   char *text, size_t size)
{
	const struct view_row *r = &at->item->info;
	struct view_row task;
	const char *name;

	*text = '\0';
	if (r->tracks[at->track].kind != VIEW_RUNNING) {
		name = view_name(f->view, value);
		return name ? name : "?";
	}
	if (r->kind == VIEW_TASK_ROW) {
		if (value == NO_CPU)
			return full ? "some CPU" : "";
		snprintf(text, size, "%s%u", full ? "CPU " : "", value);
	} else if (view_row(f->view, value, NULL, &task)) {
		draw_task_text(&task, full, text, size);
	}
	return text;
}

void draw_lane_label(struct draw_frame *f, int32_t middle, const char *text)
{
	const struct draw_shape how = {.x = DRAW_GUTTER - 8,
				       .y = middle,
				       .h = 10,
				       .colour = f->theme.dim,
				       .align = DRAW_RIGHT};

	picture_text(f->picture, how, DRAW_GUTTER, text);
}

static void put_text(struct draw_frame *f, const char *text, int32_t x, int32_t middle,
		     int32_t room)
{
	const struct draw_shape how = {
		.x = DRAW_GUTTER + x, .y = middle, .h = LETTERS, .colour = f->theme.ink};

	picture_text(f->picture, how, room, text);
}

/* ---- slices and states ---- */

static int by_colour(const void *a, const void *b)
{
	const uint32_t ca = ((const struct draw_column *)a)->n,
		       cb = ((const struct draw_column *)b)->n;

	return (ca > cb) - (ca < cb);
}

/* What of a column is within the picture. */
static void clip(const struct draw_frame *f, const struct draw_column *c, int32_t *x, int32_t *w)
{
	const int32_t end = c->x1 < f->scale.width ? c->x1 : f->scale.width;

	*x = c->x0 > 0 ? c->x0 : 0;
	*w = end - *x;
}

static void fill_column(struct draw_frame *f, const struct place *at, const struct draw_column *c,
			int32_t high)
{
	int32_t x, w, h = (at->h * high * c->cover + 32) / (DRAW_EIGHTHS * DRAW_EIGHTHS);

	clip(f, c, &x, &w);
	if (w >= GAP_FROM && c->wide && c->x1 <= f->scale.width)
		w--;
	h = h > 0 ? h : 1;
	picture_rect(f->picture, DRAW_GUTTER + x, at->y + at->h - h, w, h, c->n);
}

static void name_slice(struct draw_frame *f, const struct place *at, const struct draw_column *c)
{
	char full[64], brief[64];
	const char *text;
	int32_t x, w;

	clip(f, c, &x, &w);
	if (w < LABEL_FROM)
		return;
	w -= 2 * PAD;
	text = text_of(f, at, c->value, true, full, sizeof(full));
	if (draw_text_width(text, LETTERS) > w)
		text = text_of(f, at, c->value, false, brief, sizeof(brief));
	put_text(f, text, x + PAD, at->y + at->h / 2, w);
}

/* Teeth at the side where a slice goes on outside of the trace. */
static void tear(struct draw_frame *f, const struct place *at, const struct draw_column *c)
{
	for (int32_t y = at->y; y + NOTCH <= at->y + at->h; y += 2 * NOTCH) {
		if (c->flags & VIEW_OPEN_START && c->x0 >= 0)
			picture_rect(f->picture, DRAW_GUTTER + c->x0, y, 2, NOTCH, f->theme.row);
		if (c->flags & VIEW_OPEN_END && c->x1 <= f->scale.width)
			picture_rect(f->picture, DRAW_GUTTER + c->x1 - 3, y, 2, NOTCH,
				     f->theme.row);
	}
}

static void finish_state(struct draw_frame *f, const struct place *at, const struct draw_column *c)
{
	const enum view_state state = view_state_of(c->value);
	const int32_t h = at->h * states[state].high / DRAW_EIGHTHS;
	int32_t x, w;

	clip(f, c, &x, &w);
	if (states[state].hatched && w > 3)
		picture_hatch(f->picture, DRAW_HATCH, DRAW_GUTTER + x, at->y + at->h - h, w - 1, h,
			      0);
	if (states[state].name && w > STATE_FROM)
		put_text(f, states[state].name, x + PAD, at->y + at->h - h / 2, w - 2 * PAD);
}

static void draw_intervals(struct draw_frame *f, const struct place *at)
{
	struct draw_columns *cols = &f->columns;
	const enum view_track_kind kind = at->item->info.tracks[at->track].kind;
	const bool is_state = kind == VIEW_STATE;

	if (!draw_read_columns(f, at->item->row, at->track))
		return;
	/* Those of a colour follow each other: `n`, which slices do not need, has the colour. */
	vec_each (c, &cols->list) {
		c->n = colour_of(f, at, c->value);
		if (kind != VIEW_RUNNING && !is_state && c->cover < LEAST_COVER)
			c->cover = LEAST_COVER;
	}
	qsort(cols->list.at, cols->list.n, sizeof(*cols->list.at), by_colour);
	vec_each (c, &cols->list) {
		const int32_t high = is_state ? states[view_state_of(c->value)].high : DRAW_EIGHTHS;

		if (high)
			fill_column(f, at, c, high);
	}
	vec_each (c, &cols->list) {
		if (!c->wide)
			continue;
		if (is_state) {
			finish_state(f, at, c);
			continue;
		}
		tear(f, at, c);
		name_slice(f, at, c);
	}
}

/* ---- ticks ---- */

/* The rarest class of the mask: people rarely look for what occurs most often. */
static unsigned int rarest(const struct draw_frame *f, uint32_t mask)
{
	unsigned int best = 0, rank = UINT32_MAX;

	for (unsigned int c = 0; c < 32; c++)
		if (mask >> c & 1 && f->rank[c] < rank) {
			rank = f->rank[c];
			best = c;
		}
	return best;
}

static void draw_ticks(struct draw_frame *f, const struct place *at)
{
	struct draw_columns *cols = &f->columns;
	int rc = draw_columns_of_ticks(f->view, at->item->row, at->track, &f->scale, cols);

	if (rc < 0)
		f->rc = rc;
	for (size_t i = 0; i < cols->list.n; i++) {
		struct draw_column *c = &cols->list.at[i];
		const bool last = i + 1 == cols->list.n, many = c->n > 1;
		int32_t high = 5;

		for (uint32_t n = c->n; many && high < DRAW_EIGHTHS && n > 3; n >>= 2)
			high++;
		if (last || cols->list.at[i + 1].x0 - c->x0 > SPARSE)
			c->x1 = c->x0 + 2;
		c->cover = DRAW_EIGHTHS;
		c->n = draw_class_colour(&f->theme, rarest(f, c->value), many);
		fill_column(f, at, c, high);
	}
}

/* ---- counters ---- */

static void counter_text(const struct view_row *r, uint32_t value, char *text, size_t size)
{
	if (r->kind != VIEW_CPU_ROW)
		snprintf(text, size, "%u", value);
	else if (value >= 1000000)
		snprintf(text, size, "%.2f GHz", value / 1e6);
	else
		snprintf(text, size, "%.0f MHz", value / 1e3);
}

/* Where the line of a value is. */
static int32_t counter_top(const struct place *at, uint32_t value, uint32_t most)
{
	return at->y + at->h - (int32_t)((double)(at->h - 2) * value / most + 0.5) - 1;
}

static void draw_counter(struct draw_frame *f, const struct place *at)
{
	const uint32_t area = draw_mix(f->theme.accent, f->theme.row, AREA_PART);
	struct draw_columns *cols = &f->columns;
	const int32_t bottom = at->y + at->h;
	int32_t x, w, y, end = 0, before = 0;
	uint32_t most = 0;
	char text[32];

	draw_read_columns(f, at->item->row, at->track);
	for (size_t i = 0; i < cols->list.n; i++) {
		struct draw_column *c = &cols->list.at[i];

		most = c->value > most ? c->value : most;
		/* Rounding may leave a pixel between neighbours. */
		if (i + 1 < cols->list.n && c[1].x0 - c->x1 < 2)
			c->x1 = c[1].x0;
	}
	if (!most)
		return;
	for (size_t i = 0; i < cols->list.n; i++) {
		clip(f, &cols->list.at[i], &x, &w);
		y = counter_top(at, cols->list.at[i].value, most);
		picture_rect(f->picture, DRAW_GUTTER + x, y, w, bottom - y, area);
	}
	for (size_t i = 0; i < cols->list.n; i++, before = y, end = x + w) {
		clip(f, &cols->list.at[i], &x, &w);
		y = counter_top(at, cols->list.at[i].value, most);
		picture_rect(f->picture, DRAW_GUTTER + x, y, w, 1, f->theme.accent);
		if (i && abs(x - end) <= 1)
			picture_rect(f->picture, DRAW_GUTTER + x, y < before ? y : before, 1,
				     abs(y - before) + 1, f->theme.accent);
	}
	counter_text(&at->item->info, most, text, sizeof(text));
	draw_lane_label(f, at->y + at->h / 2, text);
}

/* ---- a row ---- */

/* Over the whole height of the row, because nothing in it can be trusted there. */
static void draw_lost(struct draw_frame *f, const struct place *at)
{
	draw_read_columns(f, at->item->row, at->track);
	vec_each (c, &f->columns.list) {
		int32_t x, w;

		clip(f, c, &x, &w);
		w = w < 3 ? 3 : w;
		picture_rect(f->picture, DRAW_GUTTER + x, at->y, w, at->h, f->theme.panel);
		picture_hatch(f->picture, DRAW_LOST, DRAW_GUTTER + x, at->y, w, at->h,
			      f->theme.lost);
	}
}

void draw_row(struct draw_frame *f, const struct draw_item *item, int32_t y)
{
	static void (*const painters[])(struct draw_frame * f, const struct place *at) = {
		[DRAW_MAIN] = draw_intervals,
		[DRAW_NESTED] = draw_intervals,
		[DRAW_TICKS] = draw_ticks,
		[DRAW_COUNTER] = draw_counter,
	};

	for (size_t i = 0; i < item->nr_lanes; i++) {
		const struct draw_lane *lane = &f->layout.lanes.at[item->lane + i];

		for (uint32_t k = 0; k < lane->nr; k++) {
			const struct place at = {item, lane->tracks[k], y + lane->y, lane->h};

			painters[lane->kind](f, &at);
		}
	}
	for (uint32_t i = 0; i < item->info.nr_tracks; i++)
		if (item->info.tracks[i].kind == VIEW_LOST) {
			const struct place at = {item, i, y, item->h - 2};

			draw_lost(f, &at);
		}
}
