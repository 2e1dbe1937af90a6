// SPDX-License-Identifier: GPL-2.0-or-later
/* The index of a trace of a few records: what it says, and what it makes of wrong tables. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/index/cache.h"
#include "view_fixture.h"

static struct view_fixture fixture;

static int begin(void **state)
{
	view_fixture_make(&fixture);
	return 0;
}

static int end(void **state)
{
	view_fixture_free(&fixture);
	return 0;
}

static struct view_index *build(uint32_t threads)
{
	const struct view_index_options opt = {.threads = threads};
	struct view_index *x = view_index_open("made up", &fixture.trace, &opt, NULL);

	assert_non_null(x);
	while (view_index_progress(x) < 1)
		view_index_wait(x, view_index_generation(x), 20);
	assert_int_equal(view_index_error(x, NULL), 0);
	return x;
}

/* By row: a CPU's records, of which every eighth is of a type that is not described. */
static void test_rows(void **state)
{
	for (uint32_t threads = 1; threads <= 4; threads++) {
		struct view_index *x = build(threads);
		struct view_tile t = {0};
		struct view_row r;

		assert_int_equal(view_index_origin(x), 5000);
		assert_int_equal(view_index_records(x), 80);
		assert_int_equal(view_index_duration(x), 39 * 101 + 1);
		assert_int_equal(view_index_count(x, 0), 70);
		assert_int_equal(view_index_count(x, 1), 10);
		assert_int_equal(view_index_rows(x), 5);
		for (uint32_t i = 0; i < VIEW_FIXTURE_CPUS; i++) {
			assert_true(view_index_row(x, i, &r));
			assert_int_equal(r.kind, VIEW_CPU_ROW);
			assert_int_equal(r.number, i);
			assert_int_equal(r.events, VIEW_FIXTURE_RECORDS);
			assert_int_equal(r.first, i);
			assert_int_equal(r.nr_tracks, 1);
			assert_int_equal(view_index_tile(x, i, 0, 20, 0, &t), 0);
			assert_int_equal(t.intervals.n, VIEW_FIXTURE_RECORDS);
			assert_int_equal(t.intervals.at[7].value, UINT32_MAX);
			assert_int_equal(t.intervals.at[8].value, 0);
		}
		for (int pid = 1; pid <= 3; pid++) {
			const int64_t row = view_index_find_task(x, 0, pid);

			assert_true(view_index_row(x, (uint32_t)row, &r));
			assert_int_equal(r.number, pid);
			assert_int_equal(r.events, 20);
		}
		assert_int_equal(view_index_find_task(x, 0, 0), -1);
		assert_int_equal(view_index_tile(x, 0, 1, 20, 0, &t), -ENOENT);
		assert_int_equal(view_index_tile(x, 5, 0, 20, 0, &t), -ENOENT);
		view_tile_free(&t);
		view_index_close(x);
	}
}

static void test_numbers(void **state)
{
	/* Records of CPU 0 at 0, 100, 200, …, of CPU 1 at 1, 102, 203, … */
	static const struct {
		uint64_t ts, n;
	} cases[] = {{0, 0},   {1, 1},	   {2, 2},     {100, 2},   {101, 3},   {102, 3},
		     {103, 4}, {3900, 78}, {3940, 79}, {3941, 80}, {99999, 80}};
	struct view_index *x = build(2);
	uint64_t n, first, ts;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(view_index_ordinal(x, cases[i].ts, &n), 0);
		assert_int_equal(n, cases[i].n);
	}
	assert_int_equal(view_index_seek(x, 79, &first, &ts), 0);
	assert_int_equal(view_index_seek(x, 80, &first, &ts), -ENOENT);
	view_index_close(x);
}

/* An index from tables; whether they were accepted. */
static bool read_back(const uint8_t *data, size_t len)
{
	const struct view_index_options opt = {.threads = 1};
	struct view_index *x = index_new(&fixture.trace, &opt, NULL);
	struct cursor c = cursor_over(data, len, false);
	struct view_tile t = {0};
	struct view_row r;
	bool good;

	assert_non_null(x);
	good = cache_get_tables(x, &c);
	for (unsigned int i = 0; i < NR_BUILDERS; i++)
		x->builders[i].done = 1;
	/* Whatever it is, it can be asked. */
	for (uint32_t i = 0; good && view_index_row(x, i, &r); i++)
		for (uint32_t k = 0; k < r.nr_tracks; k++)
			assert_int_equal(view_index_tile(x, i, k, 10, 0, &t), 0);
	view_tile_free(&t);
	view_index_close(x);
	return good;
}

static void test_tables(void **state)
{
	struct view_index *x = build(1);
	struct buf b;

	buf_init(&b, 1 << 16);
	assert_true(cache_put_tables(x, &b));
	view_index_close(x);
	assert_true(read_back((const uint8_t *)b.data, b.len));
	for (size_t i = 0; i < b.len; i++) {
		/* At its exact length, so that a read behind the end is seen. */
		uint8_t *cut = malloc(i + 1);

		assert_non_null(cut);
		memcpy(cut, b.data, i);
		assert_false(read_back(cut, i));
		free(cut);
	}
	for (size_t i = 0; i < b.len; i++)
		for (int bit = 0; bit < 8; bit += 3) {
			b.data[i] ^= (char)(1 << bit);
			read_back((const uint8_t *)b.data, b.len);
			b.data[i] ^= (char)(1 << bit);
		}
	buf_free(&b);
}

static void test_header(void **state)
{
	const struct cache_header h = {
		.trace = {1, 2, 3, 4, 5, 6}, .tables = 7, .sum = 8, .store = 9};
	struct cache_header got;
	struct cursor c;
	struct buf b;

	buf_init(&b, CACHE_HEADER);
	cache_put_header(&h, &b);
	assert_int_equal(b.len, CACHE_HEADER);
	c = cursor_over(b.data, b.len, false);
	assert_true(cache_get_header(&c, &got));
	assert_memory_equal(&got, &h, sizeof(h));
	/* Another magic, another format. */
	for (size_t i = 0; i < 16; i++) {
		b.data[i] ^= 1;
		c = cursor_over(b.data, b.len, false);
		assert_false(cache_get_header(&c, &got));
		b.data[i] ^= 1;
	}
	buf_free(&b);
}

static void test_classes(void **state)
{
	static const struct {
		const char *system, *name, *class;
	} cases[] = {
		{"sched", "sched_switch", "sched"}, {"raw_syscalls", "sys_enter", "syscalls"},
		{"ftrace", "print", "user"},	    {"ftrace", "function", "functions"},
		{"kmem", "kmalloc", "memory"},	    {"mine", "whatever", "other"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct event e = {.system = cases[i].system, .name = cases[i].name};

		assert_string_equal(view_classes[view_class(&e)], cases[i].class);
	}
	assert_string_equal(view_classes[view_class(NULL)], "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_tables),	cmocka_unit_test(test_header),
		cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
