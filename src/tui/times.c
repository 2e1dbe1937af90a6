// SPDX-License-Identifier: GPL-2.0-or-later
/* Times as text, for people, and back. */
#include "tui/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SECOND 1000000000ull

static const struct {
	const char *name;
	uint64_t ns;
	int digits;
} units[] = {{"s", SECOND, 9}, {"ms", 1000000, 6}, {"us", 1000, 3}, {"ns", 1, 0}};

#define NR_UNITS ARRAY_SIZE(units)

static size_t unit_of(uint64_t ns)
{
	size_t i = 0;

	while (i + 1 < NR_UNITS && ns < units[i].ns)
		i++;
	return i;
}

const char *time_stamp(char *text, uint64_t ts, bool nanoseconds)
{
	if (nanoseconds)
		snprintf(text, TIMES_TEXT, "%llu.%09llu", (unsigned long long)(ts / SECOND),
			 (unsigned long long)(ts % SECOND));
	else
		snprintf(text, TIMES_TEXT, "%llu", (unsigned long long)ts);
	return text;
}

const char *time_exact(char *text, uint64_t ns, bool nanoseconds)
{
	const size_t u = unit_of(ns);

	if (!nanoseconds)
		snprintf(text, TIMES_TEXT, "%llu", (unsigned long long)ns);
	else if (!units[u].digits)
		snprintf(text, TIMES_TEXT, "%llu ns", (unsigned long long)ns);
	else
		snprintf(text, TIMES_TEXT, "%llu.%0*llu %s", (unsigned long long)(ns / units[u].ns),
			 units[u].digits, (unsigned long long)(ns % units[u].ns), units[u].name);
	return text;
}

const char *time_short(char *text, uint64_t ns, bool nanoseconds)
{
	const size_t u = unit_of(ns);
	const double v = (double)ns / (double)units[u].ns;

	if (!nanoseconds)
		snprintf(text, TIMES_TEXT, "%llu", (unsigned long long)ns);
	else
		snprintf(text, TIMES_TEXT, "%.*f%s",
			 !units[u].digits ? 0
			 : v >= 100	  ? 1
			 : v >= 10	  ? 2
					  : 3,
			 v, units[u].name);
	return text;
}

/* ---- the axis ---- */

uint64_t time_step(uint64_t at_least)
{
	for (uint64_t power = 1; power <= UINT64_MAX / 100; power *= 10)
		for (uint64_t m = 1; m <= 5; m += m == 1 ? 1 : 3)
			if (power * m >= at_least)
				return power * m;
	return UINT64_MAX;
}

uint64_t time_base(uint64_t since, uint64_t step)
{
	uint64_t unit = 1;

	/* Labels then count in units that are as large as the step, or a little larger. */
	while (unit <= UINT64_MAX / 1000000 && unit < step)
		unit *= 1000;
	return since - since % unit;
}

const char *time_label(char *text, uint64_t since_base, uint64_t step, bool nanoseconds)
{
	const size_t u = unit_of(since_base > step ? since_base : step);
	int digits = 0;

	for (uint64_t unit = units[u].ns; unit > step; unit /= 10)
		digits++;
	if (!nanoseconds)
		snprintf(text, TIMES_TEXT, "+%llu", (unsigned long long)since_base);
	else if (!since_base)
		snprintf(text, TIMES_TEXT, "+0");
	else
		snprintf(text, TIMES_TEXT, "+%.*f%s", digits,
			 (double)since_base / (double)units[u].ns, units[u].name);
	return text;
}

const char *time_base_text(char *text, uint64_t base, bool nanoseconds)
{
	size_t len;

	time_stamp(text, base, nanoseconds);
	len = strlen(text);
	if (!nanoseconds)
		return text;
	/* The digits that all labels have in common. */
	while (text[len - 1] == '0')
		text[--len] = '\0';
	if (text[len - 1] == '.')
		text[--len] = '\0';
	snprintf(text + len, TIMES_TEXT - len, "s");
	return text;
}

/* ---- what people type ---- */

static bool parse_amount(const char *text, bool nanoseconds, double *amount, bool *has_unit)
{
	char *end;
	const double v = strtod(text, &end);

	if (end == text || !isfinite(v) || v < 0)
		return false;
	end += strspn(end, " ");
	*has_unit = *end != '\0';
	*amount = nanoseconds ? v * (double)SECOND : v;
	if (!*end)
		return true;
	for (size_t i = 0; i < NR_UNITS; i++)
		if (strcmp(end, units[i].name) == 0) {
			*amount = v * (double)units[i].ns;
			return true;
		}
	return false;
}

/* Digits of a time are exact where a double is not. */
static bool parse_stamp(const char *text, uint64_t *ns)
{
	uint64_t whole, part = 0, scale = SECOND;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	whole = strtoull(text, &end, 10);
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++)
			if (scale > 1) {
				scale /= 10;
				part += (uint64_t)(*end - '0') * scale;
			}
	if (*end || whole > UINT64_MAX / SECOND - 1)
		return false;
	*ns = whole * SECOND + part;
	return true;
}

static uint64_t clamp(double v, uint64_t most)
{
	return v <= 0 ? 0 : v >= (double)most ? most : (uint64_t)(v + 0.5);
}

bool time_parse(const char *text, uint64_t origin, uint64_t duration, uint64_t cursor,
		bool nanoseconds, uint64_t *relative)
{
	double amount;
	bool has_unit;
	char sign, *end;
	uint64_t ts;

	text += strspn(text, " ");
	sign = *text;
	amount = strtod(text, &end);
	if (end > text && strcmp(end, "%") == 0) {
		*relative = clamp(amount / 100 * (double)duration, duration);
		return isfinite(amount);
	}
	if (sign != '+' && sign != '-' && nanoseconds && parse_stamp(text, &ts)) {
		ts = ts > origin ? ts - origin : 0;
		*relative = ts < duration ? ts : duration;
		return true;
	}
	if (!parse_amount(text + (sign == '+' || sign == '-'), nanoseconds, &amount, &has_unit))
		return false;
	if (sign == '+' || sign == '-')
		amount = (double)cursor + (sign == '-' ? -amount : amount);
	else if (!has_unit)
		amount -= (double)origin;
	*relative = clamp(amount, duration);
	return true;
}
