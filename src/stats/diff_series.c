// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/diff_series.h"

#include <math.h>
#include <string.h>

#define FIRST_WIDTH 1000
#define ENOUGH	    8 /* stretches whose variance says something */

static void halve(struct diff_series *s)
{
	for (unsigned int i = 0; i < DIFF_STRETCHES / 2; i++)
		s->at[i] = s->at[2 * i] + s->at[2 * i + 1];
	memset(s->at + DIFF_STRETCHES / 2, 0, sizeof(s->at) / 2);
	s->width *= 2;
}

static void reach(struct diff_series *s, uint64_t time)
{
	if (!s->width)
		s->width = FIRST_WIDTH;
	while (time / s->width >= DIFF_STRETCHES)
		halve(s);
}

void diff_series_add(struct diff_series *s, uint64_t time, double amount)
{
	reach(s, time);
	s->at[time / s->width] += amount;
}

void diff_series_spread(struct diff_series *s, uint64_t from, uint64_t to)
{
	reach(s, to);
	while (from < to) {
		const uint64_t i = from / s->width, left = s->width - from % s->width;
		const uint64_t until = left < to - from ? from + left : to;

		s->at[i] += (double)(until - from);
		from = until;
	}
}

double diff_series_error(struct diff_series *s, uint64_t duration)
{
	double mean = 0, squares = 0;
	uint64_t n;

	reach(s, duration);
	/* The last stretch is not complete. */
	n = duration / s->width;
	if (n < ENOUGH)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		mean += s->at[i] / (double)n;
	for (uint64_t i = 0; i < n; i++)
		squares += (s->at[i] - mean) * (s->at[i] - mean);
	return sqrt(squares / (double)(n - 1) / (double)n) / (double)s->width;
}
