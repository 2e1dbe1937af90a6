// SPDX-License-Identifier: GPL-2.0-or-later
/* Where things are on the screen, and those that lie over or below the rest. */
#include <stdio.h>
#include <string.h>

#include "tui/colours.h"
#include "tui/parts.h"
#include "tui/times.h"

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
	return (struct screen_style){colour_of_ink(), colour, 0};
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
	const uint64_t origin = view_origin(t->view), a = t->marks[0], b = t->marks[1];
	const int32_t y = t->layout.status, w = t->screen.width;
	char time[TIMES_TEXT];
	int32_t x;

	if (y < 0)
		return;
	screen_fill(&t->screen, 0, y, w, ' ', tui_chosen(t, true));
	x = screen_printf(&t->screen, 0, y, w, tui_chosen(t, true), " %s",
			  time_stamp(time, origin + t->cursor, t->nanoseconds));
	for (int i = 0; i < 2; i++)
		if (t->marked[i])
			x = screen_printf(&t->screen, x, y, w - x, tui_chosen(t, true), "  %c %s",
					  'A' + i,
					  time_stamp(time, origin + t->marks[i], t->nanoseconds));
	if (t->marked[0] && t->marked[1])
		screen_printf(&t->screen, x, y, w - x, tui_chosen(t, true), "  B-A %s%s",
			      b < a ? "-" : "",
			      time_exact(time, b < a ? a - b : b - a, t->nanoseconds));
	else if (t->marked[0] || t->marked[1]) {
		const uint64_t m = t->marked[0] ? a : b;

		screen_printf(&t->screen, x, y, w - x, tui_chosen(t, true), "  %c%c%s",
			      t->cursor < m ? '-' : '+', ' ',
			      time_exact(time, t->cursor < m ? m - t->cursor : t->cursor - m,
					 t->nanoseconds));
	}
}

/* What the selected row does at the cursor. */
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
	struct buf b;
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
	buf_init(&b, 4096);
	put_slice(t, &b);
	screen_text(&t->screen, 0, y, x - 1, buf_str(&b), screen_usual);
	buf_free(&b);
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
	struct buf b;

	buf_init(&b, 1u << 20);
	buf_put(&b, line + heading, len - heading);
	buf_str(&b);
	for (size_t at = 0; at < b.len || !lines; lines++) {
		size_t n = b.len - at < (size_t)w ? b.len - at : (size_t)w;
		char kept = '\0';

		/* Not in the middle of a character. */
		while (n && at + n < b.len && ((unsigned char)b.data[at + n] & 0xc0) == 0x80)
			n--;
		n = n ? n : b.len - at;
		if (at + n < b.len) {
			kept = b.data[at + n];
			b.data[at + n] = '\0';
		}
		if (y + lines >= 1 && y + lines < bottom)
			screen_text(&t->screen, 0, y + lines, w, b.data + at,
				    heading ? screen_bold : screen_usual);
		if (kept)
			b.data[at + n] = kept;
		at += n;
	}
	buf_free(&b);
	return lines;
}

void tui_draw_page(struct tui *t)
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
	tui_draw_head(t);
	tui_draw_rows(t);
	tui_draw_list(t);
	draw_status(t);
	draw_last_line(t);
}
