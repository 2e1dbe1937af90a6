// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks of random intervals: every tile of every level is what counting by hand gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/index/tracks.h"

#define MOST 20000

/* Gaps and durations are random below these; now and then they are much longer. */
static const struct track_case {
	const char *name;
	uint32_t n;
	uint32_t gap, dur, values;
	uint32_t rarely; /* one of so many is longer … */
	uint64_t by;	 /* … so much */
} cases[] = {
	{"nothing", 0, 1, 1, 1, 1, 0},
	{"one", 1, 100, 100, 1, 1, 0},
	{"just intervals", 1024, 50, 60, 5, 7, 1000},
	{"just bins", 1025, 50, 60, 5, 7, 1000},
	{"without gaps", 5000, 1, 100, 3, 1, 0},
	{"without durations", 5000, 100, 1, 3, 1, 0},
	{"all at one time", 3000, 1, 1, 2, 1, 0},
	{"even", 20000, 1000, 1000, 40, 1, 0},
	{"bursts", 20000, 8, 8, 6, 900, 10000000},
	{"now and then a burst", 20000, 20, 20, 300, 20, 100000},
	{"far apart", 3000, 1000000000, 10, 2, 50, 100000000000},
};

static uint64_t random_state;

static uint32_t any(uint32_t below)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return below ? (uint32_t)(random_state >> 33) % below : 0;
}

static struct view_interval want[MOST];

struct made {
	struct builder builder;
	struct store store;
	struct track *track;
};

static void make(struct made *m, const struct track_case *c)
{
	uint64_t ts = 0;

	random_state = c->n + c->gap;
	builder_init(&m->builder);
	store_init(&m->store, 1 << 20, NULL);
	m->track = track_new(&m->builder, 0, VIEW_RUNNING, 0);
	for (uint32_t i = 0; i < c->n; i++) {
		ts += any(c->gap) + (any(c->rarely) == 0 ? any(10) * c->by / 10 : 0);
		want[i] = (struct view_interval){
			.start = ts,
			.dur = any(c->dur) + (any(c->rarely) == 0 ? any(10) * c->by / 100 : 0),
			.value = any(c->values),
			.flags = any(50) == 0};
		ts += want[i].dur;
		assert_true(track_add(m->track, &m->store, want[i]));
	}
}

static void unmake(struct made *m)
{
	builder_free(&m->builder);
	store_free(&m->store);
}

static uint64_t end_of(const struct view_interval *i)
{
	return i->start + i->dur;
}

static uint64_t share(const struct view_interval *i, uint64_t since, uint64_t until)
{
	const uint64_t from = i->start > since ? i->start : since;
	const uint64_t to = end_of(i) < until ? end_of(i) : until;

	return to > from ? to - from : 0;
}

/* A bin of the n that overlap its tile, or come near it. */
static struct view_bin count(const struct view_interval *at, size_t n, uint64_t since,
			     uint64_t until)
{
	static uint64_t shares[1000];
	struct view_bin b = {0};
	uint64_t most = 0;

	memset(shares, 0, sizeof(shares));
	for (size_t i = 0; i < n && at[i].start < until; i++) {
		b.n += at[i].start >= since;
		b.busy += share(&at[i], since, until);
		shares[at[i].value] += share(&at[i], since, until);
	}
	for (uint32_t i = 0; i < 1000; i++)
		if (shares[i] > most) {
			most = shares[i];
			b.top = i;
		}
	return b;
}

static void check_bins(const struct view_tile *t, const struct view_interval *at, size_t n,
		       uint32_t level, uint64_t tile)
{
	size_t k = 0;

	for (uint32_t i = 0; i < VIEW_TILE_BINS; i++) {
		const uint64_t since = (tile * VIEW_TILE_BINS + i) << level;
		struct view_bin b;

		while (n && end_of(at) < since) {
			at++;
			n--;
		}
		b = count(at, n, since, since + (1ull << level));
		if (!b.n && !b.busy)
			continue;
		assert_true(k < t->bins.n);
		assert_int_equal(t->bins.at[k].bin, i);
		assert_int_equal(t->bins.at[k].n, b.n);
		assert_int_equal(t->bins.at[k].busy, b.busy);
		assert_int_equal(t->bins.at[k].top, b.top);
		k++;
	}
	assert_int_equal(t->bins.n, k);
}

