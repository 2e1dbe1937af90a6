// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What keys do: one table, from which the help is made and which the manual page repeats.
 *
 * Keys that move mean the list when that has the focus, and the page when one is open.
 */
#include "tui/parts.h"

#define ZOOM_STEP 2.0
#define PAN_STEP  0.25
#define CTRL(c)	  ((c)&0x1f)

/* ---- moving ---- */

static bool in_list(const struct tui *t)
{
	return t->focus == TUI_LIST;
}

static void move_across(struct tui *t, int32_t how)
{
	const struct column_scale s = tui_scale(t);
	const int32_t x = column_at(&s, t->cursor) + how;

	if (x >= 0 && x < s.width) {
		tui_go(t, column_time(&s, x));
		return;
	}
	tui_pan(t, how < 0 ? -PAN_STEP : PAN_STEP);
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

static void pan(struct tui *t, int32_t how)
{
	tui_pan(t, how < 0 ? -PAN_STEP : PAN_STEP);
}

static void fit(struct tui *t, int32_t how)
{
	tui_show_all(t, true);
}

static void centre(struct tui *t, int32_t how)
{
	const uint64_t span = t->range.until - t->range.since;
	const uint64_t since = t->cursor > span / 2 ? t->cursor - span / 2 : 0;

	tui_show(t, (struct tui_range){since, since + span}, false);
}

static void back(struct tui *t, int32_t how)
{
	tui_history_step(t, how);
}

static void go_to(struct tui *t, int32_t how)
{
	tui_prompt_open(t, TUI_TIME_PROMPT);
}

static void slice(struct tui *t, int32_t how)
{
	if (in_list(t))
		tui_list_move(t, how);
	else
		tui_next_slice(t, how);
}

static void waker(struct tui *t, int32_t how)
{
	tui_waker(t);
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

static void no_marks(struct tui *t, int32_t how)
{
	t->marked[0] = t->marked[1] = false;
}

static void zoom_marks(struct tui *t, int32_t how)
{
	const uint64_t a = t->marks[0], b = t->marks[1];

	if (t->marked[0] && t->marked[1] && a != b)
		tui_show(t, a < b ? (struct tui_range){a, b + 1} : (struct tui_range){b, a + 1},
			 true);
	else
		tui_say(t, "A and B set markers to zoom to");
}

static void sums(struct tui *t, int32_t how)
{
	tui_page_sums(t);
}

/* ---- searching ---- */

static void search(struct tui *t, int32_t how)
{
	tui_prompt_open(t, TUI_SEARCH_PROMPT);
}

static void step_hit(struct tui *t, int32_t how)
{
	tui_search_step(t, how);
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
	/* Where only one is seen, it is the one with the focus. */
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

static void fold(struct tui *t, int32_t how)
{
	tui_fold(t);
}

/* From an event to its task and its time, and from a time to its event. */
static void link_panes(struct tui *t, int32_t how)
{
	const struct tui_event *e;

	if (!in_list(t)) {
		t->list.follows = true;
		switch_focus(t, 0);
		return;
	}
	tui_list_update(t);
	e = tui_list_event(t, t->list.selected);
	if (!e)
		return;
	tui_cursor(t, e->ts);
	centre(t, 0);
	if (e->row >= 0)
		tui_select_row(t, (uint32_t)e->row);
	switch_focus(t, 0);
}

static void details(struct tui *t, int32_t how)
{
	tui_page_details(t);
}

static void help(struct tui *t, int32_t how)
{
	tui_page_help(t);
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
	{"a d", "go a quarter of the screen to the left, to the right", pan, -1, {'a', '<'}},
	{"", "", pan, 1, {'d', '>'}},
	{"Home End", "go to the begin, to the end", move_end, -1, {TUI_HOME}},
	{"", "", move_end, 1, {TUI_END}},
	{"g", "go to a time", go_to, 0, {'g'}},
	{"f 0", "fit: everything", fit, 0, {'f', '0'}},
	{"c", "put the cursor into the middle", centre, 0, {'c'}},
	{"Backspace ]", "back to what was seen before, and forward again",
	 back, -1, {TUI_BACKSPACE, '['}},
	{"", "", back, 1, {']'}},
	{". ,", "next slice of the row, the one before", slice, 1, {'.'}},
	{"", "", slice, -1, {','}},
	{"u", "who woke it: go there", waker, 0, {'u'}},
	{NULL, "Rows and panes"},
	{"Up Down  k j", "row, or event of the list, above and below",
	 move_down, -1, {TUI_UP, 'k'}},
	{"", "", move_down, 1, {TUI_DOWN, 'j'}},
	{"PgUp PgDn", "the same by pages", move_page, -1, {TUI_PAGE_UP, CTRL('b')}},
	{"", "", move_page, 1, {TUI_PAGE_DOWN, CTRL('f')}},
	{"Tab", "time line, or list", switch_focus, 0, {TUI_TAB}},
	{"Enter", "from the time line to the event, and back to its task",
	 link_panes, 0, {TUI_ENTER}},
	{"v", "both, only the time line, only the list", switch_panes, 0, {'v'}},
	{"t", "CPUs and tasks, only CPUs, only tasks", switch_rows, 0, {'t'}},
	{"o Space", "unfold the row: interrupts, calls, functions, events", fold, 0, {'o', ' '}},
	{NULL, "Search"},
	{"/", "search: a filter as of report -F, or text", search, 0, {'/'}},
	{"n N", "next hit, the one before", step_hit, 1, {'n'}},
	{"", "", step_hit, -1, {'N'}},
	{"F", "list only hits, or all events", only_hits, 0, {'F'}},
	{NULL, "Markers"},
	{"A B  m", "set marker A, B, the next one", set_mark, 0, {'A'}},
	{"", "", set_mark, 1, {'B'}},
	{"", "", next_mark, 0, {'m'}},
	{"z", "zoom to what is between the markers", zoom_marks, 0, {'z'}},
	{"x", "no markers", no_marks, 0, {'x'}},
	{"i", "sums: tasks, CPUs, calls, events between the markers", sums, 0, {'i'}},
	{NULL, "Others"},
	{"e", "details: fields, stack, who woke it, why it waited", details, 0, {'e'}},
	{"?", "this list", help, 0, {'?'}},
	{"Esc", "close what is open", leave, 0, {TUI_ESCAPE}},
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
		tui_prompt_key(t, key);
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
