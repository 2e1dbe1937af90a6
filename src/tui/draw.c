// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Drawing all but the rows: where things are on the screen, the title, the overview and the axis
 * above the rows, the list of events below them, and pages that lie over the rest.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"
#include "event/event.h"
#include "tui/internal.h"
#include "tui/screen.h"

#define LEAST_GUTTER 8
#define MOST_GUTTER  26
#define LIST_FROM    14 /* lines of a screen that has both panes */
#define LEAST_LIST   3
#define SHARE	     55 /* per cent of the room that the time line may take */

/* ---- styles ---- */

struct screen_style tui_fill(const struct tui *t, int16_t colour)
{
	return (struct screen_style){t->opt.mono ? SCREEN_USUAL : colour, SCREEN_USUAL, 0};
}

struct screen_style tui_paint(const struct tui *t, int16_t colour)
{
	if (t->opt.mono)
		return (struct screen_style){SCREEN_USUAL, SCREEN_USUAL, SCREEN_REVERSE};
	return (struct screen_style){COLOUR_INK, colour, 0};
}

struct screen_style tui_chosen(const struct tui *t, bool focused)
{
	return (struct screen_style){SCREEN_USUAL, SCREEN_USUAL,
				     focused ? SCREEN_REVERSE : SCREEN_BOLD | SCREEN_UNDERLINE};
}

/* ---- the layout ---- */

/* A line from the top, if the screen is high enough for it. */
static int32_t take_line(int32_t *y, bool there)
{
	return there ? (*y)++ : -1;
}

void tui_lay_out(struct tui *t)
{
	const int32_t h = t->screen.height, w = t->screen.width;
	const bool list_only = t->panes == TUI_ONLY_LIST || (h < LIST_FROM && t->focus == TUI_LIST);
	const bool list = list_only || (t->panes == TUI_BOTH_PANES && h >= LIST_FROM);
	struct tui_layout *l = &t->layout;
	int32_t y = 0, room, bottom = h;

	*l = (struct tui_layout){.status = -1};
	l->gutter = w / 5 < LEAST_GUTTER ? LEAST_GUTTER : w / 5 > MOST_GUTTER ? MOST_GUTTER : w / 5;
	l->gutter = l->gutter * 2 > w ? 0 : l->gutter;
	l->line = --bottom;
	if (h >= 4)
		l->status = --bottom;
	l->title = take_line(&y, h >= 9);
	l->overview = take_line(&y, h >= 12);
	l->axis = take_line(&y, h >= 3 && !list_only);
	l->ticks = take_line(&y, h >= 8 && !list_only);
	l->events = take_line(&y, h >= 8 && !list_only);
	l->hits = take_line(&y, h >= 7 && !list_only && t->search.id >= 0);
	room = bottom - y > 0 ? bottom - y : 0;
	l->rows = y;
	l->nr_rows = list_only ? 0 : room;
	if (list && !list_only) {
		const int32_t share = room * SHARE / 100;

		l->nr_rows = t->items.n < (size_t)share ? (int32_t)t->items.n : share;
		l->nr_rows = l->nr_rows < 1 ? 1 : l->nr_rows;
		if (room - l->nr_rows - 1 < LEAST_LIST)
			l->nr_rows = room;
	}
	y += l->nr_rows;
	l->head = y;
	l->list = y + 1;
	l->nr_list = list && bottom - l->list > 0 ? bottom - l->list : 0;
}

/* ---- the last lines ---- */

static void draw_status(struct tui *t)
{
	const uint64_t a = t->marks[0], b = t->marks[1];
	const int32_t y = t->layout.status, w = t->screen.width;
	char time[TIMES_TEXT];
	int32_t x;

	if (y < 0)
		return;
	screen_fill(&t->screen, 0, y, w, ' ', tui_chosen(t, true));
	x = screen_printf(&t->screen, 0, y, w, tui_chosen(t, true), " %s",
			  tui_stamp(t, time, t->cursor));
	for (int i = 0; i < 2; i++)
		if (t->marked[i])
			x = screen_printf(&t->screen, x, y, w - x, tui_chosen(t, true), "  %c %s",
					  'A' + i, tui_stamp(t, time, t->marks[i]));
	if (t->marked[0] && t->marked[1])
		screen_printf(&t->screen, x, y, w - x, tui_chosen(t, true), "  B-A %s%s",
			      b < a ? "-" : "",
			      time_exact(time, b < a ? a - b : b - a, t->nanoseconds));
	else if (t->marked[0] || t->marked[1]) {
		const uint64_t m = t->marked[0] ? a : b;

		screen_printf(&t->screen, x, y, w - x, tui_chosen(t, true), "  %c %s",
			      t->cursor < m ? '-' : '+',
			      time_exact(time, t->cursor < m ? m - t->cursor : t->cursor - m,
					 t->nanoseconds));
	}
}

