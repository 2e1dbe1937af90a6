// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of Parquet files: Thrift, runs, differences; dictionaries and sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/parquet/dictionary.h"
#include "export/parquet/encode.h"
#include "export/parquet/table.h"
#include "export/parquet/folder.h"
#include "export/parquet/thrift.h"

#define MAX 40000

static void assert_bytes(const struct buf *b, const char *hex)
{
	struct buf have;

	buf_init(&have, 1 << 20);
	for (size_t i = 0; i < b->len; i++)
		buf_printf(&have, "%s%02x", i ? " " : "", (uint8_t)b->data[i]);
	assert_string_equal(buf_str(&have), hex);
	buf_free(&have);
}

/* ---- Thrift ---- */

static void test_thrift(void **state)
{
	struct buf b;
	struct thrift t = {.to = &b};

	buf_init(&b, 1 << 20);
	thrift_i32(&t, 1, -1);
	thrift_i64(&t, 3, 300);
	thrift_bool(&t, 4, true);
	thrift_begin(&t, 5);
	thrift_binary(&t, 1, "ab", 2);
	thrift_byte(&t, 2, 64);
	thrift_end(&t);
	thrift_list(&t, 40, THRIFT_I32, 2);
	thrift_item_i32(&t, 1);
	thrift_item_i32(&t, -2);
	thrift_list(&t, 41, THRIFT_STRUCT, 20);
	thrift_end(&t);
	assert_bytes(&b, "15 01 26 d8 04 11 1c 18 02 61 62 13 40 00 09 50 25 02 03 19 fc 14 00");
	buf_free(&b);
}

/* ---- differences, decoded as the format describes them ---- */

static uint32_t decode_delta(const struct buf *b, uint64_t *v, bool narrow)
{
	const uint8_t *p = (const uint8_t *)b->data, *end = p + b->len;
	uint64_t block, parts, count, n, value;

	p = varint_get(p, end, &block);
	p = varint_get(p, end, &parts);
	p = varint_get(p, end, &count);
	p = varint_get(p, end, &n);
	assert_true(p && block % 128 == 0 && block / parts % 32 == 0 && count <= MAX);
	value = n >> 1 ^ (0 - (n & 1));
	v[0] = value;
	for (uint64_t i = 1; i < count;) {
		const uint8_t *widths;
		uint64_t least;

		p = varint_get(p, end, &least);
		assert_true(p && p + parts <= end);
		widths = p;
		p += parts;
		for (uint64_t k = 0; k < parts && i < count; k++) {
			const uint32_t bytes = widths[k] / 8;

			assert_true(widths[k] % 8 == 0 && bytes <= (narrow ? 4 : 8));
			assert_true(p + block / parts * bytes <= end);
			for (uint64_t j = 0; j < block / parts && i < count; j++) {
				uint64_t diff = 0;

				memcpy(&diff, p + j * bytes, bytes);
				value += (least >> 1 ^ (0 - (least & 1))) + diff;
				v[i++] = narrow ? (uint64_t)(int64_t)(int32_t)value : value;
			}
			p += block / parts * bytes;
		}
	}
	assert_ptr_equal(p, end);
	return (uint32_t)count;
}

static uint64_t ramp(uint32_t i)
{
	return 1000 + i;
}

static uint64_t steps(uint32_t i)
{
	return 1000000 + (uint64_t)i * 7001 + i % 977;
}

static uint64_t ends(uint32_t i)
{
	return i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? (uint64_t)INT64_MIN : 0;
}

static uint64_t narrow_ends(uint32_t i)
{
	return (uint64_t)(int64_t)(i % 2 ? INT32_MIN : INT32_MAX);
}

static uint64_t mixed(uint32_t i)
{
	return i < 200 ? 5 : i * 0x9e3779b97f4a7c15ull >> i % 60;
}

static const struct {
	const char *name;
	uint64_t (*at)(uint32_t i);
	bool narrow;
} series[] = {
	{"a ramp", ramp, false},
	{"times", steps, false},
	{"ends of the range", ends, false},
	{"all widths", mixed, false},
	{"a ramp of 32 bits", ramp, true},
	{"ends of 32 bits", narrow_ends, true},
};

