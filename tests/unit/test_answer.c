// SPDX-License-Identifier: GPL-2.0-or-later
/* src/net/answer.c: what is an HTTP answer and what is not, in pieces of any size. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/answer.h"
#include "net/http.h"

#define BODY_LIMIT 20

static const struct {
	const char *text;
	int rc; /* of all of it, with the end of the connection behind */
	int status;
	bool keep;
	const char *body;
	size_t behind; /* bytes that are not the answer's */
} cases[] = {
	{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1\n", 0, 200, true, "1\n", 0},
	{"HTTP/1.1 200\nCONTENT-length:2 \n\n1\n", 0, 200, true, "1\n", 0},
	{"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 0, 200, false, "", 0},
	{"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx", 0, 200, false, "x",
	 0},
	{"HTTP/1.1 200 OK\r\n\r\nto the end", 0, 200, false, "to the end", 0},
	{"HTTP/1.1 204 No\r\n\r\nmore", 0, 204, true, "", 4},
	{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", 0, 200, true, "a", 2},
	{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n", 0, 404, true,
	 "", 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
	 "chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n"
	 "Trailer: t\r\n\r\n",
	 0, 200, true, "abc0123456789", 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", -EBADMSG, 0, 0, NULL,
	 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n", -EBADMSG, 0, 0, NULL,
	 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", -EBADMSG, 0,
	 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", -EBADMSG, 0, 0,
	 NULL, 0},
	{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", -EBADMSG, 0, 0, NULL,
	 0},
	{"HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\nno header\r\n\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\n: x\r\n\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/1.1 20 OK\r\n\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/1.1 2000 OK\r\n\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/2 200 OK\r\n\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"SSH-2.0-x\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\n", -EBADMSG, 0, 0, NULL, 0},
	{"", -ECONNRESET, 0, 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\n\r\nmore than the twenty bytes", -E2BIG, 0, 0, NULL, 0},
	{"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n123456789012345678901", -E2BIG, 0, 0, NULL,
	 0},
};

static void read_in_pieces(size_t n, size_t piece)
{
	const char *text = cases[n].text;
	const size_t len = strlen(text);
	struct spur_error err = {0};
	struct answer a;
	size_t at = 0;
	int rc = 0;

	answer_init(&a, BODY_LIMIT);
	while (rc == 0 && at < len && !answer_done(&a)) {
		size_t used = 0;

		rc = answer_take(&a, text + at, len - at < piece ? len - at : piece, &used, &err);
		at += used;
	}
	if (rc == 0 && !answer_done(&a))
		rc = answer_end(&a, &err);
	if (rc != cases[n].rc)
		fail_msg("%s: %d, not %d", text, rc, cases[n].rc);
	assert_int_equal(err.code, rc);
	if (rc == 0) {
		assert_int_equal(a.status, cases[n].status);
		assert_int_equal(a.keep, cases[n].keep);
		assert_string_equal(buf_str(&a.body), cases[n].body);
		assert_int_equal(len - at, cases[n].behind);
	}
	answer_free(&a);
}

static void test_answers(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t piece = 1; piece < 200; piece += piece < 8 ? 1 : 60)
			read_in_pieces(i, piece);
}

/* Nothing that never ends is read for ever. */
static void test_limits(void **state)
{
	static const char *const begins[] = {
		"", "HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"};
	static const char *const goes_on[] = {"x", "A: b\r\n", "HTTP/1.1 100 C\r\n\r\n"};

	for (size_t i = 0; i < 9; i++) {
		const char *begin = begins[i / 3], *more = goes_on[i % 3];
		struct spur_error err = {0};
		struct answer a;
		size_t used, fed = 0;
		int rc;

		answer_init(&a, BODY_LIMIT);
		rc = answer_take(&a, begin, strlen(begin), &used, &err);
		for (; rc == 0 && !answer_done(&a) && fed < 1 << 20; fed += strlen(more))
			rc = answer_take(&a, more, strlen(more), &used, &err);
		assert_true(fed < 1 << 20);
		answer_free(&a);
	}
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_encoding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
