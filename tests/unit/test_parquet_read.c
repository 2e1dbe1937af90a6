// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading Parquet: files of one column and one page, with every encoding and with damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "export/parquet/encode.h"
#include "export/parquet/thrift.h"
#include "store/parquet/parts.h"

/* ---- making a file ---- */

struct recipe {
	const char *name;
	const char *values; /* as shown below, or "!" and words of the error */
	enum pq_physical stored;
	enum pq_encoding encoding;
	uint32_t rows;
	const char *page; /* its bytes, hexadecimal */
	bool optional;
	const char *levels; /* of a page of version 2; NULL: it is of version 1 */
	const char *dict;   /* a dictionary page */
	uint32_t dict_size;
	enum pq_codec codec;
	uint32_t raw; /* bytes of the page as they would be decompressed; 0: it is not */
	int32_t converted;
	uint32_t claims;       /* rows that the footer says; 0: so many */
	uint32_t values_claim; /* the same of the column */
};

static void put_hex(struct buf *to, const char *hex)
{
	unsigned int byte;

	for (; hex && *hex; hex += 2 + (hex[2] == ' ')) {
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		buf_putc(to, (char)byte);
	}
}

static void put_page(struct buf *file, const struct recipe *r, bool dict)
{
	struct buf body;
	struct thrift t = {.to = file};
	const bool v2 = r->levels && !dict;
	size_t levels;

	buf_init(&body, 1 << 20);
	put_hex(&body, v2 ? r->levels : "");
	levels = body.len;
	put_hex(&body, dict ? r->dict : r->page);
	thrift_i32(&t, 1, dict ? PQ_DICTIONARY_PAGE : v2 ? PQ_DATA_PAGE_V2 : PQ_DATA_PAGE);
	thrift_i32(&t, 2, (int32_t)(r->raw && !dict ? r->raw : body.len));
	thrift_i32(&t, 3, (int32_t)body.len);
	thrift_begin(&t, dict ? 7 : v2 ? 8 : 5);
	thrift_i32(&t, 1, (int32_t)(dict ? r->dict_size : r->rows));
	if (v2) {
		thrift_i32(&t, 2, 0);
		thrift_i32(&t, 3, (int32_t)r->rows);
		thrift_i32(&t, 4, (int32_t)r->encoding);
		thrift_i32(&t, 5, (int32_t)levels);
		thrift_i32(&t, 6, 0);
	} else {
		thrift_i32(&t, 2, dict ? PQ_PLAIN : (int32_t)r->encoding);
	}
	thrift_end(&t);
	thrift_end(&t);
	buf_put(file, body.data, body.len);
	buf_free(&body);
}

static void put_footer(struct buf *file, const struct recipe *r, size_t data)
{
	const size_t start = file->len;
	const uint32_t rows = r->claims ? r->claims : r->rows;
	struct thrift t = {.to = file};
	uint32_t len;

	thrift_list(&t, 2, THRIFT_STRUCT, 2);
	thrift_item(&t);
	thrift_binary(&t, 4, "schema", 6);
	thrift_i32(&t, 5, 1);
	thrift_end(&t);
	thrift_item(&t);
	thrift_i32(&t, 1, (int32_t)r->stored);
	thrift_i32(&t, 3, r->optional ? PQ_OPTIONAL : PQ_REQUIRED);
	thrift_binary(&t, 4, "x", 1);
	if (r->converted)
		thrift_i32(&t, 6, r->converted);
	thrift_end(&t);
	thrift_i64(&t, 3, rows);
	thrift_list(&t, 4, THRIFT_STRUCT, 1);
	thrift_item(&t);
	thrift_list(&t, 1, THRIFT_STRUCT, 1);
	thrift_item(&t);
	thrift_begin(&t, 3);
	thrift_i32(&t, 1, (int32_t)r->stored);
	thrift_i32(&t, 4, (int32_t)r->codec);
	thrift_i64(&t, 5, r->values_claim ? r->values_claim : rows);
	thrift_i64(&t, 7, (int64_t)(start - 4));
	thrift_i64(&t, 9, (int64_t)data);
	if (r->dict)
		thrift_i64(&t, 11, 4);
	thrift_end(&t);
	thrift_end(&t);
	thrift_i64(&t, 3, rows);
	thrift_end(&t);
	thrift_end(&t);
	len = (uint32_t)(file->len - start);
	buf_put(file, &len, sizeof(len));
	buf_puts(file, PARQUET_MAGIC);
}

