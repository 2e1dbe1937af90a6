// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole maps, sorted, as text or as one JSON object; and what is in them: aggregations joined over
 * CPUs, histograms, time series.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/num.h"
#include "base/safe.h"
#include "script/show.h"

/* Aggregations: the values of all CPUs become one. code/unit.h says how they lie in memory. */

uint64_t bucket_at(const uint8_t *v, size_t len, size_t i)
{
	uint64_t n;

	if (len / sizeof(n) <= i)
		return 0;
	memcpy(&n, v + i * sizeof(n), sizeof(n));
	return n;
}

static void add(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t sum = bucket_at(to, n * 8, i) + bucket_at(from, n * 8, i);

		memcpy(to + i * 8, &sum, sizeof(sum));
	}
}

static bool less(const struct vtype *t, uint64_t a, uint64_t b)
{
	return t->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* The second word is 1 if there is a value. */
static void join_extreme(const struct vtype *t, uint8_t *to, const uint8_t *from)
{
	uint64_t old = bucket_at(to, 16, 0), new = bucket_at(from, 16, 0);
	bool better = t->kind == V_MIN ? less(t, new, old) : less(t, old, new);

	if (bucket_at(from, 16, 1) && (!bucket_at(to, 16, 1) || better))
		memcpy(to, from, 16);
}

static void join_bucket(const struct vtype *t, uint8_t *to, const uint8_t *from)
{
	uint64_t old = bucket_at(to, 24, 0), new = bucket_at(from, 24, 0);
	uint64_t mine = bucket_at(to, 24, 1), other = bucket_at(from, 24, 1);

	if (!new || new < old)
		return;
	if (new > old) {
		memcpy(to, from, 24);
		return;
	}
	if (t->mode == SERIES_AVG || t->mode == SERIES_SUM)
		add(to + 8, from + 8, 2);
	else if (t->mode == SERIES_NONE || (t->mode == SERIES_MIN && less(t, other, mine)) ||
		 (t->mode == SERIES_MAX && less(t, mine, other)))
		memcpy(to + 8, from + 8, 16);
}

void agg_join(const struct vtype *t, void *to, const void *from)
{
	switch (t->kind) {
	case V_COUNT:
	case V_SUM: add(to, from, 1); break;
	case V_AVG:
	case V_STATS: add(to, from, 2); break;
	case V_MIN:
	case V_MAX: join_extreme(t, to, from); break;
	case V_HIST: add(to, from, agg_hist_buckets((unsigned int)t->param[0])); break;
	case V_LHIST: add(to, from, agg_lhist_buckets(t)); break;
	case V_TSERIES:
		for (int64_t i = 0; i < t->param[1]; i++)
			join_bucket(t, (uint8_t *)to + 24 * i, (const uint8_t *)from + 24 * i);
		break;
	default: memcpy(to, from, t->size); break;
	}
}

int64_t agg_average(const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t count = bucket_at(v, len, 0), total = bucket_at(v, len, 1);

	if (!count)
		return 0;
	if (!t->is_signed)
		return (int64_t)(total / count);
	return count > INT64_MAX ? 0 : (int64_t)total / (int64_t)count;
}

uint64_t agg_last_epoch(const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t last = 0;

	for (int64_t i = 0; i < t->param[1] && (size_t)i < len / 24; i++) {
		uint64_t epoch = bucket_at(v, len, (size_t)i * 3);

		if (epoch > last)
			last = epoch;
	}
	return last;
}

/*
 * Histograms, by powers of two and linear ones: a line for each bucket from the first to the last
 * that is not empty.
 *
 *	[1K, 2K)              12 |@@@@@@@@@@@@                                        |
 */

enum { BAR = 52, LABEL = 16, COUNT = 8 };

struct range {
	size_t first, last; /* buckets that are not empty; first > last: none is */
	uint64_t most;
};

static struct range range_of(const uint8_t *v, size_t len, size_t n)
{
	struct range r = {.first = n};

	for (size_t i = 0; i < n; i++) {
		uint64_t count = bucket_at(v, len, i);

		if (!count)
			continue;
		if (r.first == n)
			r.first = i;
		r.last = i;
		if (count > r.most)
			r.most = count;
	}
	return r;
}

/* Both ends of a bucket, in words and, for JSON, in numbers. */
struct label {
	char text[2][24];
	bool open[2]; /* it has no end on that side */
	int64_t from, to;
};

static void put_bucket(const struct show *s, const struct label *l, uint64_t count, uint64_t most)
{
	size_t start = s->to->len, used;
	unsigned int bar = (unsigned int)((float)count / (float)most * BAR);
	char digits[NUM_MAX_DEC];

	if (l->open[0])
		buf_printf(s->to, "(..., %s)", l->text[1]);
	else if (l->open[1])
		buf_printf(s->to, "[%s, ...)", l->text[0]);
	else if (!l->text[1][0])
		buf_printf(s->to, "[%s]", l->text[0]);
	else
		buf_printf(s->to, "[%s, %s)", l->text[0], l->text[1]);
	used = s->to->len - start;
	if (used < LABEL)
		buf_fill(s->to, ' ', LABEL - used);
	buf_put_right(s->to, digits, num_dec(digits, count / (uint64_t)s->div), COUNT);
	buf_puts(s->to, " |");
	if (bar > BAR)
		bar = BAR;
	buf_fill(s->to, '@', bar);
	buf_fill(s->to, ' ', BAR - bar);
	buf_puts(s->to, "|\n");
}

static void put_object(const struct show *s, const struct label *l, uint64_t count)
{
	buf_putc(s->to, '{');
	if (!l->open[0])
		buf_printf(s->to, "\"min\": %lld, ", (long long)l->from);
	if (!l->open[1])
		buf_printf(s->to, "\"max\": %lld, ", (long long)l->to);
	buf_puts(s->to, "\"count\": ");
	buf_u64(s->to, count / (uint64_t)s->div);
	buf_putc(s->to, '}');
}

static void put_buckets(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len,
			size_t n,
			void (*label)(const struct show *, const struct vtype *, size_t,
				      struct label *))
{
	struct range r = range_of(v, len, n);

	if (s->json)
		buf_putc(s->to, '[');
	for (size_t i = r.first; i <= r.last && i < n; i++) {
		struct label l = {0};

		label(s, t, i, &l);
		if (!s->json) {
			put_bucket(s, &l, bucket_at(v, len, i), r.most);
			continue;
		}
		if (i > r.first)
			buf_puts(s->to, ", ");
		put_object(s, &l, bucket_at(v, len, i));
	}
	if (s->json)
		buf_putc(s->to, ']');
}

/* ---- powers of two ---- */

/*
 * The lower end of a bucket, counted without the one for what is negative. The suffix belongs to
 * the width of the bucket: with sub-buckets 1024 stays 1024 until they are 1024 wide.
 */
static void log_label(uint32_t index, unsigned int bits, char *to, size_t cap)
{
	static const char suffixes[] = "\0KMGTPE";
	const uint64_t row = 1ull << bits;
	unsigned int power, decade;

	if (index <= 2 * row) {
		snprintf(to, cap, "%u", index);
		return;
	}
	power = (index >> bits) - 1;
	decade = power / 10 < 6 ? power / 10 : 6;
	snprintf(
		to, cap, "%llu%.1s",
		(unsigned long long)((1ull << (power - 10 * decade)) * (row + (index & (row - 1)))),
		suffixes + decade);
}

static void hist_label(const struct show *s, const struct vtype *t, size_t bucket, struct label *l)
{
	unsigned int bits = (unsigned int)t->param[0];
	uint32_t index = (uint32_t)bucket;

	agg_hist_range(index, bits, &l->from, &l->to);
	if (!bucket) {
		l->open[0] = true;
		snprintf(l->text[1], sizeof(l->text[1]), "0");
	} else {
		log_label(index - 1, bits, l->text[0], sizeof(l->text[0]));
		/* The first buckets have one number each. */
		if (index > 2u << bits)
			log_label(index, bits, l->text[1], sizeof(l->text[1]));
	}
	if (l->to != INT64_MAX)
		l->to--;
}

void show_hist(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	unsigned int bits = (unsigned int)t->param[0];

	put_buckets(s, t, v, len, bits <= 5 ? agg_hist_buckets(bits) : 0, hist_label);
}

/* ---- linear ---- */

static void linear_label(const struct show *s, const struct vtype *t, int64_t n, char *to,
			 size_t cap)
{
	bool short_form = s->o->style == OUTPUT_0_17 || t->param[2] % 1024 == 0;

	if (n && short_form && n % (1 << 20) == 0)
		snprintf(to, cap, "%lldM", (long long)(n >> 20));
	else if (n && short_form && n % (1 << 10) == 0)
		snprintf(to, cap, "%lldK", (long long)(n >> 10));
	else
		snprintf(to, cap, "%lld", (long long)n);
}

static void lhist_label(const struct show *s, const struct vtype *t, size_t bucket, struct label *l)
{
	const int64_t *p = t->param;
	const size_t last = agg_lhist_buckets(t) - 1;

	/* The last regular bucket may be cut by max; its label does not show that. */
	l->open[0] = bucket == 0;
	l->open[1] = bucket == last;
	l->from = bucket == last ? p[1] : (int64_t)((uint64_t)p[0] + (bucket - 1) * (uint64_t)p[2]);
	l->to = (int64_t)((uint64_t)p[0] + bucket * (uint64_t)p[2]);
	linear_label(s, t, l->from, l->text[0], sizeof(l->text[0]));
	linear_label(s, t, l->to, l->text[1], sizeof(l->text[1]));
	l->to = (int64_t)((uint64_t)l->to - 1);
}

void show_lhist(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len)
{
	struct show whole = *s;

	/* As in bpftrace, div is only for the other kind of histogram. */
	whole.div = 1;
	put_buckets(&whole, t, v, len, t->param[2] > 0 ? agg_lhist_buckets(t) : 0, lhist_label);
}

/*
 * Time series: one line for each interval, its value as a star between the smallest and the
 * largest one.
 *
 *	             -5                                                  5
 *	hh:mm:ss.ms  |___________________________________________________|
 *	10:41:46.700 *                         .                         | -5
 *	10:41:46.800 |                         *                         | 0
 *	             v___________________________________________________v
 *	             -5                                                  5
 */

enum { WIDTH = 53, SMALLEST = 21, MAX_INTERVALS = 1 << 20 };

struct series {
	const struct vtype *t;
	const uint8_t *v;
	size_t n;	      /* buckets */
	uint64_t first, last; /* epochs to be shown */
	int64_t low, high;
	const char *unit; /* of the intervals; decimals of the seconds */
	unsigned int digits;
};

/* The value of an interval; false when there is none. */
static bool value_at(const struct series *e, uint64_t epoch, int64_t *value)
{
	for (size_t i = 0; i < e->n; i++) {
		const uint8_t *b = e->v + 24 * i;
		uint64_t count = bucket_at(b, 24, 2);

		if (bucket_at(b, 24, 0) != epoch)
			continue;
		*value = (int64_t)bucket_at(b, 24, 1);
		if (e->t->mode != SERIES_AVG || !count)
			return true;
		if (!e->t->is_signed)
			*value = (int64_t)((uint64_t)*value / count);
		else
			*value = count > INT64_MAX ? 0 : *value / (int64_t)count;
		return true;
	}
	return false;
}

/* From the first interval of those shown that has a value, to the last of the whole map. */
static void find_range(struct series *e, uint64_t last)
{
	uint64_t n = (uint64_t)e->t->param[1], from = last >= n ? last - n + 1 : 1;

	e->last = last;
	e->first = last;
	for (size_t i = 0; i < e->n; i++) {
		uint64_t epoch = bucket_at(e->v + 24 * i, 24, 0);

		if (epoch >= from && epoch < e->first)
			e->first = epoch;
	}
}

static void find_limits(struct series *e)
{
	bool any = false;
	int64_t v;

	for (uint64_t epoch = e->first; epoch <= e->last; epoch++) {
		if (!value_at(e, epoch, &v))
			continue;
		if (!any || less(e->t, (uint64_t)v, (uint64_t)e->low))
			e->low = v;
		if (!any || less(e->t, (uint64_t)e->high, (uint64_t)v))
			e->high = v;
		any = true;
	}
	/* A single value gets one more on both sides, unless that overflows. */
	if (e->low == e->high) {
		if (e->low != (e->t->is_signed ? INT64_MIN : 0))
			e->low--;
		if (e->high != (e->t->is_signed ? INT64_MAX : -1))
			e->high++;
	}
}

static void find_unit(struct series *e)
{
	/* The distance of two; one alone has none. */
	int64_t ns = e->first < e->last ? e->t->param[0] : 0;

	e->unit = ns >= 1000000000 ? "s" : ns >= 1000000 ? "ms" : ns >= 1000 ? "μs" : "ns";
	e->digits = ns >= 1000000000 ? 0 : ns >= 1000000 ? 3 : ns >= 1000 ? 6 : 9;
}

/* The column of a value, computed as in bpftrace: this matters at the borders. */
static size_t column(const struct series *e, int64_t v, unsigned int columns)
{
	float whole = (float)((uint64_t)e->high - (uint64_t)e->low);
	float at = whole > 0 ? (float)columns * (float)((uint64_t)v - (uint64_t)e->low) / whole
			     : (float)columns / 2;

	return at < WIDTH - 1 ? (size_t)at : WIDTH - 1;
}

static void put_value(const struct show *s, const struct series *e, int64_t v)
{
	struct show plain = *s;

	plain.div = 1;
	show_number(&plain, (uint64_t)v, e->t->is_signed);
}

static int64_t wall_of(const struct show *s, const struct series *e, uint64_t epoch)
{
	uint64_t clock = e->t->depth < 3 ? e->t->depth : 0;

	return (int64_t)(epoch * (uint64_t)e->t->param[0] + (uint64_t)s->o->clock_offset[clock]);
}

static void put_time(const struct show *s, const char *format, int64_t wall, unsigned int digits)
{
	int64_t ns = wall % 1000000000;
	char text[16];

	show_time(s->to, format, wall, false);
	if (!digits)
		return;
	snprintf(text, sizeof(text), "%09lld", (long long)(ns < 0 ? ns + 1000000000 : ns));
	buf_putc(s->to, '.');
	buf_put(s->to, text, digits);
}

/* Both ends of the scale. */
static void put_scale(const struct show *s, const struct series *e, size_t indent)
{
	char low[24], high[24];
	int n;

	if (e->t->is_signed) {
		n = snprintf(low, sizeof(low), "%lld", (long long)e->low);
		snprintf(high, sizeof(high), "%lld", (long long)e->high);
	} else {
		n = snprintf(low, sizeof(low), "%llu", (unsigned long long)e->low);
		snprintf(high, sizeof(high), "%llu", (unsigned long long)e->high);
	}
	buf_fill(s->to, ' ', indent);
	buf_put_left(s->to, low, (size_t)n, SMALLEST);
	buf_put_right(s->to, high, strlen(high), WIDTH - SMALLEST);
	buf_putc(s->to, '\n');
}

static void put_point(const struct show *s, const struct series *e, uint64_t epoch)
{
	char line[WIDTH + 1];
	int64_t v = 0;
	bool there = value_at(e, epoch, &v);

	memset(line, ' ', WIDTH);
	line[0] = line[WIDTH - 1] = '|';
	if (e->t->is_signed && e->low < 0 && e->high > 0)
		line[column(e, 0, WIDTH)] = '.';
	if (there)
		line[column(e, v, WIDTH - 1)] = '*';
	put_time(s, "%H:%M:%S", wall_of(s, e, epoch), e->digits);
	buf_putc(s->to, ' ');
	buf_put(s->to, line, WIDTH);
	buf_putc(s->to, ' ');
	if (there)
		put_value(s, e, v);
	else
		buf_putc(s->to, '-');
	buf_putc(s->to, '\n');
}

static void put_chart(const struct show *s, const struct series *e)
{
	size_t indent = 9 + (e->digits ? 1 + e->digits : 0), start;

	put_scale(s, e, indent);
	start = s->to->len;
	buf_puts(s->to, "hh:mm:ss");
	if (e->digits)
		buf_printf(s->to, ".%s", e->unit);
	if (s->to->len - start < indent)
		buf_fill(s->to, ' ', indent - (s->to->len - start));
	buf_putc(s->to, '|');
	buf_fill(s->to, '_', WIDTH - 2);
	buf_puts(s->to, "|\n");
	for (uint64_t epoch = e->first; epoch <= e->last; epoch++)
		put_point(s, e, epoch);
	buf_fill(s->to, ' ', indent);
	buf_putc(s->to, 'v');
	buf_fill(s->to, '_', WIDTH - 2);
	buf_puts(s->to, "v\n");
	put_scale(s, e, indent);
}

static void put_array(const struct show *s, const struct series *e)
{
	const char *comma = "";
	int64_t v;

	buf_putc(s->to, '[');
	for (uint64_t epoch = e->first; e->last && epoch <= e->last; epoch++) {
		if (!value_at(e, epoch, &v))
			continue;
		buf_printf(s->to, "%s{\"interval_start\":\"", comma);
		put_time(s, "%Y-%m-%dT%H:%M:%S", wall_of(s, e, epoch), 9);
		buf_puts(s->to, "\",\"value\":");
		put_value(s, e, v);
		buf_putc(s->to, '}');
		comma = ",";
	}
	buf_putc(s->to, ']');
}

void show_tseries(const struct show *s, const struct vtype *t, const uint8_t *v, size_t len,
		  uint64_t last_epoch)
{
	struct series e = {.t = t, .v = v, .n = len / 24};

	if (t->param[1] <= 0 || t->param[1] > MAX_INTERVALS)
		return;
	if (e.n > (size_t)t->param[1])
		e.n = (size_t)t->param[1];
	if (last_epoch) {
		find_range(&e, last_epoch);
		find_limits(&e);
		find_unit(&e);
	}
	if (s->json)
		put_array(s, &e);
	else if (!last_epoch)
		buf_puts(s->to, "<no data>");
	else
		put_chart(s, &e);
}

/*
 * Whole maps.
 *
 * Numbers are sorted by value, histograms by their total, averages by the average, time series by
 * when they were last written, and everything else by key. Where bpftrace leaves the order to
 * chance (equal values), keys decide, so that the same script prints the same text again.
 */

struct sorted {
	struct map_row row;
	uint64_t by;
};

struct order {
	const struct vtype *key;
	size_t key_len;
	bool is_signed; /* what `by` is */
};

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b, bool is_signed)
{
	if (a == b)
		return 0;
	return (is_signed ? (int64_t)a < (int64_t)b : a < b) ? -1 : 1;
}

