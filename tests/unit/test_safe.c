// SPDX-License-Identifier: GPL-2.0-or-later
/* src/base/safe.c: what of a stranger's text reaches a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/safe.h"

static void test_put_safe(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"", ""},
		{"plain text\n\twith a tab", "plain text\n\twith a tab"},
		{"\033[31mred", "?[31mred"},
		{"bell\a, back\b, return\r, delete\177", "bell?, back?, return?, delete?"},
		{"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7", /* ü, ß, euro, penguin */
		 "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7"},
		{"\xc2\x9b"
		 "31m",
		 "??31m"},		  /* the control character as UTF-8 */
		{"\x9b\x31m", "?1m"},	  /* and as a byte */
		{"\xc2\xa0", "\xc2\xa0"}, /* the first harmless one behind them */
		{"\xc3", "?"},		  /* cut off */
		{"\xe2\x82", "??"},
		{"\xe2\x82x", "??x"},
		{"\xc3\x1b[m", "??[m"}, /* does not swallow what follows */
		{"\xff\xc0\xaf", "???"},
	};
	struct buf b;

	buf_init(&b, 1 << 16);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_reset(&b);
		buf_put_safe(&b, cases[i].from, strlen(cases[i].from));
		assert_string_equal(buf_str(&b), cases[i].to);
		/* In place, and only from there on. */
		buf_reset(&b);
		buf_puts(&b, "\033[1m");
		buf_puts(&b, cases[i].from);
		buf_clean(&b, 4);
		assert_memory_equal(b.data, "\033[1m", 4);
		assert_string_equal(buf_str(&b) + 4, cases[i].to);
	}
	buf_reset(&b);
	buf_put_safe(&b, "a\0b", 3);
	assert_string_equal(buf_str(&b), "a?b");
	buf_free(&b);
}

/* The colours of the program's own pass, and nothing that only looks like one. */
static void test_put_shown(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"\033[1mbold\033[0m", "\033[1mbold\033[0m"},
		{"\033[36mname\033[0m\n", "\033[36mname\033[0m\n"},
		{"\033[31", "?[31"},
		{"\033[8mhidden", "?[8mhidden"},
		{"\033[2J\033]0;title\a", "?[2J?]0;title?"},
		{"\033\033[0m", "?\033[0m"},
	};
	struct buf b;

	buf_init(&b, 1 << 16);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		buf_reset(&b);
		buf_put_shown(&b, cases[i].from, strlen(cases[i].from));
		assert_string_equal(buf_str(&b), cases[i].to);
	}
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_safe),
		cmocka_unit_test(test_put_shown),
	};

	return cmocka_run_group_tests_name("safe", tests, NULL, NULL);
}
