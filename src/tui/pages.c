// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pages, which are text over everything else: the help, details of a slice or event, sums over
 * time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "tui/internal.h"
#include "tui/times.h"
#include "view/api/api.h"

/*
 * The viewer's questions are those of the page (view/api/api.h), asked in the same process: both
 * show the same, and what is hard about the answers is in one place.
 */

#define ERROR_TEXT 200

static void put_error(const struct json_value *answer, char *error, size_t size)
{
	struct json_value text;
	struct buf b;

	buf_init(&b, ERROR_TEXT);
	if (json_member(answer, "error", &text))
		json_text(&text, &b);
	snprintf(error, size, "%s", b.len ? buf_str(&b) : "there is no answer");
	buf_free(&b);
}

bool tui_ask(struct tui *t, const char *path, const char *query, struct buf *text,
	     struct json_value *out, char *error, size_t error_size)
{
	const struct api_request q = {.path = path, .query = query, .stop = t->opt.stop};
	char words[ERROR_TEXT] = "";
	struct api_answer a;
	bool good;

	api_answer(t->view, &q, &a);
	good = json_parse(a.body.data, a.body.len, out);
	if (good && a.status != 200)
		put_error(out, words, sizeof(words));
	*text = a.body;
	if (error)
		snprintf(error, error_size, "%s", words);
	else if (!good || a.status != 200)
		tui_say(t, "%s", words);
	return good && a.status == 200;
}

int64_t tui_number(const struct json_value *object, const char *name, int64_t otherwise)
{
	struct json_value v;
	uint64_t n;

	if (!json_member(object, name, &v) || v.kind != JSON_NUMBER)
		return otherwise;
	if (v.at[0] == '-') {
		/* Only digits follow, or it is none of ours. */
		struct json_value positive = {JSON_NUMBER, v.at + 1, v.len - 1};

		return json_u64(&positive, &n) && n <= INT64_MAX ? -(int64_t)n : otherwise;
	}
	return json_u64(&v, &n) && n <= INT64_MAX ? (int64_t)n : otherwise;
}

void tui_put_text(const struct json_value *object, const char *name, struct buf *out)
{
	struct json_value v;

	if (!json_member(object, name, &v))
		return;
	if (v.kind == JSON_STRING)
		json_text(&v, out);
	else if (v.kind == JSON_NUMBER)
		buf_put(out, v.at, v.len);
}

#define PAGE_LIMIT (4u << 20)
#define KEYS_WIDTH 20

static void tui_page_open(struct tui *t, const char *title)
{
	tui_page_close(t);
	buf_init(&t->page.text, PAGE_LIMIT);
	t->page.title = title;
}

void tui_page_close(struct tui *t)
{
	if (t->page.title)
		buf_free(&t->page.text);
	t->page = (struct tui_page){0};
}

void tui_page_scroll(struct tui *t, int64_t by)
{
	const int64_t most = t->page.lines - t->page.room;
	int64_t top = t->page.top + by;

	top = top > most ? most : top;
	t->page.top = top > 0 ? (int32_t)top : 0;
}

void tui_page_help(struct tui *t)
{
	static const struct {
		enum glyph glyph;
		const char *words;
	} signs[] = {
		{GLYPH_BLOCK_LAST, "running, by the share of the time; the colour is the task's"},
		{GLYPH_RUNNABLE, "runnable: waits for a CPU"},
		{GLYPH_BLOCKED, "blocked: waits for something that is not interrupted"},
		{GLYPH_SLEEPING, "sleeping"},
		{GLYPH_STOPPED, "stopped"},
		{GLYPH_UNKNOWN, "unknown: what a CPU or task did is not in the trace"},
		{GLYPH_DOT, "events, where nothing runs"},
		{GLYPH_LOST, "events were lost"},
		{GLYPH_HIT, "hits of the search"},
	};
	struct buf *b;

	tui_page_open(t, "Keys");
	b = &t->page.text;
	for (const struct tui_binding *k = tui_bindings; k->words; k++) {
		if (!k->keys)
			buf_printf(b, "%s*%s\n", k == tui_bindings ? "" : "\n", k->words);
		else if (*k->keys)
			buf_printf(b, "  %-*s %s\n", KEYS_WIDTH, k->keys, k->words);
	}
	buf_puts(b, "\n*Signs\n");
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		struct screen one = {.ascii = t->screen.ascii};

		/* The character itself, as UTF-8. */
		if (screen_resize(&one, 1, 1) < 0)
			continue;
		screen_put(&one, 0, 0, signs[i].glyph, screen_usual);
		buf_puts(b, "  ");
		screen_dump(&one, b);
		screen_free(&one);
		b->len--;
		buf_printf(b, "%*s %s\n", KEYS_WIDTH - 1, "", signs[i].words);
	}
	buf_puts(b, "\nWith a mouse: the wheel zooms, and scrolls the list; a click puts the "
		    "cursor.\n");
}

