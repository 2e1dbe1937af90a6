// SPDX-License-Identifier: GPL-2.0-or-later
/* Statements for ClickHouse: what is sent of them, what is not sent, and rows that come back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "query/store_sql.h"
#include "store/clickhouse/select.h"

#define P50 "quantileExact(0.499999999999995)(toNullable("

/* What is sent; NULL: the statement as it is. */
static const struct {
	const char *sql, *sent;
} cases[] = {
	{"select dur from t", NULL},
	{"SELECT  a ,b\n\tFROM t -- the end", "SELECT  a ,b\n\tFROM t"},
	{"select p50(dur) from t", "select " P50 "dur)) AS `p50(dur)` from t"},
	{"select P50 (dur) as x from t", "select " P50 "dur)) as x from t"},
	{"select p50(dur) + 1, max(p50(dur)) from t",
	 "select " P50 "dur)) + 1, max(" P50 "dur))) from t"},
	{"select a, (select p50(x) from u) from t order by a, p50(dur)",
	 "select a, (select " P50 "x)) from u) from t order by a, " P50 "dur))"},
	{"select percentile(f(a, b), 50) as x", "select " P50 "f(a, b))) as x"},
	{"select percentile(a, b), percentile(a), p50(), p50(a, b), p50 (", NULL},
	{"select stddev(x) as s", "select stddevSamp(x) as s"},
	/* Neither strings nor names nor comments. */
	{"select 'p50(x)', \"p50(x)\", `p50(x)`, p50, x.p50(1) /* p50(x) */ from t", NULL},
	{"select 'it''s p50(x)', 'it\\'s p50(x)', '\\\\', 'p50(x)'", NULL},
	{"select $$ p50(x) $$, $a$ p50(x) $$ p50(y) $a$", NULL},
	{"select 1 -- p50(x)\n, 2 # p50(y)\n, 3", NULL},
	{"select 'p50(x)", NULL},
	{"select 1 /* p50(x)", "select 1"},
	{"select p50(/* ) */ x -- )\n) as y", "select " P50 "x)) as y"},
	/* Times. */
	{"select ns('5ms') as a, ns( '1.5 us' ) as b", "select 5000000 as a, 1500 as b"},
	/* Parameters: a has the value 5, b it's, c none. */
	{"select :a, :b, :c, :a", "select 5, 'it\\'s', NULL, 5"},
	{"select x::a, {p:Int8}, ':a', y ? :a : b, y ?z :b",
	 "select x::a, {p:Int8}, ':a', y ? :a : b, y ?z :b"},
	{"select 1 limit coalesce(:a, 20)", "select 1 limit 5"},
	{"select 1 limit coalesce(:c, 20)", "select 1 limit 20"},
	{"select coalesce(x, 20), coalesce(:c, x + 1)",
	 "select coalesce(x, 20), coalesce(NULL, x + 1)"},
	{"select 1; select 2", "select 1"},
	{"select ';'; select 2", "select ';'"},
};

static const struct {
	const char *sql;
	bool reads;
} checked[] = {
	{"select 1", true},
	{"  -- drop\n((Select 1))", true},
	{"with 1 as x select x", true},
	{"SHOW TABLES", true},
	{"describe t", true},
	{"drop table t", false},
	{"/* select */ drop table t", false},
	{"'select' drop table t", false},
	{"`select`", false},
	{"(", false},
	{"with 1 as x insert into t select x", false},
	{"select insert from t", true},
	{"select 1 format JSON", false},
	{"set readonly = 0", false},
};

static void give(struct store_sql *s)
{
	vec_each (p, &s->params)
		if (p->name[1] != 'c')
			p->value = strdup(p->name[1] == 'a' ? "5" : "it's");
}

static void test_sent(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *wanted = cases[i].sent ? cases[i].sent : cases[i].sql;
		struct spur_error err = {0};
		struct store_sql s;
		struct buf out;

		buf_init(&out, 65536);
		assert_int_equal(store_sql_read(&s, cases[i].sql), 0);
		give(&s);
		if (store_sql_write(&s, "m", &out, &err) < 0)
			fail_msg("%s: %s", cases[i].sql, err.text);
		if (strcmp(buf_str(&out), wanted) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", cases[i].sql, out.data, wanted);
		store_sql_free(&s);
		buf_free(&out);
	}
}

