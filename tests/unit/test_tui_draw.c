// SPDX-License-Identifier: GPL-2.0-or-later
/* src/tui: what is drawn, as text; and that no text of a file drives a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/screen.h"
#include "tui_fixture.h"

static void expect(const struct screen *s, const char *wanted)
{
	struct buf b;

	buf_init(&b, 1u << 20);
	screen_dump(s, &b);
	if (strcmp(buf_str(&b), wanted) != 0)
		fail_msg("is\n%s\nshould be\n%s", buf_str(&b), wanted);
	buf_free(&b);
}

static void test_pictures(void **state)
{
	static const struct {
		int32_t width, height;
		bool ascii;
		const char *keys, *picture, *file; /* NULL: TUI_SAMPLE */
	} cases[] = {
#include "tui_pictures.h"
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tui_fixture f;

		tui_fixture_open_file(&f, cases[i].file ? cases[i].file : TUI_SAMPLE,
				      (struct tui_options){.mono = true, .ascii = cases[i].ascii},
				      cases[i].width, cases[i].height);
		tui_fixture_type(&f, cases[i].keys);
		expect(&f.tui->screen, cases[i].picture);
		tui_fixture_close(&f);
	}
}

/* What is in a cell is one character that a terminal shows, whatever was drawn. */
static void test_safe(void **state)
{
	static const struct {
		const char *text, *shown, *ascii;
	} cases[] = {
		{"plain", "plain", "plain"},
		{"\033[31mred\033[0m", "?[31mred?[0m", "?[31mred?[0m"},
		{"\033]0;title\007", "?]0;title?", "?]0;title?"},
		{"a\tb\nc\rd\be\177f", "a b c?d?e?f", "a b c?d?e?f"},
		{"\302\233"
		 "31m",
		 "?31m", "?31m"}, /* CSI as a character */
		{"\233"
		 "31m",
		 "?31m", "?31m"}, /* and as a byte */
		{"\303\251t\303\251", "\303\251t\303\251", "?t?"},
		{"\342\200\256abc", "?abc", "?abc"},	  /* turns the direction of writing */
		{"e\314\201", "e?", "e?"},		  /* an accent of its own */
		{"\346\227\245\346\234\254", "??", "??"}, /* two columns wide */
		{"\377\376\300\200\355\240\200", "???????", "???????"},
		{"\360\237\230", "???", "???"},
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int ascii = 0; ascii < 2; ascii++) {
			struct screen s = {.ascii = ascii};
			struct buf wanted;

			buf_init(&wanted, 100);
			buf_printf(&wanted, "%s\n", ascii ? cases[i].ascii : cases[i].shown);
			assert_int_equal(screen_resize(&s, 40, 1), 0);
			screen_text(&s, 0, 0, 40, cases[i].text, screen_usual);
			expect(&s, buf_str(&wanted));
			buf_free(&wanted);
			screen_free(&s);
		}
}

static void test_cut(void **state)
{
	struct screen s = {.ascii = true};

	assert_int_equal(screen_resize(&s, 8, 2), 0);
	assert_int_equal(screen_text(&s, 0, 0, 5, "abcde", screen_usual), 5);
	assert_int_equal(screen_text(&s, 0, 1, 5, "abcdef", screen_usual), 5);
	/* Outside there is nothing, and nothing happens. */
	screen_text(&s, 7, 0, 5, "xyz", screen_usual);
	screen_text(&s, 0, 2, 5, "xyz", screen_usual);
	screen_text(&s, -2, 0, 1, "xyz", screen_usual);
	expect(&s, "abcde  x\nabcd~\n");
	assert_int_equal(screen_resize(&s, 0, 5) < 0, true);
	assert_int_equal(screen_resize(&s, 1 << 30, 1 << 30) < 0, true);
	screen_free(&s);
}

static void test_colours(void **state)
{
	assert_int_equal(colour_256(0x000000), 16);
	assert_int_equal(colour_256(0xffffff), 231);
	assert_int_equal(colour_256(0x87afd7), 110);
	assert_int_equal(colour_256(0x767676), 243);
	assert_int_equal(colour_8(colour_256(0x77aadd)), 4);
	assert_int_equal(colour_8(colour_256(0x5f5fff)), 4);
	assert_int_equal(colour_8(colour_256(0xd75f5f)), 1);
	assert_int_equal(colour_8(colour_256(0x5faf5f)), 2);
	assert_int_equal(colour_8(colour_256(0xeedd88)), 3);
	assert_int_equal(colour_8(colour_256(0xc0c0c0)), 7);
	/* The same program looks the same. */
	assert_int_equal(colour_of_name("kworker/3:1"), colour_of_name("kworker/0:2"));
	assert_true(colour_of_name(NULL) >= 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_safe),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
