// SPDX-License-Identifier: GPL-2.0-or-later
/* What is above the rows: the title, the overview, the axis with cursor and markers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/colours.h"
#include "tui/parts.h"
#include "tui/times.h"

#define LABEL_APART 15 /* columns between labels of the axis, at least */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- the title ---- */

static void put_files(const struct tui *t, struct buf *b)
{
	const size_t n = view_nr_files(t->view);

	for (size_t i = 0; i < n && i < 2; i++)
		buf_printf(b, "%s%s", i ? ", " : "", base_name(view_file(t->view, i)->path));
	if (n > 2)
		buf_printf(b, " and %zu more", n - 2);
}

static void draw_title(struct tui *t)
{
	const struct screen_style style = tui_chosen(t, true);
	const int32_t y = t->layout.title, w = t->screen.width;
	const double progress = view_progress(t->view);
	char all[TIMES_TEXT], seen[TIMES_TEXT], right[80];
	struct buf b;
	int32_t x;

	if (y < 0)
		return;
	screen_fill(&t->screen, 0, y, w, ' ', style);
	snprintf(right, sizeof(right), "%s of %s ",
		 time_short(seen, t->range.until - t->range.since, t->nanoseconds),
		 time_short(all, tui_everything(t).until, t->nanoseconds));
	if (t->whole)
		snprintf(right, sizeof(right), "%s ", all);
	if (progress < 1)
		snprintf(right, sizeof(right), "reading: %.0f%% ", progress * 100);
	x = w - screen_columns(&t->screen, right);
	screen_text(&t->screen, x, y, w - x, right, style);
	buf_init(&b, 4096);
	put_files(t, &b);
	screen_text(&t->screen, 1, y, x - 2, buf_str(&b), style);
	buf_free(&b);
}

/* ---- how many events ---- */

/* Counts of all CPUs, or of those that are shown. */
static void count_events(struct tui *t, const struct column_scale *s, uint64_t *counts)
{
	const uint32_t nr = view_rows(t->view);

	memset(counts, 0, (size_t)s->width * sizeof(*counts));
	for (uint32_t i = 0; i < nr; i++) {
		struct view_place place;
		struct view_row r;
		int64_t track;

		if (!view_row(t->view, i, &place, &r) || r.kind != VIEW_CPU_ROW)
			continue;
		track = tui_track(&r, VIEW_EVENTS, 0);
		if (track < 0 || columns_gather(t->view, i, (uint32_t)track, s, NULL, &t->tile,
						t->columns[0]) < 0)
			continue;
		for (int32_t x = 0; x < s->width; x++)
			counts[x] += t->columns[0][x].count;
	}
}

/* Eighths by the logarithm: a single event can be seen beside thousands. */
static uint32_t eighths(uint64_t count, uint64_t most)
{
	if (!count)
		return 0;
	return 1 + (uint32_t)(7 * log((double)count) / log((double)(most > 1 ? most : 2)) + 0.5);
}

static void draw_counts(struct tui *t, int32_t y, const uint64_t *counts, int32_t width,
			struct screen_style style)
{
	uint64_t most = 0;

	for (int32_t x = 0; x < width; x++)
		most = counts[x] > most ? counts[x] : most;
	for (int32_t x = 0; x < width; x++) {
		const uint32_t e = eighths(counts[x], most);

		if (e)
			screen_put(&t->screen, t->layout.gutter + x, y,
				   GLYPH_BLOCK + (e > 8 ? 7 : e - 1), style);
	}
}

/* ---- the overview ---- */

static void draw_overview(struct tui *t)
{
	const struct tui_range all = tui_everything(t);
	const struct column_scale s = {all.since, all.until, tui_scale(t).width};
	const int32_t y = t->layout.overview, from = column_at(&s, t->range.since),
		      to = column_at(&s, t->range.until - 1);

	if (y < 0)
		return;
	if (!t->overview.valid || t->overview.generation != t->generation) {
		count_events(t, &s, t->overview.counts);
		t->overview.generation = t->generation;
		t->overview.valid = true;
	}
	screen_text(&t->screen, 1, y, t->layout.gutter - 2, "overview", screen_dim);
	draw_counts(t, y, t->overview.counts, s.width, screen_dim);
	for (int32_t x = from; x <= to && !t->whole; x++) {
		struct screen_cell *c = screen_cell(&t->screen, t->layout.gutter + x, y);

		if (c)
			c->style = (struct screen_style){
				t->opt.mono ? SCREEN_USUAL : colour_of_events(), SCREEN_USUAL,
				SCREEN_BOLD | SCREEN_UNDERLINE};
	}
}

