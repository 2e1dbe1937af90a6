// SPDX-License-Identifier: GPL-2.0-or-later
/* src/base: what everything else stands on. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/nanoseconds.h"
#include "base/num.h"
#include "base/order.h"
#include "base/strings.h"
#include "base/vec.h"

/* ---- spans of time ---- */

static void test_buf_span(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.000 us"},
		{999499, "999.499 us"},
		{999500, "1.000 ms"},
		{3803595, "3.804 ms"},
		{3803499, "3.803 ms"},
		{1999999999, "2.000 s"},
		{UINT64_MAX, "18446744073.710 s"},
	};
	struct buf b;

	buf_init(&b, 64);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&b);
		buf_span(&b, cases[i].ns);
		assert_string_equal(buf_str(&b), cases[i].text);
	}
	buf_free(&b);
}

static void test_num_span(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {
		{0, "0 ns"},
		{999, "999 ns"},
		{1000, "1.000 us"},
		{9999.4, "9.999 us"},
		{9999.5, "10.00 us"},
		{99994, "99.99 us"},
		{99995, "100.0 us"},
		{999949, "999.9 us"},
		{999950, "1.000 ms"},
		{-999, "-999 ns"},
		{-123456, "-123.5 us"},
		{-2500000, "-2.500 ms"},
		{999949999999.0, "999.9 s"},
		{1234567e9, "1234567 s"},
	};
	char text[40];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(num_span(text, sizeof(text), cases[i].ns), cases[i].text);
}

/* ---- num ---- */

static void test_num_decimal_and_hex(void **state)
{
	static const struct {
		uint64_t value;
		const char *dec, *hex;
	} cases[] = {
		{0, "0", "0"},
		{9, "9", "9"},
		{10, "10", "a"},
		{255, "255", "ff"},
		{1000000, "1000000", "f4240"},
		{UINT32_MAX, "4294967295", "ffffffff"},
		{INT64_MAX, "9223372036854775807", "7fffffffffffffff"},
		{UINT64_MAX, "18446744073709551615", "ffffffffffffffff"},
	};
	char out[NUM_MAX_DEC + 1];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		out[num_dec(out, cases[i].value)] = '\0';
		assert_string_equal(out, cases[i].dec);
		out[num_hex(out, cases[i].value)] = '\0';
		assert_string_equal(out, cases[i].hex);
	}
}

static void test_num_fixed(void **state)
{
	static const struct {
		uint64_t value;
		unsigned int digits;
		const char *text;
	} cases[] = {
		{0, 6, "000000"},	{42, 6, "000042"}, {123456, 6, "123456"},
		{1234567, 6, "234567"}, {7, 1, "7"},	   {999999999, 9, "999999999"},
	};
	char out[NUM_MAX_DEC + 1];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		num_dec_fixed(out, cases[i].value, cases[i].digits);
		out[cases[i].digits] = '\0';
		assert_string_equal(out, cases[i].text);
	}
}

/* ---- buf ---- */

static void test_buf_appends(void **state)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	buf_puts(&b, "a");
	buf_putc(&b, ':');
	buf_i64(&b, INT64_MIN);
	buf_putc(&b, ' ');
	buf_hex(&b, 0xabc);
	buf_u64_pad(&b, 7, 3, '0');
	buf_put_right(&b, "xy", 2, 4);
	buf_put_left(&b, "xy", 2, 4);
	buf_fill(&b, '-', 2);
	buf_printf(&b, "%s=%d", "k", 5);
	assert_string_equal(buf_str(&b), "a:-9223372036854775808 abc007  xyxy  --k=5");
	assert_false(buf_full(&b));
	buf_reset(&b);
	assert_string_equal(buf_str(&b), "");
	buf_free(&b);
}

static void test_buf_refuses_beyond_its_limit(void **state)
{
	struct buf b;

	buf_init(&b, 100);
	for (int i = 0; i < 1000; i++)
		buf_puts(&b, "0123456789");
	assert_true(buf_full(&b));
	assert_true(b.len <= 100);
	buf_reset(&b);
	buf_puts(&b, "again");
	assert_false(buf_full(&b));
	assert_string_equal(buf_str(&b), "again");
	buf_free(&b);
}

/* ---- csv ---- */

