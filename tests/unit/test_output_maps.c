// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * src/script: maps, histograms and time series, as bpftrace 0.17 prints them unless a case says
 * that it is 0.26's text.
 */
#include "output_fixture.h"

/* ---- maps ---- */

struct row {
	const char *key, *value; /* as the macros below make them */
};

#define ONE   "\x01\0\0\0\0\0\0\0"
#define TWO   "\x02\0\0\0\0\0\0\0"
#define THREE "\x03\0\0\0\0\0\0\0"
#define SIX   "\x06\0\0\0\0\0\0\0"
#define TEN   "\x0a\0\0\0\0\0\0\0"
#define ZERO  "\0\0\0\0\0\0\0\0"
#define MINUS "\xff\xff\xff\xff\xff\xff\xff\xff"
#define A8    "a\0\0\0\0\0\0\0"
#define B8    "b\0\0\0\0\0\0\0"

static const struct {
	const char *name;
	const struct vtype *key, *value;
	int64_t top, div;
	struct row rows[6];
	const char *text, *json;
	const char *recent; /* in 0.26, where it differs */
} maps[] = {
	{"a",
	 &none,
	 &s64,
	 0,
	 0,
	 {{ZERO, TEN}},
	 "@a: 10\n",
	 "{\"type\": \"map\", \"data\": {\"@a\": 10}}\n"},
	{"",
	 &none,
	 &str8,
	 0,
	 0,
	 {{ZERO, A8}},
	 "@: a\n",
	 "{\"type\": \"map\", \"data\": {\"@\": \"a\"}}\n"},
	/* By value, then by key. */
	{"x",
	 &s64,
	 &s64,
	 0,
	 0,
	 {{TWO, THREE}, {MINUS, THREE}, {ONE, MINUS}, {TEN, TWO}},
	 "@x[1]: -1\n@x[10]: 2\n@x[-1]: 3\n@x[2]: 3\n",
	 "{\"type\": \"map\", \"data\": {\"@x\": {\"1\": -1, \"10\": 2, \"-1\": 3, \"2\": 3}}}\n"},
	{"x",
	 &s64,
	 &u64,
	 0,
	 0,
	 {{ONE, MINUS}, {TWO, ONE}},
	 "@x[2]: 1\n@x[1]: 18446744073709551615\n",
	 "{\"type\": \"map\", \"data\": {\"@x\": {\"2\": 1, \"1\": 18446744073709551615}}}\n"},
	{"x",
	 &s64,
	 &count,
	 2,
	 0,
	 {{ONE, THREE}, {TWO, ONE}, {THREE, TWO}},
	 "@x[3]: 2\n@x[1]: 3\n",
	 "{\"type\": \"map\", \"data\": {\"@x\": {\"3\": 2, \"1\": 3}}}\n"},
	{"x",
	 &s64,
	 &sum,
	 10,
	 2,
	 {{ONE, TEN}, {TWO, SIX}},
	 "@x[2]: 3\n@x[1]: 5\n",
	 "{\"type\": \"map\", \"data\": {\"@x\": {\"2\": 3, \"1\": 5}}}\n"},
	/* What is no number is sorted by key. */
	{"s",
	 &str8,
	 &str8,
	 0,
	 0,
	 {{B8, A8}, {A8, B8}},
	 "@s[a]: b\n@s[b]: a\n",
	 "{\"type\": \"map\", \"data\": {\"@s\": {\"a\": \"b\", \"b\": \"a\"}}}\n"},
	{"t",
	 &pair,
	 &pair,
	 0,
	 0,
	 {{THREE A8, ONE A8}, {ONE B8, ONE A8}, {ONE A8, TWO A8}},
	 "@t[1, a]: (2, a)\n@t[1, b]: (1, a)\n@t[3, a]: (1, a)\n",
	 "{\"type\": \"map\", \"data\": {\"@t\": {\"1,a\": [2,\"a\"], \"1,b\": [1,\"a\"], \"3,a\": "
	 "[1,\"a\"]}}}\n"},
	{"m",
	 &none,
	 &min,
	 0,
	 0,
	 {{ZERO, MINUS ONE}},
	 "@m: -1\n",
	 "{\"type\": \"map\", \"data\": {\"@m\": -1}}\n"},
	{"m",
	 &s64,
	 &max,
	 0,
	 0,
	 {{ONE, TEN ONE}, {TWO, MINUS ONE}},
	 "@m[2]: -1\n@m[1]: 10\n",
	 "{\"type\": \"map\", \"data\": {\"@m\": {\"2\": -1, \"1\": 10}}}\n"},
	{"av",
	 &s64,
	 &avg,
	 0,
	 2,
	 {{ONE, ONE TEN}, {TWO, THREE TEN}},
	 "@av[2]: 1\n@av[1]: 5\n\n",
	 "{\"type\": \"stats\", \"data\": {\"@av\": {\"2\": 1, \"1\": 5}}}\n",
	 "@av[2]: 1\n@av[1]: 5\n"},
	{"av",
	 &none,
	 &avg,
	 0,
	 0,
	 {{ZERO, TWO SIX}},
	 "@av: 3\n\n",
	 "{\"type\": \"stats\", \"data\": {\"@av\": 3}}\n",
	 "@av: 3\n"},
	/* top and div are for others. */
	{"st",
	 &s64,
	 &stats,
	 1,
	 2,
	 {{ONE, ONE TEN}, {TWO, TWO SIX}},
	 "@st[2]: count 2, average 3, total 6\n@st[1]: count 1, average 10, total 10\n\n",
	 "{\"type\": \"stats\", \"data\": {\"@st\": {\"2\": {\"count\": 2, \"average\": 3, "
	 "\"total\": 6}, "
	 "\"1\": {\"count\": 1, \"average\": 10, \"total\": 10}}}}\n",
	 "@st[2]: { .count = 2, .average = 3, .total = 6 }\n"
	 "@st[1]: { .count = 1, .average = 10, .total = 10 }\n"},
	/* Stacks bring their newlines along. */
	{"k",
	 &s64,
	 &kstack1,
	 0,
	 0,
	 {{ONE, ONE}, {TWO, ONE}},
	 "@k[1]: \n        0xffffffff81000010\n@k[2]: \n        0xffffffff81000010\n\n",
	 "{\"type\": \"map\", \"data\": {\"@k\": {\"1\": \"\\n        0xffffffff81000010\\n\", "
	 "\"2\": \"\\n        0xffffffff81000010\\n\"}}}\n",
	 "@k[1]: \n        0xffffffff81000010\n\n@k[2]: \n        0xffffffff81000010\n\n"},
	{"k",
	 &with_stack,
	 &count,
	 0,
	 0,
	 {{ONE ONE, TWO}},
	 "@k[1, \n    0xffffffff81000010\n    0x1234\n]: 2\n",
	 "{\"type\": \"map\", \"data\": {\"@k\": {\"1,\\n    0xffffffff81000010\\n    0x1234\\n\": "
	 "2}}}\n",
	 "@k[1, \n        0xffffffff81000010\n        0x1234\n]: 2\n"},
	{"e", &s64, &s64, 0, 0, {{0}}, "\n", "", ""},
	{"e", &s64, &stats, 0, 0, {{0}}, "\n\n", "", ""},
};

