// SPDX-License-Identifier: GPL-2.0-or-later
/* Small tables: alignment, and what texts of strangers must not do to CSV, JSON and Markdown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/grid.h"

static const struct grid_column columns[] = {{"TASK", "task", false}, {"TIME", "time", true}};

/* A table of one row with this text and "1.5 us", which is 1500. */
struct text_case {
	const char *name;
	const char *text; /* NULL: an empty cell */
	const char *aligned, *csv, *json, *markdown;
};

static const struct text_case text_cases[] = {
	{"a plain text", "worker", "worker  1.5 us", "worker,1500", "\"worker\"", "worker"},
	{"shorter than its head", "a", "a     1.5 us", "a,1500", "\"a\"", "a"},
	{"nothing", NULL, "      1.5 us", ",1500", "null", ""},
	{"an empty text", "", "      1.5 us", ",1500", "\"\"", ""},
	{"characters of several bytes", "größe", "größe  1.5 us", "größe,1500", "\"größe\"",
	 "größe"},
	{"a comma and quotes", "a,\"b\"", "a,\"b\"  1.5 us", "\"a,\"\"b\"\"\",1500",
	 "\"a,\\\"b\\\"\"", "a,\"b\""},
	{"lines and tabs", "a\nb\tc", "a?b?c  1.5 us", "a?b?c,1500", "\"a?b?c\"", "a?b?c"},
	{"what would drive a terminal", "a\033[2Jb", "a?[2Jb  1.5 us", "a?[2Jb,1500", "\"a?[2Jb\"",
	 "a?[2Jb"},
	{"a byte that is no text", "a\xff", "a?    1.5 us", "a?,1500", "\"a?\"", "a?"},
	{"what Markdown would take for a cell", "a|b\\c", "a|b\\c  1.5 us", "a|b\\c,1500",
	 "\"a|b\\\\c\"", "a\\|b\\\\c"},
	{"what Markdown would take for HTML", "<idle>", "<idle>  1.5 us", "<idle>,1500",
	 "\"<idle>\"", "\\<idle>"},
	{"what Markdown would make bold", "*a*`b`&amp;", "*a*`b`&amp;  1.5 us", "*a*`b`&amp;,1500",
	 "\"*a*`b`&amp;\"", "\\*a\\*\\`b\\`\\&amp;"},
};

static void put(const struct grid *g, enum grid_format format, bool bold, const char *want)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	grid_put(g, format, bold, &out);
	assert_string_equal(buf_str(&out), want);
	assert_false(buf_full(&out));
	buf_free(&out);
}

static void test_texts(void **state)
{
	for (size_t i = 0; i < sizeof(text_cases) / sizeof(text_cases[0]); i++) {
		const struct text_case *c = &text_cases[i];
		char want[400];
		struct buf out;
		struct grid g;

		print_message("%s\n", c->name);
		grid_init(&g, columns, 2);
		if (c->text)
			grid_text(&g, c->text);
		else
			grid_empty(&g);
		grid_shown(&g, "1.5 us", 1500);
		assert_false(g.failed);

		buf_init(&out, 1 << 20);
		grid_put(&g, GRID_TEXT, false, &out);
		snprintf(want, sizeof(want), "%s\n", c->aligned);
		assert_string_equal(strchr(buf_str(&out), '\n') + 1, want);
		buf_free(&out);
		snprintf(want, sizeof(want), "task,time\n%s\n", c->csv);
		put(&g, GRID_CSV, false, want);
		snprintf(want, sizeof(want), "[{\"task\":%s,\"time\":1500}]", c->json);
		put(&g, GRID_JSON, false, want);
		snprintf(want, sizeof(want), "| TASK | TIME |\n| --- | ---: |\n| %s | 1.5 us |\n",
			 c->markdown);
		put(&g, GRID_MARKDOWN, false, want);
		grid_free(&g);
	}
}

static void test_alignment(void **state)
{
	static const struct grid_column three[] = {
		{"A", "a", true}, {"LONG", "b", false}, {"C", "c", false}};
	struct grid g;

	grid_init(&g, three, 3);
	grid_number(&g, -1234567);
	grid_text(&g, "x");
	grid_text(&g, "last");
	grid_number(&g, 5);
	grid_empty(&g);
	grid_empty(&g);
	put(&g, GRID_TEXT, false,
	    "       A  LONG  C\n"
	    "-1234567  x     last\n"
	    "       5\n");
	put(&g, GRID_RULED, false,
	    "       A  LONG  C\n"
	    "--------  ----  ----\n"
	    "-1234567  x     last\n"
	    "       5\n");
	put(&g, GRID_TEXT, true,
	    "\033[1m       A  LONG  C\033[0m\n"
	    "-1234567  x     last\n"
	    "       5\n");
	put(&g, GRID_JSON, false,
	    "[{\"a\":-1234567,\"b\":\"x\",\"c\":\"last\"},\n {\"a\":5,\"b\":null,\"c\":null}]");
	grid_free(&g);
}

static void test_numbers(void **state)
{
	struct grid g;

	grid_init(&g, columns, 2);
	grid_number(&g, INT64_MIN);
	grid_number(&g, INT64_MAX);
	grid_decimal(&g, 12.345, 1);
	grid_decimal(&g, NAN, 1);
	put(&g, GRID_CSV, false, "task,time\n-9223372036854775808,9223372036854775807\n12.3,\n");
	put(&g, GRID_JSON, false,
	    "[{\"task\":-9223372036854775808,\"time\":9223372036854775807},\n"
	    " {\"task\":12.3,\"time\":null}]");
	grid_free(&g);
}

static void test_empty(void **state)
{
	struct grid g;

	grid_init(&g, columns, 2);
	put(&g, GRID_TEXT, false, "TASK  TIME\n");
	put(&g, GRID_CSV, false, "task,time\n");
	put(&g, GRID_JSON, false, "[]");
	/* A row that is not complete is not shown. */
	grid_text(&g, "half");
	put(&g, GRID_CSV, false, "task,time\n");
	grid_free(&g);
}

/* A name that fills memory is cut, not refused, and does not take the others with it. */
static void test_long(void **state)
{
	const size_t len = 1 << 20;
	char *text = malloc(len + 1);
	struct buf out;
	struct grid g;

	assert_non_null(text);
	memset(text, 'a', len);
	text[len] = '\0';
	grid_init(&g, columns, 2);
	grid_text(&g, text);
	grid_number(&g, 7);
	buf_init(&out, 4 << 20);
	grid_put(&g, GRID_CSV, false, &out);
	assert_true(out.len > 1000 && out.len < len);
	assert_string_equal(buf_str(&out) + out.len - 3, ",7\n");
	buf_free(&out);
	grid_free(&g);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),	cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
