// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pages, which are text over everything else: the help, details of a slice or event, sums over
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "event/event.h"
#include "tui/internal.h"
#include "view/answers/interval.h"
#include "view/answers/records.h"
#include "view/answers/sums.h"

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

void tui_page_help(struct tui *t, int32_t how)
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
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
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

static void put_time_line(const struct tui *t, const char *label, int64_t ts, struct buf *b)
{
	char time[TIMES_TEXT];

	put_line(b, label, tui_stamp(t, time, (uint64_t)ts));
}

static void put_row(struct tui *t, int64_t row, struct buf *b)
{
	struct view_row r;

	if (row >= 0 && row <= UINT32_MAX && view_row(t->view, (uint32_t)row, NULL, &r))
		tui_row_name(t, &r, b);
	else
		buf_puts(b, "?");
}

/* ---- the slice ---- */

/* What is at the cursor in the selected row; false: nothing is. */
static bool read_slice(struct tui *t, struct view_slice *out)
{
	const struct tui_item *item = selected(t);
	struct interval_row row;
	struct view_interval at;
	uint64_t ts = t->cursor;
	uint32_t track;

	if (!item || !tui_slice_at(t, item, ts, &at, &track) ||
	    interval_place(t->view, item->row, &ts, &row, NULL) < 0)
		return false;
	if (view_slice_read(&row, track, ts, t->opt.stop, out, NULL) == 0)
		return true;
	view_slice_free(out);
	return false;
}

static void put_waker(struct tui *t, const struct view_waker *w, struct buf *b)
{
	char time[TIMES_TEXT];

	put_label(b, "woken by");
	put_row(t, w->who.row, b);
	if (w->who.in_interrupt)
		buf_printf(b, " (in an interrupt: %s)", w->interrupt ? w->interrupt : "");
	buf_printf(b, " at %s\n", tui_stamp(t, time, (uint64_t)w->ts));
	if (w->has_latency)
		put_line(b, "latency", time_exact(time, w->latency, t->nanoseconds));
}

static void put_woken(struct tui *t, const struct view_woken *w, struct buf *b)
{
	char time[TIMES_TEXT];

	put_label(b, "woke");
	put_row(t, w->row, b);
	buf_printf(b, " at %s\n", tui_stamp(t, time, (uint64_t)w->ts));
}

/* Why the task waited, in the words of `spur why`; nothing where that is not known. */
static void put_why(struct tui *t, uint32_t number, uint64_t ts, struct buf *b)
{
	struct interval_row task;
	struct why why;
	scoped_buf words = buf_new(WORDS_LIMIT);

	if (interval_task(t->view, number, &ts, &task, NULL) < 0)
		return;
	if (view_why(&task, ts, t->opt.stop, &why, NULL) == 0)
		why_text(&why, 2, &words);
	if (words.len) {
		buf_puts(b, "\n*Why it waited\n");
		buf_utf8(b, words.data, words.len);
	}
	why_free(&why);
}

static void put_slice(struct tui *t, const struct view_slice *s, struct buf *b)
{
	static const char *const open[] = {"", "start", "end", "both"};
	const struct tui_item *item = selected(t);
	const bool running = item->info.kind == VIEW_TASK_ROW && s->kind == VIEW_RUNNING;
	char time[TIMES_TEXT];

	buf_putc(b, '*');
	tui_row_name(t, &item->info, b);
	buf_puts(b, running ? ": running on " : ": ");
	tui_put_text(&s->texts, s->name, b);
	buf_putc(b, '\n');
	put_time_line(t, "from", s->start, b);
	put_time_line(t, "to", s->start + (int64_t)s->dur, b);
	put_line(b, "duration", time_exact(time, s->dur, t->nanoseconds));
	if (s->flags & (VIEW_OPEN_START | VIEW_OPEN_END))
		put_line(b, "not in the trace", open[s->flags & (VIEW_OPEN_START | VIEW_OPEN_END)]);
	vec_each (d, &s->details) {
		/* That has been shown with all digits. */
		if (strcmp(d->label, "duration") == 0)
			continue;
		put_label(b, d->label);
		tui_put_text(&s->texts, d->text, b);
		buf_putc(b, '\n');
	}
	if (s->has_waker)
		put_waker(t, &s->waker, b);
	vec_each (w, &s->woke)
		put_woken(t, w, b);
	if (s->kind == VIEW_STATE)
		put_why(t, item->row, (uint64_t)s->start, b);
	buf_putc(b, '\n');
}

static void add_slice(struct tui *t, struct buf *b)
{
	struct view_slice s;

	if (!read_slice(t, &s))
		return;
	put_slice(t, &s, b);
	view_slice_free(&s);
}

/* ---- the event ---- */

/* The number itself, where the text says what it means. */
static void put_number(const struct view_field *f, const struct buf *texts, struct buf *b)
{
	char number[32];

	if (f->is_signed)
		snprintf(number, sizeof(number), "%lld", (long long)f->number);
	else
		snprintf(number, sizeof(number), "%llu", (unsigned long long)f->number);
	if (strcmp(number, view_text(texts, f->text)) != 0)
		buf_printf(b, "  (%s)", number);
}