static void print_map(struct fixture *f, const struct map_def *m, const struct row *rows,
		      size_t nr_rows, int64_t top, int64_t div)
{
	struct map_rows all = {0};

	for (size_t i = 0; i < nr_rows && rows[i].key; i++)
		*vec_push(&all) = (struct map_row){
			.key = exactly((const uint8_t *)rows[i].key, m->key_size),
			.value = exactly((const uint8_t *)rows[i].value, m->value_size),
		};
	output_map(&f->o, m, &all, top, div);
	vec_each (row, &all) {
		free((void *)row->key);
		free((void *)row->value);
	}
	vec_free(&all);
}

static void test_maps(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		struct map_def m = {
			.name = maps[i].name,
			.key = *maps[i].key,
			.value = *maps[i].value,
			.key_size = maps[i].key->kind == V_NONE ? 4 : maps[i].key->size,
			.value_size = maps[i].value->size,
		};
		struct fixture f;

		for (int style = OUTPUT_0_17; style <= OUTPUT_0_26; style++) {
			setup(&f, false, style);
			print_map(&f, &m, maps[i].rows, ARRAY_SIZE(maps[i].rows), maps[i].top,
				  maps[i].div);
			expect(&f, style == OUTPUT_0_26 && maps[i].recent ? maps[i].recent
									  : maps[i].text);
			teardown(&f);
		}
		setup(&f, true, OUTPUT_0_17);
		print_map(&f, &m, maps[i].rows, ARRAY_SIZE(maps[i].rows), maps[i].top, maps[i].div);
		expect(&f, maps[i].json);
		teardown(&f);
	}
}

/* ---- histograms ---- */

#define FULL  "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define HALF  "@@@@@@@@@@@@@@@@@@@@@@@@@@                          "
#define THIRD "@@@@@@@@@@@@@@@@@                                   "
#define EMPTY "                                                    "

