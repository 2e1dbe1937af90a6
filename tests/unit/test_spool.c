// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorting records: by CPU and time, those of one time as they came; in memory and in a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/spool.h"

#define KEYS 5

/* A number that looks random and comes again. */
static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 31) * 0x9e3779b97f4a7c15ull;
	return n ^ n >> 29;
}

static uint64_t key_of(uint64_t i)
{
	return spool_key((uint32_t)(mix(i) % 2), (uint32_t)(mix(i + 7) % KEYS));
}

static uint32_t size_of(uint64_t i, uint32_t most)
{
	return (uint32_t)(mix(i + 3) % most) + 8;
}

static void add_all(struct spool *s, uint64_t nr, uint32_t most)
{
	uint8_t *data = malloc(most + 8);

	assert_non_null(data);
	for (uint64_t i = 0; i < nr; i++) {
		const struct spool_record r = {.ts = mix(i + 11) % (nr / 3 + 1),
					       .lost = i % 100 == 0 ? (int64_t)i : 0,
					       .size = i % 50 == 0 ? 0 : size_of(i, most),
					       .data = data};

		memset(data, (int)(i & 0xff), most + 8);
		memcpy(data, &i, sizeof(i));
		assert_int_equal(spool_add(s, key_of(i), &r), 0);
	}
	free(data);
}

/* Reads all of it back; how many records there were. */
static uint64_t read_all(struct spool *s, uint32_t most)
{
	uint64_t n = 0;

	for (size_t at = 0, parts; at < s->parts.n; at += parts) {
		const uint64_t key = s->parts.at[at].key;
		struct spool_reader reader;
		struct spool_record r;
		uint64_t last_ts = 0, last = 0;

		for (parts = 1; at + parts < s->parts.n && s->parts.at[at + parts].key == key;)
			parts++;
		assert_true(at == 0 || s->parts.at[at - 1].key < key);
		assert_int_equal(spool_read(s, at, parts, &reader), 0);
		for (; spool_next(&reader, &r) > 0; n++) {
			uint64_t i;

			assert_true(r.ts >= last_ts);
			if (r.size) {
				memcpy(&i, r.data, sizeof(i));
				assert_true(key_of(i) == key);
				assert_int_equal(r.size, size_of(i, most));
				assert_int_equal(r.data[r.size - 1],
						 r.size > 8 ? i & 0xff : i >> 56);
				assert_true(r.ts > last_ts || i > last);
				last = i;
			} else {
				last = 0;
			}
			last_ts = r.ts;
		}
		spool_read_end(&reader);
	}
	return n;
}

static void check(uint64_t nr, uint32_t most, bool in_file)
{
	struct spool s;

	spool_init(&s);
	add_all(&s, nr, most);
	assert_int_equal(spool_seal(&s), 0);
	assert_int_equal(s.fd >= 0, in_file);
	assert_int_equal(read_all(&s, most), nr);
	spool_free(&s);
}

static void test_memory(void **state)
{
	check(0, 10, false);
	check(1, 10, false);
	check(20000, 100, false);
}

static void test_file(void **state)
{
	check(40000, 3000, true);
}

/* Records that are larger than the windows of a reader. */
static void test_large(void **state)
{
	check(160, 900000, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
