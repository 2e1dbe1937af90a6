// SPDX-License-Identifier: GPL-2.0-or-later
/* src/base/jsonin.c: what is JSON, and what is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/jsonin.h"

static bool parse(const char *text, struct json_value *v)
{
	return json_parse(text, strlen(text), v);
}

static void test_valid(void **state)
{
	static const struct {
		const char *text;
		bool valid;
	} cases[] = {
		{"{}", true},
		{" [ ] ", true},
		{"0", true},
		{"-1.5e+3", true},
		{"\"a\\u00e9\\n\"", true},
		{"\"\\ud83d\\udc27\"", true},
		{"{\"a\":[1,2,{\"b\":null}],\"c\":true}", true},
		{"", false},
		{"{", false},
		{"[1,]", false},
		{"{\"a\"}", false},
		{"{\"a\":1,}", false},
		{"{a:1}", false},
		{"01", false},
		{"1.", false},
		{"1e", false},
		{"-", false},
		{"+1", false},
		{"tru", false},
		{"\"", false},
		{"\"\n\"", false},
		{"\"\\x\"", false},
		{"\"\\u12\"", false},
		{"\"\\ud83d\"", false},
		{"\"\\udc27\"", false},
		{"\"\xff\"", false},
		{"1 2", false},
		{"{}x", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_value v;

		if (parse(cases[i].text, &v) != cases[i].valid)
			fail_msg("%s", cases[i].text);
	}
}

static void test_depth(void **state)
{
	char text[200];
	struct json_value v;

	memset(text, '[', 100);
	memset(text + 100, ']', 100);
	assert_false(json_parse(text, 200, &v));
	assert_true(json_parse(text + 100 - JSON_MAX_DEPTH, 2 * JSON_MAX_DEPTH, &v));
}

static void test_members(void **state)
{
	struct json_value all, v;

	assert_true(parse("{ \"a\" : 1 , \"b\\u0062\":[2] ,\"a\":3}", &all));
	assert_true(json_member(&all, "a", &v) && v.len == 1 && *v.at == '1');
	assert_true(json_member(&all, "bb", &v) && v.kind == JSON_ARRAY);
	assert_false(json_member(&all, "b", &v));
	assert_true(parse("[1]", &all));
	assert_false(json_member(&all, "a", &v));
}

static void test_elements(void **state)
{
	struct json_value all, v;
	uint64_t sum = 0, n;
	size_t pos = 0;

	assert_true(parse("[ 1 ,20, 300 ]", &all));
	while (json_next(&all, &pos, &v)) {
		assert_true(json_u64(&v, &n));
		sum += n;
	}
	assert_int_equal(sum, 321);
	pos = 0;
	assert_true(parse("[]", &all));
	assert_false(json_next(&all, &pos, &v));
}

static void test_texts(void **state)
{
	static const struct {
		const char *from, *to; /* NULL: refused */
	} cases[] = {
		{"\"\"", ""},
		{"\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "a\"\\/\b\f\n\r\t"},
		{"\"\\u0041\\u00e9\\u20ac\\ud83d\\udc27\"",
		 "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7"},
		{"\"\xc3\xa9\"", "\xc3\xa9"},
		{"\"\\u0000\"", NULL},
		{"1", NULL},
	};
	struct buf b;

	buf_init(&b, 1000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_value v;

		buf_reset(&b);
		assert_true(parse(cases[i].from, &v));
		assert_int_equal(json_text(&v, &b), cases[i].to != NULL);
		if (cases[i].to)
			assert_string_equal(buf_str(&b), cases[i].to);
	}
	buf_free(&b);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *from;
		bool good;
		uint64_t n;
	} cases[] = {
		{"0", true, 0},
		{"18446744073709551615", true, UINT64_MAX},
		{"18446744073709551616", false, 0},
		{"-1", false, 0},
		{"1.5", false, 0},
		{"1e3", false, 0},
		{"\"1\"", false, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_value v;
		uint64_t n = 0;

		assert_true(parse(cases[i].from, &v));
		assert_int_equal(json_u64(&v, &n), cases[i].good);
		assert_int_equal(n, cases[i].n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),	cmocka_unit_test(test_depth),
		cmocka_unit_test(test_members), cmocka_unit_test(test_elements),
		cmocka_unit_test(test_texts),	cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