static void make(struct buf *file, const struct recipe *r)
{
	size_t data;

	buf_init(file, 1 << 20);
	buf_puts(file, PARQUET_MAGIC);
	if (r->dict)
		put_page(file, r, true);
	data = file->len;
	put_page(file, r, false);
	put_footer(file, r, data);
}

/* ---- reading it ---- */

static int as_file(const void *data, size_t len)
{
	const int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	return fd;
}

static void show(struct buf *to, const struct parquet_column *c, const struct parquet_values *v,
		 uint32_t row)
{
	const uint32_t i = v->ids ? v->ids[row] : row;

	buf_puts(to, to->len ? " " : "");
	if (v->missing && v->missing[row])
		buf_puts(to, "-");
	else if (c->kind == PARQUET_TEXT)
		buf_printf(to, "%.*s", (int)v->texts[i].len, v->texts[i].at);
	else if (c->kind == PARQUET_REAL)
		buf_printf(to, "%g", parquet_real(v->numbers[i]));
	else
		buf_i64(to, v->numbers[i]);
}

/* All values of the first column, or what is wrong. */
static void read_all(int fd, struct buf *to)
{
	struct spur_error err = {0};
	struct parquet *p = NULL;
	struct parquet_rows *rows = NULL;
	struct parquet_values v;
	int rc = parquet_open(fd, &p, &err), n = 0;

	if (rc == 0)
		rows = parquet_rows_new(p, (uint32_t[]){0}, 1);
	for (uint32_t g = 0; rc == 0 && g < parquet_nr_groups(p); g++) {
		rc = parquet_rows_group(rows, g, &err);
		while (rc == 0 && (n = parquet_rows_next(rows, &err)) > 0) {
			rc = parquet_rows_get(rows, 0, &v, &err);
			for (int i = 0; rc == 0 && i < n; i++)
				show(to, parquet_column(p, 0), &v, (uint32_t)i);
		}
		rc = rc < 0 ? rc : n;
	}
	parquet_rows_free(rows);
	parquet_close(p);
	if (rc < 0) {
		buf_reset(to);
		buf_printf(to, "!%s", err.text);
	}
}

static void check(const char *name, int fd, const char *wanted)
{
	struct buf got;

	buf_init(&got, 1 << 20);
	read_all(fd, &got);
	if (*wanted == '!' ? !strstr(buf_str(&got), wanted + 1) || *got.data != '!'
			   : strcmp(buf_str(&got), wanted) != 0)
		fail_msg("%s: %s instead of %s", name, got.data, wanted);
	buf_free(&got);
}

#define INT32 .stored = PQ_STORED_INT32
#define INT64 .stored = PQ_STORED_INT64
#define BYTES .stored = PQ_STORED_BYTES