static const struct {
	struct vtype type;
	int64_t values[8];
	size_t n;
	int64_t div;
	const char *text, *json;
} hists[] = {
	{{.kind = V_HIST},
	 {1, 1, 1, 3, 7},
	 5,
	 0,
	 "@: \n"
	 "[1]                    3 |" FULL "|\n"
	 "[2, 4)                 1 |" THIRD "|\n"
	 "[4, 8)                 1 |" THIRD "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 1, \"max\": 1, \"count\": 3}, "
	 "{\"min\": 2, \"max\": 3, \"count\": 1}, {\"min\": 4, \"max\": 7, \"count\": 1}]}}\n"},
	{{.kind = V_HIST},
	 {-1, 0, 1},
	 3,
	 0,
	 "@: \n"
	 "(..., 0)               1 |" FULL "|\n"
	 "[0]                    1 |" FULL "|\n"
	 "[1]                    1 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"max\": -1, \"count\": 1}, "
	 "{\"min\": 0, \"max\": 0, \"count\": 1}, {\"min\": 1, \"max\": 1, \"count\": 1}]}}\n"},
	{{.kind = V_HIST},
	 {3},
	 1,
	 2,
	 "@: \n[2, 4)                 0 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 2, \"max\": 3, \"count\": 0}]}}\n"},
	{{.kind = V_HIST},
	 {512, 1024},
	 2,
	 0,
	 "@: \n"
	 "[512, 1K)              1 |" FULL "|\n"
	 "[1K, 2K)               1 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 512, \"max\": 1023, \"count\": 1}, "
	 "{\"min\": 1024, \"max\": 2047, \"count\": 1}]}}\n"},
	{{.kind = V_HIST},
	 {1ll << 41},
	 1,
	 0,
	 "@: \n[2T, 4T)               1 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 2199023255552, \"max\": 4398046511103, "
	 "\"count\": 1}]}}\n"},
	{{.kind = V_HIST},
	 {INT64_MAX},
	 1,
	 0,
	 "@: \n[4E, 8E)               1 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 4611686018427387904, "
	 "\"max\": 9223372036854775807, \"count\": 1}]}}\n"},
	{{.kind = V_HIST}, {0}, 0, 0, "@: \n\n", "{\"type\": \"hist\", \"data\": {\"@\": []}}\n"},
	/* Two buckets for each power of two. */
	{{.kind = V_HIST, .param = {1}}, {3, 4, 6, 1024, 4096}, 5, 0, NULL, NULL},
	{{.kind = V_LHIST, .param = {0, 10, 2}},
	 {-5, 3, 11},
	 3,
	 0,
	 "@: \n"
	 "(..., 0)               1 |" FULL "|\n"
	 "[0, 2)                 0 |" EMPTY "|\n"
	 "[2, 4)                 1 |" FULL "|\n"
	 "[4, 6)                 0 |" EMPTY "|\n"
	 "[6, 8)                 0 |" EMPTY "|\n"
	 "[8, 10)                0 |" EMPTY "|\n"
	 "[10, ...)              1 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"max\": -1, \"count\": 1}, "
	 "{\"min\": 0, \"max\": 1, \"count\": 0}, {\"min\": 2, \"max\": 3, \"count\": 1}, "
	 "{\"min\": 4, \"max\": 5, \"count\": 0}, {\"min\": 6, \"max\": 7, \"count\": 0}, "
	 "{\"min\": 8, \"max\": 9, \"count\": 0}, {\"min\": 10, \"count\": 1}]}}\n"},
	/* div does not count here. */
	{{.kind = V_LHIST, .param = {0, 10000, 1000}},
	 {500, 1500, 1500},
	 3,
	 2,
	 "@: \n"
	 "[0, 1000)              1 |" HALF "|\n"
	 "[1000, 2000)           2 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 0, \"max\": 999, \"count\": 1}, "
	 "{\"min\": 1000, \"max\": 1999, \"count\": 2}]}}\n"},
	{{.kind = V_LHIST, .param = {0, 10240, 1024}},
	 {2048},
	 1,
	 0,
	 "@: \n[2K, 3K)               1 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 2048, \"max\": 3071, \"count\": "
	 "1}]}}\n"},
	{{.kind = V_LHIST, .param = {1024, 3000, 100}},
	 {1025},
	 1,
	 0,
	 "@: \n[1K, 1124)             1 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 1024, \"max\": 1123, \"count\": "
	 "1}]}}\n"},
	{{.kind = V_LHIST, .param = {0, 95, 10}},
	 {95},
	 1,
	 0,
	 "@: \n[95, ...)              1 |" FULL "|\n\n",
	 "{\"type\": \"hist\", \"data\": {\"@\": [{\"min\": 95, \"count\": 1}]}}\n"},
};

