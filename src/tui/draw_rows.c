// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows: a name, and what was there in each column. A CPU shows which task ran, a task whether
 * it ran and what it waited for, an unfolded track its slices by name. What is not known is
 * shaded.
 */
#include <errno.h>
#include <string.h>

#include "tui/internal.h"
#include "tui/screen.h"
#include "tui/tui.h"
#include "view/answers/interval.h"

/* ---- columns ---- */

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

struct filling {
	const struct column_scale *scale;
	uint32_t (*map)(uint32_t value);
	struct tui_column *out;
	bool ticks;
	uint64_t from, to; /* of the tile, within the range */
};

/* If there are too many values, the one with the least time is replaced. */
static void add_part(struct tui_column *c, uint32_t value, uint64_t ns)
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

static void take_interval(struct filling *f, const struct view_interval *i)
{
	const uint64_t from = i->start > f->from ? i->start : f->from;
	const uint64_t end = i->start + i->dur, to = end < f->to ? end : f->to;
	const uint32_t value = f->map ? f->map(i->value) : i->value;

	if (to <= from) {
		/* What takes no time is shown all the same. */
		if (!i->dur && i->start >= f->from && i->start < f->to)
			add_part(&f->out[column_at(f->scale, i->start)], value, 1);
		return;
	}
	for (int32_t x = column_at(f->scale, from); x < f->scale->width; x++) {
		const uint64_t left = column_time(f->scale, x);
		const uint64_t right = column_time(f->scale, x + 1);
		const uint64_t a = from > left ? from : left, b = to < right ? to : right;

		if (left >= to)
			break;
		if (b > a)
			add_part(&f->out[x], value, b - a);
		f->out[x].whole |= i->start <= left && end >= right;
	}
}

/* A bin lies in one column or in two. */
static void take_bin(struct filling *f, uint64_t start, uint64_t width, const struct view_bin *b)
{
	const uint64_t begin = start > f->from ? start : f->from;
	const uint64_t end = start + width < f->to ? start + width : f->to;
	const uint32_t value = f->map ? f->map(b->top) : b->top;
	uint64_t border, first;
	int32_t x;

	if (end <= begin)
		return;
	x = column_at(f->scale, begin);
	border = column_time(f->scale, x + 1);
	f->out[x].count += b->n;
	if (!b->busy)
		return;
	first = border >= end ? b->busy
			      : (uint64_t)((wide)b->busy * (border - begin) / (end - begin));
	if (first)
		add_part(&f->out[x], value, first);
	if (b->busy > first && x + 1 < f->scale->width)
		add_part(&f->out[x + 1], value, b->busy - first);
}

static void take_tile(void *arg, const struct tile_part *p)
{
	struct filling *f = arg;
	const struct view_tile *t = p->tile;

	f->from = p->from;
	f->to = p->to;
	for (size_t k = 0; !t->has_bins && k < t->intervals.n; k++) {
		const struct view_interval *i = &t->intervals.at[k];

		if (!f->ticks)
			take_interval(f, i);
		else if (i->start >= f->from && i->start < f->to)
			f->out[column_at(f->scale, i->start)].count += 1 + i->flags;
	}
	for (size_t k = 0; t->has_bins && k < t->bins.n; k++)
		take_bin(f, p->base + ((uint64_t)t->bins.at[k].bin << p->level), 1ull << p->level,
			 &t->bins.at[k]);
}

int columns_fill(struct view *v, uint32_t row, uint32_t track, const struct column_scale *s,
		 uint32_t (*map)(uint32_t value), struct view_tile *tile, struct tui_column *out)
{
	const struct tile_source from = {tile_of_view, v, row, track};
	const uint64_t width = (s->until - s->since) / (uint64_t)s->width;
	struct filling f = {.scale = s, .map = map, .out = out};
	struct view_row info;
	int rc;

	memset(out, 0, (size_t)s->width * sizeof(*out));
	if (!view_row(v, row, NULL, &info) || track >= info.nr_tracks)
		return 0;
	f.ticks = info.tracks[track].kind == VIEW_EVENTS;
	rc = tiles_each(&from, (struct tile_range){s->since, s->until, tile_level(width >> FINER)},
			tile, take_tile, &f);
	return rc == -ENOENT ? 0 : rc;
}