/* What the selected row shows at the cursor. */
static void put_slice(struct tui *t, struct buf *b)
{
	const struct tui_item *item = t->selected < t->items.n ? &t->items.at[t->selected] : NULL;
	struct view_interval at;
	enum view_track_kind kind;
	char time[TIMES_TEXT];
	uint32_t track;

	if (!item)
		return;
	tui_row_name(t, &item->info, b);
	if (!tui_slice_at(t, item, t->cursor, &at, &track)) {
		if (item->info.kind == VIEW_CPU_ROW && tui_main_track(&item->info) >= 0)
			buf_puts(b, ": idle");
		return;
	}
	kind = item->info.tracks[track].kind;
	buf_puts(b, ": ");
	if (kind == VIEW_RUNNING && item->info.kind == VIEW_TASK_ROW)
		buf_puts(b, "running on ");
	else if (kind == VIEW_LOST)
		buf_puts(b, "events were lost");
	tui_value_name(t, &item->info, kind, at.value, b);
	buf_printf(b, " for %s%s", at.flags ? "at least " : "",
		   time_short(time, at.dur, t->nanoseconds));
}

static void draw_last_line(struct tui *t)
{
	const int32_t y = t->layout.line, w = t->screen.width;
	const char *hint = w >= 60 ? "? help  q quit" : "?";
	scoped_buf b = buf_new(4096);
	int32_t x;

	if (t->prompt.kind != TUI_NO_PROMPT) {
		const char *words = tui_prompt_words(t->prompt.kind);

		x = screen_text(&t->screen, 0, y, w, words, screen_bold);
		x = screen_text(&t->screen, x, y, w - x, t->prompt.text, screen_usual);
		screen_text(&t->screen, x + 3, y, w - x - 3, t->message, screen_dim);
		return;
	}
	x = w - screen_columns(&t->screen, hint) - 1;
	screen_text(&t->screen, x, y, w - x, hint, screen_dim);
	if (*t->message) {
		screen_text(&t->screen, 0, y, x - 1, t->message, screen_bold);
		return;
	}
	put_slice(t, &b);
	screen_text(&t->screen, 0, y, x - 1, buf_str(&b), screen_usual);
}

bool tui_caret(const struct tui *t, int32_t *x, int32_t *y)
{
	char typed[TUI_PROMPT_TEXT];

	if (t->prompt.kind == TUI_NO_PROMPT)
		return false;
	memcpy(typed, t->prompt.text, t->prompt.at);
	typed[t->prompt.at] = '\0';
	*x = screen_columns(&t->screen, tui_prompt_words(t->prompt.kind)) +
	     screen_columns(&t->screen, typed);
	*y = t->layout.line;
	return *x < t->screen.width;
}

/* ---- a page ---- */

/* A line of the page, which goes on below where it is too wide; how many it takes. */
static int32_t draw_line(struct tui *t, const char *line, size_t len, int32_t y, int32_t bottom)
{
	const bool heading = len && *line == '*';
	const int32_t w = t->screen.width;
	int32_t lines = 0;

	line += heading;
	len -= heading;
	for (size_t at = 0; at < len || !lines; lines++) {
		size_t n = len - at < (size_t)w ? len - at : (size_t)w;

		/* Does not cut a character in two. */
		while (n && at + n < len && ((unsigned char)line[at + n] & 0xc0) == 0x80)
			n--;
		n = n ? n : len - at;
		if (y + lines >= 1 && y + lines < bottom)
			screen_printf(&t->screen, 0, y + lines, w,
				      heading ? screen_bold : screen_usual, "%.*s", (int)n,
				      line + at);
		at += n;
	}
	return lines;
}

static void tui_draw_page(struct tui *t)
{
	const int32_t w = t->screen.width, h = t->screen.height;
	struct tui_page *p = &t->page;
	const char *text = buf_str(&p->text), *end = text + p->text.len;
	int32_t y = 1 - p->top;

	screen_clear(&t->screen);
	p->room = h > 1 ? h - 1 : 1;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t len = newline ? (size_t)(newline - text) : (size_t)(end - text);

		y += draw_line(t, text, len, y, h);
		text += len + 1;
	}
	p->lines = y - 1 + p->top;
	screen_fill(&t->screen, 0, 0, w, ' ', tui_chosen(t, true));
	screen_printf(&t->screen, 1, 0, w - 1, tui_chosen(t, true), "%s", p->title);
	if (w >= 50)
		screen_printf(&t->screen, w - 38, 0, 38, tui_chosen(t, true), "%38s",
			      p->lines > p->room ? "Up Down PgUp PgDn scroll, Esc closes "
						 : "Esc closes ");
}

#define LABEL_APART 15 /* columns between labels of the axis, at least */