static void check_tile(const struct made *m, uint32_t n, uint32_t level, uint64_t tile,
		       struct view_tile *t)
{
	const uint64_t since = tile * VIEW_TILE_BINS << level;
	const uint64_t until = (tile + 1) * VIEW_TILE_BINS << level;
	size_t first = 0, overlap = 0;

	assert_int_equal(track_tile(m->track, (struct store *)&m->store, level, tile, false, t), 0);
	assert_true(t->complete);
	while (first < n && want[first].start < since && end_of(&want[first]) <= since)
		first++;
	while (first + overlap < n && want[first + overlap].start < until)
		overlap++;
	assert_int_equal(t->has_bins, overlap > VIEW_MOST_INTERVALS);
	if (t->has_bins) {
		check_bins(t, want + first, overlap, level, tile);
		return;
	}
	assert_int_equal(t->intervals.n, overlap);
	for (size_t i = 0; i < overlap; i++)
		assert_memory_equal(&t->intervals.at[i], &want[first + i], sizeof(want[0]));
}

static void test_tiles(void **state)
{
	struct view_tile t = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct track_case *c = &cases[i];
		const uint64_t last = c->n ? 1 : 0;
		uint64_t end;
		struct made m;

		make(&m, c);
		assert_true(builder_finish(&m.builder, &m.store));
		end = c->n ? end_of(&want[c->n - 1]) : 0;
		for (uint32_t level = 0; level <= VIEW_MOST_LEVEL; level++) {
			const uint64_t tiles = (end >> level >> VIEW_TILE_SHIFT) + 1 + last;

			/* All of them, or some that are as far from each other. */
			for (uint64_t tile = 0; tile < tiles; tile += tiles / 10 + 1)
				check_tile(&m, c->n, level, tile, &t);
		}
		unmake(&m);
	}
	view_tile_free(&t);
}

/* Nothing is missing or double while it is being made. */
static void test_unfinished(void **state)
{
	struct view_tile t = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;

		make(&m, &cases[i]);
		for (uint32_t level = 0; level <= VIEW_MOST_LEVEL; level++) {
			uint64_t n = 0, busy = 0, all = 0;

			if (cases[i].n && end_of(&want[cases[i].n - 1]) >> level >= VIEW_TILE_BINS)
				continue;
			assert_int_equal(track_tile(m.track, &m.store, level, 0, true, &t), 0);
			for (size_t k = 0; k < t.bins.n; k++) {
				n += t.bins.at[k].n;
				busy += t.bins.at[k].busy;
			}
			for (uint32_t k = 0; k < cases[i].n; k++)
				all += want[k].dur;
			assert_int_equal(n, cases[i].n);
			assert_int_equal(busy, all);
		}
		unmake(&m);
	}
	view_tile_free(&t);
}

/* What overlaps the one before, or is beyond all times, is cut. */
static void test_cut(void **state)
{
	static const struct {
		struct view_interval add, want;
	} steps[] = {
		{{10, 20, 1, 0}, {10, 20, 1, 0}},
		{{25, 20, 2, 0}, {30, 15, 2, 0}},
		{{5, 10, 3, 0}, {45, 0, 3, 0}},
		{{45, 5, 4, 0}, {45, 5, 4, 0}},
		{{100, UINT64_MAX, 5, 0}, {100, MOST_TIME - 100, 5, 0}},
		{{UINT64_MAX, 7, 6, 0}, {MOST_TIME, 0, 6, 0}},
	};
	const size_t n = sizeof(steps) / sizeof(steps[0]);
	struct view_tile t = {0};
	struct made m;

	make(&m, &cases[0]);
	for (size_t i = 0; i < n; i++)
		assert_true(track_add(m.track, &m.store, steps[i].add));
	assert_true(builder_finish(&m.builder, &m.store));
	assert_int_equal(track_tile(m.track, &m.store, VIEW_MOST_LEVEL, 0, false, &t), 0);
	assert_int_equal(t.intervals.n, n - 1);
	for (size_t i = 0; i < n - 1; i++)
		assert_memory_equal(&t.intervals.at[i], &steps[i].want, sizeof(steps[i].want));
	assert_int_equal(track_tile(m.track, &m.store, VIEW_MOST_LEVEL, 1, false, &t), 0);
	assert_int_equal(t.intervals.n, 1);
	unmake(&m);
	view_tile_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tiles),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
