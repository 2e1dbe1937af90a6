// SPDX-License-Identifier: GPL-2.0-or-later
/* src/view/api/api.c: what is asked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "view/api/api.h"

static struct api_request get(const char *query)
{
	return (struct api_request){.path = "", .query = query};
}

static struct api_request post(const char *body)
{
	return (struct api_request){
		.path = "", .query = "", .body = body, .body_len = strlen(body)};
}

static void test_text(void **state)
{
	static const struct {
		const char *query, *value; /* NULL: there is none */
	} cases[] = {
		{"a=1", "1"},
		{"b=2&a=1", "1"},
		{"a=1&a=2", "1"},
		{"a", ""},
		{"a=", ""},
		{"a&b", ""},
		{"a=b=c", "b=c"},
		{"a=x+y%20z", "x y z"},
		{"a=%c3%A9", "\xc3\xa9"},
		{"a=%26%3d%25", "&=%"},
		{"a=%", "%"},
		{"a=%4", "%4"},
		{"a=%4g", "%4g"},
		{"a=x%00y", "x%00y"},
		{"aa=1", NULL},
		{"ba=1", NULL},
		{"&&=&a=1", "1"},
		{"", NULL},
		{"b=a", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct api_request q = get(cases[i].query);
		struct buf b;

		buf_init(&b, 100);
		if (api_text(&q, "a", &b) != (cases[i].value != NULL) ||
		    (cases[i].value && strcmp(buf_str(&b), cases[i].value) != 0))
			fail_msg("%s: %s", cases[i].query, buf_str(&b));
		buf_free(&b);
	}
}

static void test_number(void **state)
{
	static const struct {
		const char *query;
		int rc;
		uint64_t n;
	} cases[] = {
		{"n=0", 0, 0},
		{"n=18446744073709551615", 0, UINT64_MAX},
		{"n=18446744073709551616", -EINVAL, 7},
		{"n=99999999999999999999999999", -EINVAL, 7},
		{"n=-1", -EINVAL, 7},
		{"n=+1", -EINVAL, 7},
		{"n=1.5", -EINVAL, 7},
		{"n=0x10", -EINVAL, 7},
		{"n=", -EINVAL, 7},
		{"n", -EINVAL, 7},
		{"n=1%30", 0, 10},
		{"m=1", -ENOENT, 7},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct api_request q = get(cases[i].query);
		struct spur_error err = {0};
		uint64_t n = 7;

		assert_int_equal(api_number(&q, "n", &n, &err), cases[i].rc);
		assert_int_equal(n, cases[i].n);
		assert_int_equal(*err.text != '\0', cases[i].rc == -EINVAL);
	}
}

