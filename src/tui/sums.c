// SPDX-License-Identifier: GPL-2.0-or-later
/* What the time between the markers adds up to, or what is seen when there are none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "tui/parts.h"
#include "tui/times.h"
#include "view/api.h"

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
