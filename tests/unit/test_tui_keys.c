// SPDX-License-Identifier: GPL-2.0-or-later
/* src/tui: what keys do to what is seen, over a recording whose numbers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/internal.h"
#include "tui_fixture.h"

#define WIDTH  80
#define HEIGHT 24
#define NONE   UINT64_MAX /* it does not matter */

static void test_keys(void **state)
{
	static const struct {
		const char *keys;
		uint64_t since, until, cursor, event; /* NONE: whatever it is */
		enum tui_focus focus;
	} cases[] = {
		{"", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		/* 64 columns: a column is 606897.25 ns. */
		{"l", 0, TUI_SPAN, 606898, NONE, TUI_TIMELINE},
		{"<right><right>", 0, TUI_SPAN, 1213795, NONE, TUI_TIMELINE},
		{"llh", 0, TUI_SPAN, 606898, NONE, TUI_TIMELINE},
		{"h", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"<end>", 0, TUI_SPAN, TUI_SPAN - 1, 907, TUI_TIMELINE},
		{"<end>l", 0, TUI_SPAN, TUI_SPAN - 1, 907, TUI_TIMELINE},
		{"<end><home>", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		/* The cursor stays where it is. */
		{"+", 0, 19420711, 0, 0, TUI_TIMELINE},
		{"w", 0, 19420711, 0, 0, TUI_TIMELINE},
		{"<end>+", 19420711, TUI_SPAN, TUI_SPAN - 1, 907, TUI_TIMELINE},
		{"-", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"++--", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"++f", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"+d", 4855178, 24275889, 4855178, NONE, TUI_TIMELINE},
		{"+da", 0, 19420711, 4855178, NONE, TUI_TIMELINE},
		{"+dddddddd", 19420712, TUI_SPAN, 19420712, NONE, TUI_TIMELINE},
		/* A row of zooms is one step back. */
		{"+++<back>", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"+d<back>", 0, 19420711, 4855178, NONE, TUI_TIMELINE},
		{"+d<back>]", 4855178, 24275889, 4855178, NONE, TUI_TIMELINE},
		{"<back>", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		/* Times. */
		{"g44.78<enter>", 0, TUI_SPAN, 3540911, 48, TUI_TIMELINE},
		{"g+1ms<enter>g+500us<enter>", 0, TUI_SPAN, 1500000, NONE, TUI_TIMELINE},
		{"g2ms<enter>g-1ms<enter>", 0, TUI_SPAN, 1000000, NONE, TUI_TIMELINE},
		{"g50%<enter>", 0, TUI_SPAN, 19420711, NONE, TUI_TIMELINE},
		{"g99<enter>", 0, TUI_SPAN, TUI_SPAN - 1, 907, TUI_TIMELINE},
		{"gnonsense<enter>", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"g44.78<esc>", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"g44.79<back>8<enter>", 0, TUI_SPAN, 3540911, 48, TUI_TIMELINE},
		{"+g100%<enter>", 19420712, TUI_SPAN, TUI_SPAN - 1, 907, TUI_TIMELINE},
		/* The list, and the cursor that follows it. */
		{"<tab>j", 0, TUI_SPAN, 126908, 1, TUI_LIST},
		{"<tab>jjk", 0, TUI_SPAN, 126908, 1, TUI_LIST},
		{"<tab><end>", 0, TUI_SPAN, 38841422, 907, TUI_LIST},
		{"<tab><end>j", 0, TUI_SPAN, 38841422, 907, TUI_LIST},
		{"<tab><end><home>", 0, TUI_SPAN, 0, 0, TUI_LIST},
		{"<tab>k", 0, TUI_SPAN, 0, 0, TUI_LIST},
		{"<tab><pgdn>", 0, TUI_SPAN, NONE, 6, TUI_LIST},
		{"<tab><pgdn><pgup>", 0, TUI_SPAN, 0, 0, TUI_LIST},
		{"<tab>.", 0, TUI_SPAN, 126908, 1, TUI_LIST},
		{"<enter>", 0, TUI_SPAN, 0, 0, TUI_LIST},
		{"<tab>j<enter>", 0, TUI_SPAN, 126908, 1, TUI_TIMELINE},
		/* Slices: of CPU 0 the second one begins when the first ends. */
		{".", 0, TUI_SPAN, 4660809, NONE, TUI_TIMELINE},
		{"..,", 0, TUI_SPAN, 4660809, NONE, TUI_TIMELINE},
		{".,", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{",", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		/* Hits. */
		{"/sched_switch<enter>", 0, TUI_SPAN, 1686347, 46, TUI_TIMELINE},
		{"/sched_switch<enter>n", 0, TUI_SPAN, 4660809, 52, TUI_TIMELINE},
		{"/sched_switch<enter>nN", 0, TUI_SPAN, 1686347, 46, TUI_TIMELINE},
		{"/sched_switch<enter>N", 0, TUI_SPAN, 1686347, 46, TUI_TIMELINE},
		{"/sched_switch<enter><end>N", 0, TUI_SPAN, 38546656, 905, TUI_TIMELINE},
		{"/sched_switch: next_pid == 22<enter>", 0, TUI_SPAN, 8785501, NONE, TUI_TIMELINE},
		{"/no such thing<enter>n", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"/nonsense: x == 1<enter>n", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"n", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		/* Markers. */
		{"lAllBz", 606898, 1820693, 1820692, NONE, TUI_TIMELINE},
		{"llBhhAz", 0, 1213796, 0, 0, TUI_TIMELINE},
		{"z", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		/* What is open takes keys for itself. */
		{"?+<esc>", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"?jjj<esc>+", 0, 19420711, 0, 0, TUI_TIMELINE},
		{"/+++<esc>", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"vv<esc>", 0, TUI_SPAN, 0, 0, TUI_LIST},
		{"v", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
		{"Z", 0, TUI_SPAN, 0, 0, TUI_TIMELINE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tui_fixture f;
		const struct tui *t;

		tui_fixture_open(&f, (struct tui_options){0}, WIDTH, HEIGHT);
		t = f.tui;
		assert_true(tui_fixture_type(&f, cases[i].keys));
		if (t->range.since != cases[i].since || t->range.until != cases[i].until ||
		    (cases[i].cursor != NONE && t->cursor != cases[i].cursor) ||
		    (cases[i].event != NONE && t->list.selected != cases[i].event) ||
		    t->focus != cases[i].focus)
			fail_msg("%s: %llu to %llu, cursor %llu, event %llu, focus %d; %s",
				 cases[i].keys, (unsigned long long)t->range.since,
				 (unsigned long long)t->range.until, (unsigned long long)t->cursor,
				 (unsigned long long)t->list.selected, t->focus, t->message);
		tui_fixture_close(&f);
	}
}

static void test_end(void **state)
{
	struct tui_fixture f;

	tui_fixture_open(&f, (struct tui_options){0}, WIDTH, HEIGHT);
	/* In a prompt it is a letter, and a page is closed by it. */
	assert_true(tui_fixture_type(&f, "/q<esc>?q"));
	assert_false(tui_fixture_type(&f, "q"));
	tui_fixture_close(&f);
}

static void test_rows(void **state)
{
	static const struct {
		const char *keys;
		size_t items;
		uint32_t selected;
		const char *name; /* of the selected row; NULL: a CPU or a counter */
	} cases[] = {
		/* 2 CPUs, how many tasks can run, 10 tasks */
		{"", 13, 0, NULL},
		{"j", 13, 1, NULL},
		{"jjj", 13, 3, "wl"},
		{"k", 13, 0, NULL},
		{"<end>", 13, 0, NULL},
		{"<pgdn><pgdn><pgdn>", 13, 12, NULL},
		{"t", 3, 0, NULL},
		{"tt", 10, 0, "wl"},
		{"ttt", 13, 3, "wl"},
		{"jjjt", 3, 2, NULL},
		/* A CPU has softirqs and events to unfold. */
		{"o", 15, 0, NULL},
		{"oo", 13, 0, NULL},
		{"ojj", 15, 2, NULL},
		{"ojjo", 13, 0, NULL},
		{"jjjo", 15, 3, "wl"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tui_fixture f;
		const struct tui_item *item;

		tui_fixture_open(&f, (struct tui_options){0}, WIDTH, HEIGHT);
		tui_fixture_type(&f, cases[i].keys);
		item = &f.tui->items.at[f.tui->selected];
		if (f.tui->items.n != cases[i].items || f.tui->selected != cases[i].selected ||
		    (cases[i].name &&
		     (!item->info.name || strcmp(item->info.name, cases[i].name) != 0)))
			fail_msg("%s: %zu items, %zu is selected", cases[i].keys, f.tui->items.n,
				 f.tui->selected);
		tui_fixture_close(&f);
	}
}

static void test_mouse(void **state)
{
	struct tui_fixture f;
	struct tui *t;
	int32_t gutter;

	tui_fixture_open(&f, (struct tui_options){0}, WIDTH, HEIGHT);
	t = f.tui;
	gutter = t->layout.gutter;
	tui_mouse(t, TUI_CLICK, gutter + 2, t->layout.rows + 1);
	tui_draw(t);
	assert_int_equal(t->selected, 1);
	assert_int_equal(t->cursor, 1213795);
	tui_mouse(t, TUI_CLICK, 5, t->layout.list + 2);
	tui_draw(t);
	assert_int_equal(t->focus, TUI_LIST);
	assert_int_equal(t->list.selected, t->list.top + 2);
	/* The wheel zooms around where it is, and scrolls the list. */
	tui_mouse(t, TUI_WHEEL_UP, gutter + 63, t->layout.rows);
	tui_draw(t);
	assert_true(t->range.since > 0 && t->range.until < TUI_SPAN);
	tui_mouse(t, TUI_WHEEL_DOWN, 5, t->layout.list);
	tui_draw(t);
	/* Anywhere else, and outside: nothing happens. */
	for (int32_t y = -1; y <= HEIGHT; y++)
		for (int32_t x = -1; x <= WIDTH; x += 9)
			for (int what = TUI_CLICK; what <= TUI_WHEEL_DOWN; what++) {
				tui_mouse(t, (enum tui_mouse)what, x, y);
				tui_draw(t);
			}
	assert_true(t->cursor >= t->range.since && t->cursor < t->range.until);
	tui_fixture_close(&f);
}

/* Every key in every state, at every size: what is said of the range and the cursor holds. */
static void test_any(void **state)
{
	static const int32_t sizes[][2] = {{80, 24}, {20, 5}, {1, 1}, {300, 3}, {7, 60}, {200, 50}};
	struct tui_fixture f;
	uint32_t random = 1;

	tui_fixture_open(&f, (struct tui_options){.ascii = true, .mono = true}, 80, 24);
	for (int i = 0; i < 3000; i++) {
		random = random * 1103515245 + 12345;
		if (i % 100 == 0)
			tui_resize(f.tui, sizes[random >> 16 & 3][0], sizes[random >> 18 & 3][1]);
		if (random >> 20 & 1)
			tui_key(f.tui, TUI_UP + (random >> 24) % 10);
		else
			tui_key(f.tui, (random >> 24) % 127 + 1);
		f.tui->over = false;
		tui_news(f.tui);
		tui_draw(f.tui);
		assert_true(f.tui->range.until > f.tui->range.since);
		assert_true(f.tui->cursor >= f.tui->range.since);
		assert_true(f.tui->cursor < f.tui->range.until);
		assert_true(f.tui->selected < f.tui->items.n);
		assert_true(f.tui->list.selected < 908);
	}
	tui_fixture_close(&f);
}

static void test_times(void **state)
{
	static const struct {
		uint64_t ns;
		const char *exact, *brief;
	} cases[] = {
		{0, "0 ns", "0ns"},
		{999, "999 ns", "999ns"},
		{1000, "1.000 us", "1.000us"},
		{12345, "12.345 us", "12.35us"},
		{3540911, "3.540911 ms", "3.541ms"},
		{123456789, "123.456789 ms", "123.5ms"},
		{61000000001, "61.000000001 s", "61.00s"},
	};
	char text[TIMES_TEXT];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(time_exact(text, cases[i].ns, true), cases[i].exact);
		assert_string_equal(time_short(text, cases[i].ns, true), cases[i].brief);
	}
	assert_string_equal(time_exact(text, 1000, false), "1000");
	assert_string_equal(time_stamp(text, 44776459089, true), "44.776459089");
	assert_int_equal(time_step(1), 1);
	assert_int_equal(time_step(3), 5);
	assert_int_equal(time_step(5001), 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys), cmocka_unit_test(test_end),
		cmocka_unit_test(test_rows), cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_any),  cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
