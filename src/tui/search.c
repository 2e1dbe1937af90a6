// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searching: what is typed is a filter as `spur report -F` takes it if it is one, else a text in
 * the lines of the list. A text in double quotes is never a filter.
 *
 * The search goes on in threads of the view; the hits that are known so far can be gone to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "tui/parts.h"

struct rows {
	uint32_t *at;
	size_t n, cap;
};

/* The rows of CPUs that are wanted: events of others are no hits. */
static void wanted_rows(struct tui *t, struct rows *rows)
{
	const uint32_t nr = t->opt.cpus ? view_rows(t->view) : 0;

	for (uint32_t i = 0; i < nr; i++) {
		struct view_place place;
		struct view_row r;
		uint32_t *slot;

		if (!view_row(t->view, i, &place, &r) || r.kind != VIEW_CPU_ROW || r.number < 0 ||
		    r.number >= t->opt.nr_cpus ||
		    !(t->opt.cpus[r.number / 64] >> (r.number % 64) & 1))
			continue;
		slot = vec_push(rows);
		if (slot)
			*slot = i;
	}
}

static int64_t start(struct tui *t, const char *filter, const char *text, struct spur_error *err)
{
	struct rows rows = {0};
	int64_t at, id;

	wanted_rows(t, &rows);
	if (t->opt.cpus && !rows.n)
		return error_set(err, -ENODATA, "--cpu: there is no such CPU in the trace");
	id = ask_search_start(
		t->view,
		&(struct ask_search_options){
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
	/* With a colon it was meant to be a filter: what is wrong with it is worth telling. */
	if (id < 0 && !strchr(text, ':'))
		id = start(t, NULL, text, &not_text);
	return id;
}

void tui_search_end(struct tui *t)
{
	if (t->search.id >= 0)
		ask_search_drop(t->view, (uint64_t)t->search.id);
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
	const struct ask_search_state before = t->search.state;
	struct ask_search *s = NULL;

	if (t->search.id < 0 || before.done >= 1)
		return false;
	s = ask_search_get(t->view, (uint64_t)t->search.id);
	if (!s)
		return false;
	ask_search_state(s, &t->search.state);
	ask_search_put(s);
	if (t->list.only_hits && t->search.state.kept != before.kept && !t->list.leads)
		t->list.follows = true;
	if (t->search.jump && (t->search.state.kept || t->search.state.done >= 1)) {
		t->search.jump = false;
		tui_search_step(t, 0);
	}
	return before.done != t->search.state.done || before.kept != t->search.state.kept;
}

/* ---- going to hits ---- */

/* The number of a hit among all events; false while that is not known. */
static bool number_of(struct tui *t, struct ask_search *s, const struct ask_id *id, uint64_t *n)
{
	struct ask_cursor c;
	bool found;

	found = ask_cursor_open(&c, t->view, ask_search_sources(s), t->opt.stop, NULL) == 0 &&
		ask_cursor_to_time(&c, id->ts, true, NULL) == 0;
	while (found && (found = ask_cursor_next(&c) && c.id.ts == id->ts))
		if (c.id.lane == id->lane && c.id.offset == id->offset)
			break;
	*n = found ? c.n : 0;
	ask_cursor_close(&c);
	return found;
}

/* The hit after the one that the cursor is on, or where the cursor is; -1: there is none. */
static int64_t next_hit(const struct tui *t, struct ask_search *s, int dir)
{
	const uint64_t ts = t->cursor + view_origin(t->view);
	const bool on_hit = t->search.hit >= 0 && t->search.time == t->cursor;
	uint64_t at;

	if (on_hit && dir)
		return t->search.hit + dir;
	at = ask_search_at(s, dir > 0 ? ts + 1 : ts);
	return dir < 0 ? (int64_t)at - 1 : (int64_t)at;
}

static void go_to(struct tui *t, struct ask_search *s, int64_t hit, const struct ask_id *id)
{
	uint64_t n;

	tui_go(t, id->ts - view_origin(t->view));
	t->search.hit = hit;
	t->search.time = t->cursor;
	if (t->list.only_hits)
		n = (uint64_t)hit;
	else if (!number_of(t, s, id, &n))
		return;
	tui_list_to(t, n);
}

void tui_search_step(struct tui *t, int dir)
{
	struct ask_search *s;
	struct ask_id id;
	int64_t hit;

	if (t->search.id < 0) {
		tui_say(t, "nothing is searched for: / searches");
		return;
	}
	s = ask_search_get(t->view, (uint64_t)t->search.id);
	if (!s)
		return;
	hit = next_hit(t, s, dir);
	/* Of a new search: the first one at or after the cursor, else the last one before. */
	if (!dir && hit >= (int64_t)t->search.state.kept && hit)
		hit--;
	if (hit >= 0 && ask_search_hit(s, (uint64_t)hit, &id))
		go_to(t, s, hit, &id);
	else if (t->search.state.done < 1)
		tui_say(t, "still searching: %.0f%%", t->search.state.done * 100);
	else if (!t->search.state.hits)
		tui_say(t, "there is no hit");
	else
		tui_say(t, dir < 0 ? "there is no earlier hit" : "there is no later hit");
	ask_search_put(s);
}
