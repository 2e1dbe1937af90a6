// SPDX-License-Identifier: GPL-2.0-or-later
/* What a script can be told, found in its text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "script/script.h"

static const struct {
	const char *script;
	int rc;
	size_t n;
	struct getopt_call first; /* when n is not 0 */
} cases[] = {
	{"begin { exit(); }", 0, 0, {0}},
	{"begin { $a = getopt(\"x\"); }", 0, 1, {"x", GETOPT_FLAG, "", ""}},
	{"begin { $a = getopt(\"x\", false, \"help\"); }", 0, 1, {"x", GETOPT_FLAG, "", "help"}},
	{"begin { $a = getopt(\"x\", true); }", 0, 1, {"x", GETOPT_FLAG, "true", ""}},
	{"begin { $a = getopt(\"x\", 5, \"h\"); }", 0, 1, {"x", GETOPT_NUMBER, "5", "h"}},
	{"begin { $a = getopt(\"x\", -1); }", 0, 1, {"x", GETOPT_NUMBER, "-1", ""}},
	{"begin { $a = getopt(\"x\", \"y\", \"h\"); }", 0, 1, {"x", GETOPT_TEXT, "y", "h"}},
	{"begin /getopt(\"x\")/ { exit(); }", 0, 1, {"x", GETOPT_FLAG, "", ""}},
	{"end { if (1) { if (getopt(\"x\") == false) { exit(); } } }",
	 0,
	 1,
	 {"x", GETOPT_FLAG, "", ""}},
	{"macro m() { getopt(\"x\", 1) } begin { @ = m(); }", 0, 1, {"x", GETOPT_NUMBER, "1", ""}},
	/* The help may stand in one of several calls. */
	{"begin { @ = getopt(\"x\", 1); } end { @ = getopt(\"x\", 1, \"h\"); }",
	 0,
	 1,
	 {"x", GETOPT_NUMBER, "1", "h"}},
	{"begin { @ = getopt(\"x\", 1); @ = getopt(\"y\", 2); @ = getopt(\"x\", 1); }",
	 0,
	 2,
	 {"x", GETOPT_NUMBER, "1", ""}},
	{"begin { @ = getopt(\"x\", 1); @ = getopt(\"x\", 2); }", -EINVAL, 0, {0}},
	{"begin { @ = getopt(\"x\", 1); @ = getopt(\"x\"); }", -EINVAL, 0, {0}},
	/* What the checker will refuse. */
	{"begin { @ = getopt(5); @ = getopt(\"x\", pid); @ = getopt(); }", 0, 0, {0}},
	{"begin { ", -EINVAL, 0, {0}},
	{"", -EINVAL, 0, {0}},
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct getopt_call *first = &cases[i].first;
		struct spur_error err = {0};
		struct getopts g;

		print_message("%s\n", cases[i].script);
		assert_int_equal(
			getopts_read("test", cases[i].script, strlen(cases[i].script), &g, &err),
			cases[i].rc);
		assert_int_equal(err.code, cases[i].rc);
		if (cases[i].rc == 0)
			assert_int_equal(g.n, cases[i].n);
		if (cases[i].n) {
			assert_string_equal(g.at[0].name, first->name);
			assert_int_equal(g.at[0].kind, first->kind);
			assert_string_equal(g.at[0].usual, first->usual);
			assert_string_equal(g.at[0].help, first->help);
		}
		getopts_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