static const struct recipe recipes[] = {
	{"int32", "1 -1", INT32, PQ_PLAIN, 2, "01000000 ffffffff"},
	{"uint32", "1 4294967295", INT32, PQ_PLAIN, 2, "01000000 ffffffff", .converted = 13},
	{"int64", "-2", INT64, PQ_PLAIN, 1, "feffffffffffffff"},
	{"milliseconds", "5000000", INT64, PQ_PLAIN, 1, "0500000000000000",
	 .converted = PQ_TIMESTAMP_MILLIS},
	{"time that is too large", "!too large", INT64, PQ_PLAIN, 1, "00000000000000ff 7f",
	 .converted = PQ_TIMESTAMP_MILLIS},
	{"float", "0.5", .stored = PQ_STORED_FLOAT, .rows = 1, .page = "0000003f"},
	{"double", "-2", .stored = PQ_STORED_DOUBLE, .rows = 1, .page = "00000000000000c0"},
	{"bits", "1 0 1 1 0 0 0 0 1", .stored = PQ_STORED_BOOLEAN, .rows = 9, .page = "0d01"},
	{"bits as runs", "1 1 1 0", .stored = PQ_STORED_BOOLEAN, PQ_RLE, 4, "04000000 0601 0200"},
	{"texts", "ab  c", BYTES, PQ_PLAIN, 3, "020000006162 00000000 0100000063"},
	{"a text behind the end", "!texts are damaged", BYTES, PQ_PLAIN, 1, "030000006162"},
	{"too few", "!fewer values", INT32, PQ_PLAIN, 2, "01000000"},
	{"missing", "7 - 8", INT32, PQ_PLAIN, 3, "02000000 0305 07000000 08000000",
	 .optional = true},
	{"missing, version 2", "7 - 8", INT32, PQ_PLAIN, 3, "07000000 08000000", .optional = true,
	 .levels = "0305"},
	{"all missing", "- -", BYTES, PQ_RLE_DICTIONARY, 2, "02000000 0400", .optional = true},
	{"levels that end early", "!levels", INT32, PQ_PLAIN, 30, "02000000 0305",
	 .optional = true},
	{"levels without need", "!levels", INT32, PQ_PLAIN, 1, "07000000", .levels = "0305"},
	{"dictionary", "b a b", BYTES, PQ_RLE_DICTIONARY, 3, "01 0305", .dict_size = 2,
	 .dict = "0100000061 0100000062"},
	{"dictionary of numbers", "9 9 -1", INT32, PQ_PLAIN_DICTIONARY, 3, "08 0401 0200",
	 .dict_size = 2, .dict = "ffffffff 09000000"},
	{"a value too many", "!dictionary does not have", BYTES, PQ_RLE_DICTIONARY, 1, "02 0202",
	 .dict_size = 2, .dict = "0100000061 0100000062"},
	{"no dictionary", "!no dictionary", BYTES, PQ_RLE_DICTIONARY, 1, "02 0202"},
	{"dictionary that is too short", "!dictionary is damaged", BYTES, PQ_RLE_DICTIONARY, 1,
	 "02 0202", .dict_size = 2, .dict = "0100000061"},
	{"dictionary of many", "!dictionary is too large", BYTES, PQ_RLE_DICTIONARY, 1, "02 0202",
	 .dict_size = 1u << 30, .dict = "0100000061"},
	{"width of 33 bits", "!fewer values", BYTES, PQ_RLE_DICTIONARY, 1, "21 0200000000",
	 .dict_size = 1, .dict = "0100000061"},
	{"a run of too many", "a", BYTES, PQ_RLE_DICTIONARY, 1, "01 feffffff0f00", .dict_size = 1,
	 .dict = "0100000061"},
	{"runs of none", "!fewer values", BYTES, PQ_RLE_DICTIONARY, 1, "01 0000 0000",
	 .dict_size = 1, .dict = "0100000061"},
	/* The format's own example, with widths in bits. */
	{"differences", "7 5 3 1 2 3 4 5", INT64, PQ_DELTA_BINARY_PACKED, 8,
	 "8001 04 08 0e 03 02000000 c03f 0000 0000 0000"},
	{"differences of one", "-1", INT64, PQ_DELTA_BINARY_PACKED, 1, "8001 04 01 01"},
	{"differences of others", "!fewer values", INT64, PQ_DELTA_BINARY_PACKED, 2,
	 "8001 04 01 01"},
	{"differences in blocks of 5", "!fewer values", INT64, PQ_DELTA_BINARY_PACKED, 1,
	 "05 04 01 01"},
	{"differences in no parts", "!fewer values", INT64, PQ_DELTA_BINARY_PACKED, 1,
	 "8001 00 01 01"},
	{"width of 65 bits", "!fewer values", INT64, PQ_DELTA_BINARY_PACKED, 2,
	 "8001 04 02 00 00 41000000 000000000000000000"},
	{"lengths first", "ab  c", BYTES, PQ_DELTA_LENGTH_BYTE_ARRAY, 3,
	 "8001 04 03 04 03 02000000 0c00000000000000 616263"},
	{"negative length", "!texts are damaged", BYTES, PQ_DELTA_LENGTH_BYTE_ARRAY, 1,
	 "8001 04 01 01 6162"},
	{"prefixes", "abc abd x", BYTES, PQ_DELTA_BYTE_ARRAY, 3,
	 "8001 04 03 00 03 03000000 040000000000000000000000 "
	 "8001 04 03 06 03 02000000 0800000000000000 616263 64 78"},
	{"a prefix of more", "!texts are damaged", BYTES, PQ_DELTA_BYTE_ARRAY, 1,
	 "8001 04 01 02 8001 04 01 02 61"},
	{"split", "258 -1", INT32, PQ_BYTE_STREAM_SPLIT, 2, "02ff 01ff 00ff 00ff"},
	{"split texts", "!encoding", BYTES, PQ_BYTE_STREAM_SPLIT, 1, "61"},
	{"another encoding", "!encoding", INT32, 77, 1, "01000000"},
	{"snappy", "abababab", BYTES, PQ_PLAIN, 1, "0c 1408000000 6162 0902", .codec = PQ_SNAPPY,
	 .raw = 12},
	{"snappy that copies nothing", "!decompressed", BYTES, PQ_PLAIN, 1,
	 "0c 1408000000 6162 0900", .codec = PQ_SNAPPY, .raw = 12},
	{"snappy of another size", "!decompressed", BYTES, PQ_PLAIN, 1, "0d 1408000000 6162 0902",
	 .codec = PQ_SNAPPY, .raw = 12},
	{"no zstd", "!decompressed", INT32, PQ_PLAIN, 1, "01000000", .codec = PQ_ZSTD, .raw = 4},
	{"a bomb", "!larger than", INT32, PQ_PLAIN, 1, "01000000", .codec = PQ_ZSTD,
	 .raw = 1u << 30},
	{"another size", "!size", INT32, PQ_PLAIN, 1, "01000000", .raw = 5},
	{"gzip", "!gzip", INT32, PQ_PLAIN, 1, "01000000", .codec = 2},
	{"a fixed length", "!fixed length", .stored = PQ_STORED_FIXED, .rows = 1, .page = "01"},
	{"pages with more rows", "!more rows", INT32, PQ_PLAIN, 2, "01000000 02000000",
	 .claims = 1},
	{"a column with more values", "!footer is damaged", INT32, PQ_PLAIN, 1, "01000000",
	 .values_claim = 2},
	{"texts that are all missing", "- -", .stored = PQ_STORED_BYTES,
	 .encoding = PQ_DELTA_LENGTH_BYTE_ARRAY, .rows = 2, .page = "02000000 0400",
	 .optional = true},
	{"more rows than pages", "!too few rows", INT32, PQ_PLAIN, 1, "01000000", .claims = 2},
	{"pages of 2 thousand million", "!too many values", INT32, PQ_RLE_DICTIONARY, INT32_MAX,
	 "00 feffffff0f", .dict_size = 1, .dict = "01000000"},
};