/* All there is to know about the slice at the cursor and the selected event. */

#define LABEL_WIDTH 18
#define QUERY_TEXT  128
#define WORDS_LIMIT (1u << 20)

static const struct tui_item *selected(const struct tui *t)
{
	return t->selected < t->items.n ? &t->items.at[t->selected] : NULL;
}

static void put_label(struct buf *b, const char *label)
{
	buf_printf(b, "  %-*s ", LABEL_WIDTH, label);
}

static void put_line(struct buf *b, const char *label, const char *text)
{
	put_label(b, label);
	buf_puts(b, text);
	buf_putc(b, '\n');
}

static void put_row(struct tui *t, int64_t row, struct buf *b)
{
	struct view_place place;
	struct view_row r;

	if (row >= 0 && row <= UINT32_MAX && view_row(t->view, (uint32_t)row, &place, &r))
		tui_row_name(t, &r, b);
	else
		buf_puts(b, "?");
}

/* ---- the slice ---- */

/* The answer about what is at the cursor in the selected row; false: nothing is. */
static bool ask_slice(struct tui *t, struct buf *text, struct json_value *answer,
		      enum view_track_kind *kind)
{
	const struct tui_item *item = selected(t);
	struct view_interval at;
	char query[QUERY_TEXT], error[64];
	uint32_t track;

	if (!item || !tui_slice_at(t, item, t->cursor, &at, &track))
		return false;
	*kind = item->info.tracks[track].kind;
	snprintf(query, sizeof(query), "row=%u&track=%u&ts=%llu", item->row, track,
		 (unsigned long long)t->cursor);
	if (tui_ask(t, "slice", query, text, answer, error, sizeof(error)))
		return true;
	buf_free(text);
	return false;
}

static void put_waker(struct tui *t, const struct json_value *waker, struct buf *b)
{
	const int64_t latency = tui_number(waker, "latency", -1);
	struct json_value in_interrupt;
	char time[TIMES_TEXT];

	put_label(b, "woken by");
	put_row(t, tui_number(waker, "row", -1), b);
	if (json_member(waker, "in_interrupt", &in_interrupt) && in_interrupt.at[0] == 't') {
		buf_puts(b, " (in an interrupt: ");
		tui_put_text(waker, "interrupt", b);
		buf_putc(b, ')');
	}
	buf_printf(b, " at %s\n",
		   time_stamp(time, (uint64_t)tui_number(waker, "ts", 0) + view_origin(t->view),
			      t->nanoseconds));
	if (latency >= 0)
		put_line(b, "latency", time_exact(time, (uint64_t)latency, t->nanoseconds));
}

static void put_woken(struct tui *t, const struct json_value *woke, struct buf *b)
{
	struct json_value one;
	char time[TIMES_TEXT];
	size_t pos = 0;

	while (json_next(woke, &pos, &one)) {
		put_label(b, "woke");
		put_row(t, tui_number(&one, "row", -1), b);
		buf_printf(b, " at %s\n",
			   time_stamp(time,
				      (uint64_t)tui_number(&one, "ts", 0) + view_origin(t->view),
				      t->nanoseconds));
	}
}