/* ---- the title ---- */

static void put_files(const struct tui *t, struct buf *b)
{
	const size_t n = view_nr_files(t->view);

	for (size_t i = 0; i < n && i < 2; i++)
		buf_printf(b, "%s%s", i ? ", " : "", file_name_of(view_file(t->view, i)->path));
	if (n > 2)
		buf_printf(b, " and %zu more", n - 2);
}

static void draw_title(struct tui *t)
{
	const struct screen_style style = tui_chosen(t, true);
	const int32_t y = t->layout.title, w = t->screen.width;
	const double progress = view_progress(t->view);
	char all[TIMES_TEXT], seen[TIMES_TEXT], right[80], missing[DAT_MISSING_WORDS];
	scoped_buf b = buf_new(4096);
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
	put_files(t, &b);
	if (view_missing(t->view, missing))
		buf_printf(&b, "  %s", missing);
	screen_text(&t->screen, 1, y, x - 2, buf_str(&b), style);
}

/* ---- how many events ---- */

/* Counts of all CPUs, or of those that are shown. */
static void count_events(struct tui *t, const struct column_scale *s, uint64_t *counts)
{
	const uint32_t nr = view_rows(t->view);

	memset(counts, 0, (size_t)s->width * sizeof(*counts));
	for (uint32_t i = 0; i < nr; i++) {
		struct view_row r;
		int64_t track;

		if (!view_row(t->view, i, NULL, &r) || r.kind != VIEW_CPU_ROW)
			continue;
		track = view_row_track(&r, VIEW_EVENTS, 0);
		if (track < 0 ||
		    columns_fill(t->view, i, (uint32_t)track, s, NULL, &t->tile, t->columns[0]) < 0)
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
				t->opt.mono ? SCREEN_USUAL : colour_256(COLOUR_EVENTS),
				SCREEN_USUAL, SCREEN_BOLD | SCREEN_UNDERLINE};
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
	const struct screen_style mark = tui_paint(t, colour_256(COLOUR_HITS));
	char text[TIMES_TEXT];
	int32_t len;

	if (y < 0)
		return;
	tui_stamp(t, text, t->cursor);
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
	struct view_search *search;
	uint64_t *counts = scratch(t);

	if (t->layout.hits < 0 || t->search.id < 0)
		return;
	search = view_search_get(t->view, (uint64_t)t->search.id);
	if (!search)
		return;
	memset(counts, 0, (size_t)s.width * sizeof(*counts));
	view_search_bins(search, view_origin(t->view) + t->range.since, width, (uint32_t)s.width,
			 counts);
	view_search_put(search);
	screen_text(&t->screen, 1, t->layout.hits, t->layout.gutter - 2, "hits", screen_dim);
	for (int32_t x = 0; x < s.width; x++)
		if (counts[x])
			screen_put(&t->screen, t->layout.gutter + x, t->layout.hits, GLYPH_HIT,
				   tui_fill(t, colour_256(COLOUR_HITS)));
}

static void draw_events(struct tui *t)
{
	const struct column_scale s = tui_scale(t);

	if (t->layout.events < 0)
		return;
	screen_text(&t->screen, 1, t->layout.events, t->layout.gutter - 2, "events", screen_dim);
	count_events(t, &s, scratch(t));
	draw_counts(t, t->layout.events, scratch(t), s.width,
		    tui_fill(t, colour_256(COLOUR_EVENTS)));
}

/* ---- the list of events, in as many columns as there is room for ---- */

#define TASK_WIDTH   20
#define EVENT_WIDTH  20
#define LINE_LIMIT   (1u << 20)
#define NARROW	     60	 /* below this only time, event and text */
#define WIDE	     120 /* from this on names have their own columns */
#define MICROSECONDS 3	 /* digits less than nanoseconds have */

/* As the report shows it: microseconds, unless the screen is wide. */
static int32_t draw_time(struct tui *t, int32_t x, int32_t y, const struct view_record *e,
			 struct screen_style style)
{
	const bool rounded = t->nanoseconds && t->screen.width < WIDE;
	uint64_t ts = (uint64_t)e->ts + view_origin(t->view);
	char time[TIMES_TEXT];

	if (rounded && ts <= UINT64_MAX - 500)
		ts += 500;
	time_stamp(time, ts, t->nanoseconds);
	if (rounded)
		time[strlen(time) - MICROSECONDS] = '\0';
	return screen_text(&t->screen, x, y, t->screen.width - x, time, style) + 1;
}

static int32_t draw_task(struct tui *t, int32_t x, int32_t y, const struct view_record *e,
			 struct screen_style style)
{
	const int32_t room = t->screen.width >= WIDE ? TASK_WIDTH + 4 : TASK_WIDTH - 4;
	struct screen_style swatch = screen_usual;
	scoped_buf comm = buf_new(LINE_LIMIT);
	int32_t end;

