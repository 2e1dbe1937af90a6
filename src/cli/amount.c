// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/amount.h"

#include <stdio.h>

/* The largest unit of a thousand that leaves something in front of the dot. */
static const char *scaled(char *text, size_t cap, double v, const char *const *units, size_t n)
{
	size_t u = 0;

	for (; v >= 1000 && u + 1 < n; u++)
		v /= 1000;
	snprintf(text, cap, u ? "%.1f%s" : "%.0f%s", v, units[u]);
	return text;
}

const char *amount_bytes(char *text, size_t cap, uint64_t bytes)
{
	static const char *const units[] = {" B", " kB", " MB", " GB", " TB"};

	return scaled(text, cap, (double)bytes, units, 5);
}

const char *amount_count(char *text, size_t cap, double count)
{
	static const char *const units[] = {"", " k", " M", " G"};

	return scaled(text, cap, count, units, 4);
}

const char *amount_time(char *text, size_t cap, uint64_t ns)
{
	if (ns < 1000)
		snprintf(text, cap, "%llu ns", (unsigned long long)ns);
	else if (ns < 1000000)
		snprintf(text, cap, "%.1f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, cap, "%.1f ms", (double)ns / 1e6);
	else if (ns < 600ull * 1000000000)
		snprintf(text, cap, "%.3f s", (double)ns / 1e9);
	else
		snprintf(text, cap, "%llu min %.0f s", (unsigned long long)(ns / 60000000000ull),
			 (double)(ns % 60000000000ull) / 1e9);
	return text;
}