/* Why the task waited, in the words of `spur why`; nothing where that is not known. */
static void put_why(struct tui *t, uint32_t row, uint64_t start, struct buf *b)
{
	char query[QUERY_TEXT], error[64];
	struct json_value answer;
	struct buf text, words;

	snprintf(query, sizeof(query), "row=%u&ts=%llu", row, (unsigned long long)start);
	buf_init(&words, WORDS_LIMIT);
	if (tui_ask(t, "why", query, &text, &answer, error, sizeof(error)))
		tui_put_text(&answer, "words", &words);
	if (words.len)
		buf_puts(b, "\n*Why it waited\n");
	for (size_t at = 0; at < words.len;) {
		const char *line = buf_str(&words) + at;
		const size_t len = strcspn(line, "\n");

		buf_puts(b, "  ");
		buf_put(b, line, len);
		buf_putc(b, '\n');
		at += len + 1;
	}
	buf_free(&words);
	buf_free(&text);
}

static void put_slice(struct tui *t, const struct json_value *slice, enum view_track_kind kind,
		      struct buf *b)
{
	const struct tui_item *item = selected(t);
	const bool running = item->info.kind == VIEW_TASK_ROW && kind == VIEW_RUNNING;
	const uint64_t start = (uint64_t)tui_number(slice, "start", 0);
	const uint64_t duration = (uint64_t)tui_number(slice, "duration", 0);
	struct json_value list, one;
	char time[TIMES_TEXT];
	size_t pos = 0;

	buf_putc(b, '*');
	tui_row_name(t, &item->info, b);
	buf_puts(b, running ? ": running on " : ": ");
	tui_put_text(slice, "name", b);
	buf_putc(b, '\n');
	put_line(b, "from", time_stamp(time, start + view_origin(t->view), t->nanoseconds));
	put_line(b, "to",
		 time_stamp(time, start + duration + view_origin(t->view), t->nanoseconds));
	put_line(b, "duration", time_exact(time, duration, t->nanoseconds));
	if (json_member(slice, "open", &one) && one.kind == JSON_STRING) {
		put_label(b, "not in the trace");
		tui_put_text(slice, "open", b);
		buf_putc(b, '\n');
	}
	if (json_member(slice, "details", &list))
		while (json_next(&list, &pos, &one)) {
			struct buf label;

			buf_init(&label, 256);
			tui_put_text(&one, "label", &label);
			/* That was told with all digits. */
			if (strcmp(buf_str(&label), "duration") != 0) {
				put_label(b, buf_str(&label));
				tui_put_text(&one, "text", b);
				buf_putc(b, '\n');
			}
			buf_free(&label);
		}
	if (json_member(slice, "waker", &one) && one.kind == JSON_OBJECT)
		put_waker(t, &one, b);
	if (json_member(slice, "woke", &list))
		put_woken(t, &list, b);
	if (kind == VIEW_STATE)
		put_why(t, item->row, start, b);
	buf_putc(b, '\n');
}

static void add_slice(struct tui *t, struct buf *b)
{
	struct json_value answer;
	struct buf text;
	enum view_track_kind kind;

	if (!ask_slice(t, &text, &answer, &kind))
		return;
	put_slice(t, &answer, kind, b);
	buf_free(&text);
}

/* ---- the event ---- */

static void put_fields(const struct json_value *fields, struct buf *b)
{
	struct json_value one;
	size_t pos = 0;

	while (json_next(fields, &pos, &one)) {
		struct buf name, text;

		buf_init(&name, 1024);
		buf_init(&text, 64u << 10);
		tui_put_text(&one, "name", &name);
		put_label(b, buf_str(&name));
		buf_reset(&name);
		tui_put_text(&one, "value", &name);
		tui_put_text(&one, "text", &text);
		buf_puts(b, buf_str(&text));
		if (name.len && strcmp(buf_str(&name), buf_str(&text)) != 0)
			buf_printf(b, "  (%s)", buf_str(&name));
		buf_putc(b, '\n');
		buf_free(&name);
		buf_free(&text);
	}
}

