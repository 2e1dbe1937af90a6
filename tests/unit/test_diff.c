// SPDX-License-Identifier: GPL-2.0-or-later
/* Requirements, and the statistics of comparisons. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/diff_require.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- requirements ---- */

static const struct {
	const char *text;
	const char *family, *key; /* key NULL: none */
	struct diff_required_stat stat, less;
	enum diff_operator op;
	double limit;
	bool relative;
} good[] = {
	{"wakeup.max < 200us", "wakeup", NULL, {DIFF_STAT_MAX, 0}, {0}, DIFF_LESS, 200e3, false},
	{"wakeup.max<200us", "wakeup", NULL, {DIFF_STAT_MAX, 0}, {0}, DIFF_LESS, 200e3, false},
	{" wakeup[loop].p99 <= 1ms",
	 "wakeup",
	 "loop",
	 {DIFF_STAT_QUANTILE, 0.99},
	 {0},
	 DIFF_AT_MOST,
	 1e6,
	 false},
	{"wakeup.p99.9 > 1.5 s",
	 "wakeup",
	 NULL,
	 {DIFF_STAT_QUANTILE, 0.999},
	 {0},
	 DIFF_MORE,
	 1.5e9,
	 false},
	{"period.max-min < 50us",
	 "period",
	 NULL,
	 {DIFF_STAT_MAX, 0},
	 {DIFF_STAT_MIN, 0},
	 DIFF_LESS,
	 50e3,
	 false},
	{"period.p99-p50 < 5\302\265s",
	 "period",
	 NULL,
	 {DIFF_STAT_QUANTILE, 0.99},
	 {DIFF_STAT_QUANTILE, 0.5},
	 DIFF_LESS,
	 5e3,
	 false},
	{"softirq-time[TIMER].avg >= 10ns",
	 "softirq-time",
	 "TIMER",
	 {DIFF_STAT_AVERAGE, 0},
	 {0},
	 DIFF_AT_LEAST,
	 10,
	 false},
	{"irq.median < 1us", "irq", NULL, {DIFF_STAT_QUANTILE, 0.5}, {0}, DIFF_LESS, 1e3, false},
	{"irq.stddev < 1us", "irq", NULL, {DIFF_STAT_STDDEV, 0}, {0}, DIFF_LESS, 1e3, false},
	{"syscall[read].count == 100",
	 "syscall",
	 "read",
	 {DIFF_STAT_COUNT, 0},
	 {0},
	 DIFF_EQUAL,
	 100,
	 false},
	{"rate[sched_switch] < 1000", "rate", "sched_switch", {0}, {0}, DIFF_LESS, 1000, false},
	{"rate < 1000/s", "rate", NULL, {0}, {0}, DIFF_LESS, 1000, false},
	{"running[loop] < 30%", "running", "loop", {0}, {0}, DIFF_LESS, 0.3, false},
	{"running[loop] < 130% of A", "running", "loop", {0}, {0}, DIFF_LESS, 1.3, true},
	{"wakeup.p99 < 110%",
	 "wakeup",
	 NULL,
	 {DIFF_STAT_QUANTILE, 0.99},
	 {0},
	 DIFF_LESS,
	 1.1,
	 true},
	{"wakeup.p99 < 110 % of A",
	 "wakeup",
	 NULL,
	 {DIFF_STAT_QUANTILE, 0.99},
	 {0},
	 DIFF_LESS,
	 1.1,
	 true},
	{"wakeup[kworker/0:1].max < 1s",
	 "wakeup",
	 "kworker/0:1",
	 {DIFF_STAT_MAX, 0},
	 {0},
	 DIFF_LESS,
	 1e9,
	 false},
	{"function[f [ext4]].max < 1s",
	 "function",
	 "f [ext4]",
	 {DIFF_STAT_MAX, 0},
	 {0},
	 DIFF_LESS,
	 1e9,
	 false},
	{"function[a.b].max < 1s",
	 "function",
	 "a.b",
	 {DIFF_STAT_MAX, 0},
	 {0},
	 DIFF_LESS,
	 1e9,
	 false},
	{"wakeup[<...>].max < 1s",
	 "wakeup",
	 "<...>",
	 {DIFF_STAT_MAX, 0},
	 {0},
	 DIFF_LESS,
	 1e9,
	 false},
	{"lost == 0", "lost", NULL, {0}, {0}, DIFF_EQUAL, 0, false},
};

