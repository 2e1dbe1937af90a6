// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of events. Only those that are seen are asked for, by their numbers, so that the last
 * event of any file is as near as the first. Cursor and list follow each other: whoever moves last
 * leads.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "tui/parts.h"

#define TEXTS_LIMIT (16u << 20)
#define LEAST_ROOM  1

static bool of_hits(const struct tui *t)
{
	return t->list.only_hits && t->search.id >= 0;
}

uint64_t tui_list_total(struct tui *t)
{
	return of_hits(t) ? t->search.state.kept : ask_total(t->view);
}

/* ---- asking ---- */

static uint32_t keep_text(struct tui_list *l, const struct json_value *row, const char *name)
{
	const size_t at = l->texts.len;

	tui_put_text(row, name, &l->texts);
	buf_putc(&l->texts, '\0');
	return buf_full(&l->texts) ? 0 : (uint32_t)at;
}

static void keep_event(struct tui_list *l, const struct json_value *row, uint64_t otherwise)
{
	struct tui_event *e = vec_push(&l->events);
	struct json_value folded;

	if (!e)
		return;
	*e = (struct tui_event){
		.n = (uint64_t)tui_number(row, "n", (int64_t)otherwise),
		.ts = (uint64_t)tui_number(row, "ts", 0),
		.cpu = tui_number(row, "cpu", -1),
		.pid = tui_number(row, "pid", -1),
		.row = tui_number(row, "row", -1),
		.lost = tui_number(row, "lost", 0),
		.folded = json_member(row, "folded", &folded),
	};
	e->comm = keep_text(l, row, "comm");
	e->name = keep_text(l, row, "event");
	e->text = keep_text(l, row, "text");
}

static void keep_events(struct tui_list *l, const struct json_value *answer)
{
	struct json_value rows, row, settled;
	size_t pos = 0;

	if (!json_member(answer, "rows", &rows))
		return;
	while (json_next(&rows, &pos, &row))
		keep_event(l, &row, l->first + l->events.n);
	l->settled = !json_member(answer, "settled", &settled) || settled.at[0] == 't';
}

static void fetch(struct tui *t)
{
	struct tui_list *l = &t->list;
	struct json_value answer;
	struct buf text;
	char query[128], search[40] = "";

	l->events.n = 0;
	buf_reset(&l->texts);
	buf_putc(&l->texts, '\0');
	l->first = l->top;
	l->search = of_hits(t) ? t->search.id : -1;
	l->room = t->layout.nr_list > LEAST_ROOM ? t->layout.nr_list : LEAST_ROOM;
	l->total = tui_list_total(t);
	l->generation = view_generation(t->view);
	l->settled = true;
	if (l->search >= 0)
		snprintf(search, sizeof(search), "&search=%lld", (long long)l->search);
	snprintf(query, sizeof(query), "at=%llu&n=%d%s", (unsigned long long)l->first, l->room,
		 search);
	if (tui_ask(t, "events", query, &text, &answer, l->error, sizeof(l->error)))
		keep_events(l, &answer);
	buf_free(&text);
}

/* Whether what is there is what would be asked for. */
static bool is_there(struct tui *t)
{
	const struct tui_list *l = &t->list;
	const bool changed = l->total != tui_list_total(t) || !l->settled || *l->error;

	if (l->first != l->top || l->search != (of_hits(t) ? t->search.id : -1) ||
	    l->room < t->layout.nr_list || !l->events.n)
		return false;
	return !changed || l->generation == view_generation(t->view);
}

const struct tui_event *tui_list_event(const struct tui *t, uint64_t position)
{
	const struct tui_list *l = &t->list;

	return position >= l->first && position - l->first < l->events.n
		       ? &l->events.at[position - l->first]
		       : NULL;
}

/* ---- following ---- */

/* The first event at or after the cursor, the last one where there is none. */
static bool find_cursor(struct tui *t, uint64_t total, uint64_t *position)
{
	const uint64_t ts = t->cursor + view_origin(t->view);
	struct ask_search *s;

	if (!of_hits(t)) {
		if (ask_ordinal(t->view, ts, position, NULL) < 0)
			return false;
	} else {
		s = ask_search_get(t->view, (uint64_t)t->search.id);
		if (!s)
			return false;
		*position = ask_search_at(s, ts);
		ask_search_put(s);
	}
	if (*position >= total)
		*position = total ? total - 1 : 0;
	return true;
}

/* The selected one is in sight; after a jump there is something before it to be seen. */
static void scroll(struct tui *t, uint64_t total)
{
	struct tui_list *l = &t->list;
	const uint64_t room =
		(uint64_t)(t->layout.nr_list > LEAST_ROOM ? t->layout.nr_list : LEAST_ROOM);
	const uint64_t above = l->selected < room / 3 ? l->selected : room / 3;

	if (l->selected < l->top)
		l->top = l->top - l->selected < room ? l->selected : l->selected - above;
	else if (l->selected - l->top >= room)
		l->top = l->selected - l->top < 2 * room ? l->selected - room + 1
							 : l->selected - above;
	if (total > room && l->top > total - room)
		l->top = total - room;
	if (total <= room)
		l->top = 0;
}

void tui_list_update(struct tui *t)
{
	struct tui_list *l = &t->list;
	const uint64_t total = tui_list_total(t);
	const struct tui_event *e;

	/* What is not known when everything has been read never will be. */
	if (l->follows && (find_cursor(t, total, &l->selected) || view_progress(t->view) >= 1))
		l->follows = false;
	if (l->selected >= total)
		l->selected = total ? total - 1 : 0;
	scroll(t, total);
	if (t->layout.nr_list < 1 && !l->leads)
		return;
	if (!is_there(t))
		fetch(t);
	e = l->leads ? tui_list_event(t, l->selected) : NULL;
	if (e) {
		tui_cursor(t, e->ts);
		l->leads = l->follows = false;
	}
}

void tui_list_to(struct tui *t, uint64_t position)
{
	const uint64_t total = tui_list_total(t);

	/* Where the cursor is may not have been looked up yet. */
	t->list.selected = position < total ? position : total ? total - 1 : 0;
	t->list.follows = false;
	t->list.leads = true;
}

void tui_list_move(struct tui *t, int64_t by)
{
	uint64_t to;

	tui_list_update(t);
	to = t->list.selected;
	if (by < 0)
		to = to > (uint64_t)-by ? to - (uint64_t)-by : 0;
	else
		to += (uint64_t)by;
	tui_list_to(t, to);
}