static void put_stacks(const struct json_value *stacks, struct buf *b)
{
	struct json_value stack, frames, frame;
	size_t pos = 0;

	while (json_next(stacks, &pos, &stack)) {
		size_t at = 0;

		buf_puts(b, "\n*Stack (");
		tui_put_text(&stack, "kind", b);
		buf_puts(b, ")\n");
		if (!json_member(&stack, "frames", &frames))
			continue;
		while (json_next(&frames, &at, &frame)) {
			buf_puts(b, "  ");
			json_text(&frame, b);
			buf_putc(b, '\n');
		}
	}
}

static void put_context(const struct json_value *event, struct buf *b)
{
	struct json_value context, words, word;
	size_t pos = 0;

	if (!json_member(event, "context", &context) || !json_member(&context, "words", &words))
		return;
	while (json_next(&words, &pos, &word)) {
		put_label(b, "context");
		json_text(&word, b);
		buf_putc(b, '\n');
	}
}

static void put_event(struct tui *t, const struct json_value *event, struct buf *b)
{
	struct json_value list;
	char time[TIMES_TEXT];

	buf_puts(b, "*Event ");
	tui_put_text(event, "system", b);
	buf_putc(b, ':');
	tui_put_text(event, "event", b);
	buf_putc(b, '\n');
	put_line(b, "time",
		 time_stamp(time, (uint64_t)tui_number(event, "ts", 0) + view_origin(t->view),
			    t->nanoseconds));
	put_label(b, "task");
	tui_put_text(event, "comm", b);
	buf_printf(b, "-%lld\n", (long long)tui_number(event, "pid", -1));
	put_label(b, "CPU");
	tui_put_text(event, "cpu", b);
	buf_putc(b, '\n');
	put_label(b, "text");
	tui_put_text(event, "text", b);
	buf_putc(b, '\n');
	put_context(event, b);
	if (json_member(event, "fields", &list)) {
		buf_puts(b, "\n*Fields\n");
		put_fields(&list, b);
	}
	if (json_member(event, "stack", &list))
		put_stacks(&list, b);
	buf_putc(b, '\n');
}

static void add_event(struct tui *t, struct buf *b)
{
	const struct tui_event *e;
	struct json_value answer;
	struct buf text;
	char query[QUERY_TEXT], error[200];

	tui_list_update(t);
	e = tui_list_event(t, t->list.selected);
	if (!e)
		return;
	snprintf(query, sizeof(query), "n=%llu", (unsigned long long)e->n);
	if (tui_ask(t, "event", query, &text, &answer, error, sizeof(error)))
		put_event(t, &answer, b);
	else
		buf_printf(b, "*Event\n  %s\n\n", error);
	buf_free(&text);
}

void tui_page_details(struct tui *t)
{
	const bool list_first = t->focus == TUI_LIST;

	tui_page_open(t, "Details");
	if (!list_first)
		add_slice(t, &t->page.text);
	add_event(t, &t->page.text);
	if (list_first)
		add_slice(t, &t->page.text);
	if (!t->page.text.len) {
		tui_page_close(t);
		tui_say(t, "nothing is here");
	}
}

void tui_waker(struct tui *t)
{
	struct json_value answer, waker;
	struct buf text;
	enum view_track_kind kind;
	int64_t row;

	if (!ask_slice(t, &text, &answer, &kind)) {
		tui_say(t, "nothing is here");
		return;
	}
	row = json_member(&answer, "waker", &waker) && waker.kind == JSON_OBJECT
		      ? tui_number(&waker, "row", -1)
		      : -1;
	if (row < 0) {
		tui_say(t, "who woke it is not in the trace");
	} else {
		tui_go(t, (uint64_t)tui_number(&waker, "ts", 0));
		if (!tui_select_row(t, (uint32_t)row))
			tui_say(t, "the row of who woke it is not shown: t shows others");
	}
	buf_free(&text);
}

