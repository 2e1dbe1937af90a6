// SPDX-License-Identifier: GPL-2.0-or-later
/* Distributions, exact and in buckets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/dist.h"

static int by_value(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The n values that a seed stands for, over many orders of magnitude. */
static int64_t *make_values(size_t n, uint64_t seed)
{
	int64_t *v = malloc(n * sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		v[i] = (int64_t)(seed >> 24 >> (seed >> 10) % 38);
	}
	return v;
}

static void check_quantiles(size_t n, double tolerance)
{
	static const double qs[] = {0, 0.01, 0.5, 0.9, 0.99, 1};
	int64_t *v = make_values(n, n), low, high;
	struct dist d = {0};

	for (size_t i = 0; i < n; i++)
		dist_add(&d, v[i]);
	qsort(v, n, sizeof(*v), by_value);
	assert_int_equal(d.n, n);
	assert_int_equal(d.min, v[0]);
	assert_int_equal(d.max, v[n - 1]);
	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
		const size_t rank = (size_t)ceil(qs[i] * (double)n);
		const int64_t want = v[rank ? rank - 1 : 0], got = dist_quantile(&d, qs[i]);

		assert_true(fabs((double)(got - want)) <= tolerance * (double)want);
		dist_quantile_range(&d, qs[i], &low, &high);
		assert_true(low <= got && got <= high);
		assert_true(dist_at_most(&d, got) >= rank);
	}
	assert_int_equal(dist_at_most(&d, d.min - 1), 0);
	assert_int_equal(dist_at_most(&d, d.max), n);
	free(v);
	dist_free(&d);
}

static void test_quantiles(void **state)
{
	check_quantiles(1, 0);
	check_quantiles(2, 0);
	check_quantiles(1000, 0);
	check_quantiles(DIST_EXACT, 0);
	check_quantiles(DIST_EXACT + 1, 1.0 / 128);
	check_quantiles(100000, 1.0 / 128);
}

/* Fractions that a double cannot hold: 0.55 is a bit more than that. */
static void test_ranks(void **state)
{
	static const struct {
		int n; /* values 1 … n */
		double q;
		int64_t want;
	} cases[] = {{100, 0.55, 55}, {1000, 99.9 / 100, 999}, {20, 0.95, 19}, {100, 0.551, 56}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dist d = {0};

		for (int v = 1; v <= cases[i].n; v++)
			dist_add(&d, v);
		assert_int_equal(dist_quantile(&d, cases[i].q), cases[i].want);
		dist_free(&d);
	}
}

static void test_empty(void **state)
{
	struct dist d = {0}, other = {0};

	assert_int_equal(dist_quantile(&d, 0.5), 0);
	assert_int_equal(dist_at_most(&d, 5), 0);
	assert_true(dist_stddev(&d) == 0);
	assert_true(dist_compare(&d, &other).probability == 1);
	dist_merge(&d, &other);
	assert_int_equal(d.n, 0);
}

static void test_extremes(void **state)
{
	struct dist d = {0};

	for (int i = 0; i < 2 * DIST_EXACT; i++)
		dist_add(&d, i % 2 ? INT64_MAX : INT64_MIN);
	assert_true(d.min == INT64_MIN && d.max == INT64_MAX);
	assert_true(dist_quantile(&d, 1) == INT64_MAX);
	dist_free(&d);
}

static void test_deviation(void **state)
{
	static const int64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct dist d = {0};

	for (size_t i = 0; i < 8; i++)
		dist_add(&d, values[i]);
	assert_true(fabs(d.mean - 5) < 1e-9);
	assert_true(fabs(dist_stddev(&d) - sqrt(32.0 / 7)) < 1e-9);
	dist_free(&d);
}

/* Two halves that are put together are what one would have been. */
static void check_merge(size_t n, size_t cut)
{
	struct dist whole = {0}, a = {0}, b = {0};
	int64_t *v = make_values(n, 7);

	for (size_t i = 0; i < n; i++) {
		dist_add(&whole, v[i]);
		dist_add(i < cut ? &a : &b, v[i]);
	}
	dist_merge(&a, &b);
	assert_int_equal(a.n, whole.n);
	assert_int_equal(a.min, whole.min);
	assert_int_equal(a.max, whole.max);
	assert_true(fabs(a.sum - whole.sum) <= 1e-9 * whole.sum);
	assert_true(fabs(dist_stddev(&a) - dist_stddev(&whole)) <= 1e-6 * dist_stddev(&whole));
	for (double q = 0; q <= 1; q += 0.125)
		assert_int_equal(dist_quantile(&a, q), dist_quantile(&whole, q));
	free(v);
	dist_free(&a);
	dist_free(&b);
	dist_free(&whole);
}

static void test_merge(void **state)
{
	check_merge(100, 30);
	check_merge(DIST_EXACT + 100, 50);
	check_merge(DIST_EXACT + 100, DIST_EXACT + 50);
	check_merge(5 * DIST_EXACT, 2 * DIST_EXACT);
	check_merge(2 * DIST_EXACT, 0);
}

static struct dist evenly(int64_t from, int64_t to, int64_t step)
{
	struct dist d = {0};

	for (int64_t v = from; v < to; v += step)
		dist_add(&d, v);
	return d;
}

static void test_compare(void **state)
{
	struct dist a = evenly(0, 1000, 1), same = evenly(0, 1000, 1), half = evenly(500, 1500, 1);
	struct dist many = evenly(0, 1000000, 10);
	struct dist_ks ks = dist_compare(&a, &same);

	assert_true(ks.distance == 0 && ks.probability == 1);
	ks = dist_compare(&a, &half);
	assert_true(fabs(ks.distance - 0.5) < 1e-9 && ks.probability < 1e-6);
	assert_true(ks.at >= 499 && ks.at <= 999);
	/* One in buckets, the other not yet. */
	ks = dist_compare(&many, &half);
	assert_true(fabs(ks.distance - 0.9985) < 0.01);
	/* That one is as exact as before. */
	assert_int_equal(dist_quantile(&half, 0.9), 1399);
	dist_free(&a);
	dist_free(&same);
	dist_free(&half);
	dist_free(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_extremes),  cmocka_unit_test(test_deviation),
		cmocka_unit_test(test_merge),	  cmocka_unit_test(test_compare),
		cmocka_unit_test(test_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
