// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of events, in as many columns as there is room for. */
#include <stdio.h>
#include <string.h>

#include "tui/colours.h"
#include "tui/parts.h"
#include "tui/times.h"

#define TASK_WIDTH   20
#define EVENT_WIDTH  20
#define NARROW	     60	 /* below this only time, event and text */
#define WIDE	     120 /* from this on names have their own columns */
#define MICROSECONDS 3	 /* digits less than nanoseconds have */

/* As the report shows it: microseconds, unless the screen is wide. */
static int32_t draw_time(struct tui *t, int32_t x, int32_t y, const struct tui_event *e,
			 struct screen_style style)
{
	const bool rounded = t->nanoseconds && t->screen.width < WIDE;
	uint64_t ts = e->ts + view_origin(t->view);
	char time[TIMES_TEXT];

	if (rounded && ts <= UINT64_MAX - 500)
		ts += 500;
	time_stamp(time, ts, t->nanoseconds);
	if (rounded)
		time[strlen(time) - MICROSECONDS] = '\0';
	return screen_text(&t->screen, x, y, t->screen.width - x, time, style) + 1;
}

static int32_t draw_task(struct tui *t, int32_t x, int32_t y, const struct tui_event *e,
			 struct screen_style style)
{
	const int32_t room = t->screen.width >= WIDE ? TASK_WIDTH + 4 : TASK_WIDTH - 4;
	const char *comm = t->list.texts.data + e->comm;
	struct screen_style swatch = screen_usual;
	int32_t end;

	swatch.bg = colour_of_name(comm);
	if (!t->opt.mono && e->pid)
		screen_fill(&t->screen, x - 1, y, 1, ' ', swatch);
	end = screen_printf(&t->screen, x, y, room, style, "%s-%lld", comm, (long long)e->pid);
	return t->screen.width >= WIDE ? x + room + 1 : (end < x + room ? x + room + 1 : end + 1);
}

static void draw_event(struct tui *t, int32_t y, const struct tui_event *e,
		       struct screen_style style)
{
	const char *texts = t->list.texts.data;
	const int32_t w = t->screen.width;
	int32_t x = 1, end;

	screen_fill(&t->screen, 0, y, w, ' ', style);
	x = draw_time(t, x, y, e, style);
	if (w >= NARROW) {
		x = screen_printf(&t->screen, x, y, w - x, style, "%3lld ", (long long)e->cpu);
		x = draw_task(t, x, y, e, style);
	}
	end = screen_printf(&t->screen, x, y, w - x, style, "%s: ", texts + e->name);
	if (w >= WIDE && end < x + EVENT_WIDTH)
		end = x + EVENT_WIDTH;
	screen_text(&t->screen, end, y, w - end, texts + e->text, style);
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

void tui_draw_list(struct tui *t)
{
	const uint64_t total = t->layout.nr_list ? tui_list_total(t) : 0;
	const struct tui_layout *l = &t->layout;

	if (!l->nr_list)
		return;
	draw_head_of_list(t, total);
	for (int32_t i = 0; i < l->nr_list; i++) {
		const uint64_t position = t->list.top + (uint64_t)i;
		const struct tui_event *e = tui_list_event(t, position);
		struct screen_style style = screen_usual;

		if (!e)
			break;
		if (position == t->list.selected)
			style = tui_chosen(t, t->focus == TUI_LIST);
		else if (e->folded)
			style = screen_dim;
		draw_event(t, l->list + i, e, style);
	}
	if (t->list.events.n)
		return;
	if (*t->list.error)
		screen_text(&t->screen, 1, l->list, t->screen.width - 1, t->list.error, screen_dim);
	else if (view_progress(t->view) >= 1)
		screen_text(&t->screen, 1, l->list, t->screen.width - 1,
			    t->search.id >= 0 && t->search.state.done < 1 ? "searching" : "none",
			    screen_dim);
}