static void put_fields(const struct view_details *d, const struct buf *texts, struct buf *b)
{
	vec_each (f, &d->fields) {
		put_label(b, f->field->name);
		tui_put_text(texts, f->text, b);
		if (f->kind == VIEW_FIELD_NUMBER)
			put_number(f, texts, b);
		buf_putc(b, '\n');
	}
}

static void put_stacks(const struct view_details *d, const struct buf *texts, struct buf *b)
{
	vec_each (s, &d->stacks) {
		buf_printf(b, "\n*Stack (%s)\n", s->kind);
		for (size_t i = 0; i < s->nr; i++) {
			buf_puts(b, "  ");
			tui_put_text(texts, d->frames.at[s->first + i], b);
			buf_putc(b, '\n');
		}
	}
}

static void put_event(struct tui *t, const struct view_records *records, struct buf *b)
{
	const struct view_record *r = &records->list.at[0];
	const struct view_details *d = &records->details.at[0];

	buf_printf(b, "*Event %s:%s\n", d->system, r->event ? r->event->name : "");
	put_time_line(t, "time", r->ts, b);
	put_label(b, "task");
	tui_put_text(&records->texts, r->comm, b);
	buf_printf(b, "-%d\n", r->pid);
	put_label(b, "CPU");
	buf_printf(b, "%u\n", r->cpu);
	put_label(b, "text");
	tui_put_text(&records->texts, r->text, b);
	buf_putc(b, '\n');
	for (const struct view_context *c = view_contexts; c->words; c++)
		if (d->flags & c->flag)
			put_line(b, "context", c->words);
	buf_puts(b, "\n*Fields\n");
	put_fields(d, &records->texts, b);
	put_stacks(d, &records->texts, b);
	buf_putc(b, '\n');
}

static void add_event(struct tui *t, struct buf *b)
{
	struct view_records records;
	struct spur_error err = {0};
	const struct view_record *e;
	int rc;

	tui_list_update(t);
	e = tui_list_event(t, t->list.selected);
	if (!e)
		return;
	rc = view_record_read(t->view, e->numbered ? e->n : t->list.selected, t->opt.stop, &records,
			      &err);
	if (rc == 0) {
		put_event(t, &records, b);
	} else {
		error_sys(&err, rc, "event");
		buf_printf(b, "*Event\n  %s\n\n", err.text);
	}
	view_records_free(&records);
}

void tui_page_details(struct tui *t, int32_t how)
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