static void test_rows(void **state)
{
	static const struct {
		const char *text, *rows; /* NULL: it is wrong */
	} cases[] = {
		{"", ""},
		{"3", "3 "},
		{"0-9", "0 1 2 3 4 5 6 7 8 9 "},
		{"5,1", "1 5 "},
		{"2-4,3-5,4", "2 3 4 5 "},
		{"8-20", "8 9 "},
		{"9-18446744073709551615", "9 "},
		{"10", ""},
		{"7-3", ""},
		{"1,", "1 "},
		{",1", NULL},
		{"1,,2", NULL},
		{"1-", NULL},
		{"-1", NULL},
		{"1 2", NULL},
		{"a", NULL},
		{"99999999999999999999", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spur_error err = {0};
		struct api_rows rows = {0};
		int rc = api_parse_rows(cases[i].text, 10, &rows, &err);
		struct buf b;

		buf_init(&b, 1000);
		for (size_t k = 0; k < rows.n; k++)
			buf_printf(&b, "%u ", rows.at[k]);
		if (rc != (cases[i].rows ? 0 : -EINVAL) ||
		    (cases[i].rows && strcmp(buf_str(&b), cases[i].rows) != 0))
			fail_msg("%s: %s", cases[i].text, buf_str(&b));
		buf_free(&b);
		api_rows_free(&rows);
	}
}

static void test_no_rows(void **state)
{
	struct spur_error err = {0};
	struct api_rows rows = {0};

	assert_int_equal(api_parse_rows("0-5", 0, &rows, &err), 0);
	assert_int_equal(rows.n, 0);
}

static void test_body(void **state)
{
	const struct api_request q = post("{\"text\":\"a\\u0062\",\"n\":5,\"none\":null}");
	const struct api_request wrong = post("{\"text\":\"a\"");
	struct spur_error err = {0};
	uint64_t n = 0;
	struct buf b;

	buf_init(&b, 100);
	assert_true(api_body_text(&q, "text", &b));
	assert_string_equal(buf_str(&b), "ab");
	assert_false(api_body_text(&q, "n", &b));
	assert_false(api_body_text(&q, "m", &b));
	assert_false(api_body_text(&wrong, "text", &b));
	assert_int_equal(api_body_number(&q, "n", &n, &err), 0);
	assert_int_equal(n, 5);
	assert_int_equal(api_body_number(&q, "none", &n, &err), -ENOENT);
	assert_int_equal(api_body_number(&q, "m", &n, &err), -ENOENT);
	assert_int_equal(api_body_number(&q, "text", &n, &err), -EINVAL);
	buf_free(&b);
}

/* Without files there is nothing to see, and everything that can be asked is answered. */
static void test_no_files(void **state)
{
	static const struct {
		const char *path, *query, *body;
		int status;
	} cases[] = {
		{"trace", "", NULL, 200},
		{"rows", "", NULL, 200},
		{"rows", "from=5", NULL, 200},
		{"rows", "from=x", NULL, 400},
		{"names", "", NULL, 200},
		{"tiles", "level=10&tile=0&rows=0-9", NULL, 200},
		{"tiles", "level=10&tile=0", NULL, 400},
		{"tiles", "level=99&tile=0&rows=0", NULL, 400},
		{"tiles", "level=50&tile=16&rows=0", NULL, 400},
		{"tiles", "", NULL, 400},
		{"record/state", "", NULL, 403},
		{"record/start", "", "{\"events\":[\"sched\"]}", 403},
		{"record/start", "", NULL, 405},
		{"trace", "", "{}", 405},
		{"nonsense", "", NULL, 404},
		{"", "", NULL, 404},
		{"trace/", "", NULL, 404},
		{"../trace", "", NULL, 404},
	};
	struct spur_error err = {0};
	struct view *v = view_new(NULL, &err);
	const volatile int stop = 0;

	assert_non_null(v);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct api_request q = {
			.path = cases[i].path,
			.query = cases[i].query,
			.body = cases[i].body,
			.body_len = cases[i].body ? strlen(cases[i].body) : 0,
			.stop = &stop,
		};
		struct api_answer a;

		api_answer(v, &q, &a);
		if (a.status != cases[i].status)
			fail_msg("%s?%s: %d %s", q.path, q.query, a.status, buf_str(&a.body));
		if (a.status >= 400 && strncmp(buf_str(&a.body), "{\"error\":\"", 10) != 0)
			fail_msg("%s: %s", q.path, buf_str(&a.body));
		buf_free(&a.body);
	}
	view_close(v);
}

/* A file that cannot be opened is one that says why. */
static void test_bad_file(void **state)
{
	const char *const paths[] = {"/nonexistent/<b>&\"", "/dev/null"};
	struct spur_error err = {0};
	struct view *v = view_open(paths, 2, NULL, &err);
	const volatile int stop = 0;
	const struct api_request q = {.path = "trace", .query = "", .stop = &stop};
	struct api_answer a;

	assert_non_null(v);
	assert_int_equal(view_nr_files(v), 2);
	assert_null(view_file(v, 0)->trace);
	assert_null(view_file(v, 1)->trace);
	assert_null(view_file(v, 2));
	assert_true(view_progress(v) == 1);
	api_answer(v, &q, &a);
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(buf_str(&a.body), "{\"path\":\"/nonexistent/<b>&\\\"\",\"error\":"));
	buf_free(&a.body);
	view_close(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	 cmocka_unit_test(test_number),
		cmocka_unit_test(test_rows),	 cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_body),	 cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_bad_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
