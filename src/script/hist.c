// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Histograms, by powers of two and linear ones: a line for each bucket from the first to the last
 * that is not empty.
 *
 *	[1K, 2K)              12 |@@@@@@@@@@@@                                        |
 */
#include "script/show.h"

#include <stdio.h>

#include "base/num.h"

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

static void put_line(const struct show *s, const struct label *l, uint64_t count, uint64_t most)
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
			put_line(s, &l, bucket_at(v, len, i), r.most);
			continue;
		}
		if (i > r.first)
			buf_puts(s->to, ", ");
		put_object(s, &l, bucket_at(v, len, i));
	}
	if (s->json)
		buf_putc(s->to, ']');
}

/* ---- powers of two ---------------------------------------------------------------------- */

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
		/* Two for every power of two come one number each. */
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

/* ---- linear ----------------------------------------------------------------------------- */

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

	/* The last regular one may be cut short by max; it then is not told from what is beyond. */
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

	/* As in bpftrace, div is for the other kind of histogram only. */
	whole.div = 1;
	put_buckets(&whole, t, v, len, t->param[2] > 0 ? agg_lhist_buckets(t) : 0, lhist_label);
}
