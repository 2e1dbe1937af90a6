// SPDX-License-Identifier: GPL-2.0-or-later
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
#include "script/show.h"

#include <stdio.h>

enum { WIDTH = 53, SMALLEST = 21, MAX_INTERVALS = 1 << 20 };

struct series {
	const struct vtype *t;
	const uint8_t *v;
	size_t n;	      /* buckets */
	uint64_t first, last; /* epochs to be shown */
	int64_t low, high;
	const char *unit; /* of the intervals; digits behind the seconds */
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

static bool below(const struct series *e, int64_t a, int64_t b)
{
	return e->t->is_signed ? a < b : (uint64_t)a < (uint64_t)b;
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
		if (!any || below(e, v, e->low))
			e->low = v;
		if (!any || below(e, e->high, v))
			e->high = v;
		any = true;
	}
	/* One value has room on both sides, unless it is the last one there is. */
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

/* Where a value is on so many columns, reckoned as bpftrace does: at the borders it matters. */
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

static void put_line(const struct show *s, const struct series *e, uint64_t epoch)
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
		put_line(s, e, epoch);
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
