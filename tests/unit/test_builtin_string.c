// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * src/lang: what looks into strings. Each script runs in the executor, where the code is the same
 * that the kernel gets; needles that repeat themselves are what the search has to be right about.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "script/script.h"

static int take(void *arg, const char *data, size_t len, bool errors)
{
	buf_put(arg, data, len);
	return 0;
}

/* What a script writes before the end. */
static void run(const char *text, const struct bpf_features *features, struct buf *to)
{
	const struct script_options options = {.name = "script",
					       .text = text,
					       .len = strlen(text),
					       .features = features,
					       .quiet = true,
					       .stop_fd = -1,
					       .print_fd = -1,
					       .write = take,
					       .arg = to};
	struct spur_error err = {0};
	struct script *s;
	int status;

	buf_reset(to);
	if (script_open(&options, &s, &err) < 0 || script_run(s, &status, &err) < 0)
		fail_msg("%s: %s%s", text, err.text, s ? script_messages(s) : "");
	script_close(s);
}

static const struct {
	const char *hay, *needle;
	int at;
} searches[] = {
	{"hello world", "wor", 6},
	{"hello", "", 0},
	{"", "", 0},
	{"", "a", -1},
	{"hello", "hello", 0},
	{"hello", "hello!", -1},
	{"aaab", "aab", 1},
	{"abcabcabd", "abcabd", 3},
	{"ababac", "abac", 2},
	{"aabaaabaaac", "aaac", 7},
	{"abababab", "ababb", -1},
	{"xyz", "z", 2},
	{"aaaaaaaa", "aaaaaaaab", -1},
	{"abaababaab", "ababaab", 3},
};

static void test_strstr(void **state)
{
	struct bpf_features no_loop;
	struct buf out, want;
	char text[256];

	bpf_features_init(&no_loop);
	no_loop.state[FEATURE_LOOP] = FEATURE_NO;
	buf_init(&out, 1 << 16);
	buf_init(&want, 1 << 16);
	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
		/* The variable's string is longer than what is in it. */
		snprintf(text, sizeof(text),
			 "begin { $n = \"0123456789012345678901234567890123456789012345678\"; "
			 "$n = \"%s\"; printf(\"%%d %%d\\n\", strstr(\"%s\", $n), "
			 "strcontains(\"%s\", \"%s\")); exit(); }",
			 searches[i].needle, searches[i].hay, searches[i].hay, searches[i].needle);
		buf_reset(&want);
		buf_printf(&want, "%d %d\n", searches[i].at, searches[i].at >= 0);
		for (int loop = 0; loop < 2; loop++) {
			run(text, loop ? NULL : &no_loop, &out);
			if (strncmp(buf_str(&out), buf_str(&want), want.len) != 0)
				fail_msg("%s: %s", text, buf_str(&out));
		}
	}
	buf_free(&out);
	buf_free(&want);
}

static const struct {
	const char *expression, *shown;
} values[] = {
	{"strlen(\"\")", "0"},
	{"strlen($s)", "5"},
	{"strlen((uint8[4])0x00434241)", "3"},
	{"strlen((uint8[4])0x44434241)", "4"},
	{"strcap(\"abc\")", "4"},
	{"strncmp($s, \"hexxx\", 2)", "0"},
	{"strncmp($s, \"hexxx\", 3) != 0", "true"},
	{"strncmp($s, \"hello\", 100)", "0"},
	{"strncmp($s, \"hexxx\", $two)", "0"},
	{"memcmp($s, \"hello\", 5)", "0"},
	{"memcmp(\"a\", \"b\", 1) < 0", "true"},
	{"memcmp(\"b\", \"a\", 1) > 0", "true"},
	{"str_concat($s, \"\")", "hello"},
	{"str_concat(\"\", $s)", "hello"},
	{"str_concat(str_concat($s, \" \"), $s)", "hello hello"},
	{"strlen(str_concat($s, $s))", "10"},
	{"buf($s, 3)", "hel"},
	{"buf($s, $two)", "he"},
	{"len($s)", "5"},
	{"bswap(0x1234)", "13330"},
	{"bswap(0x12)", "18"},
};

static void test_values(void **state)
{
	struct buf out;
	char text[256];

	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const size_t len = strlen(values[i].shown);

		snprintf(text, sizeof(text),
			 "begin { $s = \"hello\"; $two = 2; print(%s); exit(); }",
			 values[i].expression);
		run(text, NULL, &out);
		if (strncmp(buf_str(&out), values[i].shown, len) != 0 || out.data[len] != '\n')
			fail_msg("%s: %s", values[i].expression, buf_str(&out));
	}
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strstr),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