/* Eighths of a column, at least one when there is anything; 0 to 8. */
static uint32_t column_eighths(const struct column_scale *s, const struct tui_column *c)
{
	const double width = (double)(s->until - s->since) / s->width;
	const double eighths = (double)c->busy / width * 8;

	if (!c->busy)
		return 0;
	if (c->whole)
		return 8;
	return eighths < 1 ? 1 : eighths > 7.5 ? 8 : (uint32_t)(eighths + 0.5);
}

#define LEAST_NAME    3 /* columns of a slice that has its name in it, … */
#define LEAST_PART    5 /* … or a part of it */
#define PERCENT_WIDTH 5

/* ---- slices ---- */

struct look {
	struct tui *t;
	const struct tui_item *item;
	enum view_track_kind kind;
	struct column_scale scale;
	int32_t y;
	/* What was looked up last. */
	uint32_t value;
	int16_t colour;
	bool known;
};

/* Puts a sign into a column. */
static void put(struct look *k, int32_t x, enum glyph g, struct screen_style style)
{
	screen_put(&k->t->screen, k->t->layout.gutter + x, k->y, g, style);
}

/* What a track of the row has in each column; false: there is no such track, or no memory. */
static bool fill_columns(struct look *k, int64_t track, uint32_t (*map)(uint32_t value),
			 struct tui_column *out)
{
	return track >= 0 && columns_fill(k->t->view, k->item->row, (uint32_t)track, &k->scale, map,
					  &k->t->tile, out) == 0;
}

static const char *colour_name(struct look *k, uint32_t value)
{
	const struct view_row *r = &k->item->info;
	struct view_row task;

	if (k->kind == VIEW_RUNNING && r->kind == VIEW_TASK_ROW)
		return r->name;
	if (k->kind == VIEW_RUNNING)
		return view_row(k->t->view, value, NULL, &task) ? task.name : NULL;
	return view_name(k->t->view, value);
}

static int16_t colour_of(struct look *k, uint32_t value)
{
	if (!k->known || k->value != value)
		k->colour = colour_of_name(colour_name(k, value));
	k->known = true;
	k->value = value;
	return k->colour;
}

static bool is_full(const struct look *k, const struct tui_column *c)
{
	return column_eighths(&k->scale, c) == 8;
}

/* The name in a stretch of columns that one value covers. */
static void draw_name(struct look *k, int32_t from, int32_t to, uint32_t value)
{
	const int32_t x = k->t->layout.gutter + from, room = to - from;
	scoped_buf name = buf_new(256);

	if (room < LEAST_NAME)
		return;
	tui_value_name(k->t, &k->item->info, k->kind, value, &name);
	if (room >= LEAST_PART || screen_columns(&k->t->screen, buf_str(&name)) <= room)
		screen_text(&k->t->screen, x, k->y, room, buf_str(&name),
			    tui_paint(k->t, colour_of(k, value)));
}

static void draw_slices(struct look *k, const struct tui_column *columns)
{
	int32_t from = 0;

	for (int32_t x = 0; x < k->scale.width; x++) {
		const uint32_t e = column_eighths(&k->scale, &columns[x]);

		if (e)
			put(k, x, GLYPH_BLOCK + e - 1,
			    tui_fill(k->t, colour_of(k, columns[x].value)));
	}
	for (int32_t x = 0; x <= k->scale.width; x++) {
		const bool goes_on = x < k->scale.width && is_full(k, &columns[x]) && x > from &&
				     is_full(k, &columns[from]) &&
				     columns[x].value == columns[from].value;

		if (goes_on || x == from)
			continue;
		if (is_full(k, &columns[from]))
			draw_name(k, from, x, columns[from].value);
		from = x;
	}
}

/* ---- tasks ---- */

static const struct {
	enum glyph glyph;
	bool waits; /* for another task: worth more than a little running */
	bool shown;
} states[] = {
	[VIEW_RUNNABLE] = {GLYPH_RUNNABLE, true, true},
	[VIEW_PREEMPTED] = {GLYPH_RUNNABLE, true, true},
	[VIEW_SLEEPING] = {GLYPH_SLEEPING, false, true},
	[VIEW_BLOCKED] = {GLYPH_BLOCKED, true, true},
	[VIEW_STOPPED] = {GLYPH_STOPPED, false, true},
	[VIEW_DEAD] = {GLYPH_SLEEPING, false, false},
	[VIEW_UNKNOWN] = {GLYPH_UNKNOWN, false, true},
};

static uint32_t only_state(uint32_t value)
{
	return view_state_of(value);
}

