// SPDX-License-Identifier: GPL-2.0-or-later
/* src/base/proto.c: the bytes of protobuf messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/proto.h"

#define LIMIT (1u << 20)

static void assert_bytes(const struct buf *b, const char *bytes, size_t len)
{
	assert_false(buf_full(b));
	assert_int_equal(b->len, len);
	assert_memory_equal(b->data, bytes, len);
}

static void test_numbers(void **state)
{
	static const struct {
		uint32_t field;
		uint64_t value;
		const char *bytes;
		size_t len;
	} cases[] = {
		{1, 0, "\x08\0", 2},
		{1, 150, "\x08\x96\x01", 3},
		{15, 127, "\x78\x7f", 2},
		{16, 128, "\x80\x01\x80\x01", 4},
		{327, 1, "\xb8\x14\x01", 3},
		{2, (uint64_t)-1, "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b;

		buf_init(&b, LIMIT);
		proto_number(&b, cases[i].field, cases[i].value);
		assert_bytes(&b, cases[i].bytes, cases[i].len);
		buf_free(&b);
	}
}

static void test_texts(void **state)
{
	static const struct {
		const char *text, *bytes;
		size_t len;
	} cases[] = {
		{"", "\x12\0", 2},
		{"abc",
		 "\x12\x03"
		 "abc",
		 5},
		{"\xc3\xa9", "\x12\x02\xc3\xa9", 4},
		{"a\xff",
		 "\x12\x03"
		 "a\xc3\xbf",
		 5},
		{"\xed\xa0\x80", "\x12\x06\xc3\xad\xc2\xa0\xc2\x80", 8},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b;

		buf_init(&b, LIMIT);
		proto_text(&b, 2, cases[i].text, strlen(cases[i].text));
		assert_bytes(&b, cases[i].bytes, cases[i].len);
		buf_free(&b);
	}
}

/* Lengths of one, two and three bytes, one within the other. */
static void test_messages(void **state)
{
	static const size_t sizes[] = {0, 1, 125, 126, 127, 128, 300, 16380, 16383, 16384, 70000};
	static char content[70000];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf b;
		const uint8_t *p;
		uint64_t tag, length, inner;
		size_t outer_start, start;

		buf_init(&b, LIMIT);
		outer_start = proto_begin(&b, 1);
		start = proto_begin(&b, 2);
		buf_put(&b, content, sizes[i]);
		proto_end(&b, start);
		proto_number(&b, 3, 7);
		proto_end(&b, outer_start);
		assert_false(buf_full(&b));
		p = varint_get((uint8_t *)b.data, (uint8_t *)b.data + b.len, &tag);
		p = varint_get(p, (uint8_t *)b.data + b.len, &length);
		assert_int_equal(tag, 1 << 3 | PROTO_BYTES);
		assert_int_equal(length, (uint8_t *)b.data + b.len - p);
		p = varint_get(p, (uint8_t *)b.data + b.len, &tag);
		p = varint_get(p, (uint8_t *)b.data + b.len, &inner);
		assert_int_equal(tag, 2 << 3 | PROTO_BYTES);
		assert_int_equal(inner, sizes[i]);
		assert_memory_equal(p, content, sizes[i]);
		assert_memory_equal(p + sizes[i], "\x18\x07", 2);
		buf_free(&b);
	}
}

static void test_full(void **state)
{
	struct buf b;
	size_t start;

	buf_init(&b, 64);
	start = proto_begin(&b, 1);
	for (int i = 0; i < 100; i++)
		proto_text(&b, 2, "more than fits", 14);
	proto_end(&b, start);
	assert_true(buf_full(&b));
	assert_true(b.len <= 64);
	buf_free(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