static void test_pages(void **state)
{
	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
		struct buf file;

		make(&file, &recipes[i]);
		check(recipes[i].name, as_file(file.data, file.len), recipes[i].values);
		buf_free(&file);
	}
}

/* Whatever is cut off or turned round: an error, or values, and nothing else. */
static void test_damage(void **state)
{
	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
		struct buf file, got;

		if (recipes[i].rows > 100)
			continue;
		make(&file, &recipes[i]);
		buf_init(&got, 1 << 20);
		for (size_t at = 0; at < file.len; at++) {
			check("cut", as_file(file.data, at), "!");
			for (int bit = 0; bit < 8; bit++) {
				file.data[at] ^= (char)(1 << bit);
				buf_reset(&got);
				read_all(as_file(file.data, file.len), &got);
				file.data[at] ^= (char)(1 << bit);
			}
		}
		buf_free(&got);
		buf_free(&file);
	}
}

/* ---- numbers of all widths, as the export writes them ---- */

static void test_deltas(void **state)
{
	enum { N = 1000 };
	uint64_t v[N];
	int64_t back[N];

	for (int width = 0; width <= 64; width++) {
		struct buf b;
		struct cursor c;

		buf_init(&b, 1 << 20);
		for (uint32_t i = 0; i < N; i++)
			v[i] = width ? (i + 1) * 0x9e3779b97f4a7c15ull >> (64 - width) : 5;
		pq_put_delta(&b, v, N, false);
		buf_fill(&b, 0, PARQUET_PAD);
		c = cursor_over(b.data, b.len - PARQUET_PAD, false);
		assert_true(decode_deltas(&c, N, back));
		assert_int_equal(cursor_left(&c), 0);
		assert_memory_equal(v, back, sizeof(v));
		buf_free(&b);
	}
}