static size_t lhist_bucket(const struct vtype *t, int64_t v)
{
	if (v < t->param[0])
		return 0;
	if (v >= t->param[1])
		return agg_lhist_buckets(t) - 1;
	return (size_t)((v - t->param[0]) / t->param[2]) + 1;
}

static uint64_t *fill_hist(const struct vtype *t, const int64_t *v, size_t n, size_t *buckets)
{
	bool linear = t->kind == V_LHIST;
	uint64_t *counts;

	*buckets = linear ? agg_lhist_buckets(t) : agg_hist_buckets((unsigned int)t->param[0]);
	counts = calloc(*buckets, sizeof(*counts));
	assert_non_null(counts);
	for (size_t i = 0; i < n; i++)
		counts[linear ? lhist_bucket(t, v[i])
			      : agg_hist_bucket(v[i], (unsigned int)t->param[0])]++;
	return counts;
}

static void test_hists(void **state)
{
	static const char fine[] = "@: \n"
				   "[3]                    1 |" FULL "|\n"
				   "[4, 6)                 1 |" FULL "|\n"
				   "[6, 8)                 1 |" FULL "|\n"
				   "[8, 12)                0 |" EMPTY "|\n";

	for (size_t i = 0; i < ARRAY_SIZE(hists); i++) {
		for (int json = 0; json < 2; json++) {
			size_t n;
			uint64_t *counts =
				fill_hist(&hists[i].type, hists[i].values, hists[i].n, &n);
			struct map_def m = {.name = "",
					    .value = hists[i].type,
					    .value_size = (uint32_t)(n * 8 + 8),
					    .flagged = true};
			struct map_row row = {.value = (const uint8_t *)counts};
			struct map_rows rows = {.at = &row, .n = 1};
			struct fixture f;

			setup(&f, json, OUTPUT_0_17);
			output_map(&f.o, &m, &rows, 0, hists[i].div);
			if (hists[i].text)
				expect(&f, json ? hists[i].json : hists[i].text);
			else if (!json)
				assert_memory_equal(f.text.data, fine, sizeof(fine) - 1);
			teardown(&f);
			free(counts);
		}
	}
}

/* As many as bpftrace's own test of hist(x, 3) expects, each where it does. */
static void test_fine_hist(void **state)
{
	const struct vtype t = {.kind = V_HIST, .param = {3}};
	int64_t v[1024];
	struct map_def m = {.name = "", .value = t};
	struct fixture f;
	struct map_row row;
	struct map_rows rows = {.at = &row, .n = 1};
	uint64_t *counts;
	size_t n;

	for (int64_t i = 0; i < 1024; i++)
		v[i] = i;
	counts = fill_hist(&t, v, 1024, &n);
	m.value_size = (uint32_t)(n * 8);
	row = (struct map_row){.value = (const uint8_t *)counts};
	setup(&f, true, OUTPUT_0_17);
	output_map(&f.o, &m, &rows, 0, 0);
	assert_non_null(strstr(buf_str(&f.text), "{\"min\": 15, \"max\": 15, \"count\": 1}, "
						 "{\"min\": 16, \"max\": 17, \"count\": 2}, "));
	assert_non_null(
		strstr(buf_str(&f.text), "{\"min\": 960, \"max\": 1023, \"count\": 64}]}}\n"));
	free(counts);
	teardown(&f);
}

/* ---- time series ---- */

static void expect_chart(struct fixture *f, const char *scale, const char *lines)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "@a:\n             %s\n"
		 "hh:mm:ss.ms  |___________________________________________________|\n%s"
		 "             v___________________________________________________v\n"
		 "             %s\n\n",
		 scale, lines, scale);
	expect(f, text);
}

