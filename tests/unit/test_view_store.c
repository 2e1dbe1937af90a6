// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the bytes of an index are kept: numbers of a few bytes, memory, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "view/index/store.h"

static void test_varint(void **state)
{
	static const struct {
		uint64_t value;
		size_t bytes;
	} cases[] = {
		{0, 1},	    {1, 1},	  {127, 1},	   {128, 2},	    {16383, 2},
		{16384, 3}, {1 << 21, 4}, {1ull << 35, 6}, {1ull << 62, 9}, {UINT64_MAX, 10},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[VARINT_MOST + 2] = {0};
		const uint8_t *end = varint_put(bytes, cases[i].value);
		uint64_t got;

		assert_int_equal(end - bytes, cases[i].bytes);
		assert_ptr_equal(varint_get(bytes, end, &got), end);
		assert_int_equal(got, cases[i].value);
		/* With more behind it, and cut off anywhere. */
		assert_ptr_equal(varint_get(bytes, end + 1, &got), end);
		for (size_t k = 0; k < cases[i].bytes; k++)
			assert_null(varint_get(bytes, bytes + k, &got));
	}
}

static void test_varint_endless(void **state)
{
	uint8_t bytes[20];
	uint64_t got;

	memset(bytes, 0xff, sizeof(bytes));
	assert_null(varint_get(bytes, bytes + sizeof(bytes), &got));
	assert_null(varint_get(NULL, bytes, &got));
	assert_int_equal(got, 0);
}

#define PIECES 4000

/* Each piece is of another length, and of bytes that tell which it is. */
static size_t piece(size_t i, uint8_t *to)
{
	const size_t len = 1 + i * 7 % 900;

	memset(to, (int)(i * 31 + len), len);
	return len;
}

static void fill(struct store *s, uint64_t *at)
{
	uint8_t bytes[1000];

	for (size_t i = 0; i < PIECES; i++) {
		at[i] = store_put(s, bytes, piece(i, bytes));
		assert_true(at[i] != STORE_FULL);
	}
}

static void check(struct store *s, const uint64_t *at)
{
	uint8_t bytes[1000], got[1000];

	for (size_t i = 0; i < PIECES; i++) {
		const size_t len = piece(i, bytes);

		assert_true(store_get(s, at[i], len, got));
		assert_memory_equal(got, bytes, len);
	}
	assert_false(store_get(s, s->size, 1, got));
	assert_false(store_get(s, UINT64_MAX, 1, got));
	assert_false(store_get(s, STORE_CHUNK - 1, 2, got));
}

static void test_store(void **state)
{
	static const struct {
		uint64_t memory;
		const char *folder;
	} cases[] = {{UINT32_MAX, NULL}, {1, "/tmp"}, {1, NULL}, {1, "/nowhere"}, {600000, "/tmp"}};
	static uint64_t at[PIECES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int fd = memfd_create("store", MFD_CLOEXEC);
		struct store s;

		store_init(&s, cases[i].memory, cases[i].folder);
		fill(&s, at);
		check(&s, at);
		assert_int_equal(store_copy(&s, fd, 4096), 0);
		store_move(&s, fd, 4096);
		check(&s, at);
		store_free(&s);
	}
}

static void test_seq_find(void **state)
{
	struct sequence_block blocks[] = {{10, 0}, {20, 0}, {20, 0}, {30, 0}};
	const struct sequence s = {.blocks = blocks, .n = 4, .last = 5};
	static const struct {
		uint64_t place;
		uint32_t low, block;
	} cases[] = {{5, 0, 0},	 {10, 0, 0}, {11, 0, 0}, {20, 0, 0}, {21, 0, 2},
		     {30, 0, 2}, {31, 0, 3}, {99, 0, 3}, {5, 2, 2},  {99, 3, 3}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(sequence_find(&s, cases[i].low, cases[i].place), cases[i].block);
	assert_int_equal(sequence_items(&s, 2), SEQUENCE_ITEMS);
	assert_int_equal(sequence_items(&s, 3), 5);
}

/* A block is what it was, or there is none. */
static void test_seq_sums(void **state)
{
	const int fd = memfd_create("store", MFD_CLOEXEC);
	uint8_t bytes[SEQUENCE_BYTES], got[SEQUENCE_BYTES];
	const size_t len = 1000;
	struct sequence s = {0};
	struct store store;

	memset(bytes, 7, sizeof(bytes));
	store_init(&store, UINT32_MAX, NULL);
	assert_true(sequence_add(&s, &store, 5, bytes, len, SEQUENCE_ITEMS));
	assert_true(sequence_add(&s, &store, 6, bytes, len, SEQUENCE_ITEMS));
	assert_int_equal(store_copy(&store, fd, 0), 0);
	store_move(&store, fd, 0);
	for (size_t i = 0; i < store.size; i++) {
		const uint32_t block = i >= store.size / 2;
		uint8_t byte;

		assert_int_equal(sequence_load(&s, &store, block, got), len);
		assert_memory_equal(got, bytes, len);
		assert_false(store.spoilt);
		assert_int_equal(pread(fd, &byte, 1, (off_t)i), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)i), 1);
		assert_int_equal(sequence_load(&s, &store, block, got), 0);
		assert_true(store.spoilt);
		assert_int_equal(sequence_load(&s, &store, !block, got), len);
		byte ^= 0x10;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)i), 1);
		store.spoilt = false;
	}
	/* The same bytes in another place are not the same block. */
	s.blocks[0].at = s.blocks[1].at;
	assert_int_equal(sequence_load(&s, &store, 0, got), 0);
	/* It is cut off. */
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	assert_int_equal(sequence_load(&s, &store, 1, got), 0);
	sequence_free(&s);
	store_free(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varint),	 cmocka_unit_test(test_varint_endless),
		cmocka_unit_test(test_store),	 cmocka_unit_test(test_seq_find),
		cmocka_unit_test(test_seq_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
