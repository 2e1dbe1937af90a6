// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the answers of a view are made of: all records of its files as one numbered sequence, from
 * wherever one starts, and hits of searches in few bytes. Files are drawn by lot; what has to come
 * out is worked out by merging everything from the beginning.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "dat_file.h"
#include "view/answers/internal.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define NR_CPUS	  3
#define MAX_PAGES 120
#define PER_PAGE  10

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static bool same_id(const struct view_record_id *a, const struct view_record_id *b)
{
	return a->ts == b->ts && a->lane == b->lane && a->offset == b->offset;
}

/* ---- hits ---- */

#define NR_HITS 3000

static struct view_record_id ids[NR_HITS];

/* `back`: how often, of 100 times, a time is before the one before it. */
static void draw_hits(struct search_hits *h, uint32_t step, uint32_t back)
{
	uint64_t ts = 1ull << random_below(63);

	*h = (struct search_hits){0};
	for (size_t i = 0; i < NR_HITS; i++) {
		ts += random_below(step);
		if (random_below(100) < back)
			ts -= random_below(step);
		ids[i] = (struct view_record_id){ts, random_below(1u << 30), random_below(300)};
		search_hits_add(h, &ids[i], true);
	}
	assert_int_equal(h->n, NR_HITS);
	assert_int_equal(h->kept, NR_HITS);
	assert_false(h->failed);
}

static void check_bins(const struct search_hits *h, uint64_t since, uint64_t width)
{
	enum { NR = 64 };
	uint64_t got[NR] = {0}, want[NR] = {0};

	search_hits_bins(h, since, width, NR, got);
	for (size_t i = 0; i < NR_HITS; i++)
		if (ids[i].ts >= since && (ids[i].ts - since) / width < NR)
			want[(ids[i].ts - since) / width]++;
	assert_memory_equal(got, want, sizeof(got));
}

static void test_hits(void **state)
{
	static const struct {
		uint32_t step, back;
	} cases[] = {{1, 0}, {2, 0}, {100, 0}, {100, 20}, {1u << 31, 0}, {1u << 31, 30}};

	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		struct search_hits h;
		struct view_record_id id;

		seed = c + 1;
		draw_hits(&h, cases[c].step, cases[c].back);
		for (size_t i = 0; i < NR_HITS; i++) {
			assert_true(search_hits_get(&h, i, &id));
			assert_true(same_id(&id, &ids[i]));
		}
		assert_false(search_hits_get(&h, NR_HITS, &id));
		for (int i = 0; i < 200; i++) {
			const uint64_t ts = ids[random_below(NR_HITS)].ts + random_below(3) - 1;
			uint64_t before = 0;

			/* Times that run backwards have no first one at or after a time. */
			while (before < NR_HITS && ids[before].ts < ts)
				before++;
			if (!cases[c].back)
				assert_int_equal(search_hits_before(&h, ts), before);
			if (!cases[c].back)
				check_bins(&h, ts, 1ull << random_below(40));
		}
		search_hits_free(&h);
	}
}

/* Behind one that is not kept none is, and all are counted. */
static void test_hits_dropped(void **state)
{
	struct search_hits h = {0};
	struct view_record_id id = {.ts = 5};
	uint64_t bins[2] = {0};

	search_hits_add(&h, &id, true);
	search_hits_add(&h, &id, false);
	search_hits_add(&h, &id, true);
	assert_int_equal(h.n, 3);
	assert_int_equal(h.kept, 1);
	search_hits_bins(&h, 4, 2, 2, bins);
	assert_int_equal(bins[0], 3);
	search_hits_forget(&h);
	assert_int_equal(h.n, 3);
	assert_false(search_hits_get(&h, 0, &id));
	search_hits_free(&h);
}

/* ---- files ---- */

struct pages {
	uint64_t ts[NR_CPUS][MAX_PAGES];
	uint32_t records[NR_CPUS][MAX_PAGES];
	uint32_t step[NR_CPUS][MAX_PAGES];
	uint32_t nr[NR_CPUS];
};

static void put_page(const struct dat_file *f, struct buf *b, uint32_t cpu, uint32_t index,
		     const void *arg)
{
	const struct pages *p = arg;
	const size_t start = b->len;

	file_put(f, b, p->ts[cpu][index], 8);
	file_put(f, b, p->records[cpu][index] * 12, 8);
	for (uint32_t i = 0; i < p->records[cpu][index]; i++) {
		file_put(f, b, (i ? p->step[cpu][index] : 0) << 5 | 2, 4);
		file_put(f, b, 30, 4);
		file_put(f, b, i, 4);
	}
	buf_fill(b, 0, FILE_PAGE - (b->len - start));
}