static const char *const bad[] = {
	"",
	"wakeup",
	"wakeup.max",
	"wakeup.max <",
	"wakeup.max < us",
	"wakeup.max < 200",
	"wakeup.max < 200 parsecs",
	"wakeup.max < 1.2.3us",
	"wakeup.max ! 200us",
	"wakeup.biggest < 1us",
	"wakeup[].max < 1us",
	"wakeup[loop.max < 1us",
	"wakeup.p0 < 1us",
	"wakeup.p101 < 1us",
	"wakeup.p < 1us",
	"wakeup.max- < 1us",
	"wakeup.max-big < 1us",
	"rate < 5us",
	"wakeup.max < 110% of B",
	"wakeup.max < -5us",
	"wakeup.max < nans",
	"< 5us",
	"[loop].max < 1us",
	"wakeup.max < 99999999999999999999999999999999999999s",
	"wakeup.max < 0x10us",
};

static void test_good(void **state)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		struct spur_error err = {0};
		struct diff_requirement r;
		const int rc = diff_requirement_parse(&r, good[i].text, &err);

		if (rc < 0)
			fail_msg("%s: %s", good[i].text, err.text);
		assert_int_equal(r.family_len, strlen(good[i].family));
		assert_memory_equal(r.family, good[i].family, r.family_len);
		assert_int_equal(r.key != NULL, good[i].key != NULL);
		if (r.key) {
			assert_int_equal(r.key_len, strlen(good[i].key));
			assert_memory_equal(r.key, good[i].key, r.key_len);
		}
		if (r.stat.kind != good[i].stat.kind || r.less.kind != good[i].less.kind ||
		    fabs(r.stat.q - good[i].stat.q) > 1e-9 ||
		    fabs(r.less.q - good[i].less.q) > 1e-9)
			fail_msg("%s: another number", good[i].text);
		if (r.op != good[i].op || fabs(r.limit - good[i].limit) > 1e-6 ||
		    r.relative != good[i].relative)
			fail_msg("%s: another limit, %g", good[i].text, r.limit);
	}
}

static void test_bad(void **state)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct spur_error err = {0};
		struct diff_requirement r;

		if (diff_requirement_parse(&r, bad[i], &err) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_non_null(strstr(err.text, bad[i]));
	}
}

/* What is well written, but about nothing that there is. */
static void test_check(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"wakeup.max < 1us", NULL},
		{"rate[x] < 1", NULL},
		{"lost == 0", NULL},
		{"wakup.max < 1us", "did you mean 'wakeup'"},
		{"rate.max < 1us", "is one number"},
		{"wakeup < 1", "which number"},
		{"period.max < 1us", "--period"},
		{"latency.max < 1us", "--from"},
		{"lost[x] == 0", "just a number"},
	};
	struct diff d;

	diff_init(&d, &(struct diff_options){0});
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct spur_error err = {0};
		struct diff_requirement r;
		int rc = diff_requirement_parse(&r, cases[i].text, &err);

		assert_int_equal(rc, 0);
		rc = diff_requirement_check(&d, &r, &err);
		assert_int_equal(rc, cases[i].says ? -EINVAL : 0);
		if (cases[i].says && !strstr(err.text, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.text);
	}
	diff_free(&d);
}

/* ---- statistics ---- */

/* Holm's own way: the smallest is multiplied by the number of tests, the next by one less, … */
static void test_correct(void **state)
{
	double p[] = {0.01, 0.04, 0.03, 0.005, 0.9};
	const double want[] = {0.04, 0.09, 0.09, 0.025, 0.9};

	assert_true(diff_correct(p, COUNT(p)));
	for (size_t i = 0; i < COUNT(p); i++)
		assert_true(fabs(p[i] - want[i]) < 1e-12);
	assert_true(diff_correct(p, 0));
}