static void test_delta(void **state)
{
	static const uint32_t counts[] = {0,   1,   2,	 32,   33,   34,   128, 129,
					  130, 161, 257, 1024, 1025, 1026, 5000};
	uint64_t *v = calloc(MAX, sizeof(*v)), *back = calloc(MAX, sizeof(*back));
	struct buf b;

	buf_init(&b, 1 << 24);
	for (size_t s = 0; s < sizeof(series) / sizeof(series[0]); s++) {
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
			for (uint32_t i = 0; i < counts[c]; i++)
				v[i] = series[s].at(i);
			buf_reset(&b);
			pq_put_delta(&b, v, counts[c], series[s].narrow);
			assert_int_equal(decode_delta(&b, back, series[s].narrow), counts[c]);
			for (uint32_t i = 0; i < counts[c]; i++)
				if (v[i] != back[i])
					fail_msg("%s: number %u of %u", series[s].name, i,
						 counts[c]);
		}
	}
	buf_free(&b);
	free(v);
	free(back);
}

/* The example of the format's description, with widths of whole bytes. */
static void test_delta_bytes(void **state)
{
	const uint64_t v[] = {7, 5, 3, 1, 2, 3, 4, 5};
	struct buf b;

	buf_init(&b, 1 << 20);
	pq_put_delta(&b, v, 8, false);
	assert_bytes(&b, "80 01 04 08 0e 03 08 00 00 00 "
			 "00 00 00 03 03 03 03 00 00 00 00 00 00 00 00 00 "
			 "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
	buf_free(&b);
}

/* ---- runs ---- */

static void test_indexes(void **state)
{
	const uint8_t same[] = {4, 4, 4}, few[] = {1, 2, 3, 2};
	const uint8_t more[] = {1, 2, 3, 255, 1, 1, 1, 255, 2};
	const uint16_t placed[] = {1, 2, 3}, places[] = {0x0000, 0x0001, 0x0100};
	const uint32_t many[] = {1, 257, 65536}, wide[] = {4, 4, 4};
	struct buf b;

	buf_init(&b, 1 << 20);
	pq_put_indexes(&b, same, 1, 3, 4, NULL);
	assert_bytes(&b, "08 06 03");
	buf_reset(&b);
	pq_put_indexes(&b, few, 1, 4, 3, NULL);
	assert_bytes(&b, "08 03 00 01 02 01 00 00 00 00");
	buf_reset(&b);
	pq_put_indexes(&b, more, 1, 9, 255, NULL);
	assert_bytes(&b, "08 05 00 01 02 fe 00 00 00 fe 01 00 00 00 00 00 00 00");
	buf_reset(&b);
	pq_put_indexes(&b, placed, 2, 3, 0x101, places);
	assert_bytes(&b, "10 03 00 00 01 00 00 01 00 00 00 00 00 00 00 00 00 00");
	buf_reset(&b);
	pq_put_indexes(&b, many, 4, 3, 65536, NULL);
	assert_bytes(&b, "10 03 00 00 00 01 ff ff 00 00 00 00 00 00 00 00 00 00");
	buf_reset(&b);
	pq_put_indexes(&b, wide, 4, 3, 1 << 17, NULL);
	assert_bytes(&b, "18 06 03 00 00");
	buf_free(&b);
}

static void test_levels(void **state)
{
	const uint64_t present[] = {0x5ull | 1ull << 63, 0x3};
	struct buf b;

	buf_init(&b, 1 << 20);
	pq_put_levels(&b, NULL, 100);
	assert_bytes(&b, "03 00 00 00 c8 01 01");
	buf_reset(&b);
	pq_put_levels(&b, present, 66);
	assert_bytes(&b, "0a 00 00 00 13 05 00 00 00 00 00 00 80 03");
	buf_free(&b);
}

static void test_plain(void **state)
{
	const uint64_t v[] = {1, (uint64_t)-2};
	struct buf b;

	buf_init(&b, 1 << 20);
	pq_put_plain(&b, v, 2, true);
	pq_put_plain(&b, v, 1, false);
	assert_bytes(&b, "01 00 00 00 fe ff ff ff 01 00 00 00 00 00 00 00");
	buf_free(&b);
}

/* ---- dictionaries ---- */

static const struct {
	const char *text, *kept;
	uint32_t id;
} texts[] = {
	{"", "", 0},
	{"a", "a", 1},
	{"swapper/0", "swapper/0", 2},
	{"swapper/1", "swapper/1", 3},
	{"a", "a", 1},
	{"gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f", 4},
	{"\xff", "\xc3\xbf", 5},
	{"\xc3\xbf", "\xc3\xbf", 5},
	{"a\xe2\x82", "a\xc3\xa2\xc2\x82", 6},
	{"longer than sixteen bytes", "longer than sixteen bytes", 7},
	{"longer than sixteen bytez", "longer than sixteen bytez", 8},
	{"", "", 0},
};

static void test_texts(void **state)
{
	const struct hash_seed seed = hash_seed_new();
	struct pq_texts d;
	size_t len;

	pq_texts_init(&d, &seed);
	for (int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
			const uint32_t id = pq_texts_id(&d, texts[i].text, strlen(texts[i].text));
			const char *kept = pq_text(&d, id, &len);

			assert_int_equal(id, texts[i].id);
			assert_int_equal(len, strlen(texts[i].kept));
			assert_memory_equal(kept, texts[i].kept, len);
		}
		pq_texts_reset(&d);
	}
	for (uint32_t i = 0; i < MAX; i++)
		assert_int_equal(pq_texts_raw(&d, &i, sizeof(i)), i);
	for (uint32_t i = 0; i < MAX; i++)
		assert_int_equal(pq_texts_raw(&d, &i, sizeof(i)), i);
	pq_texts_free(&d);
}

