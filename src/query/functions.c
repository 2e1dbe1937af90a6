// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions beside SQLite's own: hist(), percentiles, stddev(), sym(), ns(); and count(), in place
 * of its own. NULLs do not count in aggregates, as in SQLite's.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/bars.h"
#include "event/names.h"
#include "query/parts.h"
#include "query/quantiles.h"
#include "base/array.h"

#define HIST_LIMIT (1u << 16)

const struct query_function_info query_functions[] = {
	{"hist", "x", "histogram of x by powers of two, as text"},
	{"p50", "x", "median of x"},
	{"p90", "x", "x that 90 percent do not exceed"},
	{"p99", "x", "x that 99 percent do not exceed"},
	{"percentile", "x, p", "x that p percent do not exceed"},
	{"stddev", "x", "standard deviation of x (of a sample)"},
	{"sym", "address [, schema]", "the kernel's function at an address"},
	{"ns", "x", "nanoseconds for people: 1500000 is '1.5ms'; ns('1.5ms') is 1500000"},
	{NULL, NULL, NULL},
};

/* ---- percentiles ---- */

struct percentile {
	struct quantiles quantiles;
	double p;
};

/* The percentage of p50() and its like; percentile() takes it from its second argument. */
static void percentile_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct percentile *a = sqlite3_aggregate_context(ctx, sizeof(*a));
	struct query *q = sqlite3_user_data(ctx);
	bool ok = true;

	if (!a) {
		sqlite3_result_error_nomem(ctx);
		return;
	}
	if (argc == 2)
		a->p = sqlite3_value_double(argv[1]);
	switch (sqlite3_value_numeric_type(argv[0])) {
	case SQLITE_INTEGER:
		ok = quantiles_add(&a->quantiles, sqlite3_value_int64(argv[0]), &q->exact);
		break;
	case SQLITE_FLOAT:
		ok = quantiles_add_real(&a->quantiles, sqlite3_value_double(argv[0]), &q->exact);
		break;
	default: break;
	}
	if (!ok)
		sqlite3_result_error_nomem(ctx);
}

static void percentile_final(sqlite3_context *ctx, double p)
{
	struct percentile *a = sqlite3_aggregate_context(ctx, 0);
	struct query *q = sqlite3_user_data(ctx);
	int64_t value = 0;
	double as_real = 0;
	bool real;

	if (!a)
		return;
	if (!quantiles_get(&a->quantiles, p < 0 ? a->p : p, &value, &as_real, &real))
		sqlite3_result_null(ctx);
	else if (real)
		sqlite3_result_double(ctx, as_real);
	else
		sqlite3_result_int64(ctx, value);
	quantiles_free(&a->quantiles, &q->exact);
}

static void p50_final(sqlite3_context *ctx)
{
	percentile_final(ctx, 50);
}

static void p90_final(sqlite3_context *ctx)
{
	percentile_final(ctx, 90);
}

static void p99_final(sqlite3_context *ctx)
{
	percentile_final(ctx, 99);
}

static void any_final(sqlite3_context *ctx)
{
	percentile_final(ctx, -1);
}

/* ---- deviation: Welford's way, which does not lose digits ---- */

struct deviation {
	uint64_t n;
	double mean, squares;
};

static void stddev_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct deviation *a = sqlite3_aggregate_context(ctx, sizeof(*a));
	const int type = sqlite3_value_numeric_type(argv[0]);
	double x, delta;

	if (!a || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
		return;
	x = sqlite3_value_double(argv[0]);
	a->n++;
	delta = x - a->mean;
	a->mean += delta / (double)a->n;
	a->squares += delta * (x - a->mean);
}

static void stddev_final(sqlite3_context *ctx)
{
	const struct deviation *a = sqlite3_aggregate_context(ctx, 0);

	if (a && a->n > 1)
		sqlite3_result_double(ctx, sqrt(a->squares / (double)(a->n - 1)));
}

/* ---- histograms ---- */

enum { NEGATIVE, ZERO, POSITIVE, NR_BUCKETS = POSITIVE + 63 };

struct hist {
	uint64_t buckets[NR_BUCKETS];
};

static int hist_bucket(int64_t x)
{
	return x < 0 ? NEGATIVE : x == 0 ? ZERO : POSITIVE + 63 - __builtin_clzll((uint64_t)x);
}

static void hist_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct hist *h = sqlite3_aggregate_context(ctx, sizeof(*h));
	const int type = sqlite3_value_numeric_type(argv[0]);
	int64_t x;

	if (!h || (type != SQLITE_INTEGER && type != SQLITE_FLOAT))
		return;
	x = sqlite3_value_int64(argv[0]);
	h->buckets[hist_bucket(x)]++;
}

/* The bars; false without memory. */
static bool hist_draw(const struct hist *h, struct buf *out)
{
	struct bars bars = {0};
	bool ok = true;

	for (int i = 0; h && ok && i < NR_BUCKETS; i++)
		if (h->buckets[i])
			ok = bars_add_log2(&bars,
					   i == NEGATIVE ? -1
					   : i == ZERO	 ? 0
							 : (int64_t)(1ull << (i - POSITIVE)),
					   h->buckets[i]);
	bars_print(&bars, BARS_POWERS, "", out);
	if (out->len && out->data[out->len - 1] == '\n')
		out->len--;
	bars_free(&bars);
	return ok;
}

static void hist_final(sqlite3_context *ctx)
{
	struct buf out;

	buf_init(&out, HIST_LIMIT);
	if (!hist_draw(sqlite3_aggregate_context(ctx, 0), &out))
		sqlite3_result_error_nomem(ctx);
	else if (out.len)
		sqlite3_result_text(ctx, out.data, (int)out.len, SQLITE_TRANSIENT);
	buf_free(&out);
}