/* What the time between the markers adds up to, or what is seen when there are none. */

#define MOST_TASKS  200
#define MOST_NAMES  20
#define TASK_WIDTH  20
#define NAME_WIDTH  34
#define NR_COLUMNS  5
#define TIME_COLUMN 10

/* A CPU has the first and the last of them. The last one is left out where it is nothing. */
static const char *const columns[NR_COLUMNS] = {"running", "runnable", "blocked", "sleeping",
						"unknown"};

struct sum {
	int64_t row;
	int64_t times[NR_COLUMNS];
	int64_t switches;
};

struct sums {
	struct sum *at;
	size_t n, cap;
};

static int by_running(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->times[0] != y->times[0])
		return x->times[0] < y->times[0] ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void read_sums(const struct json_value *list, struct sums *out)
{
	struct json_value one;
	size_t pos = 0;

	while (json_next(list, &pos, &one)) {
		struct sum *s = vec_push(out);

		if (!s)
			break;
		s->row = tui_number(&one, "row", -1);
		s->switches = tui_number(&one, "switches", 0);
		for (size_t i = 0; i < NR_COLUMNS; i++)
			s->times[i] = tui_number(&one, columns[i], 0);
	}
	if (out->n)
		qsort(out->at, out->n, sizeof(out->at[0]), by_running);
}

/* A name in its column, as wide as that; what is too long is cut. */
static void put_name(const struct buf *name, size_t width, struct buf *b)
{
	buf_puts(b, "  ");
	buf_put_left(b, name->data, name->len < width ? name->len : width, width);
}

static void put_time(const struct tui *t, int64_t ns, struct buf *b)
{
	char text[TIMES_TEXT] = "-";

	if (ns > 0)
		time_short(text, (uint64_t)ns, t->nanoseconds);
	buf_put_right(b, text, strlen(text), TIME_COLUMN);
}

/* Which columns a list of sums has, a bit each. */
static unsigned int columns_of(const struct sums *sums, bool task)
{
	unsigned int shown = task ? (1u << (NR_COLUMNS - 1)) - 1 : 1;

	for (size_t i = 0; i < sums->n; i++)
		if (sums->at[i].times[NR_COLUMNS - 1])
			shown |= 1u << (NR_COLUMNS - 1);
	return shown;
}

static void put_sum(struct tui *t, const struct sum *s, uint64_t span, unsigned int shown,
		    struct buf *b)
{
	struct view_place place;
	struct view_row r;
	struct buf name;

	if (s->row < 0 || !view_row(t->view, (uint32_t)s->row, &place, &r))
		return;
	buf_init(&name, 256);
	tui_row_name(t, &r, &name);
	put_name(&name, TASK_WIDTH, b);
	buf_free(&name);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		if (!(shown >> i & 1))
			continue;
		put_time(t, s->times[i], b);
		if (!i)
			buf_printf(b, "%6.1f%%", 100.0 * (double)s->times[0] / (double)span);
	}
	buf_printf(b, "%9lld\n", (long long)s->switches);
}

static void put_rows(struct tui *t, const struct json_value *answer, const char *list,
		     const char *title, uint64_t span, struct buf *b)
{
	struct sums sums = {0};
	struct json_value rows;
	unsigned int shown;

	if (json_member(answer, list, &rows))
		read_sums(&rows, &sums);
	shown = columns_of(&sums, *list == 't');
	if (sums.n) {
		buf_printf(b, "*%-*s", TASK_WIDTH + 2, title);
		for (size_t i = 0; i < NR_COLUMNS; i++)
			if (shown >> i & 1)
				buf_printf(b, "%*s%s", TIME_COLUMN, columns[i], i ? "" : "       ");
		buf_printf(b, "%9s\n", "switches");
	}
	for (size_t i = 0; i < sums.n && i < MOST_TASKS; i++)
		put_sum(t, &sums.at[i], span, shown, b);
	if (sums.n > MOST_TASKS)
		buf_printf(b, "  and %zu more\n", sums.n - MOST_TASKS);
	if (sums.n)
		buf_putc(b, '\n');
	vec_free(&sums);
}