	tui_put_text(&t->list.records.texts, e->comm, &comm);
	swatch.bg = colour_of_name(buf_str(&comm));
	if (!t->opt.mono && e->pid)
		screen_fill(&t->screen, x - 1, y, 1, ' ', swatch);
	end = screen_printf(&t->screen, x, y, room, style, "%s-%d", buf_str(&comm), e->pid);
	return t->screen.width >= WIDE ? x + room + 1 : (end < x + room ? x + room + 1 : end + 1);
}

static void draw_event(struct tui *t, int32_t y, const struct view_record *e,
		       struct screen_style style)
{
	const char *name = e->event ? e->event->name : "";
	const int32_t w = t->screen.width;
	int32_t x = 1, end;
	scoped_buf text = buf_new(LINE_LIMIT);

	screen_fill(&t->screen, 0, y, w, ' ', style);
	x = draw_time(t, x, y, e, style);
	if (w >= NARROW) {
		x = screen_printf(&t->screen, x, y, w - x, style, "%3u ", e->cpu);
		x = draw_task(t, x, y, e, style);
	}
	buf_utf8(&text, name, strlen(name));
	buf_puts(&text, ": ");
	end = screen_text(&t->screen, x, y, w - x, buf_str(&text), style);
	if (w >= WIDE && end < x + EVENT_WIDTH)
		end = x + EVENT_WIDTH;
	buf_reset(&text);
	tui_put_text(&t->list.records.texts, e->text, &text);
	screen_text(&t->screen, end, y, w - end, buf_str(&text), style);
	if (e->lost)
		screen_put(&t->screen, 0, y, GLYPH_LOST, tui_fill(t, colour_of_lost()));
}

static void draw_head_of_list(struct tui *t, uint64_t total)
{
	const struct tui_search *s = &t->search;
	const struct screen_style style = t->focus == TUI_LIST ? screen_bold : screen_dim;
	const int32_t y = t->layout.head, w = t->screen.width;
	const bool hits = t->list.only_hits && s->id >= 0;
	int32_t x;

	screen_fill(&t->screen, 0, y, w, screen_glyph(&t->screen, GLYPH_LINE), style);
	x = screen_printf(
		&t->screen, 2, y, w - 2, style, " %s %llu of %llu ", hits ? "hit" : "event",
		(unsigned long long)(t->list.selected + (total > 0)), (unsigned long long)total);
	if (s->id < 0)
		return;
	x = screen_printf(&t->screen, x + 1, y, w - x - 1, style, " %s%s ", s->wanted ? "/" : "",
			  s->wanted ? s->wanted : "chosen CPUs");
	if (s->state.done < 1)
		screen_printf(&t->screen, x, y, w - x, style, "%.0f%% searched, %llu hits ",
			      s->state.done * 100, (unsigned long long)s->state.hits);
	else
		screen_printf(&t->screen, x, y, w - x, style, "%llu hit%s%s ",
			      (unsigned long long)s->state.hits, s->state.hits == 1 ? "" : "s",
			      s->state.truncated ? ", not all can be shown" : "");
}

static void tui_draw_list(struct tui *t)
{
	const uint64_t total = t->layout.nr_list ? tui_list_total(t) : 0;
	const struct tui_layout *l = &t->layout;

	if (!l->nr_list)
		return;
	draw_head_of_list(t, total);
	for (int32_t i = 0; i < l->nr_list; i++) {
		const uint64_t position = t->list.top + (uint64_t)i;
		const struct view_record *e = tui_list_event(t, position);
		struct screen_style style = screen_usual;

		if (!e)
			break;
		if (position == t->list.selected)
			style = tui_chosen(t, t->focus == TUI_LIST);
		else if (e->folded)
			style = screen_dim;
		draw_event(t, l->list + i, e, style);
	}
	if (t->list.records.list.n)
		return;
	if (*t->list.error)
		screen_text(&t->screen, 1, l->list, t->screen.width - 1, t->list.error, screen_dim);
	else if (view_progress(t->view) >= 1)
		screen_text(&t->screen, 1, l->list, t->screen.width - 1,
			    t->search.id >= 0 && t->search.state.done < 1 ? "searching" : "none",
			    screen_dim);
}

void tui_draw(struct tui *t)
{
	if (!t->screen.at)
		return;
	if (t->page.title) {
		tui_draw_page(t);
		return;
	}
	tui_lay_out(t);
	tui_list_update(t);
	screen_clear(&t->screen);
	draw_title(t);
	draw_overview(t);
	draw_axis(t);
	draw_ticks(t);
	draw_events(t);
	draw_hits(t);
	tui_draw_rows(t);
	tui_draw_list(t);
	draw_status(t);
	draw_last_line(t);
}
