// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers of a comparison for people. */
#include <math.h>
#include <stdio.h>

#include "stats/diff.h"
#include "base/num.h"

const char *diff_shown(char *text, size_t cap, enum diff_unit unit, bool ticks, double value)
{
	if (isnan(value))
		snprintf(text, cap, "-");
	else if (unit == DIFF_PART)
		snprintf(text, cap, "%.*f %%", fabs(value) < 0.1 ? 2 : 1, 100 * value);
	else if (unit == DIFF_RATE && fabs(value) < 1)
		snprintf(text, cap, "%.3g /s", value);
	else if (unit == DIFF_RATE)
		snprintf(text, cap, "%.*f /s", fabs(value) < 100 ? 1 : 0, value);
	else if (ticks)
		snprintf(text, cap, "%.0f", value);
	else
		num_span(text, cap, value);
	return text;
}

const char *diff_change(char *text, size_t cap, double from, double to)
{
	/* Nothing becomes less than nothing, even where an interval goes on below it. */
	const double ratio = from > 0 ? fmax(0, to / from) : 0;

	if (isnan(from) || isnan(to) || from <= 0)
		snprintf(text, cap, "-");
	else if (ratio >= 3)
		snprintf(text, cap, "x %.*f", ratio < 10 ? 1 : 0, ratio);
	else
		snprintf(text, cap, "%+.*f %%", fabs(ratio - 1) < 0.1 ? 1 : 0, 100 * (ratio - 1));
	return text;
}

const char *diff_probability(char *text, size_t cap, double p)
{
	if (p < 1e-9)
		snprintf(text, cap, "<1e-9");
	else
		snprintf(text, cap, p < 0.001 ? "%.0e" : "%.3f", p);
	return text;
}

void diff_put_name(const struct diff_family *f, const char *key, struct buf *to)
{
	buf_puts(to, f->name);
	if (!key)
		return;
	buf_putc(to, '[');
	buf_puts(to, key);
	buf_putc(to, ']');
}