/* Small steps make many records of one time, within a CPU and over all. */
static void draw_pages(struct pages *p, uint32_t step)
{
	for (uint32_t c = 0; c < NR_CPUS; c++) {
		uint64_t ts = 1000000 + random_below(1000);

		p->nr[c] = random_below(4) ? random_below(MAX_PAGES) : 0;
		for (uint32_t i = 0; i < p->nr[c]; i++) {
			ts += random_below(step);
			p->ts[c][i] = ts;
			p->records[c][i] = random_below(PER_PAGE);
			p->step[c][i] = random_below(step);
			if (p->records[c][i])
				ts += (p->records[c][i] - 1) * (uint64_t)p->step[c][i];
		}
	}
}

static void add_file(struct view *v, uint32_t step, const char *codec)
{
	/* CPU 0 of these files has times that are shifted. */
	struct dat_content content = {
		.nr_cpus = NR_CPUS, .cpus = {1, 2, 3}, .chunk_pages = 3, .put_page = put_page};
	const struct dat_kind kind = {7, false, 8, codec};
	struct pages *p = calloc(1, sizeof(*p));
	struct spur_error err = {0};
	struct dat_file f;

	assert_non_null(p);
	draw_pages(p, step);
	content.arg = p;
	memcpy(content.pages, p->nr, sizeof(p->nr));
	dat_file_make(&f, &kind, &content);
	if (view_add(v, "made up", dat_file_fd(&f, f.b.len), &err) < 0)
		fail_msg("%s", err.text);
	dat_file_free(&f);
	free(p);
}

static struct view *make_view(size_t files, uint32_t step, const char *codec)
{
	struct spur_error err = {0};
	struct view *v = view_new(NULL, &err);

	assert_non_null(v);
	for (size_t i = 0; i < files; i++)
		add_file(v, step, codec);
	while (view_progress(v) < 1)
		view_wait(v, view_generation(v), 1000, NULL);
	return v;
}

/* ---- all records ---- */

struct known {
	struct {
		struct view_record_id *at;
		size_t n, cap;
	} all;
};

static void read_all(struct view *v, struct known *k)
{
	struct view_sources s;
	struct scan m;

	*k = (struct known){0};
	assert_int_equal(view_sources_init(&s, v), 0);
	scan_init(&m, NULL);
	assert_int_equal(view_sources_lanes(&s, &m), 0);
	scan_start(&m);
	for (const struct spur_record *r; (r = scan_next(&m)) != NULL;) {
		struct view_record_id *id = vec_push(&k->all);

		assert_non_null(id);
		*id = (struct view_record_id){r->ts, r->offset, m.current->index};
	}
	scan_free(&m);
	view_sources_free(&s);
}

static bool is_at(const struct view_cursor *c, const struct view_record_id *id, uint64_t n)
{
	return same_id(&c->id, id) && c->n == n;
}

static uint64_t first_at(const struct known *k, uint64_t ts)
{
	uint64_t n = 0;

	while (n < k->all.n && k->all.at[n].ts < ts)
		n++;
	return n;
}

/* From some place on, by number, by time and by what is known of the record. */
static void check_place(struct view *v, const struct known *k, struct view_cursor *c, uint64_t n)
{
	const struct view_record_id *id = &k->all.at[n];
	struct spur_error err = {0};
	uint64_t first;

	assert_int_equal(view_cursor_to(c, n, &err), 0);
	for (uint64_t i = n; i < n + 20 && i < k->all.n; i++)
		assert_true(view_cursor_next(c) && is_at(c, &k->all.at[i], i));
	assert_true(view_cursor_find(c, id) && is_at(c, id, n));
	assert_int_equal(view_record_ordinal(v, id->ts, &first, &err), 0);
	assert_int_equal(first, first_at(k, id->ts));
	assert_int_equal(view_cursor_to_time(c, id->ts, true, &err), 0);
	assert_true(view_cursor_next(c) && is_at(c, &k->all.at[first], first));
}

