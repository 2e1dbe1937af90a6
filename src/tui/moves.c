// SPDX-License-Identifier: GPL-2.0-or-later
/* Which time is seen, and where the cursor is in it. */
#include <string.h>

#include "tui/parts.h"

#define LEAST_SPAN 16 /* nanoseconds that are seen, and one for each column */
#define ALMOST_ALL 0.99

struct column_scale tui_scale(const struct tui *t)
{
	const int32_t width = t->screen.width - t->layout.gutter;

	return (struct column_scale){t->range.since, t->range.until, width > 1 ? width : 1};
}

struct tui_range tui_everything(const struct tui *t)
{
	const uint64_t end = view_duration(t->view) + 1;

	return (struct tui_range){0, end > LEAST_SPAN ? end : LEAST_SPAN};
}

/* ---- back and forward ---- */

static bool same(struct tui_range a, struct tui_range b)
{
	return a.since == b.since && a.until == b.until;
}

/* What was seen is a step that can be gone back to; what was ahead is gone. */
static void remember(struct tui *t)
{
	struct tui_history *h = &t->history;

	if (h->now && same(h->at[h->now - 1], t->range))
		return;
	if (h->now == TUI_HISTORY) {
		memmove(h->at, h->at + 1, (TUI_HISTORY - 1) * sizeof(h->at[0]));
		h->now--;
	}
	h->at[h->now++] = t->range;
	h->n = h->now;
}

void tui_history_step(struct tui *t, int dir)
{
	struct tui_history *h = &t->history;
	struct tui_range now = t->range;

	if (dir < 0 ? !h->now : h->now >= h->n) {
		tui_say(t, dir < 0 ? "there is nothing to go back to" : "there is nothing ahead");
		return;
	}
	/* The places change sides: what is seen takes that of where it goes. */
	if (dir < 0)
		h->now--;
	tui_show(t, h->at[h->now], false);
	h->at[h->now] = now;
	if (dir > 0)
		h->now++;
}

/* ---- the range ---- */

static uint64_t least_span(const struct tui *t)
{
	const struct column_scale s = tui_scale(t);

	return s.width > LEAST_SPAN ? (uint64_t)s.width : LEAST_SPAN;
}

static void keep_cursor_in(struct tui *t)
{
	const uint64_t before = t->cursor;

	if (t->cursor < t->range.since)
		t->cursor = t->range.since;
	if (t->cursor >= t->range.until)
		t->cursor = t->range.until - 1;
	if (t->cursor != before)
		t->list.follows = true;
}

static void show(struct tui *t, struct tui_range r, struct tui_range all, bool remembered)
{
	const uint64_t most = all.until, least = least_span(t) < most ? least_span(t) : most;
	uint64_t span = r.until > r.since ? r.until - r.since : 0;

	span = span < least ? least : span > most ? most : span;
	if (r.since > most - span)
		r.since = most - span;
	r.until = r.since + span;
	if (remembered && !same(r, t->range))
		remember(t);
	t->range = r;
	t->whole = same(r, all);
	keep_cursor_in(t);
}

void tui_show(struct tui *t, struct tui_range r, bool remembered)
{
	show(t, r, tui_everything(t), remembered);
}

void tui_show_all(struct tui *t, bool remembered)
{
	const struct tui_range all = tui_everything(t);

	show(t, all, all, remembered);
}

void tui_cursor(struct tui *t, uint64_t ts)
{
	const struct tui_range all = tui_everything(t);
	const uint64_t span = t->range.until - t->range.since;

	t->cursor = ts < all.until ? ts : all.until - 1;
	if (t->cursor >= t->range.since && t->cursor < t->range.until)
		return;
	tui_show(t,
		 (struct tui_range){t->cursor > span / 2 ? t->cursor - span / 2 : 0,
				    t->cursor > span / 2 ? t->cursor - span / 2 + span : span},
		 false);
}

void tui_go(struct tui *t, uint64_t ts)
{
	tui_cursor(t, ts);
	t->list.follows = true;
}

/* `around` stays in its column as far as the ends permit. */
void tui_zoom(struct tui *t, double factor, uint64_t around)
{
	const uint64_t span = t->range.until - t->range.since;
	const double all = (double)tui_everything(t).until;
	double wanted = (double)span * factor, left;
	struct tui_range r;

	/* Halves of what cannot be halved add up to a little less than the whole. */
	wanted = wanted > all * ALMOST_ALL ? all : wanted < 1 ? 1 : wanted;
	left = (double)around - (double)(around - t->range.since) / (double)span * wanted;
	r.since = left > 0 ? (uint64_t)left : 0;
	r.until = r.since + (uint64_t)wanted;
	/* It must be in what is seen after all rounding. */
	if (around >= r.until)
		r.until = around + 1;
	tui_show(t, r, t->last_move != TUI_ZOOMED);
	t->this_move = TUI_ZOOMED;
}

void tui_pan(struct tui *t, double screens)
{
	const uint64_t span = t->range.until - t->range.since;
	const uint64_t by = (uint64_t)((double)span * (screens < 0 ? -screens : screens)) + 1;
	const uint64_t since = screens > 0	     ? t->range.since + by
			       : t->range.since > by ? t->range.since - by
						     : 0;

	tui_show(t, (struct tui_range){since, since + span}, t->last_move != TUI_PANNED);
	t->this_move = TUI_PANNED;
}

/* ---- slices ---- */

/* Where the next interval of a track begins, or the one before; false: there is none. */
static bool neighbour(struct tui *t, const struct tui_item *item, int64_t track, int dir,
		      uint64_t *ts)
{
	struct view_place place;
	struct view_interval i;
	uint64_t now;

	if (track < 0 || !view_row(t->view, item->row, &place, NULL))
		return false;
	now = t->cursor > place.shift ? t->cursor - place.shift : 0;
	if (!view_index_interval(place.file->index, place.row, (uint32_t)track, now, dir, &i))
		return false;
	/* The one the cursor is in is not the next one; going back, its begin comes first. */
	if (dir > 0 && i.start <= now &&
	    !view_index_interval(place.file->index, place.row, (uint32_t)track,
				 i.start + (i.dur ? i.dur : 1), dir, &i))
		return false;
	if (dir < 0 && i.start >= now &&
	    (!now ||
	     !view_index_interval(place.file->index, place.row, (uint32_t)track, now - 1, dir, &i)))
		return false;
	*ts = i.start + place.shift;
	return dir > 0 ? *ts > t->cursor : *ts < t->cursor;
}

void tui_next_slice(struct tui *t, int dir)
{
	const struct tui_item *item = t->selected < t->items.n ? &t->items.at[t->selected] : NULL;
	uint64_t best = 0, ts;
	int64_t tracks[2];
	bool found = false;

	if (!item)
		return;
	tracks[0] = item->track >= 0 ? item->track : tui_main_track(&item->info);
	tracks[1] = item->track >= 0 ? -1 : tui_track(&item->info, VIEW_STATE, 0);
	if (tracks[0] < 0 || item->info.tracks[tracks[0]].kind == VIEW_EVENTS) {
		tui_list_move(t, dir);
		return;
	}
	for (int k = 0; k < 2; k++) {
		if (!neighbour(t, item, tracks[k], dir, &ts))
			continue;
		if (!found || (dir > 0 ? ts < best : ts > best))
			best = ts;
		found = true;
	}
	if (found)
		tui_go(t, best);
	else
		tui_say(t,
			dir > 0 ? "nothing follows in this row" : "nothing is before in this row");
}
