// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines and what the table of options makes of them; numbers and times. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The program's own is in main.c; this one keeps the message. */
static char message[300];

void cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
}

struct options {
	bool quick, plain;
	const char *text;
	int64_t number;
	char called[40];
};

static int take(void *options, const struct opt *o, const char *arg)
{
	struct options *to = options;
	size_t len = strlen(to->called);

	if (arg && strcmp(arg, "bad") == 0)
		return opt_error(o, "not this one");
	snprintf(to->called + len, sizeof(to->called) - len, "(%s)", arg ? arg : "none");
	return 0;
}

#define AT(field) offsetof(struct options, field)

static const struct opt table[] = {
	{.kind = OPT_GROUP, .help = "A heading"},
	{'q', "quick", OPT_FLAG, NULL, "", AT(quick)},
	{0, "no-quick", OPT_CLEAR, NULL, "", AT(quick)},
	{'p', NULL, OPT_FLAG, NULL, "", AT(plain)},
	{'t', "text", OPT_STRING, "TEXT", "", AT(text)},
	{0, "texture", OPT_STRING, "TEXT", "", AT(text)},
	{'n', "number", OPT_NUMBER, "N", "", AT(number)},
	{'c', "call", OPT_CALL, "[X]", "", .call = take},
	{'d', "demand", OPT_CALL, "X", "", .call = take},
	{'a', "apart", OPT_CALL, "[X]", "", .call = take, .apart = true},
};

static const struct command command = {
	.name = "test", .summary = "", .usage = "", .opts = table, .nr_opts = ARRAY_SIZE(table)};

#define MAX_ARGS 6

static const struct {
	const char *args[MAX_ARGS];
	int rc; /* or how many other arguments */
	struct options want;
	const char *message; /* part of it */
} lines[] = {
	{{0}, 0, {0}, NULL},
	{{"a", "-q", "b"}, 2, {.quick = true}, NULL},
	{{"-qp"}, 0, {.quick = true, .plain = true}, NULL},
	{{"--quick", "--no-quick"}, 0, {0}, NULL},
	{{"--no-quick", "--quick"}, 0, {.quick = true}, NULL},
	{{"--qu"}, 0, {.quick = true}, NULL},
	{{"-t", "x"}, 0, {.text = "x"}, NULL},
	{{"-tx"}, 0, {.text = "x"}, NULL},
	{{"-qtx"}, 0, {.quick = true, .text = "x"}, NULL},
	{{"--text", "x"}, 0, {.text = "x"}, NULL},
	{{"--text=x=y"}, 0, {.text = "x=y"}, NULL},
	{{"--text="}, 0, {.text = ""}, NULL},
	{{"--text", "-q"}, 0, {.text = "-q"}, NULL},
	{{"--textu=x"}, 0, {.text = "x"}, NULL},
	{{"--tex=x"}, -EINVAL, {0}, "ambiguous option '--tex=x'"},
	{{"-n", "0x10"}, 0, {.number = 16}, NULL},
	{{"-n", "ten"}, -EINVAL, {0}, "--number: 'ten' is not a number"},
	{{"-c"}, 0, {.called = "(none)"}, NULL},
	{{"-cx", "--call", "--call=y"}, 0, {.called = "(x)(none)(y)"}, NULL},
	{{"-c", "x"}, 1, {.called = "(none)"}, NULL},
	{{"-a"}, 0, {.called = "(none)"}, NULL},
	{{"-a", "x", "y"}, 1, {.called = "(x)"}, NULL},
	{{"-ax", "y", "--apart", "z"}, 1, {.called = "(x)(z)"}, NULL},
	{{"-a", "-q", "--apart"}, 0, {.quick = true, .called = "(none)(none)"}, NULL},
	{{"-d", "bad"}, -EINVAL, {0}, "--demand: not this one"},
	{{"-d"}, -EINVAL, {0}, "needs a value: X"},
	{{"--demand"}, -EINVAL, {0}, "needs a value: X"},
	{{"--quick=1"}, -EINVAL, {0}, "takes no value"},
	{{"-x"}, -EINVAL, {0}, "unknown option '-x'"},
	{{"--x"}, -EINVAL, {0}, "unknown option '--x'"},
	{{"--", "-q"}, 1, {0}, NULL},
	{{"-"}, 1, {0}, NULL},
};

static void test_lines(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *argv[MAX_ARGS + 2] = {(char *)"test"};
		struct options got = {0};
		int argc = 1, rc;

		while (argc <= MAX_ARGS && lines[i].args[argc - 1]) {
			argv[argc] = (char *)lines[i].args[argc - 1];
			argc++;
		}
		message[0] = '\0';
		rc = opts_parse(&command, &got, argc, argv);
		if (rc != lines[i].rc)
			fail_msg("line %zu: %d, not %d: %s", i, rc, lines[i].rc, message);
		if (lines[i].message && !strstr(message, lines[i].message))
			fail_msg("line %zu says '%s'", i, message);
		if (rc < 0)
			continue;
		assert_int_equal(got.quick, lines[i].want.quick);
		assert_int_equal(got.plain, lines[i].want.plain);
		assert_int_equal(got.number, lines[i].want.number);
		assert_string_equal(got.text ? got.text : "(null)",
				    lines[i].want.text ? lines[i].want.text : "(null)");
		assert_string_equal(got.called, lines[i].want.called);
		assert_null(argv[rc]);
	}
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		bool good;
		int64_t value;
	} cases[] = {
		{"0", true, 0},
		{"-5", true, -5},
		{"+5", true, 5},
		{"010", true, 10},
		{"0x10", true, 16},
		{"2k", true, 2000},
		{"3M", true, 3000000},
		{"-1G", true, -1000000000},
		{"9223372036854775807", true, INT64_MAX},
		{"9223372036854775808", false, 0},
		{"9223372036854775807k", false, 0},
		{"1kM", false, 0},
		{"1kk", false, 0},
		{"1 ", false, 0},
		{" 1", false, 0},
		{"", false, 0},
		{"-", false, 0},
		{"k", false, 0},
		{"--1", false, 0},
		{"1.5", false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t value = 0;

		if (parse_number(cases[i].text, &value) != cases[i].good ||
		    (cases[i].good && value != cases[i].value))
			fail_msg("'%s' became %lld", cases[i].text, (long long)value);
	}
}

static void test_times(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t ns;
	} cases[] = {
		{"0", true, 0},
		{"1", true, 1000000000},
		{"1.5", true, 1500000000},
		{".5", true, 500000000},
		{"1.", true, 1000000000},
		{"44.776459089", true, 44776459089},
		{"0.0000000019", true, 1},
		{"1.5s", true, 1500000000},
		{"20ms", true, 20000000},
		{"1.25us", true, 1250},
		{"7ns", true, 7},
		{"7.9ns", true, 7},
		{"18446744073709551615ns", true, UINT64_MAX},
		{"18446744073709551616ns", false, 0},
		{"18446744073.709551615", true, UINT64_MAX},
		{"18446744073.709551616", false, 0},
		{"99999999999999999999", false, 0},
		{"", false, 0},
		{".", false, 0},
		{"-1", false, 0},
		{" 1", false, 0},
		{"1e3", false, 0},
		{"1.5e3", false, 0},
		{"1h", false, 0},
		{"0x10", false, 0},
		{"inf", false, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t ns = 0;

		if (parse_time(cases[i].text, &ns) != cases[i].good ||
		    (cases[i].good && ns != cases[i].ns))
			fail_msg("'%s' became %llu", cases[i].text, (unsigned long long)ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
