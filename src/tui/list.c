// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches, and the list of events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "tui/internal.h"

/*
 * Searching: what is typed is a filter as `spur report -F` takes it if it is one, else a text in
 * the lines of the list. A text in double quotes is never a filter.
 *
 * The search runs in threads of the view; the user can go to the hits that are known so far.
 */

struct rows {
	uint32_t *at;
	size_t n, cap;
};

/* The rows of CPUs that are wanted: events of others are no hits. */
static void wanted_rows(struct tui *t, struct rows *rows)
{
	const uint32_t nr = t->opt.cpus ? view_rows(t->view) : 0;
	struct view_row r;

	for (uint32_t i = 0; i < nr; i++)
		if (view_row(t->view, i, NULL, &r) && r.kind == VIEW_CPU_ROW &&
		    tui_cpu_wanted(t, r.number))
			vec_add(rows, &i);
}

static int64_t start(struct tui *t, const char *filter, const char *text, struct spur_error *err)
{
	struct rows rows = {0};
	int64_t at, id;

	wanted_rows(t, &rows);
	if (t->opt.cpus && !rows.n)
		return error_set(err, -ENODATA, "--cpu: there is no such CPU in the trace");
	id = view_search_start(
		t->view,
		&(struct view_search_options){
			.filter = filter, .text = text, .rows = rows.at, .nr_rows = rows.n},
		&at, err);
	vec_free(&rows);
	return id;
}

/* "text" without its quotes; NULL: it is not quoted. */
static char *quoted(const char *text)
{
	size_t len = strlen(text);

	if (*text != '"')
		return NULL;
	len -= len > 1 && text[len - 1] == '"';
	return strndup(text + 1, len - 1);
}

static int64_t start_any(struct tui *t, const char *text, struct spur_error *err)
{
	struct spur_error not_text = {0};
	char *plain = quoted(text);
	int64_t id;

	if (plain) {
		id = start(t, NULL, plain, err);
		free(plain);
		return id;
	}
	id = start(t, text, NULL, err);
	/* A wrong filter with a colon is an error; without a colon it is a text to search for. */
	if (id < 0 && !strchr(text, ':'))
		id = start(t, NULL, text, &not_text);
	return id;
}

void tui_search_end(struct tui *t)
{
	if (t->search.id >= 0)
		view_search_drop(t->view, (uint64_t)t->search.id);
	free(t->search.wanted);
	t->search = (struct tui_search){.id = -1, .hit = -1};
	t->list.follows = true;
}

void tui_search_start(struct tui *t, const char *text)
{
	struct spur_error err = {0};
	int64_t id = start_any(t, text, &err);

	if (id < 0) {
		tui_say(t, "%s", err.code ? err.text : strerror((int)-id));
		return;
	}
	tui_search_end(t);
	t->search.id = id;
	t->search.wanted = strdup(text);
	t->list.follows = true;
}

int tui_search_filter(struct tui *t, const char *filter, struct spur_error *err)
{
	int64_t id = start(t, filter, NULL, err);

	if (id < 0)
		return (int)id;
	tui_search_end(t);
	t->search.id = id;
	t->search.wanted = filter ? strdup(filter) : NULL;
	return 0;
}

bool tui_search_news(struct tui *t)
{
	const struct view_search_state before = t->search.state;
	struct view_search *s = NULL;

	if (t->search.id < 0 || before.done >= 1)
		return false;
	s = view_search_get(t->view, (uint64_t)t->search.id);
	if (!s)
		return false;
	view_search_state(s, &t->search.state);
	view_search_put(s);
	if (t->list.only_hits && t->search.state.kept != before.kept && !t->list.leads)
		t->list.follows = true;
	if (t->search.jump && (t->search.state.kept || t->search.state.done >= 1)) {
		t->search.jump = false;
		tui_search_step(t, 0);
	}
	return before.done != t->search.state.done || before.kept != t->search.state.kept;
}

/* ---- going to hits ---- */

/* The hit after the one that the cursor is on, or where the cursor is; -1: there is none. */
static int64_t next_hit(const struct tui *t, struct view_search *s, int dir)
{
	const uint64_t ts = t->cursor + view_origin(t->view);
	const bool on_hit = t->search.hit >= 0 && t->search.time == t->cursor;
	uint64_t at;

	if (on_hit && dir)
		return t->search.hit + dir;
	at = view_search_at(s, dir > 0 ? ts + 1 : ts);
	return dir < 0 ? (int64_t)at - 1 : (int64_t)at;
}

static void go_to(struct tui *t, struct view_search *s, int64_t hit,
		  const struct view_record_id *id)
{
	uint64_t n;

	tui_go(t, id->ts - view_origin(t->view));
	t->search.hit = hit;
	t->search.time = t->cursor;
	if (t->list.only_hits)
		n = (uint64_t)hit;
	else if (!view_search_number(s, id, t->opt.stop, &n))
		return;
	tui_list_to(t, n);
}