static int compare_keys(const struct vtype *t, const uint8_t *a, const uint8_t *b, size_t len)
{
	uint64_t x, y;

	if (t->kind == V_TUPLE || t->kind == V_RECORD) {
		for (uint32_t i = 0; i < t->nr_elems; i++) {
			size_t at = t->elems[i].offset < len ? t->elems[i].offset : len;
			int c = compare_keys(t->elems[i].type, a + at, b + at, len - at);

			if (c)
				return c;
		}
		return 0;
	}
	if (t->kind == V_INT || t->kind == V_BOOL || t->kind == V_POINTER) {
		value_number(t, a, len, &x);
		value_number(t, b, len, &y);
		return compare_numbers(x, y, t->kind == V_INT && t->is_signed);
	}
	return memcmp(a, b, t->size < len ? t->size : len);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct sorted *x = a, *y = b;
	int c = compare_numbers(x->by, y->by, o->is_signed);

	if (c || !x->row.key || !y->row.key)
		return c;
	return compare_keys(o->key, x->row.key, y->row.key, o->key_len);
}

/* Rows are sorted by this value, then by key. */
static uint64_t sort_value(const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t n = 0;

	switch (t->kind) {
	case V_STATS: return (uint64_t)agg_average(t, v, len);
	case V_TSERIES: return agg_last_epoch(t, v, len);
	case V_HIST:
	case V_LHIST:
		for (size_t i = 0; i < len / 8; i++)
			n += bucket_at(v, len, i);
		return n;
	case V_INT:
	case V_COUNT:
	case V_SUM:
	case V_AVG:
	case V_MIN:
	case V_MAX: value_number(t, v, len, &n); return n;
	default: return 0;
	}
}