static void check_view(struct view *v)
{
	struct spur_error err = {0};
	volatile int stop = 0;
	struct view_cursor c;
	struct known k;

	read_all(v, &k);
	assert_int_equal(view_record_count(v), k.all.n);
	assert_int_equal(view_cursor_open(&c, v, NULL, &stop, &err), 0);
	for (int i = 0; i < 60 && k.all.n; i++)
		check_place(v, &k, &c, random_below((uint32_t)k.all.n));
	/* Behind the last one there is none, and after a stop neither. */
	assert_int_equal(view_cursor_to(&c, k.all.n, &err), 0);
	assert_false(view_cursor_next(&c));
	if (k.all.n) {
		assert_int_equal(view_cursor_to(&c, 0, &err), 0);
		stop = 1;
		assert_false(view_cursor_next(&c));
	}
	view_cursor_close(&c);
	vec_free(&k.all);
}

static void test_records(void **state)
{
	static const struct {
		size_t files;
		uint32_t step;
		const char *codec;
	} cases[] = {{1, 1000, "none"}, {1, 2, "none"},	     {1, 50, "zstd"}, {2, 1000, "none"},
		     {2, 3, "zlib"},	{3, 100000, "none"}, {0, 1, "none"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int round = 0; round < 4; round++) {
			struct view *v;

			seed = i * 100 + (uint64_t)round;
			v = make_view(cases[i].files, cases[i].step, cases[i].codec);
			check_view(v);
			view_close(v);
		}
	}
}

/* ---- searches ---- */

static uint64_t run_search(struct view *v, const struct view_search_options *o, uint64_t *id)
{
	struct view_search_state state = {0};
	struct spur_error err = {0};
	int64_t at, number = view_search_start(v, o, &at, &err);
	struct view_search *s;

	if (number < 0)
		fail_msg("%s", err.text);
	s = view_search_get(v, (uint64_t)number);
	assert_non_null(s);
	while (state.done < 1)
		view_search_state(s, &state);
	view_search_put(s);
	*id = (uint64_t)number;
	return state.hits;
}

/* Every hit is the record it should be, in the order of the list. */
static void check_hits(struct view *v, const struct known *k, uint64_t number)
{
	struct view_search *s = view_search_get(v, number);
	struct view_record_id id;

	assert_non_null(s);
	for (uint64_t i = 0; i < k->all.n; i++) {
		assert_true(view_search_hit(s, i, &id));
		assert_true(same_id(&id, &k->all.at[i]));
		assert_int_equal(view_search_at(s, id.ts), first_at(k, id.ts));
	}
	assert_false(view_search_hit(s, k->all.n, &id));
	view_search_put(s);
}

static void test_search(void **state)
{
	for (int round = 0; round < 4; round++) {
		struct known k;
		struct view *v;
		uint64_t id, other;

		seed = 7000 + (uint64_t)round;
		v = make_view(1 + (size_t)round % 2, 500, "none");
		read_all(v, &k);
		assert_int_equal(run_search(v, &(struct view_search_options){0}, &id), k.all.n);
		check_hits(v, &k, id);
		assert_int_equal(
			run_search(v, &(struct view_search_options){.filter = "sched_switch"}, &id),
			k.all.n);
		assert_int_equal(
			run_search(v, &(struct view_search_options){.text = "nowhere"}, &other), 0);
		assert_int_equal(run_search(v,
					    &(struct view_search_options){.text = "SCHED_switch"},
					    &other),
				 k.all.n);
		check_hits(v, &k, other);
		assert_true(view_search_drop(v, id));
		assert_false(view_search_drop(v, id));
		assert_null(view_search_get(v, id));
		vec_free(&k.all);
		view_close(v);
	}
}

/* More than are kept at once: the oldest ones go, whoever still looks at one can. */
static void test_searches(void **state)
{
	const struct view_search_options all = {0};
	struct view *v;
	struct view_search *first;
	struct spur_error err = {0};
	uint64_t id, last;
	int64_t at;

	seed = 1;
	v = make_view(1, 500, "none");
	run_search(v, &all, &id);
	first = view_search_get(v, id);
	for (int i = 0; i < ANSWERS_SEARCHES; i++)
		run_search(v, &all, &last);
	assert_null(view_search_get(v, id));
	view_search_put(first);
	assert_int_equal(view_search_start(v, &(struct view_search_options){.filter = "none such"},
					   &at, &err),
			 -EINVAL);
	assert_true(at >= 0);
	/* Closing ends those that run. */
	for (int i = 0; i < 20; i++)
		assert_true(view_search_start(v, &all, &at, &err) > 0);
	view_close(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits),	 cmocka_unit_test(test_hits_dropped),
		cmocka_unit_test(test_records),	 cmocka_unit_test(test_search),
		cmocka_unit_test(test_searches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