/* Numbers that are near, and far: with the same ids from the first on, and after another start. */
static void test_numbers(void **state)
{
	struct pq_numbers d = {.seed = hash_seed_new()};

	for (int turn = 0; turn < 4; turn++) {
		for (uint32_t i = 0; i < 1000; i++)
			assert_int_equal(pq_number_id(&d, (uint64_t)i << (i % 2 ? 50 : 0)), i);
		for (uint32_t i = 0; i < 1000; i += 2)
			assert_int_equal(pq_number_near(&d, i), i + 1);
		assert_int_equal(pq_number_near(&d, 1), 0);
		assert_int_equal(d.n, 1000);
		if (turn == 1)
			pq_numbers_reset(&d);
	}
	pq_numbers_free(&d);
}

/* ---- cells ---- */

static struct pq_table *table_of(struct pq_work *w, enum pq_type type)
{
	static struct spur_error err;
	struct pq_table *t;

	assert_int_equal(pq_work_init(w, 1, &err), 0);
	w->group_rows = 1u << 20;
	t = pq_table_new(w, "t", 1, false);
	assert_non_null(t);
	assert_int_equal(pq_table_add(t, "ts", PQ_TIME, false), 0);
	assert_int_equal(pq_table_add(t, "v", type, true), 1);
	return t;
}

static void free_table(struct pq_table *t, struct pq_work *w)
{
	pq_table_free(t);
	pq_work_free(w);
}

/* Every value comes twice, one of seven is missing: the wider ones must be what they were. */
static uint64_t value_at(uint32_t row)
{
	return (uint64_t)row / 2 * 3;
}

static void check_numbers(const struct pq_column *c, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++) {
		const uint32_t cell = c->width == 1   ? ((const uint8_t *)c->cells)[i]
				      : c->width == 2 ? ((const uint16_t *)c->cells)[i]
						      : 0;

		if (c->width == 8 && i % 7)
			assert_int_equal(((const uint64_t *)c->cells)[i], value_at(i));
		else if (c->width == 8)
			assert_true(c->missing[i / 64] >> i % 64 & 1);
		else if (i % 7)
			assert_int_equal(c->dict.at[cell - 1], value_at(i));
		else
			assert_int_equal(cell, 0);
	}
}

static void test_cells(void **state)
{
	static const struct {
		uint32_t rows, width;
	} cases[] = {{64, 1}, {448, 1}, {1024, 2}, {64000, 2}, {81920, 8}};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct pq_work w;
		struct pq_table *t = table_of(&w, PQ_INT64);

		while (t->rows < cases[k].rows) {
			uint64_t v[PQ_BATCH], missing = 0;

			assert_int_equal(pq_batch(t), PQ_BATCH);
			for (uint32_t i = 0; i < PQ_BATCH; i++) {
				v[i] = value_at(t->rows + i);
				missing |= (uint64_t)((t->rows + i) % 7 == 0) << i;
			}
			pq_put_numbers(t, &t->columns[0], t->rows, v, PQ_BATCH, 0);
			pq_put_numbers(t, &t->columns[1], t->rows, v, PQ_BATCH, missing);
			pq_rows_end(t, PQ_BATCH);
		}
		assert_int_equal(t->columns[1].width, cases[k].width);
		check_numbers(&t->columns[1], t->rows);
		free_table(t, &w);
	}
}