static size_t value_len(const struct map_def *m)
{
	size_t flag = m->flagged ? 8 : 0;

	return m->value_size > flag ? m->value_size - flag : 0;
}

static void sort_rows(const struct map_def *m, struct map_rows *rows)
{
	struct order order = {
		.key = &m->key,
		.key_len = m->key_size,
		.is_signed = m->value.is_signed && m->value.kind != V_COUNT,
	};
	struct sorted *all;

	if (rows->n < 2)
		return;
	all = calloc(rows->n, sizeof(*all));
	if (!all)
		return; /* unsorted is better than not at all */
	for (size_t i = 0; i < rows->n; i++)
		all[i] = (struct sorted){
			.row = rows->at[i],
			.by = sort_value(&m->value, rows->at[i].value, value_len(m)),
		};
	qsort_r(all, rows->n, sizeof(*all), compare_rows, &order);
	for (size_t i = 0; i < rows->n; i++)
		rows->at[i] = all[i].row;
	free(all);
}

/* ---- printing ---- */

static bool is_keyed(const struct map_def *m)
{
	return m->key.kind != V_NONE;
}

static bool is_average(const struct vtype *t)
{
	return t->kind == V_AVG || t->kind == V_STATS;
}

static bool is_stack(const struct vtype *t)
{
	return t->kind == V_KSTACK || t->kind == V_USTACK;
}

