// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributions by group of rows that are made here; histograms; what becomes of too much. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "stats/latency.h"
#include "measure/latency_live.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct row {
	uint64_t ts;
	int64_t dur;
	int64_t pid;
	const char *comm;
	const char *open;
};

static const struct column columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct row, ts), ""},
	{"dur", COLUMN_DURATION, offsetof(struct row, dur), ""},
	{"pid", COLUMN_NUMBER, offsetof(struct row, pid), ""},
	{"comm", COLUMN_TEXT, offsetof(struct row, comm), ""},
	{"open", COLUMN_TEXT, offsetof(struct row, open), ""},
};

static const struct table table = {.name = "rows",
				   .columns = columns,
				   .nr_columns = ARRAY_SIZE(columns),
				   .row_size = sizeof(struct row)};
static const struct latency_kind kind = {.name = "test", .value = "dur", .cpu = "pid"};

static const struct row rows[] = {
	{1, 100, 1, "a", NULL}, {2, 300, 1, "a", NULL},	 {3, 50, 2, "a", NULL},
	{4, 7, 3, NULL, NULL},	{5, 999, 1, "a", "end"}, {6, ROW_NULL, 1, "a", NULL},
	{7, 300, 9, "b", NULL},
};

static const struct {
	const char *by;
	enum latency_order order;
	const char *groups; /* label:count:max */
} cases[] = {
	{NULL, LATENCY_BY_MAX, ""},
	{"comm", LATENCY_BY_MAX, "a:3:300 b:1:300 ?:1:7 "},
	{"comm", LATENCY_BY_COUNT, "a:3:300 ?:1:7 b:1:300 "},
	{"comm", LATENCY_BY_AVG, "b:1:300 a:3:300 ?:1:7 "},
	{"comm", LATENCY_BY_TOTAL, "a:3:300 b:1:300 ?:1:7 "},
	{"comm", LATENCY_BY_NAME, "?:1:7 a:3:300 b:1:300 "},
	{"task", LATENCY_BY_NAME, "?-3:1:7 a-1:2:300 a-2:1:50 b-9:1:300 "},
	{"cpu", LATENCY_BY_NAME, "1:2:300 2:1:50 3:1:7 9:1:300 "},
	{"pid,comm", LATENCY_BY_P99, "1 a:2:300 9 b:1:300 2 a:1:50 3 ?:1:7 "},
};

static void test_groups(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct latency_options opt = {
			.kind = &kind, .table = &table, .by = cases[i].by, .worst = 3};
		struct spur_error err = {0};
		struct latency l;
		struct buf got;

		assert_int_equal(latency_init(&l, &opt, &err), 0);
		for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
			latency_row(&l, &rows[k]);
		assert_int_equal(latency_finish(&l, cases[i].order, &err), 0);
		assert_true(l.all.dist.n == 5 && l.open_rows == 1 && l.unknown_rows == 1);
		assert_int_equal(l.worst.n, 3);
		/* The earlier one of equal ones first. */
		assert_true(((struct row *)l.worst.at[0].row)->ts == 2);
		assert_true(((struct row *)l.worst.at[1].row)->ts == 7);
		assert_true(l.worst.at[2].value == 100);
		buf_init(&got, 4096);
		for (size_t k = 0; k < l.groups.n; k++) {
			latency_label(&l, l.groups.at[k], &got);
			buf_printf(&got, ":%llu:%lld ", (unsigned long long)l.groups.at[k]->dist.n,
				   (long long)l.groups.at[k]->dist.max);
		}
		assert_string_equal(buf_str(&got), cases[i].groups);
		buf_free(&got);
		latency_free(&l);
	}
}

static void test_no_column(void **state)
{
	const struct latency_options opt = {.kind = &kind, .table = &table, .by = "com"};
	struct spur_error err = {0};
	struct latency l;

	assert_int_equal(latency_init(&l, &opt, &err), -EINVAL);
	assert_non_null(strstr(err.text, "did you mean 'comm'?"));
	latency_free(&l);
}

/* Too many groups share one; too many values cost quantiles, but not counts and extremes. */
static void test_much(void **state)
{
	const struct latency_options opt = {.kind = &kind, .table = &table, .by = "pid"};
	struct spur_error err = {0};
	uint64_t without = 0, sum = 0;
	struct latency l;

	assert_int_equal(latency_init(&l, &opt, &err), 0);
	for (int64_t i = 0; i < 20100; i++)
		for (int64_t k = 0; k < 600; k++)
			latency_row(&l, &(struct row){.dur = k, .pid = i});
	assert_int_equal(latency_finish(&l, LATENCY_BY_COUNT, &err), 0);
	assert_int_equal(l.groups.n, 20001);
	assert_true(l.groups.at[20000]->rest && l.groups.at[20000]->dist.n == 100 * 600);
	for (size_t i = 0; i < 20000; i++) {
		const struct dist *d = &l.groups.at[i]->dist;

		without += d->failed;
		sum += d->n;
		assert_true(d->n == 600 && d->min == 0 && d->max == 599);
		assert_true(d->failed || dist_quantile((struct dist *)d, 0.5) == 299);
	}
	assert_true(without > 0 && without < 20000 && sum == 20000 * 600);
	assert_true(!l.all.dist.failed && l.all.dist.n == 20100 * 600);
	latency_free(&l);
}