/* ---- the axis ---- */

static void draw_axis(struct tui *t)
{
	const struct column_scale s = tui_scale(t);
	const uint64_t begin = view_origin(t->view) + t->range.since;
	const uint64_t span = t->range.until - t->range.since;
	const uint64_t step = time_step(span / (uint64_t)s.width * LABEL_APART + 1);
	const uint64_t base = time_base(begin, step);
	const int32_t y = t->layout.axis;
	char text[TIMES_TEXT];

	if (y < 0)
		return;
	screen_text(&t->screen, 1, y, t->layout.gutter - 2,
		    time_base_text(text, base, t->nanoseconds), screen_dim);
	for (uint64_t ts = begin - begin % step; ts - begin < span || ts < begin; ts += step) {
		int32_t x;

		if (ts < begin)
			continue;
		x = t->layout.gutter + column_at(&s, ts - view_origin(t->view));
		screen_put(&t->screen, x, y, GLYPH_COLUMN, screen_dim);
		screen_text(&t->screen, x + 1, y, t->screen.width - x - 1,
			    time_label(text, ts - base, step, t->nanoseconds), screen_usual);
	}
}

/* The cursor with its time beside it, and the markers. */
static void draw_ticks(struct tui *t)
{
	const struct column_scale s = tui_scale(t);
	const int32_t y = t->layout.ticks, at = t->layout.gutter + column_at(&s, t->cursor);
	const struct screen_style mark = tui_paint(t, colour_of_hits());
	char text[TIMES_TEXT];
	int32_t len;

	if (y < 0)
		return;
	time_stamp(text, view_origin(t->view) + t->cursor, t->nanoseconds);
	len = (int32_t)strlen(text);
	screen_text(&t->screen, at + 1 + len <= t->screen.width ? at + 1 : at - len, y, len, text,
		    screen_dim);
	screen_put(&t->screen, at, y, GLYPH_POINTER, screen_bold);
	for (int i = 0; i < 2; i++) {
		const char name[] = {(char)('A' + i), '\0'};
		const int32_t x = column_at(&s, t->marks[i]);

		if (t->marked[i] && x >= 0 && x < s.width)
			screen_text(&t->screen, t->layout.gutter + x, y, 1, name, mark);
	}
}

/* ---- events and hits ---- */

/* The counts live in the columns that rows use later. */
static uint64_t *scratch(struct tui *t)
{
	return (uint64_t *)(void *)t->columns[1];
}

static void draw_hits(struct tui *t)
{
	const struct column_scale s = tui_scale(t);
	const uint64_t width =
		(t->range.until - t->range.since + (uint64_t)s.width - 1) / (uint64_t)s.width;
	struct ask_search *search;
	uint64_t *counts = scratch(t);

	if (t->layout.hits < 0 || t->search.id < 0)
		return;
	search = ask_search_get(t->view, (uint64_t)t->search.id);
	if (!search)
		return;
	memset(counts, 0, (size_t)s.width * sizeof(*counts));
	ask_search_bins(search, view_origin(t->view) + t->range.since, width, (uint32_t)s.width,
			counts);
	ask_search_put(search);
	screen_text(&t->screen, 1, t->layout.hits, t->layout.gutter - 2, "hits", screen_dim);
	for (int32_t x = 0; x < s.width; x++)
		if (counts[x])
			screen_put(&t->screen, t->layout.gutter + x, t->layout.hits, GLYPH_HIT,
				   tui_fill(t, colour_of_hits()));
}

static void draw_events(struct tui *t)
{
	const struct column_scale s = tui_scale(t);

	if (t->layout.events < 0)
		return;
	screen_text(&t->screen, 1, t->layout.events, t->layout.gutter - 2, "events", screen_dim);
	count_events(t, &s, scratch(t));
	draw_counts(t, t->layout.events, scratch(t), s.width, tui_fill(t, colour_of_events()));
}

void tui_draw_head(struct tui *t)
{
	draw_title(t);
	draw_overview(t);
	draw_axis(t);
	draw_ticks(t);
	draw_events(t);
	draw_hits(t);
}
