// SPDX-License-Identifier: GPL-2.0-or-later
/* Percentiles of SQL: exact ones, those of buckets, and what memory they take. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "query/quantiles.h"

static int64_t at(struct quantiles *q, double p)
{
	int64_t value = 0;
	double as_real = 0;
	bool real = true;

	assert_true(quantiles_get(q, p, &value, &as_real, &real));
	assert_false(real);
	return value;
}

static void nearest_rank(void **state)
{
	static const struct {
		int n; /* values n … 1, times ten */
		double p;
		int64_t want;
	} cases[] = {
		{1, 0, 10},   {1, 50, 10},   {1, 100, 10},   {4, 25, 10},
		{4, 26, 20},  {4, 50, 20},   {4, 99, 40},    {5, 50, 30},
		{10, 90, 90}, {10, 91, 100}, {100, 99, 990}, {100, 99.5, 1000},
		{3, -5, 10},  {3, 200, 30},  {100, 55, 550}, {1000, 99.9, 9990},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct quantiles q = {0};
		size_t used = 0;

		for (int k = cases[i].n; k > 0; k--)
			assert_true(quantiles_add(&q, 10 * k, &used));
		assert_int_equal(at(&q, cases[i].p), cases[i].want);
		quantiles_free(&q, &used);
		assert_int_equal(used, 0);
	}
}

static void none(void **state)
{
	struct quantiles q = {0};
	int64_t value;
	double as_real;
	bool real;
	size_t used = 0;

	assert_false(quantiles_get(&q, 50, &value, &as_real, &real));
	quantiles_free(&q, &used);
}

static void reals(void **state)
{
	struct quantiles q = {0};
	int64_t value;
	double as_real = 0;
	bool real = false;
	size_t used = 0;

	assert_true(quantiles_add(&q, 7, &used));
	assert_true(quantiles_add_real(&q, 0.25, &used));
	assert_true(quantiles_add(&q, -3, &used));
	assert_true(quantiles_get(&q, 50, &value, &as_real, &real));
	assert_true(real);
	assert_true(as_real == 0.25);
	quantiles_free(&q, &used);
}

/* More values than are kept, over all sizes and both signs. */
static void buckets(void **state)
{
	static const int64_t scales[] = {1, -1, 1000, -1000000, 1ll << 40};

	for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]); k++) {
		const int64_t n = QUANTILES_EXACT + 1000;
		struct quantiles q = {0};
		size_t used = 0;

		for (int64_t i = 1; i <= n; i++)
			assert_true(quantiles_add(&q, i * scales[k], &used));
		assert_non_null(q.buckets);
		assert_int_equal(used, 0);
		for (int p = 1; p < 100; p++) {
			const double rank = scales[k] > 0 ? p : 100 - p;
			const double want = (double)n * rank / 100 * (double)scales[k];

			assert_true(fabs((double)at(&q, p) - want) <= fabs(want) * 0.0041);
		}
		quantiles_free(&q, &used);
	}
}

/* What several hold together has a limit; who meets it goes on with buckets. */
static void shared_memory(void **state)
{
	struct quantiles q[8] = {0};
	size_t used = 0;
	int in_buckets = 0;

	for (int i = 0; i < 8; i++)
		for (int k = 0; k < (int)QUANTILES_EXACT; k++)
			assert_true(quantiles_add(&q[i], 1000, &used));
	assert_true(used <= QUANTILES_MEMORY);
	for (int i = 0; i < 8; i++) {
		in_buckets += q[i].buckets != NULL;
		assert_true(llabs(at(&q[i], 50) - 1000) <= 4);
		quantiles_free(&q[i], &used);
	}
	assert_true(in_buckets > 0);
	assert_int_equal(used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_rank),	 cmocka_unit_test(none),
		cmocka_unit_test(reals),	 cmocka_unit_test(buckets),
		cmocka_unit_test(shared_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