void tui_search_step(struct tui *t, int dir)
{
	struct view_search *s;
	struct view_record_id id;
	int64_t hit;

	if (t->search.id < 0) {
		tui_say(t, "nothing is searched for: / searches");
		return;
	}
	s = view_search_get(t->view, (uint64_t)t->search.id);
	if (!s)
		return;
	hit = next_hit(t, s, dir);
	/* Of a new search: the first one at or after the cursor, else the last one before. */
	if (!dir && hit >= (int64_t)t->search.state.kept && hit)
		hit--;
	if (hit >= 0 && view_search_hit(s, (uint64_t)hit, &id))
		go_to(t, s, hit, &id);
	else if (t->search.state.done < 1)
		tui_say(t, "still searching: %.0f%%", t->search.state.done * 100);
	else if (!t->search.state.hits)
		tui_say(t, "there is no hit");
	else
		tui_say(t, dir < 0 ? "there is no earlier hit" : "there is no later hit");
	view_search_put(s);
}

/*
 * The list of events. Only the visible ones are requested, by their numbers, so that the last
 * event of any file is found as fast as the first. Cursor and list follow each other: the one that
 * moved last leads.
 */

static bool of_hits(const struct tui *t)
{
	return t->list.only_hits && t->search.id >= 0;
}

uint64_t tui_list_total(struct tui *t)
{
	return of_hits(t) ? t->search.state.kept : view_record_count(t->view);
}

/* ---- asking ---- */

void tui_put_text(const struct buf *texts, struct view_text text, struct buf *out)
{
	buf_utf8(out, view_text(texts, text), text.len);
}

static void fetch(struct tui *t)
{
	struct tui_list *l = &t->list;
	struct view_records_options o = {.at = l->top, .stop = t->opt.stop};
	struct spur_error err = {0};
	int rc = 0;

	view_records_free(&l->records);
	l->first = l->top;
	l->search = of_hits(t) ? t->search.id : -1;
	l->room = t->layout.nr_list > 1 ? t->layout.nr_list : 1;
	l->total = tui_list_total(t);
	l->generation = view_generation(t->view);
	l->settled = true;
	*l->error = '\0';
	o.n = (uint64_t)l->room;
	if (l->search >= 0) {
		o.search = view_search_get(t->view, (uint64_t)l->search);
		if (!o.search)
			rc = error_set(&err, -ENOENT, "there is no search %lld any more",
				       (long long)l->search);
	}
	if (rc == 0) {
		rc = view_records_read(t->view, &o, &l->records, &err);
		l->settled = rc < 0 || l->records.settled;
	}
	view_search_put(o.search);
	if (rc < 0) {
		view_records_free(&l->records);
		error_sys(&err, rc, "events");
		snprintf(l->error, sizeof(l->error), "%.199s", err.text);
	}
}

/* Whether the loaded events are those that would be requested now. */
static bool is_there(struct tui *t)
{
	const struct tui_list *l = &t->list;
	const bool changed = l->total != tui_list_total(t) || !l->settled || *l->error;

	if (l->first != l->top || l->search != (of_hits(t) ? t->search.id : -1) ||
	    l->room < t->layout.nr_list || !l->records.list.n)
		return false;
	return !changed || l->generation == view_generation(t->view);
}

const struct view_record *tui_list_event(const struct tui *t, uint64_t position)
{
	const struct tui_list *l = &t->list;

	return position >= l->first && position - l->first < l->records.list.n
		       ? &l->records.list.at[position - l->first]
		       : NULL;
}

/* ---- following ---- */

/* The first event at or after the cursor, the last one where there is none. */
static bool find_cursor(struct tui *t, uint64_t total, uint64_t *position)
{
	const uint64_t ts = t->cursor + view_origin(t->view);
	struct view_search *s;

	if (!of_hits(t)) {
		if (view_record_ordinal(t->view, ts, position, NULL) < 0)
			return false;
	} else {
		s = view_search_get(t->view, (uint64_t)t->search.id);
		if (!s)
			return false;
		*position = view_search_at(s, ts);
		view_search_put(s);
	}
	if (*position >= total)
		*position = total ? total - 1 : 0;
	return true;
}

/* The selected one is visible; after a jump some events before it are visible, too. */
static void scroll(struct tui *t, uint64_t total)
{
	struct tui_list *l = &t->list;
	const uint64_t room = t->layout.nr_list > 1 ? (uint64_t)t->layout.nr_list : 1;
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
	const struct view_record *e;

	/* When everything has been read, what is still unknown stays unknown. */
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
		tui_cursor(t, (uint64_t)e->ts);
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
