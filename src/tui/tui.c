// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of the viewer: its beginning and end, sizes, news, the mouse. */
#include "tui/tui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "tui/internal.h"

#define WHEEL_ZOOM  1.25
#define WHEEL_LINES 3

void tui_say(struct tui *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
}

const char *tui_stamp(const struct tui *t, char *text, uint64_t ts)
{
	return time_stamp(text, ts + view_origin(t->view), t->nanoseconds);
}

/* ---- begin and end ---- */

/* What the command line asks for; a filter that is wrong is an error. */
static int begin(struct tui *t, struct spur_error *err)
{
	const struct tui_options *o = &t->opt;

	tui_show_all(t, false);
	if (o->until > o->since) {
		tui_show(t, (struct tui_range){o->since, o->until}, false);
		t->cursor = t->range.since;
	}
	if (tui_rows(t) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (!o->filter && !o->cpus)
		return 0;
	t->list.only_hits = true;
	return tui_search_filter(t, o->filter, err);
}

struct tui *tui_new(struct view *v, const struct tui_options *opt, struct spur_error *err)
{
	struct tui *t = calloc(1, sizeof(*t));

	if (!t) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	t->view = v;
	t->opt = *opt;
	t->screen.ascii = opt->ascii;
	t->nanoseconds = view_nanoseconds(v);
	t->search.id = t->search.hit = t->list.search = -1;
	t->list.follows = t->list.settled = true;
	if (!view_answers(v))
		error_set(err, -ENOMEM, "out of memory");
	else if (begin(t, err) == 0)
		return t;
	tui_free(t);
	return NULL;
}

void tui_free(struct tui *t)
{
	if (!t)
		return;
	tui_page_close(t);
	free(t->search.wanted);
	view_records_free(&t->list.records);
	vec_free(&t->items);
	vec_free(&t->unfolded);
	view_tile_free(&t->tile);
	for (size_t i = 0; i < ARRAY_SIZE(t->columns); i++)
		free(t->columns[i]);
	free(t->overview.counts);
	screen_free(&t->screen);
	free(t);
}

int tui_resize(struct tui *t, int32_t width, int32_t height)
{
	int rc = screen_resize(&t->screen, width, height);

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(t->columns); i++) {
		free(t->columns[i]);
		t->columns[i] = calloc((size_t)width, sizeof(*t->columns[i]));
		rc = t->columns[i] ? 0 : -ENOMEM;
	}
	free(t->overview.counts);
	t->overview.counts = rc == 0 ? calloc((size_t)width, sizeof(uint64_t)) : NULL;
	t->overview.valid = false;
	if (!t->overview.counts)
		return rc < 0 ? rc : -ENOMEM;
	tui_lay_out(t);
	if (t->whole)
		tui_show_all(t, false);
	else
		tui_show(t, t->range, false);
	return 0;
}

/* ---- news ---- */

bool tui_news(struct tui *t)
{
	const uint64_t generation = view_generation(t->view);
	bool any = tui_search_news(t);

	if (!t->list.settled) {
		/* Names that were unknown before may have been learned since. */
		t->list.room = 0;
		any = true;
	}
	if (generation == t->generation)
		return any;
	t->generation = generation;
	t->nanoseconds = view_nanoseconds(t->view);
	if (t->whole)
		tui_show_all(t, false);
	tui_rows(t);
	return true;
}

bool tui_waits(const struct tui *t)
{
	return view_progress(t->view) < 1 || !t->list.settled || t->list.follows ||
	       (t->search.id >= 0 && t->search.state.done < 1);
}

/* ---- the mouse ---- */

static void mouse_in_rows(struct tui *t, enum tui_mouse what, int32_t x, int32_t y)
{
	const struct column_scale s = tui_scale(t);
	const int32_t column = x - t->layout.gutter, row = y - t->layout.rows;
	const uint64_t ts = column_time(&s, column > 0 ? column : 0);

	if (what == TUI_WHEEL_UP || what == TUI_WHEEL_DOWN) {
		tui_zoom(t, what == TUI_WHEEL_UP ? 1 / WHEEL_ZOOM : WHEEL_ZOOM,
			 ts < t->range.until ? ts : t->range.until - 1);
		return;
	}
	t->focus = TUI_TIMELINE;
	if (row >= 0 && row < t->layout.nr_rows && t->top + (size_t)row < t->items.n)
		tui_select(t, (int64_t)t->top + row);
	if (column < 0)
		tui_fold(t, 0);
	else
		tui_go(t, ts);
	if (what == TUI_DOUBLE_CLICK)
		tui_page_details(t, 0);
}

static void mouse_in_list(struct tui *t, enum tui_mouse what, int32_t y)
{
	if (what == TUI_WHEEL_UP || what == TUI_WHEEL_DOWN) {
		tui_list_move(t, what == TUI_WHEEL_UP ? -WHEEL_LINES : WHEEL_LINES);
		return;
	}
	t->focus = TUI_LIST;
	if (y >= t->layout.list)
		tui_list_to(t, t->list.top + (uint64_t)(y - t->layout.list));
	if (what == TUI_DOUBLE_CLICK) {
		tui_list_update(t);
		tui_page_details(t, 0);
	}
}

/* A click into the overview goes to that part of the trace. */
static void mouse_in_overview(struct tui *t, int32_t x)
{
	const struct tui_range all = tui_everything(t);
	const struct column_scale s = {all.since, all.until, tui_scale(t).width};

	if (x >= t->layout.gutter)
		tui_go(t, column_time(&s, x - t->layout.gutter));
}

void tui_mouse(struct tui *t, enum tui_mouse what, int32_t x, int32_t y)
{
	const struct tui_layout *l = &t->layout;
	const bool wheel = what == TUI_WHEEL_UP || what == TUI_WHEEL_DOWN;

	t->message[0] = '\0';
	t->this_move = TUI_OTHER_MOVE;
	if (t->page.title) {
		if (wheel)
			tui_page_scroll(t, what == TUI_WHEEL_UP ? -WHEEL_LINES : WHEEL_LINES);
		else
			tui_page_close(t);
	} else if (l->nr_list && y >= l->head && y < l->list + l->nr_list) {
		mouse_in_list(t, what, y);
	} else if (l->overview >= 0 && y == l->overview && !wheel) {
		mouse_in_overview(t, x);
	} else if (l->nr_rows && y < l->rows + l->nr_rows) {
		mouse_in_rows(t, what, x, y);
	}
	t->last_move = t->this_move;
}