void functions_show_counts(const char *text, struct buf *out)
{
	const char *at = text + strspn(text, "(["), *counts = strchr(at, ']');
	struct hist h = {0};

	counts += counts ? strspn(counts, "],[") : 0;
	while (counts) {
		char *end, *next;
		const long long bucket = strtoll(at, &end, 10);
		const unsigned long long count = strtoull(counts, &next, 10);

		if (end == at || next == counts)
			break;
		h.buckets[hist_bucket(bucket)] += count;
		at = end + (*end == ',');
		counts = *next == ',' ? next + 1 : NULL;
	}
	hist_draw(&h, out);
}

/* ---- symbols ---- */

static void sym(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct query *q = sqlite3_user_data(ctx);
	const char *schema = argc == 2 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
	const uint64_t addr = (uint64_t)sqlite3_value_int64(argv[0]);

	if (sqlite3_value_numeric_type(argv[0]) != SQLITE_INTEGER)
		return;
	for (size_t i = 0; i < q->files.n; i++) {
		const struct query_file *f = q->files.at[i];
		const struct symbol *s = NULL;

		if (!schema || strcmp(schema, f->name) == 0)
			s = symbols_find(f->trace->events->symbols, addr);
		if (s) {
			sqlite3_result_text(ctx, s->name, (int)s->len, SQLITE_STATIC);
			return;
		}
	}
}

/* ---- times ---- */

static const struct {
	const char *name;
	double ns;
} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"min", 60e9}, {"h", 3600e9}};

static void show_ns(sqlite3_context *ctx, double x)
{
	const double size = fabs(x);
	char text[64];
	int unit = 0, len;

	while (unit < 3 && size < units[unit].ns)
		unit++;
	len = snprintf(text, sizeof(text), "%.3f", x / units[unit].ns);
	/* Zeros at the end say nothing. */
	while (len > 1 && text[len - 1] == '0')
		len--;
	len -= len > 1 && text[len - 1] == '.';
	snprintf(text + len, sizeof(text) - (size_t)len, "%s", units[unit].name);
	sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

bool functions_parse_ns(const char *text, double *ns)
{
	char *unit;
	const double value = strtod(text, &unit);

	if (unit == text)
		return false;
	while (isspace((unsigned char)*unit))
		unit++;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name) == 0) {
			*ns = value * units[i].ns;
			return true;
		}
	}
	return false;
}

static void parse_ns(sqlite3_context *ctx, const char *text)
{
	char *said;
	double ns;

	if (!functions_parse_ns(text, &ns)) {
		said = sqlite3_mprintf(FUNCTIONS_NO_TIME, text);
		sqlite3_result_error(ctx, said ? said : "ns: no time", -1);
		sqlite3_free(said);
	} else if (fabs(ns) < 9.2e18) {
		sqlite3_result_int64(ctx, llround(ns));
	} else {
		sqlite3_result_double(ctx, ns);
	}
}

static void ns(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	switch (sqlite3_value_type(argv[0])) {
	case SQLITE_INTEGER:
	case SQLITE_FLOAT: show_ns(ctx, sqlite3_value_double(argv[0])); break;
	case SQLITE_TEXT: parse_ns(ctx, (const char *)sqlite3_value_text(argv[0])); break;
	default: break;
	}
}

/* ---- count() ---- */

/*
 * As SQLite's own, but for rows that stand for several: where plan_only_counts() says so, a group's
 * row is shown once, with how often it occurred.
 */

static void count_more(sqlite3_context *ctx, int argc, sqlite3_value **argv, int64_t n)
{
	int64_t *sum = sqlite3_aggregate_context(ctx, sizeof(*sum));

	if (sum && (!argc || sqlite3_value_type(argv[0]) != SQLITE_NULL))
		*sum += n;
}

static void count_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	count_more(ctx, argc, argv, ((const struct query *)sqlite3_user_data(ctx))->weight);
}

/* Of a window, which has no groups. */
static void count_inverse(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	count_more(ctx, argc, argv, -1);
}

static void count_value(sqlite3_context *ctx)
{
	const int64_t *sum = sqlite3_aggregate_context(ctx, 0);

	sqlite3_result_int64(ctx, sum ? *sum : 0);
}

static int add_count(struct query *q, int args)
{
	return sqlite3_create_window_function(
		q->db, "count", args, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, q,
		count_step, count_value, count_value, count_inverse, NULL);
}

/* ---- */

int functions_add(struct query *q)
{
	static const struct {
		const char *name;
		int args;
		void (*call)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
		void (*step)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
		void (*final)(sqlite3_context *ctx);
	} list[] = {
		{"hist", 1, NULL, hist_step, hist_final},
		{"p50", 1, NULL, percentile_step, p50_final},
		{"p90", 1, NULL, percentile_step, p90_final},
		{"p99", 1, NULL, percentile_step, p99_final},
		{"percentile", 2, NULL, percentile_step, any_final},
		{"stddev", 1, NULL, stddev_step, stddev_final},
		{"sym", 1, sym, NULL, NULL},
		{"sym", 2, sym, NULL, NULL},
		{"ns", 1, ns, NULL, NULL},
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_SIZE(list); i++)
		rc = sqlite3_create_function_v2(q->db, list[i].name, list[i].args,
						SQLITE_UTF8 | SQLITE_DETERMINISTIC, q, list[i].call,
						list[i].step, list[i].final, NULL);
	for (int args = 0; rc == SQLITE_OK && args < 2; args++)
		rc = add_count(q, args);
	return rc;
}
