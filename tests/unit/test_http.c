// SPDX-License-Identifier: GPL-2.0-or-later
/* src/net/http.c: what needs no server; tests/fleet/store.py has servers that answer anything. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/http.h"

static void test_encoding(void **state)
{
	struct buf b;

	buf_init(&b, 1000);
	http_encode(&b, "a-Z_0.~ &=%+\n\xff/", 15);
	assert_string_equal(buf_str(&b), "a-Z_0.~%20%26%3d%25%2b%0a%ff%2f");
	buf_reset(&b);
	http_encode(&b, "\0", 1);
	assert_string_equal(buf_str(&b), "%00");
	buf_free(&b);
}

/* Nobody listens there: it was not sent, and there are words. */
static void test_nobody(void **state)
{
	const struct http_target target = {.host = "127.0.0.1", .port = "1"};
	struct spur_error err = {0};
	struct http_answer a;
	bool sent = true;
	struct http h;
	int rc;

	http_init(&h, &target, "X-A: b\r\n", 2000000000);
	http_answer_init(&a, 100);
	rc = http_post(&h, &(struct http_request){"/", "x", 1}, &a, &sent, &err);
	assert_true(rc == -ECONNREFUSED || rc == -ENOSYS);
	assert_true(*err.text);
	assert_false(sent);
	assert_false(a.done);
	http_answer_free(&a);
	http_done(&h);
}

static void test_stop(void **state)
{
	const int stop = 1;

	assert_int_equal(net_sleep(10000000000, &stop), -EINTR);
	assert_int_equal(net_sleep(1, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encoding),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
