// SPDX-License-Identifier: GPL-2.0-or-later
/* SQL for ClickHouse: what is sent, what is done here, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/vec.h"
#include "store/clickhouse/tsv.h"
#include "query/parts.h"
#include "store_tables.h"

/* Behind "SELECT ", without the mark and the format; and behind "select ". */
static const struct {
	const char *sql, *remote, *local;
} cases[] = {
	{"select dur from t", "`dur` AS s0_1 FROM db.t", "?1 as \"dur\""},
	{"SELECT Dur AS d FROM main.T", "`dur` AS s0_1 FROM db.t", "?1 as \"d\""},
	{"select 1 + 2, 'a'", "", "3 as \"1 + 2\", 'a' as \"'a'\""},
	{"select count(*) from t where dur = 5", "count() AS s0_1 FROM db.t WHERE (`dur` = 5)",
	 "?1 as \"count(*)\""},
	{"select max(ts) from t", "max(toNullable(`ts`)) AS s0_1 FROM db.t", "?1 as \"max(ts)\""},
	{"select ns(sum(dur)) from t",
	 "(sum(`dur`) + throwIf(ifNull(abs(sum(toFloat64(`dur`))) >= 9223372036854775808.0, 0))) "
	 "AS "
	 "s0_1 FROM db.t",
	 "ns(?1) as \"ns(sum(dur))\""},
	{"select sum(load) from t", "sum(`load`) AS s0_1 FROM db.t", NULL},
	{"select dur * 2 from t", "`dur` AS s0_1 FROM db.t", "(?1 * 2) as \"dur * 2\""},
	{"select distinct dur * 2 from t", "DISTINCT (`dur` * 2) AS s0_1 FROM db.t", NULL},
	{"select host from t where dur in (1, '2.0', null)",
	 "`host` AS s0_1 FROM db.t WHERE if(ifNull(`dur` IN (1, 2), 0), 1, NULL)", NULL},
	{"select host from t where dur > 'x'",
	 "`host` AS s0_1 FROM db.t WHERE if(isNull(`dur`), NULL, 0)", NULL},
	{"select comm || x'41' from t", "concat(`comm`, unhex('41')) AS s0_1 FROM db.t", NULL},
	{"select p50(dur) from t", "quantileExact(0.499999999999995)(`dur`) AS s0_1 FROM db.t",
	 NULL},
	{"select dur / 3, dur / 3.0, dur % 7 from t",
	 "intDiv(toInt64(`dur`), toInt64(3)) AS s0_1, (`dur` / nullIf(3.0, 0)) AS s0_2, "
	 "modulo(toInt64(`dur`), toInt64(7)) AS s0_3 FROM db.t",
	 NULL},
	{"select host from t where comm like 'A%\\'",
	 "`host` AS s0_1 FROM db.t WHERE like(lower(`comm`), 'a%\\\\\\\\')", NULL},
	{"select host from t where dur > ns('5us')",
	 "`host` AS s0_1 FROM db.t WHERE (`dur` > 5000)", NULL},
	{"select host from t where date = '2026-11-14'",
	 "`host` AS s0_1 FROM db.t WHERE (`date` = '2026-11-14')", NULL},
	{"select host from t where date > 'x'",
	 "`host` AS s0_1 FROM db.t WHERE (toString(`date`) > 'x')", NULL},
	{"select comm || ts from t", "concat(`comm`, toString(`ts`)) AS s0_1 FROM db.t", NULL},
	{"select load || '' from t", "`load` AS s0_1 FROM db.t", "(?1 || '') as \"load || ''\""},
	{"select host h, count(*) n from t group by h order by n desc limit 2",
	 "`host` AS s0_1, count() AS s0_2 FROM db.t GROUP BY s0_1 ORDER BY s0_2 DESC NULLS LAST "
	 "LIMIT 0, 2",
	 NULL},
	{"select m from v", "`s2000004_2` AS s0_1 FROM (", "?1 as \"m\""},
	{"select * from t limit 0",
	 "`host` AS s0_1, `date` AS s0_2, `ts` AS s0_3, `dur` AS s0_4, `comm` AS s0_5, `load` AS "
	 "s0_6 FROM db.t LIMIT 0, 0",
	 NULL},
	{"select t.dur from t, u where t.ts = u.ts and u.dur = 1",
	 "`t0_dur` AS s0_1 FROM (SELECT `t0_ts`, `t0_dur`, `t1_ts`, `t1_dur` FROM (SELECT *, "
	 "toInt64(`t0_ts`) AS k1_0 FROM (SELECT `ts` AS `t0_ts`, `dur` AS `t0_dur` FROM db.t)) ALL "
	 "INNER JOIN (SELECT *, toInt64(`t1_ts`) AS k1_0 FROM (SELECT `ts` AS `t1_ts`, `dur` AS "
	 "`t1_dur` FROM db.t WHERE (`t1_dur` = 1))) USING (k1_0))",
	 NULL},
};