static void test_csv_cells(void **state)
{
	static const struct {
		const char *text, *cell;
	} cases[] = {
		{"", ""},
		{"plain", "plain"},
		{"a,b", "\"a,b\""},
		{"a\nb", "\"a\nb\""},
		{"\"", "\"\"\"\""},
		{"say \"so\", twice", "\"say \"\"so\"\", twice\""},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xff\x80", "\xc3\xbf\xc2\x80"}, /* no UTF-8: U+00FF U+0080 */
		{"\xff,\"\xc3", "\"\xc3\xbf,\"\"\xc3\x83\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf b;

		buf_init(&b, 100);
		buf_csv_cell(&b, cases[i].text, strlen(cases[i].text));
		assert_false(buf_full(&b));
		assert_int_equal(b.len, strlen(cases[i].cell));
		if (b.len)
			assert_memory_equal(b.data, cases[i].cell, b.len);
		buf_free(&b);
	}
}

/* ---- cursor ---- */

static void test_cursor_reads_both_byte_orders(void **state)
{
	static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const struct {
		unsigned int size;
		uint64_t little, big;
	} cases[] = {
		{1, 0x01, 0x01},
		{2, 0x0201, 0x0102},
		{4, 0x04030201, 0x01020304},
		{8, 0x0807060504030201, 0x0102030405060708},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cursor little = cursor_over(data, sizeof(data), false);
		struct cursor big = cursor_over(data, sizeof(data), true);

		assert_true(cursor_uint(&little, cases[i].size) == cases[i].little);
		assert_true(cursor_uint(&big, cases[i].size) == cases[i].big);
		assert_int_equal(cursor_offset(&little), cases[i].size);
	}
}

static void test_cursor_stays_inside(void **state)
{
	static const uint8_t data[] = {1, 2, 3};
	struct cursor c = cursor_over(data, sizeof(data), false);

	assert_int_equal(cursor_u32(&c), 0);
	assert_true(cursor_failed(&c));
	assert_int_equal(cursor_u8(&c), 0); /* a failed cursor stays failed */
	assert_int_equal(cursor_left(&c), 0);

	c = cursor_over(data, sizeof(data), false);
	cursor_skip(&c, UINT64_MAX);
	assert_true(cursor_failed(&c));

	c = cursor_over(data, sizeof(data), false);
	assert_null(cursor_string(&c)); /* no NUL comes */
	assert_true(cursor_failed(&c));
}

static void test_cursor_sub(void **state)
{
	static const uint8_t data[] = {1, 2, 3, 4};
	struct cursor c = cursor_over(data, sizeof(data), false), sub;

	cursor_skip(&c, 1);
	sub = cursor_sub(&c, 2);
	assert_int_equal(cursor_left(&sub), 2);
	assert_int_equal(cursor_offset(&sub), 1);
	assert_int_equal(cursor_u16(&sub), 0x0302);
	assert_int_equal(cursor_u8(&c), 4);

	sub = cursor_sub(&c, 1);
	assert_true(cursor_failed(&sub));
	assert_true(cursor_failed(&c));
}

/* ---- arena ---- */

static void test_arena_limit(void **state)
{
	struct arena a;
	const char *s;

	arena_init(&a, 4096);
	s = arena_strndup(&a, "hello world", 5);
	assert_string_equal(s, "hello");
	assert_int_equal((uintptr_t)arena_alloc(&a, 3) % 16, 0);
	assert_null(arena_alloc(&a, 1 << 20));
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_array(&a, SIZE_MAX / 2, 4));
	assert_non_null(arena_alloc(&a, 16)); /* a refusal leaves it usable */
	arena_free(&a);
}

static void test_arena_zeroes(void **state)
{
	struct arena a;

	arena_init(&a, 1 << 20);
	for (size_t size = 1; size < 5000; size += 997) {
		const char *p = arena_alloc(&a, size);

		assert_non_null(p);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
	}
	arena_free(&a);
}

/* ---- vec, map ---- */

static void test_vec_grows(void **state)
{
	vec_of(int) v = {0}, copy = {0};
	int sum = 0;

	for (int i = 0; i < 1000; i++) {
		int *p = vec_push(&v);

		assert_non_null(p);
		assert_int_equal(*p, 0);
		*p = i;
	}
	vec_each (it, &v)
		sum += *it;
	assert_int_equal(v.n, 1000);
	assert_int_equal(sum, 499500);
	vec_each (it, &v)
		assert_true(vec_add(&copy, it));
	assert_int_equal(copy.n, v.n);
	assert_memory_equal(copy.at, v.at, v.n * sizeof(*v.at));
	vec_free(&copy);
	vec_free(&v);
	assert_int_equal(v.n, 0);
}

static void test_buf_front(void **state)
{
	struct buf b;

	buf_init(&b, 8);
	buf_put_front(&b, "c");
	buf_put_front(&b, "");
	buf_put_front(&b, "ab");
	assert_string_equal(buf_str(&b), "abc");
	buf_put_front(&b, "123456");
	assert_true(buf_full(&b));
	assert_string_equal(buf_str(&b), "abc");
	buf_free(&b);
}