static void test_enough(void **state)
{
	uint64_t n = 1;

	assert_false(diff_enough(0, 0.5));
	assert_false(diff_enough(5, 0.5));
	assert_true(diff_enough(20, 0.5));
	assert_false(diff_enough(300, 0.99));
	assert_true(diff_enough(1000, 0.99));
	assert_false(diff_enough(1000, 1));
	/* Once there are enough, more of them never are too few. */
	while (!diff_enough(n, 0.9))
		n++;
	assert_in_range(n, 30, 100);
}

static void test_range(void **state)
{
	const double value[] = {100, 150}, low[] = {90, 110}, high[] = {130, 190};
	double from, to;

	diff_range(value, low, high, &from, &to);
	/* 40 down and 30 up are 50 together; 40 up and 10 down some 41. */
	assert_true(fabs(from - 0) < 1e-9);
	assert_true(fabs(to - (50 + sqrt(1700))) < 1e-9);
}

static void test_series(void **state)
{
	struct diff_series even = {0}, burst = {0}, spread = {0};
	const uint64_t second = 1000000000;
	double sum = 0;

	for (uint64_t i = 0; i < 6400; i++) {
		diff_series_add(&even, i * (second / 6400), 1);
		diff_series_add(&burst, second / 2 + i, 1);
	}
	/* Even ones say nothing of an error; of a burst the rate is as uncertain as it is large. */
	assert_true(diff_series_error(&even, second) * 1e9 < 20);
	assert_true(diff_series_error(&burst, second) * 1e9 > 5000);
	diff_series_spread(&spread, 1234567, 777777777);
	diff_series_spread(&spread, 777777777, 777777777);
	for (size_t i = 0; i < DIFF_STRETCHES; i++)
		sum += spread.at[i];
	assert_true(fabs(sum - (777777777 - 1234567)) < 1);
	assert_true(diff_series_error(&(struct diff_series){0}, 5) == 0);
	/* The end of all times. */
	diff_series_add(&even, UINT64_MAX, 1);
	diff_series_spread(&spread, UINT64_MAX - 10, UINT64_MAX);
}

static void test_shown(void **state)
{
	static const struct {
		enum diff_unit unit;
		double value;
		const char *text;
	} cases[] = {
		{DIFF_TIME, 0, "0 ns"},		 {DIFF_TIME, 999, "999 ns"},
		{DIFF_TIME, 1500, "1.500 us"},	 {DIFF_TIME, -1500, "-1.500 us"},
		{DIFF_TIME, 123456, "123.5 us"}, {DIFF_TIME, 999960, "1.000 ms"},
		{DIFF_TIME, 2.5e9, "2.500 s"},	 {DIFF_RATE, 1234.4, "1234 /s"},
		{DIFF_RATE, 12.34, "12.3 /s"},	 {DIFF_RATE, 0.25, "0.25 /s"},
		{DIFF_PART, 0.255, "25.5 %"},	 {DIFF_PART, 0.0123, "1.23 %"},
		{DIFF_TIME, NAN, "-"},
	};
	char text[64];

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(
			diff_shown(text, sizeof(text), cases[i].unit, false, cases[i].value),
			cases[i].text);
	assert_string_equal(diff_change(text, sizeof(text), 100, 150), "+50 %");
	assert_string_equal(diff_change(text, sizeof(text), 100, 95), "-5.0 %");
	assert_string_equal(diff_change(text, sizeof(text), 100, 500), "x 5.0");
	assert_string_equal(diff_change(text, sizeof(text), 100, -500), "-100 %");
	assert_string_equal(diff_change(text, sizeof(text), 0, 5), "-");
	assert_string_equal(diff_probability(text, sizeof(text), 0), "<1e-9");
	assert_string_equal(diff_probability(text, sizeof(text), 0.25), "0.250");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),   cmocka_unit_test(test_bad),
		cmocka_unit_test(test_check),  cmocka_unit_test(test_correct),
		cmocka_unit_test(test_enough), cmocka_unit_test(test_range),
		cmocka_unit_test(test_series), cmocka_unit_test(test_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