/* Waiting is drawn after the running, or instead of it if it took longer without colours. */
static void draw_state(struct look *k, int32_t x, const struct tui_column *ran,
		       const struct tui_column *waited)
{
	struct tui *t = k->t;
	const uint32_t state = waited->value;
	const int16_t colour = colour_of_state((enum view_state)state);
	struct screen_cell *c = screen_cell(&t->screen, t->layout.gutter + x, k->y);
	struct screen_style style = tui_fill(t, colour);

	if (!c || !waited->busy || !states[state].shown)
		return;
	if (!ran->busy) {
		if (state == VIEW_SLEEPING || state == VIEW_UNKNOWN)
			style = screen_dim;
		put(k, x, states[state].glyph, style);
	} else if (states[state].waits && waited->most > ran->busy) {
		if (t->opt.mono)
			put(k, x, states[state].glyph, style);
		else
			c->style.bg = colour;
	}
}

static void draw_states(struct look *k, const struct tui_column *ran)
{
	const int64_t track = view_row_track(&k->item->info, VIEW_STATE, 0);
	struct tui_column *waited = k->t->columns[1];

	if (!fill_columns(k, track, only_state, waited))
		return;
	for (int32_t x = 0; x < k->scale.width; x++)
		draw_state(k, x, &ran[x], &waited[x]);
}

/* ---- counters, events, what was lost ---- */

static void draw_counter(struct look *k, const struct tui_column *columns)
{
	uint32_t most = 0;

	for (int32_t x = 0; x < k->scale.width; x++)
		if (columns[x].busy && columns[x].value > most)
			most = columns[x].value;
	for (int32_t x = 0; x < k->scale.width; x++) {
		const uint64_t v = columns[x].busy ? columns[x].value : 0;
		const uint32_t e = v ? (uint32_t)((v * 8 + most - 1) / most) : 0;

		if (e)
			put(k, x, GLYPH_BLOCK + e - 1,
			    tui_fill(k->t, colour_of_state(VIEW_RUNNABLE)));
	}
}

static bool is_blank(const struct screen *s, int32_t x, int32_t y)
{
	const struct screen_cell *c = screen_cell(s, x, y);

	return c && c->character == ' ' && c->style.bg == SCREEN_USUAL && !c->style.attributes;
}

/* Where nothing else is seen. */
static void draw_dots(struct look *k)
{
	const int64_t track = view_row_track(&k->item->info, VIEW_EVENTS, 0);
	struct tui_column *columns = k->t->columns[2];

	if (!fill_columns(k, track, NULL, columns))
		return;
	for (int32_t x = 0; x < k->scale.width; x++)
		if (columns[x].count && is_blank(&k->t->screen, k->t->layout.gutter + x, k->y))
			put(k, x, GLYPH_DOT, tui_fill(k->t, colour_256(COLOUR_EVENTS)));
}

static void draw_lost(struct look *k)
{
	const int64_t track = view_row_track(&k->item->info, VIEW_LOST, 0);
	struct tui_column *columns = k->t->columns[2];

	if (!fill_columns(k, track, NULL, columns))
		return;
	for (int32_t x = 0; x < k->scale.width; x++)
		if (columns[x].busy)
			put(k, x, GLYPH_LOST, tui_fill(k->t, colour_of_lost()));
}

/* ---- a row ---- */

/* Per cent of the time that is covered, -1: that says nothing. */
static int32_t draw_item(struct look *k)
{
	const struct tui_item *item = k->item;
	const int64_t track = item->track >= 0 ? item->track : tui_main_track(&item->info);
	struct tui_column *columns = k->t->columns[0];
	uint64_t busy = 0;

	k->kind = track >= 0 ? item->info.tracks[track].kind : VIEW_EVENTS;
	memset(columns, 0, (size_t)k->scale.width * sizeof(*columns));
	if (track >= 0 && k->kind != VIEW_EVENTS && k->kind != VIEW_STATE &&
	    !fill_columns(k, track, NULL, columns))
		return -1;
	if (k->kind == VIEW_COUNTER) {
		draw_counter(k, columns);
		return -1;
	}
	draw_slices(k, columns);
	if (item->track < 0 || k->kind == VIEW_STATE)
		draw_states(k, columns);
	if (item->track < 0 || k->kind == VIEW_EVENTS)
		draw_dots(k);
	if (item->track < 0)
		draw_lost(k);
	for (int32_t x = 0; x < k->scale.width; x++)
		busy += columns[x].busy;
	if (k->kind != VIEW_RUNNING)
		return -1;
	return (int32_t)(100.0 * (double)busy / (double)(k->scale.until - k->scale.since) + 0.5);
}