static void put_key(const struct show *s, const struct map_def *m, const uint8_t *key)
{
	struct show in = *s;

	in.key = true;
	in.json = false;
	in.div = 1;
	in.to = &s->o->state->key;
	buf_reset(in.to);
	show_value(&in, &m->key, key, m->key_size);
	if (s->json)
		buf_json_string(s->to, in.to->data, in.to->len);
	else
		buf_put(s->to, in.to->data, in.to->len);
}

static void put_row_value(const struct show *s, const struct map_def *m, const struct map_row *row,
			  uint64_t last_epoch)
{
	if (m->value.kind == V_TSERIES)
		show_tseries(s, &m->value, row->value, value_len(m), last_epoch);
	else
		show_value(s, &m->value, row->value, value_len(m));
}

static void text_row(const struct show *s, const struct map_def *m, const struct map_row *row,
		     uint64_t last_epoch)
{
	buf_putc(s->to, '@');
	buf_puts(s->to, m->name);
	if (is_keyed(m)) {
		buf_putc(s->to, '[');
		put_key(s, m, row->key);
		buf_putc(s->to, ']');
	}
	buf_putc(s->to, ':');
	if (!vtype_is_chart(&m->value) || s->o->style == OUTPUT_0_17)
		buf_putc(s->to, ' ');
	if (vtype_is_chart(&m->value))
		buf_putc(s->to, '\n');
	put_row_value(s, m, row, last_epoch);
}

