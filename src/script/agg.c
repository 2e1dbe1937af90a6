// SPDX-License-Identifier: GPL-2.0-or-later
/* Aggregations: the values of all CPUs become one. code/unit.h says how they lie in memory. */
#include "script/show.h"

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

/* The second word says whether there is a value at all. */
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
