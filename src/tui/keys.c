// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What keys do: moving in time, the line in which something is typed, and one table of all keys,
 * from which the help is made and which the manual page repeats. Keys that move mean the list when
 * that has the focus, and the page when one is open.
 */
#include <string.h>

#include "base/utf8.h"
#include "tui/internal.h"

#define LEAST_SPAN 16 /* nanoseconds that are seen, and one for each column */
#define ALMOST_ALL 0.99
#define ZOOM_STEP  2.0
#define PAN_STEP   0.25 /* of what is seen */

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

static bool in_list(const struct tui *t)
{
	return t->focus == TUI_LIST;
}

/* ---- back and forward ---- */

static bool same(struct tui_range a, struct tui_range b)
{
	return a.since == b.since && a.until == b.until;
}

/* The current range becomes a step to go back to; steps forward are dropped. */
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

/* To the previous range (-1), or to the next one. */
static void step_in_history(struct tui *t, int32_t dir)
{
	struct tui_history *h = &t->history;
	struct tui_range now = t->range;

	if (dir < 0 ? !h->now : h->now >= h->n) {
		tui_say(t, dir < 0 ? "there is nothing to go back to" : "there is nothing ahead");
		return;
	}
	/* Exchanges the two: the current range takes the place of the one it goes to. */
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

static void centre(struct tui *t, int32_t how)
{
	const uint64_t span = t->range.until - t->range.since;
	const uint64_t since = t->cursor > span / 2 ? t->cursor - span / 2 : 0;

	tui_show(t, (struct tui_range){since, since + span}, false);
}

void tui_cursor(struct tui *t, uint64_t ts)
{
	const struct tui_range all = tui_everything(t);

	t->cursor = ts < all.until ? ts : all.until - 1;
	if (t->cursor >= t->range.since && t->cursor < t->range.until)
		return;
	centre(t, 0);
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

	/* Two rounded halves may be a little less than the whole. */
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

static void pan(struct tui *t, int32_t dir)
{
	const uint64_t span = t->range.until - t->range.since;
	const uint64_t by = (uint64_t)((double)span * PAN_STEP) + 1;
	const uint64_t since = dir > 0		     ? t->range.since + by
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

/* To the next slice of the selected item, or the one before (-1). */
static void next_slice(struct tui *t, int32_t dir)
{
	const struct tui_item *item = t->selected < t->items.n ? &t->items.at[t->selected] : NULL;
	uint64_t best = 0, ts;
	int64_t tracks[2];
	bool found = false;

	if (in_list(t)) {
		tui_list_move(t, dir);
		return;
	}
	if (!item)
		return;
	tracks[0] = item->track >= 0 ? item->track : tui_main_track(&item->info);
	tracks[1] = item->track >= 0 ? -1 : view_row_track(&item->info, VIEW_STATE, 0);
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

/* The line in which something is typed: what to search for, a time to go to. */

#define CTRL(c) ((c)&0x1f)

const char *tui_prompt_words(enum tui_prompt_kind kind)
{
	switch (kind) {
	case TUI_SEARCH_PROMPT: return "search: ";
	case TUI_TIME_PROMPT: return "go to: ";
	default: return "";
	}
}

static void open_prompt(struct tui *t, int32_t kind)
{
	t->prompt = (struct tui_prompt){.kind = (enum tui_prompt_kind)kind};
	if (kind == TUI_SEARCH_PROMPT)
		tui_say(t, "a filter of report -F, or text; \"text\" is always text");
	else
		tui_say(t, "a time of the trace, +10ms, -1s from the cursor, 50%%");
}

static void go_to_time(struct tui *t)
{
	uint64_t ts;

	if (time_parse(t->prompt.text, view_origin(t->view), view_duration(t->view), t->cursor,
		       t->nanoseconds, &ts))
		tui_go(t, ts);
	else
		tui_say(t, "'%s' is not a time", t->prompt.text);
}

static void search_for(struct tui *t)
{
	if (!*t->prompt.text) {
		tui_search_end(t);
		tui_say(t, "nothing is searched for any more");
		return;
	}
	tui_search_start(t, t->prompt.text);
	t->search.jump = t->search.id >= 0 && t->search.hit < 0;
}

static void finish(struct tui *t)
{
	const enum tui_prompt_kind kind = t->prompt.kind;

	t->message[0] = '\0';
	if (kind == TUI_SEARCH_PROMPT)
		search_for(t);
	else if (*t->prompt.text)
		go_to_time(t);
	t->prompt.kind = TUI_NO_PROMPT;
}

/* ---- editing ---- */

static void insert(struct tui_prompt *p, uint32_t c)
{
	char bytes[UTF8_MOST];
	const size_t n = utf8_encode(c, bytes);

	if (p->len + n >= TUI_PROMPT_TEXT)
		return;
	memmove(p->text + p->at + n, p->text + p->at, p->len - p->at + 1);
	memcpy(p->text + p->at, bytes, n);
	p->at += n;
	p->len += n;
}

/* Whole characters: skips bytes that only continue one. */
static size_t before(const struct tui_prompt *p, size_t at)
{
	while (at && ((unsigned char)p->text[--at] & 0xc0) == 0x80)
		;
	return at;
}

static size_t after(const struct tui_prompt *p, size_t at)
{
	at += at < p->len;
	while (at < p->len && ((unsigned char)p->text[at] & 0xc0) == 0x80)
		at++;
	return at;
}

static void erase(struct tui_prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->at = from;
}

static void recall(struct tui *t)
{
	struct tui_prompt *p = &t->prompt;

	if (p->kind != TUI_SEARCH_PROMPT || !t->search.wanted)
		return;
	p->len = p->at = strnlen(t->search.wanted, TUI_PROMPT_TEXT - 1);
	memcpy(p->text, t->search.wanted, p->len);
	p->text[p->len] = '\0';
}

static void prompt_key(struct tui *t, uint32_t key)
{
	struct tui_prompt *p = &t->prompt;

	switch (key) {
	case TUI_ENTER: finish(t); break;
	case TUI_ESCAPE:
	case CTRL('g'):
		p->kind = TUI_NO_PROMPT;
		t->message[0] = '\0';
		break;
	case TUI_BACKSPACE:
		/* In an empty line, backspace leaves the prompt, as in other programs. */
		if (!p->len)
			p->kind = TUI_NO_PROMPT;
		else
			erase(p, before(p, p->at), p->at);
		break;
	case TUI_DELETE: erase(p, p->at, after(p, p->at)); break;
	case CTRL('u'): erase(p, 0, p->at); break;
	case TUI_LEFT: p->at = before(p, p->at); break;
	case TUI_RIGHT: p->at = after(p, p->at); break;
	case CTRL('a'):
	case TUI_HOME: p->at = 0; break;
	case CTRL('e'):
	case TUI_END: p->at = p->len; break;
	case TUI_UP: recall(t); break;
	default:
		if (key >= 0x20 && key < 0x110000 && key != 0x7f && (key < 0x80 || key >= 0xa0))
			insert(p, key);
	}
}

/* ---- moving ---- */

static void move_across(struct tui *t, int32_t how)
{
	const struct column_scale s = tui_scale(t);
	const int32_t x = column_at(&s, t->cursor) + how;

	if (x >= 0 && x < s.width) {
		tui_go(t, column_time(&s, x));
		return;
	}
	pan(t, how);
	/* At an end of the trace nothing has moved. */
	if (t->range.since == s.since)
		tui_go(t, how < 0 ? t->range.since : t->range.until - 1);
	else
		tui_go(t, how < 0 ? s.since - 1 : s.until);
}

static void move_down(struct tui *t, int32_t how)
{
	if (in_list(t))
		tui_list_move(t, how);
	else
		tui_select(t, (int64_t)t->selected + how);
}

static void move_page(struct tui *t, int32_t how)
{
	const int32_t rows = in_list(t) ? t->layout.nr_list : t->layout.nr_rows;

	move_down(t, how * (rows > 2 ? rows - 1 : 1));
}

static void move_end(struct tui *t, int32_t how)
{
	if (in_list(t))
		tui_list_to(t, how < 0 ? 0 : UINT64_MAX - 1);
	else
		tui_go(t, how < 0 ? 0 : tui_everything(t).until - 1);
}

static void zoom(struct tui *t, int32_t how)
{
	tui_zoom(t, how > 0 ? 1 / ZOOM_STEP : ZOOM_STEP, t->cursor);
}

static void fit(struct tui *t, int32_t how)
{
	tui_show_all(t, true);
}

/* ---- markers ---- */

static void set_mark(struct tui *t, int32_t how)
{
	t->marks[how] = t->cursor;
	t->marked[how] = true;
}

static void next_mark(struct tui *t, int32_t how)
{
	/* A third one begins anew. */
	if (t->marked[0] && t->marked[1])
		t->marked[1] = false;
	else if (t->marked[0]) {
		set_mark(t, 1);
		return;
	}
	set_mark(t, 0);
}

bool tui_marked_range(const struct tui *t, struct tui_range *out)
{
	const uint64_t a = t->marks[0], b = t->marks[1];

	if (!t->marked[0] || !t->marked[1] || a == b)
		return false;
	*out = a < b ? (struct tui_range){a, b} : (struct tui_range){b, a};
	return true;
}

static void no_marks(struct tui *t, int32_t how)
{
	t->marked[0] = t->marked[1] = false;
}

static void zoom_marks(struct tui *t, int32_t how)
{
	struct tui_range r;

	if (tui_marked_range(t, &r))
		tui_show(t, (struct tui_range){r.since, r.until + 1}, true);
	else
		tui_say(t, "A and B set markers to zoom to");
}

static void only_hits(struct tui *t, int32_t how)
{
	if (t->search.id < 0) {
		tui_say(t, "nothing is searched for: / searches");
		return;
	}
	t->list.only_hits = !t->list.only_hits;
	t->list.follows = true;
	tui_say(t, t->list.only_hits ? "only hits are listed" : "all events are listed");
}

/* ---- panes and pages ---- */

static void switch_focus(struct tui *t, int32_t how)
{
	t->focus = in_list(t) ? TUI_TIMELINE : TUI_LIST;
	/* If only one pane is visible, it is the one with the focus. */
	if (t->panes != TUI_BOTH_PANES || !t->layout.nr_list || !t->layout.nr_rows)
		t->panes = in_list(t) ? TUI_ONLY_LIST : TUI_ONLY_TIMELINE;
}

static void switch_panes(struct tui *t, int32_t how)
{
	t->panes = (t->panes + 1) % TUI_NR_PANES;
	if (t->panes != TUI_BOTH_PANES)
		t->focus = t->panes == TUI_ONLY_LIST ? TUI_LIST : TUI_TIMELINE;
}

static void switch_rows(struct tui *t, int32_t how)
{
	static const char *const words[] = {"CPUs and tasks", "CPUs", "tasks"};

	t->which = (t->which + 1) % TUI_NR_WHICH;
	tui_rows(t);
	tui_say(t, "%s", words[t->which]);
}

/* From an event to its task and its time, and from a time to its event. */
static void link_panes(struct tui *t, int32_t how)
{
	const struct view_record *e;

	if (!in_list(t)) {
		t->list.follows = true;
		switch_focus(t, 0);
		return;
	}
	tui_list_update(t);
	e = tui_list_event(t, t->list.selected);
	if (!e)
		return;
	tui_cursor(t, (uint64_t)e->ts);
	centre(t, 0);
	if (e->row >= 0)
		tui_select_row(t, (uint32_t)e->row);
	switch_focus(t, 0);
}

static void quit(struct tui *t, int32_t how)
{
	t->over = true;
}

static void leave(struct tui *t, int32_t how)
{
	t->message[0] = '\0';
	t->panes = TUI_BOTH_PANES;
}

const struct tui_binding tui_bindings[] = {
	/* clang-format off */
	{NULL, "Time"},
	{"Left Right  h l", "move the cursor", move_across, -1, {TUI_LEFT, 'h'}},
	{"", "", move_across, 1, {TUI_RIGHT, 'l'}},
	{"+ -  w s", "zoom in and out around the cursor", zoom, 1, {'+', '=', 'w'}},
	{"", "", zoom, -1, {'-', '_', 's'}},
	{"a d", "move a quarter of the screen to the left, to the right", pan, -1, {'a', '<'}},
	{"", "", pan, 1, {'d', '>'}},
	{"Home End", "go to the start, to the end", move_end, -1, {TUI_HOME}},
	{"", "", move_end, 1, {TUI_END}},
	{"g", "go to a time", open_prompt, TUI_TIME_PROMPT, {'g'}},
	{"f 0", "show the whole trace", fit, 0, {'f', '0'}},
	{"c", "centre the cursor", centre, 0, {'c'}},
	{"Backspace ]", "go back to the previous view, and forward again",
	 step_in_history, -1, {TUI_BACKSPACE, '['}},
	{"", "", step_in_history, 1, {']'}},
	{". ,", "go to the next slice of the row, to the previous one", next_slice, 1, {'.'}},
	{"", "", next_slice, -1, {','}},
	{"u", "go to the task that woke it", tui_waker, 0, {'u'}},
	{NULL, "Rows and panes"},
	{"Up Down  k j", "move up and down, in the rows or the list",
	 move_down, -1, {TUI_UP, 'k'}},
	{"", "", move_down, 1, {TUI_DOWN, 'j'}},
	{"PgUp PgDn", "move by pages", move_page, -1, {TUI_PAGE_UP, CTRL('b')}},
	{"", "", move_page, 1, {TUI_PAGE_DOWN, CTRL('f')}},
	{"Tab", "switch between time line and list", switch_focus, 0, {TUI_TAB}},
	{"Enter", "go from the time line to the event, and back to its task",
	 link_panes, 0, {TUI_ENTER}},
	{"v", "show both, only the time line, only the list", switch_panes, 0, {'v'}},
	{"t", "show CPUs and tasks, only CPUs, only tasks", switch_rows, 0, {'t'}},
	{"o Space", "unfold the row: interrupts, calls, functions, events",
	 tui_fold, 0, {'o', ' '}},
	{NULL, "Search"},
	{"/", "search: a filter of report -F, or text", open_prompt, TUI_SEARCH_PROMPT, {'/'}},
	{"n N", "go to the next hit, to the previous one", tui_search_step, 1, {'n'}},
	{"", "", tui_search_step, -1, {'N'}},
	{"F", "list only hits, or all events", only_hits, 0, {'F'}},
	{NULL, "Markers"},
	{"A B  m", "set marker A, B, the next one", set_mark, 0, {'A'}},
	{"", "", set_mark, 1, {'B'}},
	{"", "", next_mark, 0, {'m'}},
	{"z", "zoom to the time between the markers", zoom_marks, 0, {'z'}},
	{"x", "remove the markers", no_marks, 0, {'x'}},
	{"i", "show sums of tasks, CPUs, calls, events between the markers",
	 tui_page_sums, 0, {'i'}},
	{NULL, "Others"},
	{"e", "show details: fields, stack, who woke it, why it waited",
	 tui_page_details, 0, {'e'}},
	{"?", "show this list", tui_page_help, 0, {'?'}},
	{"Esc", "close a window or a prompt", leave, 0, {TUI_ESCAPE}},
	{"q", "quit", quit, 0, {'q'}},
	{0},
	/* clang-format on */
};

/* ---- pages ---- */

static void page_key(struct tui *t, uint32_t key)
{
	const int32_t room = t->page.room > 2 ? t->page.room - 1 : 1;

	switch (key) {
	case TUI_UP:
	case 'k': tui_page_scroll(t, -1); break;
	case TUI_DOWN:
	case 'j': tui_page_scroll(t, 1); break;
	case TUI_PAGE_UP:
	case CTRL('b'): tui_page_scroll(t, -room); break;
	case TUI_PAGE_DOWN:
	case CTRL('f'):
	case ' ': tui_page_scroll(t, room); break;
	case TUI_HOME: tui_page_scroll(t, INT32_MIN); break;
	case TUI_END: tui_page_scroll(t, INT32_MAX); break;
	default: tui_page_close(t);
	}
}

bool tui_key(struct tui *t, uint32_t key)
{
	t->this_move = TUI_OTHER_MOVE;
	if (t->prompt.kind != TUI_NO_PROMPT) {
		prompt_key(t, key);
		return true;
	}
	t->message[0] = '\0';
	if (t->page.title) {
		page_key(t, key);
		return true;
	}
	for (const struct tui_binding *b = tui_bindings; b->words; b++)
		for (size_t i = 0; b->act && i < 4; i++)
			if (b->key[i] == key && key) {
				b->act(t, b->how);
				t->last_move = t->this_move;
				return !t->over;
			}
	tui_say(t, "this key does nothing; ? lists those that do");
	return true;
}