static void test_tseries(void **state)
{
	/* Tenths of a second; the fourth of five is missing. */
	const struct vtype t = {.kind = V_TSERIES,
				.size = 5 * 24,
				.is_signed = true,
				.mode = SERIES_AVG,
				.param = {100000000, 5}};
	const int64_t buckets[5][3] = {{5, 10, 2}, {1, -5, 1}, {2, -3, 2}, {3, 0, 1}, {0, 0, 0}};
	const int64_t thirteen[5][3] = {{1, 0, 1}, {2, 3, 1}, {3, 13, 1}, {0, 0, 0}, {0, 0, 0}};
	struct map_def m = {.name = "a", .value = t, .value_size = sizeof(buckets)};
	struct map_row row = {.value = (const uint8_t *)buckets};
	struct map_rows rows = {.at = &row, .n = 1};
	struct fixture f;

	setup(&f, false, OUTPUT_0_26);
	output_map(&f.o, &m, &rows, 0, 0);
	expect_chart(&f, "-5                                                  5",
		     "00:00:00.100 *                         .                         | -5\n"
		     "00:00:00.200 |                   *     .                         | -1\n"
		     "00:00:00.300 |                         *                         | 0\n"
		     "00:00:00.400 |                         .                         | -\n"
		     "00:00:00.500 |                         .                         * 5\n");
	teardown(&f);

	/* 3 of 13 are 12 columns of 52, not a bit less. */
	m.value.is_signed = false;
	m.value.mode = SERIES_NONE;
	row.value = (const uint8_t *)thirteen;
	setup(&f, false, OUTPUT_0_26);
	output_map(&f.o, &m, &rows, 0, 0);
	expect_chart(&f, "0                                                  13",
		     "00:00:00.100 *                                                   | 0\n"
		     "00:00:00.200 |           *                                       | 3\n"
		     "00:00:00.300 |                                                   * 13\n");
	teardown(&f);
	m.value = t;
	row.value = (const uint8_t *)buckets;

	setup(&f, true, OUTPUT_0_26);
	output_map(&f.o, &m, &rows, 0, 0);
	expect(&f, "{\"type\": \"tseries\", \"data\": {\"@a\": ["
		   "{\"interval_start\":\"1970-01-01T00:00:00.100000000\",\"value\":-5},"
		   "{\"interval_start\":\"1970-01-01T00:00:00.200000000\",\"value\":-1},"
		   "{\"interval_start\":\"1970-01-01T00:00:00.300000000\",\"value\":0},"
		   "{\"interval_start\":\"1970-01-01T00:00:00.500000000\",\"value\":5}]}}\n");
	teardown(&f);
}

/* ---- joining ---- */

static void test_join(void **state)
{
	static const struct {
		const struct vtype *type;
		int64_t a[2], b[2], both[2];
	} cases[] = {
		{&count, {3}, {4}, {7}},	  {&sum, {-3}, {4}, {1}},
		{&avg, {1, 10}, {2, -4}, {3, 6}}, {&stats, {0, 0}, {2, 5}, {2, 5}},
		{&min, {5, 1}, {3, 1}, {3, 1}},	  {&min, {5, 1}, {3, 0}, {5, 1}},
		{&min, {0, 0}, {3, 1}, {3, 1}},	  {&max, {-5, 1}, {-3, 1}, {-3, 1}},
		{&max, {0, 0}, {-3, 1}, {-3, 1}}, {&s64, {1}, {2}, {2}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t to[2] = {cases[i].a[0], cases[i].a[1]};

		agg_join(cases[i].type, to, cases[i].b);
		assert_memory_equal(to, cases[i].both, sizeof(to));
	}
}

static void test_join_buckets(void **state)
{
	static const struct {
		int mode;
		int64_t a[3], b[3], both[3];
	} cases[] = {
		{SERIES_SUM, {7, 3, 1}, {7, 4, 2}, {7, 7, 3}},
		{SERIES_SUM, {7, 3, 1}, {8, 4, 2}, {8, 4, 2}},
		{SERIES_SUM, {7, 3, 1}, {6, 4, 2}, {7, 3, 1}},
		{SERIES_MIN, {7, 3, 1}, {7, -4, 2}, {7, -4, 2}},
		{SERIES_MAX, {7, 3, 1}, {7, -4, 2}, {7, 3, 1}},
		{SERIES_NONE, {7, 3, 1}, {0, 0, 0}, {7, 3, 1}},
	};
	const struct vtype lhist = {.kind = V_LHIST, .param = {0, 4, 2}};
	uint64_t to[4] = {1, 2, 3, 4};
	const uint64_t from[4] = {10, 20, 30, 40}, both[4] = {11, 22, 33, 44};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct vtype t = {.kind = V_TSERIES,
					.is_signed = true,
					.mode = cases[i].mode,
					.param = {1, 1}};
		int64_t bucket[3];

		memcpy(bucket, cases[i].a, sizeof(bucket));
		agg_join(&t, bucket, cases[i].b);
		assert_memory_equal(bucket, cases[i].both, sizeof(bucket));
	}
	agg_join(&lhist, to, from);
	assert_memory_equal(to, both, sizeof(to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),	  cmocka_unit_test(test_hists),
		cmocka_unit_test(test_fine_hist), cmocka_unit_test(test_tseries),
		cmocka_unit_test(test_join),	  cmocka_unit_test(test_join_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