/* Functions within functions end somewhere, and so does what they become. */
static void test_deep(void **state)
{
	static const char *const functions[] = {"p50(", "hist(", "ns("};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct spur_error err = {0};
		struct store_sql s;
		struct buf sql, out;
		int rc;

		buf_init(&sql, 65536);
		buf_init(&out, 65536);
		buf_puts(&sql, "select ");
		for (int k = 0; k < 1000; k++)
			buf_puts(&sql, functions[i]);
		buf_putc(&sql, 'x');
		buf_fill(&sql, ')', 1000);
		assert_int_equal(store_sql_read(&s, buf_str(&sql)), 0);
		rc = store_sql_write(&s, "m", &out, &err);
		assert_true(rc == 0 || rc == -E2BIG);
		store_sql_free(&s);
		buf_free(&sql);
		buf_free(&out);
	}
}

static void test_checked(void **state)
{
	for (size_t i = 0; i < sizeof(checked) / sizeof(checked[0]); i++) {
		struct spur_error err = {0};
		struct store_sql s;

		assert_int_equal(store_sql_read(&s, checked[i].sql), 0);
		if (store_sql_check(&s, &err) != (checked[i].reads ? 0 : -EINVAL))
			fail_msg("%s: %s", checked[i].sql, err.text);
		store_sql_free(&s);
	}
}

static void test_complete(void **state)
{
	static const struct {
		const char *sql;
		bool complete;
	} texts[] = {
		{"select 1", false},	    {"select 1;", true},
		{"select 1; -- x", true},   {"select ';", false},
		{"select '\\';';", true},   {"select 1; select 2", false},
		{"select 1 -- ;\n", false}, {"", false},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (store_sql_complete(texts[i].sql) != texts[i].complete)
			fail_msg("%s", texts[i].sql);
}

static void test_outer_joins(void **state)
{
	struct store_sql s;

	assert_int_equal(store_sql_read(&s, "select 1 from a any LEFT outer join b using x"), 0);
	assert_true(store_sql_joins_outer(&s));
	store_sql_free(&s);
	assert_int_equal(store_sql_read(&s, "select left(x, 1), ' left join ' from a join b"), 0);
	assert_false(store_sql_joins_outer(&s));
	store_sql_free(&s);
}

static void test_rows(void **state)
{
	static const struct {
		const char *type, *text;
		int rc;
		struct tsv_value value;
	} rows[] = {
		{"Int64", "-9223372036854775808", 1, {TSV_INTEGER, .number = INT64_MIN}},
		{"UInt64", "9223372036854775808", 1, {TSV_TEXT, .text = "9223372036854775808"}},
		{"Nullable(Int8)", "\\N", 1, {TSV_INTEGER, .null = true}},
		{"LowCardinality(Nullable(UInt8))", "7", 1, {TSV_INTEGER, .number = 7}},
		{"Bool", "true", 1, {TSV_INTEGER, .number = 1}},
		{"Float64", "-1.5e3", 1, {TSV_REAL, .real = -1500}},
		{"Float32", "nan", 1, {TSV_REAL, .null = true}},
		{"String", "a\\tb\\\\c\\n", 1, {TSV_TEXT, .text = "a\tb\\c\n"}},
		{"Array(String)", "[\\'x\\']", 1, {TSV_TEXT, .text = "['x']"}},
		{"Int64", "five", -EBADMSG, {0}},
		{"Int64", "", -EBADMSG, {0}},
		{"Int64", "-", -EBADMSG, {0}},
		{"Float64", "1.5x", -EBADMSG, {0}},
		{"Int64", "1\t2", -EBADMSG, {0}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tsv_value *want = &rows[i].value, *v;
		char names[] = "x", type[64], text[64];
		struct tsv t = {0};

		snprintf(type, sizeof(type), "%s", rows[i].type);
		snprintf(text, sizeof(text), "%s", rows[i].text);
		assert_int_equal(tsv_take(&t, names, 1), 0);
		assert_int_equal(tsv_take(&t, type, strlen(type)), 0);
		assert_int_equal(tsv_take(&t, text, strlen(text)), rows[i].rc);
		v = t.values.at;
		if (rows[i].rc == 1) {
			assert_int_equal(v->kind, want->kind);
			assert_int_equal(v->null, want->null);
			assert_true(v->kind != TSV_INTEGER || v->number == want->number);
			assert_true(want->null || v->real == want->real);
			if (want->text) {
				assert_int_equal(v->len, strlen(want->text));
				assert_memory_equal(v->text, want->text, v->len);
			}
		}
		tsv_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sent),	    cmocka_unit_test(test_deep),
		cmocka_unit_test(test_checked),	    cmocka_unit_test(test_complete),
		cmocka_unit_test(test_outer_joins), cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
