// SPDX-License-Identifier: GPL-2.0-or-later
#include "query/fleet/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define S_PER_DAY 86400

void source_date(int64_t days, char *to)
{
	time_t at;
	struct tm tm;

	if (__builtin_mul_overflow(days, (int64_t)S_PER_DAY, &at) || !gmtime_r(&at, &tm) ||
	    !strftime(to, DATE_TEXT, "%Y-%m-%d", &tm))
		to[0] = '\0';
}

static bool passes(const struct tested *t, const struct parquet_values *v, uint32_t i,
		   struct buf *room)
{
	char date[DATE_TEXT];

	if (t->source.column->kind == PARQUET_TEXT)
		return test_text(t->test, v->texts[i].at, v->texts[i].len, room);
	if (t->source.column->kind == PARQUET_REAL)
		return isnan(parquet_real(v->numbers[i]))
			       ? test_missing(t->test)
			       : test_real(t->test, parquet_real(v->numbers[i]));
	if (!t->source.date)
		return test_number(t->test, v->numbers[i]);
	source_date(v->numbers[i], date);
	return test_text(t->test, date, strlen(date), room);
}

/* What the test says of the values of a dictionary. */
static int test_dict(struct tested *t, const struct parquet_values *v, struct buf *room)
{
	if (t->passes && t->dict == v->dict)
		return 0;
	if (!t->passes || t->cap < v->dict_size) {
		uint8_t *more = realloc(t->passes, (size_t)v->dict_size + 1);

		if (!more)
			return -ENOMEM;
		t->passes = more;
		t->cap = v->dict_size;
	}
	t->dict = v->dict;
	for (uint32_t i = 0; i < v->dict_size; i++)
		t->passes[i] = passes(t, v, i, room);
	return 0;
}

/* Numbers in a range, which is what most limits are. */
static uint32_t keep_range(const int64_t *v, uint32_t *rows, uint32_t n, int64_t low, int64_t high,
			   bool outside)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = rows[k];

		rows[kept] = i;
		kept += (v[i] >= low && v[i] <= high) != outside;
	}
	return kept;
}

int source_keep(struct tested *t, const struct parquet_values *v, uint32_t *rows, uint32_t n,
		struct buf *room)
{
	const bool null = test_missing(t->test);
	uint32_t kept = 0;
	int64_t low, high;
	bool outside;

	if (v->ids && test_dict(t, v, room) < 0)
		return -ENOMEM;
	if (!v->ids && !v->missing && t->source.column->kind == PARQUET_NUMBER && !t->source.date &&
	    test_range(t->test, &low, &high, &outside))
		return (int)keep_range(v->numbers, rows, n, low, high, outside);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = rows[k];

		rows[kept] = i;
		kept += v->missing && v->missing[i] ? null
			: v->ids		    ? t->passes[v->ids[i]]
						    : passes(t, v, i, room);
	}
	return (int)kept;
}