static const struct {
	const char *sql, *words;
} refused[] = {
	{"select nope from t", "no column 'nope'"},
	{"select dor from t", "did you mean 'dur'"},
	{"select 1 from nope", "no table 'nope'"},
	{"select text from t", "'text'"},
	{"select", "nothing follows 'select'"},
	{"select 1 from", "nothing follows 'from'"},
	{"select (select 1", "ends too early"},
	{"select 1 where", "nothing follows 'where'"},
	{"select dur from t group by 3", "no column 3"},
	{"select dur from t where ns(dur) = ''", "ns()"},
	{"select sym(dur) from t", "sym()"},
	{"select lag(dur) over () from t", "lag()"},
	{"select sum(sum(dur)) from t", "misuse of aggregate"},
	{"select dur from t limit ts", "LIMIT"},
	{"select t.dur from t left join u on t.dur > u.dur", "LEFT JOIN"},
	{"select dur from t, u", "several tables"},
	{"select x from (select x as x)", "nested too deeply"},
	{"select substr(comm) from t", "wrong number of arguments"},
};

static struct query *session(void)
{
	static struct query *q;
	struct spur_error err = {0};

	if (!q)
		assert_int_equal(query_open(&(struct query_options){0}, &q, &err), 0);
	return q;
}

static int translate(const char *sql, struct store_sql *out, struct spur_error *err)
{
	struct tokens tokens = {0};
	struct store_params params = {0};
	size_t used;
	int rc = store_lex(sql, &tokens, &used, err);

	if (rc == 0)
		rc = store_compile(session()->db, sql, &tokens, 0, &params, &store_tables_schema,
				   "m", out, err);
	vec_free(&tokens);
	return rc;
}

static void test_translation(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spur_error err = {0};
		struct store_sql out;
		char wanted[1024];
		const char *from = strstr(cases[i].remote, " FROM ");

		store_sql_init(&out);
		if (translate(cases[i].sql, &out, &err) < 0)
			fail_msg("%s: %s", cases[i].sql, err.text);
		/* The mark stands before the outermost FROM. */
		snprintf(wanted, sizeof(wanted), "SELECT %.*s%s'm' AS spur_mark%s",
			 from ? (int)(from - cases[i].remote) : 0, cases[i].remote,
			 from ? ", " : "", from ? from : "");
		if (strncmp(buf_str(&out.remote), wanted, strlen(wanted)) != 0)
			fail_msg("%s:\n%s\ninstead of\n%s", cases[i].sql, out.remote.data, wanted);
		if (cases[i].local && strcmp(buf_str(&out.local) + 7, cases[i].local) != 0)
			fail_msg("%s: %s instead of %s", cases[i].sql, out.local.data,
				 cases[i].local);
		store_sql_free(&out);
	}
}

static void test_refusal(void **state)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct spur_error err = {0};
		struct store_sql out;

		store_sql_init(&out);
		if (translate(refused[i].sql, &out, &err) != -EINVAL ||
		    !strstr(err.text, refused[i].words))
			fail_msg("%s: '%s' instead of '%s'", refused[i].sql, err.text,
				 refused[i].words);
		store_sql_free(&out);
	}
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

static int end(void **state)
{
	query_close(session());
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_translation),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