static void draw_label(struct look *k, bool chosen, int32_t percent)
{
	struct tui *t = k->t;
	const struct tui_item *item = k->item;
	const int32_t gutter = t->layout.gutter;
	struct screen_style style = screen_usual, swatch = screen_usual;
	scoped_buf name = buf_new(256);
	bool with_percent;

	if (gutter < LEAST_PART)
		return;
	if (item->track >= 0) {
		buf_printf(&name, "  %s", tui_kind_name(k->kind));
		if (item->info.tracks[item->track].depth)
			buf_printf(&name, " %u", item->info.tracks[item->track].depth);
		style = screen_dim;
	} else {
		tui_row_name(t, &item->info, &name);
	}
	if (chosen) {
		style = tui_chosen(t, t->focus == TUI_TIMELINE);
		screen_fill(&t->screen, 0, k->y, gutter - 1, ' ', style);
	}
	/* Letters of that colour would not be readable on every background. */
	if (item->info.kind == VIEW_TASK_ROW && item->track < 0 && !t->opt.mono)
		swatch.bg = colour_of_name(item->info.name);
	if (item->unfolded)
		screen_put(&t->screen, 0, k->y, GLYPH_OPEN, swatch);
	else
		screen_fill(&t->screen, 0, k->y, 1, ' ', swatch);
	screen_text(&t->screen, 1, k->y, gutter - 2, buf_str(&name), style);
	/* Names are worth more. */
	with_percent = percent >= 0 && item->track < 0 &&
		       screen_columns(&t->screen, buf_str(&name)) + PERCENT_WIDTH <= gutter - 2;
	if (with_percent)
		screen_printf(&t->screen, gutter - 1 - PERCENT_WIDTH, k->y, PERCENT_WIDTH,
			      chosen ? style : screen_dim, "%4d%%", percent);
}

/* ---- cursor and markers, over everything ---- */

static void draw_column(struct tui *t, int32_t column, enum glyph g)
{
	const struct tui_layout *l = &t->layout;
	const int32_t top = l->events >= 0 ? l->events : l->rows;

	for (int32_t y = top; y < l->rows + l->nr_rows; y++) {
		struct screen_cell *c = screen_cell(&t->screen, l->gutter + column, y);

		if (!c)
			continue;
		if (is_blank(&t->screen, l->gutter + column, y) ||
		    c->character == screen_glyph(&t->screen, GLYPH_SLEEPING))
			screen_put(&t->screen, l->gutter + column, y, g, screen_bold);
		else if (g == GLYPH_COLUMN)
			c->style.attributes ^= SCREEN_REVERSE;
	}
}

static void draw_marks(struct tui *t)
{
	const struct column_scale s = tui_scale(t);

	for (int i = 0; i < 2; i++) {
		const int32_t x = column_at(&s, t->marks[i]);

		if (t->marked[i] && x >= 0 && x < s.width)
			draw_column(t, x, GLYPH_MARK);
	}
	draw_column(t, column_at(&s, t->cursor), GLYPH_COLUMN);
}

static void scroll(struct tui *t)
{
	const size_t room = t->layout.nr_rows > 0 ? (size_t)t->layout.nr_rows : 1;

	if (t->selected < t->top)
		t->top = t->selected;
	if (t->selected >= t->top + room)
		t->top = t->selected - room + 1;
	if (t->top + room > t->items.n)
		t->top = t->items.n > room ? t->items.n - room : 0;
}

void tui_draw_rows(struct tui *t)
{
	if (!t->layout.nr_rows)
		return;
	scroll(t);
	for (int32_t i = 0; i < t->layout.nr_rows; i++) {
		const size_t n = t->top + (size_t)i;
		struct look k = {.t = t, .scale = tui_scale(t), .y = t->layout.rows + i};

		if (n >= t->items.n)
			break;
		k.item = &t->items.at[n];
		draw_label(&k, n == t->selected, draw_item(&k));
	}
	if (!t->items.n)
		screen_text(&t->screen, t->layout.gutter, t->layout.rows,
			    t->screen.width - t->layout.gutter,
			    view_progress(t->view) < 1 ? "reading" : "there are no events",
			    screen_dim);
	draw_marks(t);
}