void tui_waker(struct tui *t, int32_t how)
{
	struct view_slice s;

	if (!read_slice(t, &s)) {
		tui_say(t, "nothing is here");
		return;
	}
	if (!s.has_waker || s.waker.who.row < 0) {
		tui_say(t, "who woke it is not in the trace");
	} else {
		tui_go(t, (uint64_t)s.waker.ts);
		if (!tui_select_row(t, (uint32_t)s.waker.who.row))
			tui_say(t, "the row of who woke it is not shown: t shows others");
	}
	view_slice_free(&s);
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

/* A time as the text of a column. */
static uint64_t time_in(const struct row_sum *s, size_t column)
{
	const uint64_t times[NR_COLUMNS] = {
		s->running, s->state[VIEW_RUNNABLE] + s->state[VIEW_PREEMPTED],
		s->state[VIEW_BLOCKED], s->state[VIEW_SLEEPING], s->state[VIEW_UNKNOWN]};

	return times[column];
}

static int by_running(const void *a, const void *b)
{
	const struct row_sum *x = a, *y = b;

	if (x->running != y->running)
		return x->running < y->running ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* A name in a column of fixed width; longer names are cut. */
static void put_name(const struct buf *name, size_t width, struct buf *b)
{
	buf_puts(b, "  ");
	buf_put_left(b, name->data, name->len < width ? name->len : width, width);
}

static void put_time(const struct tui *t, uint64_t ns, struct buf *b)
{
	char text[TIMES_TEXT] = "-";

	if (ns)
		time_short(text, ns, t->nanoseconds);
	buf_put_right(b, text, strlen(text), TIME_COLUMN);
}

/* Which columns a list of sums has, a bit each. */
static unsigned int columns_of(const struct row_sums *sums, bool task)
{
	unsigned int shown = task ? (1u << (NR_COLUMNS - 1)) - 1 : 1;

	for (size_t i = 0; i < sums->n; i++)
		if (sums->at[i].state[VIEW_UNKNOWN])
			shown |= 1u << (NR_COLUMNS - 1);
	return shown;
}

static void put_sum(struct tui *t, const struct row_sum *s, uint64_t span, unsigned int shown,
		    struct buf *b)
{
	struct view_row r;
	scoped_buf name = buf_new(256);

	if (!view_row(t->view, s->row, NULL, &r))
		return;
	tui_row_name(t, &r, &name);
	put_name(&name, TASK_WIDTH, b);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		if (!(shown >> i & 1))
			continue;
		put_time(t, time_in(s, i), b);
		if (!i)
			buf_printf(b, "%6.1f%%", 100.0 * (double)s->running / (double)span);
	}
	buf_printf(b, "%9llu\n", (unsigned long long)s->switches);
}

static void put_rows(struct tui *t, struct row_sums *sums, const char *title, bool tasks,
		     uint64_t span, struct buf *b)
{
	const unsigned int shown = columns_of(sums, tasks);

	if (!sums->n)
		return;
	qsort(sums->at, sums->n, sizeof(*sums->at), by_running);
	buf_printf(b, "*%-*s", TASK_WIDTH + 2, title);
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (shown >> i & 1)
			buf_printf(b, "%*s%s", TIME_COLUMN, columns[i], i ? "" : "       ");
	buf_printf(b, "%9s\n", "switches");
	for (size_t i = 0; i < sums->n && i < MOST_TASKS; i++)
		put_sum(t, &sums->at[i], span, shown, b);
	if (sums->n > MOST_TASKS)
		buf_printf(b, "  and %zu more\n", sums->n - MOST_TASKS);
	buf_putc(b, '\n');
}

/* ---- by name ---- */

static void put_named(struct tui *t, const struct named_sum *s, struct buf *b)
{
	const char *text = s->name >= 0 ? view_name(t->view, (uint32_t)s->name) : NULL;
	scoped_buf name = buf_new(1024);

	buf_utf8(&name, text ? text : "?", text ? strlen(text) : 1);
	put_name(&name, NAME_WIDTH, b);
	buf_printf(b, "%9llu", (unsigned long long)s->count);
	put_time(t, s->total, b);
	put_time(t, s->max, b);
	buf_putc(b, '\n');
}

/* Those of some kinds, one kind after the other. */
static void put_names(struct tui *t, const struct range_sums *sums, enum sum_names first,
		      enum sum_names last, const char *title, struct buf *b)
{
	size_t n = 0;

	for (int kind = (int)first; kind <= (int)last; kind++)
		for (size_t i = 0; i < sums->names[kind].sums.n && n < MOST_NAMES; i++) {
			if (!n++)
				buf_printf(b, "*%-*s%9s%*s%*s\n", NAME_WIDTH + 2, title, "count",
					   TIME_COLUMN, "time", TIME_COLUMN, "longest");
			put_named(t, &sums->names[kind].sums.at[i], b);
		}
	if (n)
		buf_putc(b, '\n');
}

struct counted {
	uint32_t id;
	uint64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void put_events(struct tui *t, const struct range_sums *sums, struct buf *b)
{
	vec_of(struct counted) all = {0};

	for (uint32_t i = 0; i < sums->nr_events; i++) {
		const struct counted c = {i, sums->events[i]};

		if (c.count)
			vec_add(&all, &c);
	}
	if (all.n) {
		qsort(all.at, all.n, sizeof(all.at[0]), by_count);
		buf_printf(b, "*%-*s%9s\n", NAME_WIDTH + 2, "events", "count");
	}
	for (size_t i = 0; i < all.n && i < MOST_NAMES; i++) {
		const struct event *e = view_event(t->view, all.at[i].id, NULL);
		scoped_buf name = buf_new(256);

		buf_puts(&name, e ? e->name : "?");
		put_name(&name, NAME_WIDTH, b);
		buf_printf(b, "%9llu\n", (unsigned long long)all.at[i].count);
	}
	vec_free(&all);
}

void tui_page_sums(struct tui *t, int32_t how)
{
	struct tui_range r = t->range;
	const bool marked = tui_marked_range(t, &r);
	const struct sum_range range = sum_range_all(t->view, r.since, r.until, t->opt.stop);
	char from[TIMES_TEXT], span[TIMES_TEXT];
	struct range_sums sums;
	struct spur_error err = {0};
	const int rc = range_sums_read(&range, &sums);
	struct buf *b;

	if (rc == 0) {
		tui_page_open(t, marked ? "Between the markers" : "What is seen");
		b = &t->page.text;
		buf_printf(b, "%s from %s on\n\n",
			   time_exact(span, r.until - r.since, t->nanoseconds),
			   tui_stamp(t, from, r.since));
		put_rows(t, &sums.tasks, "tasks", true, r.until - r.since, b);
		put_rows(t, &sums.cpus, "CPUs", false, r.until - r.since, b);
		put_names(t, &sums, SUM_SYSCALLS, SUM_SYSCALLS, "system calls", b);
		put_names(t, &sums, SUM_FUNCTIONS, SUM_FUNCTIONS, "functions", b);
		put_names(t, &sums, SUM_IRQS, SUM_SOFTIRQS, "interrupts", b);
		put_events(t, &sums, b);
	} else {
		error_sys(&err, rc, "sum");
		tui_say(t, "%s", err.text);
	}
	range_sums_free(&sums);
}