/* Keys come and go; those that are there are found, in a map in which they collide. */
static void test_map_forgets(void **state)
{
	static int values[64];
	bool there[ARRAY_SIZE(values)] = {0};
	struct map m = {0};
	uint64_t random = 1;

	assert_null(map_remove(&m, 1));
	for (int i = 0; i < 20000; i++) {
		size_t k;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		k = random >> 58;
		if (random >> 57 & 1) {
			assert_true(map_set(&m, k, &values[k]));
			there[k] = true;
		} else {
			assert_ptr_equal(map_remove(&m, k), there[k] ? &values[k] : NULL);
			there[k] = false;
		}
		for (k = 0; k < ARRAY_SIZE(values); k++)
			assert_ptr_equal(map_get(&m, k), there[k] ? &values[k] : NULL);
	}
	map_free(&m);
}

static void test_map_finds_what_was_set(void **state)
{
	static int values[5000];
	struct map m = {0};

	assert_null(map_get(&m, 1));
	/* Keys that differ in their high bits only are the ones a bad hash would pile up. */
	for (uint64_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_true(map_set(&m, i << 40, &values[i]));
	for (uint64_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_ptr_equal(map_get(&m, i << 40), &values[i]);
	assert_null(map_get(&m, 12345));
	assert_int_equal(m.n, ARRAY_SIZE(values));
	assert_true(map_set(&m, 0, &values[7]));
	assert_ptr_equal(map_get(&m, 0), &values[7]);
	assert_int_equal(m.n, ARRAY_SIZE(values));
	map_free(&m);
}

/* ---- arrays, strings, nanoseconds ---- */

/* Every length up to 9, and every place in it, with equal elements among them. */
static void test_binary_search(void **state)
{
	static const int sorted[] = {1, 3, 3, 3, 5, 7, 7, 9, 11};

	for (size_t n = 0; n <= ARRAY_SIZE(sorted); n++) {
		for (int wanted = 0; wanted <= 12; wanted++) {
			size_t first = 0, i;
			uint32_t half;

			while (first < n && sorted[first] < wanted)
				first++;
			binary_search(i, 0, n, sorted[i] < wanted);
			assert_int_equal(i, first);
			binary_search(half, (uint32_t)n / 2, (uint32_t)n, sorted[half] < wanted);
			assert_int_equal(half, first > n / 2 ? first : n / 2);
		}
	}
}

static void test_strings(void **state)
{
	char text[] = "one two";
	struct string_refs refs = {0};
	struct strings s = {0};

	strings_free(&s);
	assert_true(strings_add(&s, text));
	assert_true(strings_add_bytes(&s, text, 3));
	assert_true(string_refs_add(&refs, text));
	text[0] = 'O';
	assert_int_equal(s.n, 2);
	assert_string_equal(s.at[0], "one two");
	assert_string_equal(s.at[1], "one");
	assert_string_equal(refs.at[0], "One two");
	vec_free(&refs);
	strings_free(&s);
	assert_int_equal(s.n, 0);
}

static void test_nanoseconds(void **state)
{
	const uint64_t ns = 5 * NS_PER_S + 6 * NS_PER_MS + 7 * NS_PER_US + 8;
	const struct timespec t = ns_to_timespec(ns);

	assert_int_equal(t.tv_sec, 5);
	assert_int_equal(t.tv_nsec, 6007008);
	assert_int_equal(timespec_to_ns(&t), ns);
	assert_true(clock_now_ns(CLOCK_MONOTONIC) <= clock_now_ns(CLOCK_MONOTONIC));
	assert_int_equal(clock_now_ns(-1), 0);
}

/* ---- JSON ---- */

/*
 * Texts are searched eight bytes at a time. So every byte is tried at every place of texts of many
 * lengths.
 */
static void test_odd_bytes_anywhere(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 20; n++) {
		for (size_t at = 0; at < n; at++) {
			for (unsigned int c = 0; c < 256; c++) {
				const bool quoted = strchr(",\"\n\r", (int)c) && c;
				const bool escaped = c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
				char text[20];
				struct buf csv, json;

				buf_init(&csv, 64);
				buf_init(&json, 64);
				memset(text, '~', n);
				text[at] = (char)c;
				buf_csv_cell(&csv, text, n);
				buf_json_string(&json, text, n);
				assert_int_equal(csv.data[0] == '"', quoted);
				assert_int_equal(csv.len,
						 n + quoted * 2u + (c == '"') + (c >= 0x80));
				if (escaped)
					assert_int_equal(json.data[at + 1], '\\');
				else
					assert_memory_equal(json.data + 1, text, n);
				assert_int_equal(json.data[json.len - 1], '"');
				buf_free(&csv);
				buf_free(&json);
			}
		}
	}
}

static void test_json_writer(void **state)
{
	struct buf b;
	struct json_writer w = {&b};

	buf_init(&b, 1024);
	json_object(&w);
	json_put_text(json_key(&w, "text"), "a\"b");
	json_put_text(json_key(&w, "none"), NULL);
	json_put_u64(json_key(&w, "big"), UINT64_MAX);
	json_array(json_key(&w, "list"));
	json_put_i64(&w, -1);
	json_put_bool(&w, true);
	json_object(&w);
	json_end_object(&w);
	json_array(&w);
	json_end_array(&w);
	json_put_bytes(&w, "xyz", 2);
	json_end_array(&w);
	json_newline(&w);
	json_put_printf(json_key(&w, "ms"), "%.3f", 1.5);
	json_put_raw(json_key(&w, "raw"), "null");
	json_end_object(&w);
	assert_string_equal(buf_str(&b),
			    "{\"text\":\"a\\\"b\",\"none\":null,\"big\":18446744073709551615,"
			    "\"list\":[-1,true,{},[],\"xy\"],\n\"ms\":1.500,\"raw\":null}");
	buf_free(&b);
}

/* ---- error ---- */

static void test_error_status(void **state)
{
	static const struct {
		int code;
		enum spur_status status;
	} cases[] = {
		{0, SPUR_OK},
		{-EINVAL, SPUR_USAGE},
		{-ENOENT, SPUR_ENVIRONMENT},
		{-ENOMEM, SPUR_ENVIRONMENT},
		{-ENODATA, SPUR_INCOMPLETE},
		{-EBADMSG, SPUR_CORRUPT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(spur_error_status(cases[i].code), cases[i].status);
}

struct linked {
	int key, place;
	struct linked *next;
};

static int by_key(const void *a, const void *b)
{
	return ((const struct linked *)a)->key - ((const struct linked *)b)->key;
}

/* Lists of all lengths up to some: sorted by key, and equal keys by their old places. */
static void test_order_list(void **state)
{
	struct linked all[40];

	for (int n = 0; n <= (int)ARRAY_SIZE(all); n++) {
		struct linked *list = NULL;
		int seen = 0;

		for (int i = n; i-- > 0;) {
			all[i] = (struct linked){(i * 7 + n) % 5, i, list};
			list = &all[i];
		}
		list = order_list(list, offsetof(struct linked, next), by_key);
		for (const struct linked *l = list; l; l = l->next, seen++)
			assert_true(!l->next || l->key < l->next->key ||
				    (l->key == l->next->key && l->place < l->next->place));
		assert_int_equal(seen, n);
	}
}

static void test_error_first_one_wins(void **state)
{
	struct spur_error err = {0};

	assert_int_equal(error_set(&err, -EBADMSG, "page %d", 3), -EBADMSG);
	error_set(&err, -EINVAL, "something later");
	assert_string_equal(err.text, "page 3");
	assert_int_equal(error_prefix(&err, "%s", "file"), -EBADMSG);
	assert_string_equal(err.text, "file: page 3");
	assert_int_equal(error_set(NULL, -EINVAL, "nobody listens"), -EINVAL);
}

static void test_error_is_cut_not_overrun(void **state)
{
	struct spur_error err = {0};
	char text[1000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_set(&err, -EINVAL, "%s", text);
	error_prefix(&err, "%s", text);
	assert_true(strlen(err.text) < sizeof(err.text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buf_span),
		cmocka_unit_test(test_num_span),
		cmocka_unit_test(test_num_decimal_and_hex),
		cmocka_unit_test(test_num_fixed),
		cmocka_unit_test(test_buf_appends),
		cmocka_unit_test(test_buf_refuses_beyond_its_limit),
		cmocka_unit_test(test_csv_cells),
		cmocka_unit_test(test_cursor_reads_both_byte_orders),
		cmocka_unit_test(test_cursor_stays_inside),
		cmocka_unit_test(test_cursor_sub),
		cmocka_unit_test(test_arena_limit),
		cmocka_unit_test(test_arena_zeroes),
		cmocka_unit_test(test_vec_grows),
		cmocka_unit_test(test_buf_front),
		cmocka_unit_test(test_map_finds_what_was_set),
		cmocka_unit_test(test_map_forgets),
		cmocka_unit_test(test_binary_search),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_nanoseconds),
		cmocka_unit_test(test_odd_bytes_anywhere),
		cmocka_unit_test(test_json_writer),
		cmocka_unit_test(test_error_status),
		cmocka_unit_test(test_order_list),
		cmocka_unit_test(test_error_first_one_wins),
		cmocka_unit_test(test_error_is_cut_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