static void text_map(const struct show *s, const struct map_def *m, const struct map_row *rows,
		     size_t n, uint64_t last_epoch)
{
	const bool old = s->o->style == OUTPUT_0_17;

	for (size_t i = 0; i < n; i++) {
		text_row(s, m, &rows[i], last_epoch);
		/* A stack ends with a newline of its own. */
		if (!old || (i + 1 < n && !is_stack(&m->value)))
			buf_putc(s->to, '\n');
	}
	if (old)
		buf_puts(s->to, is_average(&m->value) ? "\n\n" : "\n");
}

static const char *json_type(const struct vtype *t)
{
	switch (t->kind) {
	case V_HIST:
	case V_LHIST: return "hist";
	case V_TSERIES: return "tseries";
	case V_AVG:
	case V_STATS: return "stats";
	default: return "map";
	}
}

static void json_map(const struct show *s, const struct map_def *m, const struct map_row *rows,
		     size_t n, uint64_t last_epoch)
{
	struct buf *name = &s->o->state->key;

	if (!n)
		return;
	buf_reset(name);
	buf_putc(name, '@');
	buf_puts(name, m->name);
	buf_printf(s->to, "{\"type\": \"%s\", \"data\": {", json_type(&m->value));
	buf_json_string(s->to, name->data, name->len);
	buf_puts(s->to, is_keyed(m) ? ": {" : ": ");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_puts(s->to, ", ");
		if (is_keyed(m)) {
			put_key(s, m, rows[i].key);
			buf_puts(s->to, ": ");
		}
		put_row_value(s, m, &rows[i], last_epoch);
	}
	buf_puts(s->to, is_keyed(m) ? "}}}\n" : "}}\n");
}

void output_map(struct output *o, const struct map_def *m, struct map_rows *rows, int64_t top,
		int64_t div)
{
	struct show s = {.o = o, .to = o->to, .json = o->json, .div = div ? div : 1};
	struct map_row *first;
	uint64_t last_epoch = 0;
	size_t skip = 0;
	const size_t start = o->to->len;

	sort_rows(m, rows);
	/* bpftrace ignores both for stats. */
	if (top > 0 && (uint64_t)top < rows->n && m->value.kind != V_STATS)
		skip = rows->n - (size_t)top;
	/* Time series that are printed together end together. */
	if (m->value.kind == V_TSERIES && rows->n)
		last_epoch = agg_last_epoch(&m->value, rows->at[rows->n - 1].value, value_len(m));
	/* Without rows there is no memory to count from. */
	first = skip ? rows->at + skip : rows->at;
	if (o->json)
		json_map(&s, m, first, rows->n - skip, last_epoch);
	else
		text_map(&s, m, first, rows->n - skip, last_epoch);
	if (o->clean)
		buf_clean(o->to, start);
}
