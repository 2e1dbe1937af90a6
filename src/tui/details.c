// SPDX-License-Identifier: GPL-2.0-or-later
/* All there is to know about the slice at the cursor and the selected event. */
#include <stdio.h>

#include "tui/parts.h"
#include "tui/times.h"

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