/* Many equal values at once are the same as one after the other. */
static void test_many(void **state)
{
	static const uint64_t counts[] = {1, 3, 5000, 0, 20000};
	struct dist one = {0}, many = {0};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		const int64_t value = 1000 * (int64_t)i + 7;

		for (uint64_t k = 0; k < counts[i]; k++)
			dist_add(&one, value);
		dist_add_many(&many, value, counts[i]);
		assert_true(one.n == many.n && one.min == many.min && one.max == many.max);
		assert_true(one.sum == many.sum && (int64_t)one.mean == (int64_t)many.mean);
		assert_true((int64_t)dist_stddev(&one) == (int64_t)dist_stddev(&many));
		for (double q = 0; q <= 1; q += 0.125)
			assert_true(dist_quantile(&one, q) == dist_quantile(&many, q));
	}
	dist_free(&one);
	dist_free(&many);
}

/* ---- histograms ---- */

static void test_log2(void **state)
{
	static const int64_t values[] = {0, 1, 2, 3, 4, 1023, 1024, INT64_MAX};
	struct dist d = {0};
	struct bars b = {0};
	struct buf text;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		dist_add(&d, values[i]);
	assert_true(bars_log2(&b, &d));
	buf_init(&text, 1 << 16);
	bars_json(&b, &text);
	assert_non_null(strstr(buf_str(&text),
			       "[{\"from\": 0, \"to\": 1, \"count\": 1}, {\"from\": 1, \"to\": 2, "
			       "\"count\": 1}, {\"from\": 2, \"to\": 4, \"count\": 2}, "));
	assert_non_null(strstr(buf_str(&text), "\"to\": 9223372036854775807, \"count\": 1}]"));
	buf_reset(&text);
	bars_print(&b, BARS_POWERS, "", &text);
	assert_non_null(strstr(buf_str(&text), "\n[512, 1K)              1 |@@@"));
	assert_non_null(strstr(buf_str(&text), "\n[2, 4)                 2 |@@@"));
	bars_free(&b);
	dist_free(&d);
	buf_free(&text);
}

static void test_linear(void **state)
{
	struct bars b = {0};
	struct buf text;

	buf_init(&text, 1 << 20);
	assert_true(bars_add(&b, 1000, 1500) && bars_add(&b, 1000, 0) && bars_add(&b, 1000, -3));
	bars_print(&b, BARS_TIMES, "", &text);
	assert_non_null(strstr(buf_str(&text), "[0, 1us)               2 |"));
	assert_non_null(strstr(buf_str(&text), "[1us, 2us)             1 |"));
	/* Whatever is beyond all ranges is in the last one. */
	assert_true(bars_add(&b, 1000, INT64_MAX));
	buf_reset(&text);
	bars_print(&b, BARS_NUMBERS, "", &text);
	assert_non_null(strstr(buf_str(&text), "[1000000, ...)         1 |"));
	bars_free(&b);
	buf_free(&text);
}

/* ---- scripts ---- */

/* What the kernel is asked to do, where nothing is needed from it to know. */
static void test_script(void **state)
{
	static const char *const names[] = {"a,b", "4-5"};
	struct latency_live o = {.by = "name", .who = {.pids = names + 1, .nr_pids = 1}};
	struct spur_error err = {0};
	struct buf text;

	buf_init(&text, 1 << 16);
	for (const struct latency_kind *k = latency_kinds; k->name; k++) {
		o.kind = k;
		o.by = k->by;
		buf_reset(&text);
		assert_int_equal(latency_live_script(&o, &text, &err), 0);
		assert_non_null(strstr(buf_str(&text), "hist($ns, 5)"));
		assert_non_null(strstr(buf_str(&text), ">= 4 && "));
	}
	o.by = "nam";
	buf_reset(&text);
	assert_int_equal(latency_live_script(&o, &text, &err), -EINVAL);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups), cmocka_unit_test(test_no_column),
		cmocka_unit_test(test_many),   cmocka_unit_test(test_much),
		cmocka_unit_test(test_log2),   cmocka_unit_test(test_linear),
		cmocka_unit_test(test_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