/* One by one, which a table of few rows does. */
static void test_single_cells(void **state)
{
	struct pq_work w;
	struct pq_table *t = table_of(&w, PQ_INT64);

	for (uint32_t i = 0; i < 70000; i++) {
		assert_true(pq_batch(t) > 0);
		pq_set_number(t, &t->columns[0], i, i);
		if (i % 7)
			pq_set_number(t, &t->columns[1], i, value_at(i));
		else
			pq_set_null(t, &t->columns[1], i);
		pq_rows_end(t, 1);
		if (i == 200 || i == 60000)
			check_numbers(&t->columns[1], i + 1);
	}
	assert_int_equal(t->columns[1].width, 8);
	check_numbers(&t->columns[1], t->rows);
	free_table(t, &w);
}

/* Both bytes of a place are as often what the other one is. */
static void test_places(void **state)
{
	struct pq_work w;
	struct pq_table *t = table_of(&w, PQ_INT64);
	struct pq_column *c = &t->columns[1];
	bool taken[65536] = {0};
	uint32_t length;

	for (uint32_t i = 0; i < 64 * 100; i++) {
		assert_true(pq_batch(t) > 0);
		pq_set_number(t, c, i, i % 3 ? i % 5 : i);
		pq_rows_end(t, 1);
	}
	length = pq_choose_places(&w, c, t->rows);
	assert_true(length > c->dict.n && length <= 65536);
	for (uint32_t i = 0; i < c->dict.n; i++) {
		assert_true(w.places[i] < length && !taken[w.places[i]]);
		taken[w.places[i]] = true;
		if (c->dict.at[i] < 5)
			assert_true((w.places[i] >> 8) + (w.places[i] & 0xff) < 3);
	}
	free_table(t, &w);
}

/* ---- sorting ---- */

static void test_sort(void **state)
{
	static const uint64_t ts[] = {50, 40, 50, UINT64_MAX, 1ull << 40, 0, 40, 3};
	static const uint32_t order[] = {3, 5, 7, 1, 6, 0, 2, 4};
	struct spur_error err = {0};
	struct pq_work w;

	assert_int_equal(pq_work_init(&w, 1, &err), 0);
	assert_true(pq_sort(&w, ts, 8));
	assert_memory_equal(w.order, order, sizeof(order));
	pq_work_free(&w);
}

/* Many, some of them late, with times that are equal. */
static void test_sort_many(void **state)
{
	uint64_t *ts = calloc(MAX, sizeof(*ts));
	struct spur_error err = {0};
	struct pq_work w;

	assert_int_equal(pq_work_init(&w, 1, &err), 0);
	for (uint32_t late = 1; late < 1000; late *= 3) {
		for (uint32_t i = 0; i < MAX; i++)
			ts[i] = i % 5 == 0 && i > late ? (i - late) / 2 : i / 2;
		assert_true(pq_sort(&w, ts, MAX));
		for (uint32_t i = 1; i < MAX; i++) {
			const uint32_t a = w.order[i - 1], b = w.order[i];

			assert_true(ts[a] < ts[b] || (ts[a] == ts[b] && a < b));
		}
	}
	pq_work_free(&w);
	free(ts);
}

/* ---- names ---- */

static void test_parts(void **state)
{
	char name[600];
	struct buf b;

	buf_init(&b, 1 << 20);
	pq_put_part(&b, "sched_switch");
	assert_string_equal(buf_str(&b), "sched_switch");
	buf_reset(&b);
	pq_put_part(&b, "../a b=%\xff:");
	assert_string_equal(buf_str(&b), "..%2Fa%20b%3D%25%FF%3A");
	for (size_t k = 0; k < 2; k++) {
		memset(name, '/', sizeof(name));
		name[sizeof(name) - 1 - k] = '\0';
		buf_reset(&b);
		pq_put_part(&b, name);
		assert_true(b.len <= 200);
		assert_int_equal(strlen(buf_str(&b)), b.len);
	}
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thrift),	    cmocka_unit_test(test_delta),
		cmocka_unit_test(test_delta_bytes), cmocka_unit_test(test_indexes),
		cmocka_unit_test(test_levels),	    cmocka_unit_test(test_plain),
		cmocka_unit_test(test_texts),	    cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_cells),	    cmocka_unit_test(test_single_cells),
		cmocka_unit_test(test_places),	    cmocka_unit_test(test_sort),
		cmocka_unit_test(test_sort_many),   cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