static void test_runs(void **state)
{
	enum { N = 1000 };
	uint32_t back[N];

	for (unsigned int width = 0; width <= 32; width++) {
		uint8_t bytes[2 + N * 4 + PARQUET_PAD] = {0xfb, 0x01}; /* 125 groups of eight */
		const uint32_t mask = width < 32 ? (1u << width) - 1 : UINT32_MAX;
		struct cursor c = cursor_over(bytes, 2 + N * width / 8, false);

		for (uint32_t i = 0; i < N * width; i++)
			if ((i / width * 0x9e3779b1u & mask) >> i % width & 1)
				bytes[2 + i / 8] |= (uint8_t)(1 << i % 8);
		assert_true(decode_runs(&c, width, N, back));
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(back[i], i * 0x9e3779b1u & mask);
	}
}

/* ---- Thrift ---- */

static void test_compact(void **state)
{
	uint8_t deep[64];
	struct compact_field f = {0};
	struct cursor c =
		cursor_over("\x15\x01\x26\xd8\x04\x11\x1c\x18\x02\x61\x62\x00\x00", 13, false);
	uint32_t len = 0;

	assert_true(compact_next(&c, &f) && f.id == 1 && compact_int(&c, &f) == -1);
	assert_true(compact_next(&c, &f) && f.id == 3 && compact_int(&c, &f) == 300);
	assert_true(compact_next(&c, &f) && f.id == 4 && compact_bool(&c, &f));
	assert_true(compact_next(&c, &f) && f.id == 5 && f.type == THRIFT_STRUCT);
	f = (struct compact_field){0};
	assert_true(compact_next(&c, &f) && memcmp(compact_binary(&c, &f, &len), "ab", 2) == 0);
	assert_true(len == 2 && !compact_next(&c, &f) && !cursor_failed(&c));
	/* Structs in structs, deeper than anybody needs. */
	memset(deep, 0x1c, sizeof(deep));
	c = cursor_over(deep, sizeof(deep), false);
	compact_skip(&c, &(struct compact_field){.type = THRIFT_STRUCT});
	assert_true(cursor_failed(&c));
	/* A list of more than there is. */
	c = cursor_over("\xfc\xff\xff\xff\x0f", 5, false);
	assert_int_equal(
		compact_list(&c, &(struct compact_field){.type = THRIFT_LIST}, THRIFT_STRUCT), 0);
	assert_true(cursor_failed(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),	cmocka_unit_test(test_damage),
		cmocka_unit_test(test_deltas),	cmocka_unit_test(test_runs),
		cmocka_unit_test(test_compact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