/* ---- by name ---- */

static void put_named(struct tui *t, const struct json_value *answer, const char *list,
		      const char *title, struct buf *b)
{
	struct json_value names, one;
	size_t pos = 0, n = 0;

	if (!json_member(answer, list, &names))
		return;
	for (; n < MOST_NAMES && json_next(&names, &pos, &one); n++) {
		struct buf name;

		if (!n)
			buf_printf(b, "*%-*s%9s%*s%*s\n", NAME_WIDTH + 2, title, "count",
				   TIME_COLUMN, "time", TIME_COLUMN, "longest");
		buf_init(&name, 1024);
		tui_put_text(&one, "name", &name);
		put_name(&name, NAME_WIDTH, b);
		buf_free(&name);
		buf_printf(b, "%9lld", (long long)tui_number(&one, "count", 0));
		put_time(t, tui_number(&one, "total", 0), b);
		put_time(t, tui_number(&one, "max", 0), b);
		buf_putc(b, '\n');
	}
	if (n)
		buf_putc(b, '\n');
}

struct counted {
	uint32_t id;
	int64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void put_events(struct tui *t, const struct json_value *answer, struct buf *b)
{
	struct {
		struct counted *at;
		size_t n, cap;
	} all = {0};
	struct json_value list, one;
	size_t pos = 0;

	if (json_member(answer, "events", &list))
		while (json_next(&list, &pos, &one)) {
			struct counted *c = vec_push(&all);

			if (!c)
				break;
			*c = (struct counted){(uint32_t)tui_number(&one, "id", UINT32_MAX),
					      tui_number(&one, "count", 0)};
		}
	if (all.n) {
		qsort(all.at, all.n, sizeof(all.at[0]), by_count);
		buf_printf(b, "*%-*s%9s\n", NAME_WIDTH + 2, "events", "count");
	}
	for (size_t i = 0; i < all.n && i < MOST_NAMES; i++) {
		const struct event *e = view_event(t->view, all.at[i].id, NULL);
		struct buf name;

		buf_init(&name, 256);
		buf_puts(&name, e ? e->name : "?");
		put_name(&name, NAME_WIDTH, b);
		buf_free(&name);
		buf_printf(b, "%9lld\n", (long long)all.at[i].count);
	}
	vec_free(&all);
}

/* ---- the page ---- */

static struct tui_range range_of(const struct tui *t)
{
	const uint64_t a = t->marks[0], b = t->marks[1];

	if (!t->marked[0] || !t->marked[1] || a == b)
		return t->range;
	return a < b ? (struct tui_range){a, b} : (struct tui_range){b, a};
}

void tui_page_sums(struct tui *t)
{
	const struct tui_range r = range_of(t);
	const bool marked = t->marked[0] && t->marked[1] && t->marks[0] != t->marks[1];
	struct json_value answer;
	char query[80], from[TIMES_TEXT], span[TIMES_TEXT];
	struct buf text, *b;

	snprintf(query, sizeof(query), "since=%llu&until=%llu", (unsigned long long)r.since,
		 (unsigned long long)r.until);
	if (tui_ask(t, "sum", query, &text, &answer, NULL, 0)) {
		tui_page_open(t, marked ? "Between the markers" : "What is seen");
		b = &t->page.text;
		buf_printf(b, "%s from %s on\n\n",
			   time_exact(span, r.until - r.since, t->nanoseconds),
			   time_stamp(from, r.since + view_origin(t->view), t->nanoseconds));
		put_rows(t, &answer, "tasks", "tasks", r.until - r.since, b);
		put_rows(t, &answer, "cpus", "CPUs", r.until - r.since, b);
		put_named(t, &answer, "syscalls", "system calls", b);
		put_named(t, &answer, "functions", "functions", b);
		put_named(t, &answer, "irqs", "interrupts", b);
		put_events(t, &answer, b);
	}
	buf_free(&text);
}
