// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The index of a range in `at` is, for linear ranges, the multiple of the step, for others the
 * power.
 */
#include "stats/bars.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/num.h"
#include "base/vec.h"

#define MAX_RANGES  1000
#define NR_POWERS   65 /* negative; 0; 1; 2 to 3; … */
#define BAR_WIDTH   52
#define LABEL_WIDTH 16
#define COUNT_WIDTH 8

void bars_free(struct bars *b)
{
	free(b->at);
	*b = (struct bars){0};
}

bool bars_add(struct bars *b, int64_t step, int64_t value)
{
	const uint64_t i = value < 0 ? 0 : (uint64_t)value / (uint64_t)step;
	const size_t at = i < MAX_RANGES ? i : MAX_RANGES;

	b->step = step;
	while (b->n <= at) {
		const size_t k = b->n;
		struct bar *bar = vec_push(b);

		if (!bar)
			return false;
		bar->from = (int64_t)k * step;
		bar->to = (int64_t)(k + 1) * step;
		bar->endless = k == MAX_RANGES;
	}
	b->at[at].count++;
	return true;
}

/* ---- powers of two ---- */

static size_t power_of(int64_t v)
{
	return v < 0 ? 0 : v == 0 ? 1 : 65 - (size_t)__builtin_clzll((uint64_t)v);
}

/* The least value of a range, and the first value after it, which the last range does not have. */
static int64_t power_start(size_t i)
{
	return i == 0 ? INT64_MIN : i == 1 ? 0 : i >= NR_POWERS ? INT64_MAX : (int64_t)1 << (i - 2);
}

static bool make_powers(struct bars *b)
{
	while (b->n < NR_POWERS) {
		const size_t i = b->n;
		struct bar *bar = vec_push(b);

		if (!bar)
			return false;
		bar->from = power_start(i);
		bar->to = power_start(i + 1);
	}
	return true;
}

bool bars_add_log2(struct bars *b, int64_t value, uint64_t count)
{
	if (!make_powers(b))
		return false;
	b->at[power_of(value)].count += count;
	return true;
}

bool bars_log2(struct bars *b, struct dist *d)
{
	uint64_t below = 0;

	if (!make_powers(b))
		return false;
	for (size_t i = 0; i < NR_POWERS; i++) {
		const uint64_t up_to = dist_at_most(d, b->at[i].to - (i + 1 < NR_POWERS));

		b->at[i].count = up_to - below;
		below = up_to;
	}
	return true;
}

/* ---- text ---- */

static void put_power(struct buf *to, int64_t v)
{
	static const char suffixes[] = "\0KMGTPE";
	unsigned int k = 0;

	while (v >= 1024 && v % 1024 == 0) {
		v /= 1024;
		k++;
	}
	buf_printf(to, "%lld%.1s", (long long)v, suffixes + k);
}

static void put_duration(struct buf *to, int64_t v)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	unsigned int k = 0;

	while (v && v % 1000 == 0 && k < 3) {
		v /= 1000;
		k++;
	}
	buf_printf(to, "%lld%s", (long long)v, v ? units[k] : "");
}

static void put_end(struct buf *to, enum bars_labels labels, int64_t v)
{
	if (labels == BARS_POWERS)
		put_power(to, v);
	else if (labels == BARS_TIMES)
		put_duration(to, v);
	else
		buf_i64(to, v);
}

static void put_label(const struct bar *bar, enum bars_labels labels, struct buf *to)
{
	if (bar->from == INT64_MIN) {
		buf_puts(to, "(..., 0)");
		return;
	}
	buf_putc(to, '[');
	put_end(to, labels, bar->from);
	if (bar->to - 1 != bar->from) {
		buf_puts(to, ", ");
		if (bar->endless)
			buf_puts(to, "...");
		else
			put_end(to, labels, bar->to);
		buf_putc(to, ')');
	} else {
		buf_putc(to, ']');
	}
}

struct shown {
	size_t first, end;
	uint64_t most;
};

static struct shown shown(const struct bars *b)
{
	struct shown s = {.first = b->n};

	for (size_t i = 0; i < b->n; i++) {
		if (!b->at[i].count)
			continue;
		if (s.first == b->n)
			s.first = i;
		s.end = i + 1;
		if (b->at[i].count > s.most)
			s.most = b->at[i].count;
	}
	return s;
}

void bars_print(const struct bars *b, enum bars_labels labels, const char *indent, struct buf *to)
{
	const struct shown s = shown(b);

	for (size_t i = s.first; i < s.end; i++) {
		const uint64_t count = b->at[i].count;
		const size_t bar = (size_t)((float)count / (float)s.most * BAR_WIDTH);
		char digits[NUM_MAX_DEC];
		size_t start;

		buf_puts(to, indent);
		start = to->len;
		put_label(&b->at[i], labels, to);
		if (to->len - start < LABEL_WIDTH)
			buf_fill(to, ' ', LABEL_WIDTH - (to->len - start));
		buf_put_right(to, digits, num_dec(digits, count), COUNT_WIDTH);
		buf_puts(to, " |");
		buf_fill(to, '@', bar < BAR_WIDTH ? bar : BAR_WIDTH);
		buf_fill(to, ' ', bar < BAR_WIDTH ? BAR_WIDTH - bar : 0);
		buf_puts(to, "|\n");
	}
}

void bars_json(const struct bars *b, struct buf *to)
{
	const struct shown s = shown(b);
	struct json_writer j = {.out = to, .spaced = true};

	json_array(&j);
	for (size_t i = s.first; i < s.end; i++) {
		json_object(&j);
		if (b->at[i].from != INT64_MIN)
			json_put_i64(json_key(&j, "from"), b->at[i].from);
		if (!b->at[i].endless)
			json_put_i64(json_key(&j, "to"), b->at[i].to);
		json_put_u64(json_key(&j, "count"), b->at[i].count);
		json_end_object(&j);
	}
	json_end_array(&j);
}
