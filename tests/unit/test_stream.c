// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merging, slicing, ranges and tails over small files whose pages are listed here (`scripts`, where
 * a new case is a few lines) or drawn by lot. What has to come out is worked out record by record,
 * in the simplest way there is, and compared as text: "time cpu lost buffer" for each record.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dat_file.h"
#include "report/columns.h"
#include "report/report.h"
#include "report/follow.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NR_CPUS	      3
#define MAX_PAGES     40
#define MAX_RECORDS   (2 * NR_CPUS * MAX_PAGES * 16)

/* A page: its records are `step` apart, the first one at the page's time. */
struct page {
	uint64_t ts;
	uint32_t records; /* up to 16 */
	uint32_t step;
	bool lost;    /* events were, before it */
	bool padding; /* the page holds one, and no record */
};

struct script {
	const char *name;
	bool ordered; /* times never run backwards on a CPU */
	struct page cpus[NR_CPUS][MAX_PAGES];
	uint32_t pages[NR_CPUS];
};

#define LAST UINT64_MAX

static const struct script scripts[] = {
	{"nothing at all", true, {{{0}}}, {0}},
	{"one record", true, {{{5, 1, 0}}}, {1}},
	{"an empty CPU between two",
	 true,
	 {{{10, 4, 5}, {40, 4, 5}}, {{0}}, {{12, 9, 3}, {41, 3, 1}}},
	 {2, 0, 2}},
	{"all at the same time", true, {{{7, 3}, {7, 3}, {7, 2}}, {{7, 2}, {7, 1}}}, {3, 2}},
	{"pages without data", true, {{{10, 2, 1}, {0}, {0}, {20, 2, 1}, {0}}}, {5}},
	{"only pages without data", true, {{{0}, {0}, {0}}, {{0}}}, {3, 1}},
	{"only padding", true, {{{10, 2, 1}, {15, 0, 0, false, true}, {20, 3, 1}}}, {3}},
	{"losses before pages, also before one with padding",
	 true,
	 {{{10, 2, 1, true}, {20, 0, 0, true, true}, {30, 2, 1}, {40, 2, 1, true}},
	  {{11, 2, 4}, {19, 0, 0, true, true}, {22, 0, 0, false, true}, {23, 5, 2}}},
	 {4, 4}},
	{"the end of time",
	 true,
	 {{{LAST - 9, 5, 1}, {LAST, 2, 0}}, {{1, 2, 1}, {LAST, 1, 0}}},
	 {2, 2}},
	{"time goes around",
	 false,
	 {{{LAST - 2, 6, 1}, {9, 3, 1}}, {{4, 3, 1}, {LAST, 3, 1}}},
	 {2, 2}},
	{"a page goes back",
	 false,
	 {{{100, 3, 1}, {50, 3, 1}, {200, 3, 1}}, {{90, 3, 20}, {160, 3, 20}, {210, 3, 1}}},
	 {3, 3}},
	{"all pages go back",
	 false,
	 {{{900, 3, 1}, {800, 3, 1}, {700, 3, 1}, {600, 3, 1}, {500, 3, 1}, {400, 3, 1}},
	  {{850, 3, 1}, {750, 3, 1}, {650, 3, 1}}},
	 {6, 3}},
	{"one time is far off",
	 false,
	 {{{10, 3, 1}, {20, 3, 1}, {1ull << 60, 3, 1}, {30, 3, 1}, {40, 3, 1}, {50, 3, 1}},
	  {{15, 9, 5}, {70, 3, 1}}},
	 {6, 2}},
};

/* ---- files ----------------------------------------------------------------------------- */

static void put_page(const struct dat_file *f, struct buf *b, uint32_t cpu, uint32_t index,
		     const void *arg)
{
	const struct script *s = arg;
	const struct page *p = &s->cpus[cpu][index];
	const uint32_t room = FILE_PAGE - 16;
	size_t start = b->len;

	file_put(f, b, p->ts, 8);
	file_put(f, b, (p->padding ? room : p->records * 12) | (p->lost ? 1u << 31 : 0), 8);
	if (p->padding)
		file_put(f, b, 29, 4);
	for (uint32_t i = 0; i < p->records; i++) {
		file_put(f, b, (i ? p->step : 0) << 5 | 2, 4);
		file_put(f, b, 0, 8);
	}
	buf_fill(b, 0, FILE_PAGE - (b->len - start));
}

static struct spur_trace *open_script(const struct script *s, const char *codec)
{
	const struct dat_kind kind = {7, false, 8, codec};
	struct dat_content content = {.nr_cpus = NR_CPUS,
				      .cpus = {0, 1, 2},
				      .chunk_pages = 3,
				      .put_page = put_page,
				      .arg = s};
	const struct trace_options opt = {.raw_ts = true};
	struct spur_error err = {0};
	struct spur_trace *t;
	struct dat_file f;
	char path[40];
	int fd;

	memcpy(content.pages, s->pages, sizeof(s->pages));
	dat_file_make(&f, &kind, &content);
	fd = dat_file_fd(&f, f.b.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trace_open(path, &opt, &t, &err) < 0)
		fail_msg("%s: %s", s->name, err.text);
	close(fd);
	dat_file_free(&f);
	return t;
}

/* ---- what has to come out -------------------------------------------------------------- */

struct record {
	uint64_t ts;
	uint32_t cpu, buffer;
	int lost;
};

struct records {
	struct record at[MAX_RECORDS];
	size_t n;
};

static void add_lane(struct records *to, const struct script *s, uint32_t cpu, uint32_t buffer)
{
	int lost = 0;

	for (uint32_t i = 0; i < s->pages[cpu]; i++) {
		const struct page *p = &s->cpus[cpu][i];

		lost = p->lost ? -1 : lost;
		for (uint32_t k = 0; k < p->records; k++, lost = 0)
			to->at[to->n++] =
				(struct record){p->ts + (uint64_t)k * p->step, cpu, buffer, lost};
	}
}

/* All records in the order in which they are merged. */
static void merge_script(const struct script *s, struct records *out)
{
	static struct records lanes[2 * NR_CPUS];
	size_t next[2 * NR_CPUS] = {0};

	for (uint32_t i = 0; i < 2 * NR_CPUS; i++) {
		lanes[i].n = 0;
		add_lane(&lanes[i], s, i % NR_CPUS, i / NR_CPUS);
	}
	out->n = 0;
	for (;;) {
		int best = -1;

		for (int i = 0; i < 2 * NR_CPUS; i++)
			if (next[i] < lanes[i].n &&
			    (best < 0 || lanes[i].at[next[i]].ts < lanes[best].at[next[best]].ts))
				best = i;
		if (best < 0)
			return;
		out->at[out->n++] = lanes[best].at[next[best]++];
	}
}

/* What a report is asked for. */
struct range {
	bool has_since, has_until;
	uint64_t since, until, head, tail;
};

static void expect(const struct records *all, const struct range *r, struct buf *out)
{
	static struct records shown;

	shown.n = 0;
	for (size_t i = 0; i < all->n; i++) {
		if (r->has_until && all->at[i].ts > r->until)
			break;
		if (!r->has_since || all->at[i].ts >= r->since)
			shown.at[shown.n++] = all->at[i];
	}
	if (r->head && shown.n > r->head)
		shown.n = r->head;
	for (size_t i = r->tail && shown.n > r->tail ? shown.n - r->tail : 0; i < shown.n; i++)
		buf_printf(out, "%llu\t%u\t%s\t%s\n", (unsigned long long)shown.at[i].ts,
			   shown.at[i].cpu, shown.at[i].lost ? "-1" : "-",
			   shown.at[i].buffer ? "inst" : "-");
}

/* ---- reports --------------------------------------------------------------------------- */

static int collect(void *arg, const char *data, size_t len)
{
	buf_put(arg, data, len);
	return 0;
}

static int refuse(void *arg, const char *data, size_t len)
{
	return -ENOSPC;
}

/* A report of a trace with the columns that say where a record comes from. */
struct setup {
	struct report rep;
	struct emit_columns columns;
	struct emit_source sources[2];
	struct buf out;
};

static void set_up(struct setup *s, struct spur_trace *const *t, const struct range *r)
{
	struct spur_error err = {0};

	memset(s, 0, sizeof(*s));
	buf_init(&s->out, 64u << 20);
	assert_int_equal(columns_parse(&s->columns, "ts,cpu,lost,buffer", &err), 0);
	assert_int_equal((*t)->nr_buffers, 2);
	for (uint32_t i = 0; i < 2; i++)
		s->sources[i].buffer = &(*t)->buffers[i];
	s->rep = (struct report){.traces = t,
				 .nr_traces = 1,
				 .sources = s->sources,
				 .nr_sources = 2,
				 .emit = &emit_table,
				 .options = {.columns = &s->columns},
				 .select = {.has_since = r->has_since,
					    .has_until = r->has_until,
					    .since = r->since,
					    .until = r->until},
				 .head = r->head,
				 .threads = 1,
				 .write = collect,
				 .arg = &s->out};
}

static void tear_down(struct setup *s)
{
	columns_free(&s->columns);
	buf_free(&s->out);
}

/* The report of a range by so many threads, with slices as small as they get. */
static void report(struct spur_trace *t, const struct range *r, unsigned int threads,
		   struct buf *out)
{
	struct spur_error err = {0};
	struct setup s;
	int rc;

	set_up(&s, &t, r);
	s.rep.threads = threads;
	s.rep.slice_bytes = 1;
	rc = r->tail ? report_tail(&s.rep, r->tail, &err) : report_run(&s.rep, &err);
	assert_int_equal(rc, 0);
	buf_reset(out);
	buf_put(out, s.out.data, s.out.len);
	tear_down(&s);
}

/* Fails with the first line that differs. */
static void compare(const char *name, const char *what, struct buf *want, struct buf *got)
{
	const char *w = buf_str(want), *g = buf_str(got);
	unsigned int line = 1;

	while (*w && strcspn(w, "\n") == strcspn(g, "\n") &&
	       memcmp(w, g, strcspn(w, "\n") + 1) == 0) {
		w += strcspn(w, "\n") + 1;
		g += strcspn(g, "\n") + 1;
		line++;
	}
	if (*w || *g)
		fail_msg("%s, %s: line %u is '%.*s', not '%.*s'", name, what, line,
			 (int)strcspn(g, "\n"), g, (int)strcspn(w, "\n"), w);
}

/* ---- tests ----------------------------------------------------------------------------- */

static void check_range(const struct script *s, struct spur_trace *t, const struct records *all,
			const struct range *r, const char *what)
{
	struct buf want, got;

	buf_init(&want, 64u << 20);
	buf_init(&got, 64u << 20);
	expect(all, r, &want);
	report(t, r, 1, &got);
	/* A range is looked up by the times of pages, which must not run backwards. */
	if (s->ordered || !r->has_since)
		compare(s->name, what, &want, &got);
	for (unsigned int threads = 2; threads <= 4 && !r->tail; threads++) {
		report(t, r, threads, &want);
		compare(s->name, "several threads", &got, &want);
	}
	buf_free(&want);
	buf_free(&got);
}

static void check_script(const struct script *s, const char *codec)
{
	static struct records all;
	struct spur_trace *t = open_script(s, codec);
	size_t step;

	merge_script(s, &all);
	check_range(s, t, &all, &(struct range){0}, "all");
	step = all.n > 8 ? all.n / 8 : 1;
	for (size_t i = 0; i < all.n; i += step) {
		const uint64_t a = all.at[i].ts, b = all.at[all.n - 1 - i].ts;

		check_range(s, t, &all, &(struct range){.has_since = true, .since = a}, "since");
		check_range(s, t, &all, &(struct range){.has_until = true, .until = a}, "until");
		check_range(s, t, &all, &(struct range){true, true, a, b, 0, 0}, "range");
		check_range(s, t, &all, &(struct range){.head = i + 1}, "head");
		if (!s->ordered)
			continue;
		check_range(s, t, &all, &(struct range){.tail = i + 1}, "tail");
		check_range(s, t, &all, &(struct range){true, true, a, b, 0, 3}, "tail of a range");
	}
	trace_close(t);
}

/* ---- traces that grow ------------------------------------------------------------------ */

/* A CPU of which a page more is there in every round. */
struct growing {
	struct dat_feed feed; /* first */
	struct dat_pages *all;
	uint64_t pages;
};

static int grown_page(struct dat_feed *feed, uint64_t index, struct dat_page *page)
{
	struct growing *g = (struct growing *)feed;

	return index < g->pages ? dat_pages_get(g->all, index, page) : 0;
}

/* The time before which all records are on the first n pages of each CPU. */
static uint64_t complete_before(const struct script *s, uint32_t n)
{
	uint64_t before = UINT64_MAX;

	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		for (uint32_t i = n; i < s->pages[cpu]; i++)
			if (s->cpus[cpu][i].records && s->cpus[cpu][i].ts < before)
				before = s->cpus[cpu][i].ts;
	return before;
}

static void check_growing(const struct script *s)
{
	static struct records all;
	struct spur_trace *whole = open_script(s, "none"), *t = open_script(s, "none");
	struct growing cpus[2][NR_CPUS] = {0};
	struct follow *f;
	struct setup set;
	struct buf want;

	for (uint32_t b = 0; b < 2; b++)
		for (uint32_t i = 0; i < NR_CPUS; i++) {
			struct growing *g = &cpus[b][i];
			const struct dat_buffer *data = whole->buffers[b].data;

			assert_int_equal(dat_pages_open(whole->dat, data, &data->cpus[i], &g->all),
					 0);
			g->feed.get = grown_page;
			t->dat->buffers[b].cpus[i].feed = &g->feed;
		}
	set_up(&set, &t, &(struct range){0});
	assert_int_equal(follow_new(&set.rep, &f), 0);
	for (uint32_t n = 1; n <= MAX_PAGES; n++) {
		const uint64_t before = complete_before(s, n);

		for (uint32_t i = 0; i < 2 * NR_CPUS; i++)
			cpus[i / NR_CPUS][i % NR_CPUS].pages = n;
		if (before)
			assert_int_equal(follow_emit(f, before - 1), 0);
	}
	assert_int_equal(follow_end(f), 0);
	buf_init(&want, 64u << 20);
	merge_script(s, &all);
	expect(&all, &(struct range){0}, &want);
	compare(s->name, "growing", &want, &set.out);
	buf_free(&want);
	follow_free(f);
	tear_down(&set);
	for (uint32_t i = 0; i < 2 * NR_CPUS; i++)
		dat_pages_close(cpus[i / NR_CPUS][i % NR_CPUS].all);
	trace_close(t);
	trace_close(whole);
}

static void test_scripts(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		check_script(&scripts[i], "none");
		check_script(&scripts[i], "zstd");
		if (scripts[i].ordered)
			check_growing(&scripts[i]);
	}
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static void draw_script(struct script *s, uint64_t seed)
{
	char *name = (char *)s->name;

	snprintf(name, 40, "by lot, number %llu", (unsigned long long)seed);
	s->ordered = seed % 2;
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		uint64_t ts = draw(&seed, 50);

		s->pages[cpu] = draw(&seed, MAX_PAGES);
		for (uint32_t i = 0; i < s->pages[cpu]; i++) {
			struct page *p = &s->cpus[cpu][i];

			*p = (struct page){.ts = ts,
					   .records = draw(&seed, 8) ? 1 + draw(&seed, 16) : 0,
					   .step = draw(&seed, 6),
					   .lost = draw(&seed, 5) == 0};
			p->padding = !p->records && draw(&seed, 2);
			ts += (uint64_t)p->records * p->step + draw(&seed, 30);
			if (!s->ordered && draw(&seed, 6) == 0)
				ts = draw(&seed, 3) ? draw(&seed, 1000) : (uint64_t)-50;
			/* A page that was never written has no time. */
			if (!p->records && !p->padding && draw(&seed, 2))
				p->ts = 0;
		}
	}
}

static void test_by_lot(void **state)
{
	static struct script s;
	char name[40];

	s.name = name;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		draw_script(&s, seed);
		check_script(&s, seed % 3 ? "none" : "zlib");
		if (s.ordered)
			check_growing(&s);
	}
}

/* After a seek every record at or after the time is still to come, whatever was hinted. */
static void test_seek(void **state)
{
	static struct script s;
	char name[40];
	struct spur_trace *t;
	struct lane l;

	s.name = name;
	draw_script(&s, 7);
	t = open_script(&s, "none");
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		static struct records all;

		all.n = 0;
		add_lane(&all, &s, cpu, 0);
		assert_int_equal(lane_open(&l, &t->buffers[0], &t->buffers[0].data->cpus[cpu]), 0);
		for (size_t i = 0; i < all.n; i += 7) {
			size_t want = 0, got = 0;

			for (size_t k = 0; k < all.n; k++)
				want += all.at[k].ts >= all.at[i].ts;
			lane_seek_time(&l, all.at[i].ts, i % (l.nr_pages + 2));
			while (lane_next(&l))
				got += l.rec.ts >= all.at[i].ts;
			assert_int_equal(got, want);
		}
		lane_close(&l);
	}
	trace_close(t);
}

/* A lane that goes to where another one stood gives the same record, losses included. */
static void test_tell(void **state)
{
	const struct script *s = &scripts[7];
	struct spur_trace *t = open_script(s, "none");
	struct lane a, b;

	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const struct dat_cpu *data = &t->buffers[0].data->cpus[cpu];
		unsigned int losses = 0;

		assert_int_equal(lane_open(&a, &t->buffers[0], data), 0);
		assert_int_equal(lane_open(&b, &t->buffers[0], data), 0);
		while (lane_next(&a)) {
			lane_seek(&b, lane_tell(&a));
			assert_true(lane_next(&b));
			assert_int_equal(b.rec.ts, a.rec.ts);
			assert_int_equal(b.rec.offset, a.rec.offset);
			assert_int_equal(b.rec.lost, a.rec.lost);
			losses += a.rec.lost != 0;
		}
		assert_int_equal(losses, cpu ? 1 : 3);
		lane_close(&a);
		lane_close(&b);
	}
	trace_close(t);
}

/* A report that is stopped or cannot write says so, whoever of its threads notices. */
static void test_ends_early(void **state)
{
	static const volatile int stop = 1;
	static struct script s;
	char name[40];
	struct spur_trace *t;

	s.name = name;
	draw_script(&s, 3);
	t = open_script(&s, "none");
	for (unsigned int threads = 1; threads <= 3; threads++) {
		struct spur_error err = {0};
		struct setup u;

		set_up(&u, &t, &(struct range){0});
		u.rep.threads = threads;
		u.rep.slice_bytes = 1;
		u.rep.stop = &stop;
		assert_int_equal(report_run(&u.rep, &err), -EINTR);
		assert_int_equal(report_tail(&u.rep, 5, &err), -EINTR);
		u.rep.stop = NULL;
		u.rep.write = refuse;
		assert_int_equal(report_run(&u.rep, &err), -ENOSPC);
		assert_int_equal(report_tail(&u.rep, 5, &err), -ENOSPC);
		tear_down(&u);
	}
	trace_close(t);
}

static void test_emitters(void **state)
{
	static const struct {
		const struct emit_ops *ops;
		const char *columns;
		uint64_t tail;
		const char *want;
	} cases[] = {
		{&emit_table, "ts,cpu,nosuch", 0, "5\t0\t-\n5\t0\t-\n"},
		{&emit_csv, "ts,cpu,buffer", 0, "ts,cpu,buffer\n5,0,\n5,0,inst\n"},
		{&emit_csv, "ts,buffer", 1, "ts,buffer\n5,inst\n"},
		{&emit_json, "ts,buffer,nosuch", 0, "{\"ts\":5}\n{\"ts\":5,\"buffer\":\"inst\"}\n"},
		{&emit_json, "nosuch,ts", 1, "{\"ts\":5}\n"},
		{&emit_json, "comm,pid", 1, "{\"comm\":\"<...>\",\"pid\":-1}\n"},
		{&emit_json, "event,info", 1, "{}\n"},
	};
	struct spur_trace *t = open_script(&scripts[1], "none");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct spur_error err = {0};
		struct setup s;

		set_up(&s, &t, &(struct range){0});
		columns_free(&s.columns);
		assert_int_equal(columns_parse(&s.columns, cases[i].columns, &err), 0);
		s.rep.emit = cases[i].ops;
		assert_int_equal(cases[i].tail ? report_tail(&s.rep, cases[i].tail, &err)
					       : report_run(&s.rep, &err),
				 0);
		assert_string_equal(buf_str(&s.out), cases[i].want);
		tear_down(&s);
	}
	trace_close(t);
}

static void test_columns(void **state)
{
	static const struct {
		const char *text;
		int rc;
		size_t n;
		enum emit_column_kind last;
	} cases[] = {
		{"ts", 0, 1, EMIT_TS},
		{"ts,time,cpu,pid", 0, 4, EMIT_PID},
		{"info,next_pid", 0, 2, EMIT_FIELD},
		{"TS", 0, 1, EMIT_FIELD},
		{"", -EINVAL, 0, 0},
		{"ts,", -EINVAL, 1, EMIT_TS},
		{",ts", -EINVAL, 0, 0},
		{"ts,,cpu", -EINVAL, 1, EMIT_TS},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct emit_columns cols = {0};
		struct spur_error err = {0};

		assert_int_equal(columns_parse(&cols, cases[i].text, &err), cases[i].rc);
		assert_int_equal(cols.n, cases[i].n);
		if (cols.n)
			assert_int_equal(cols.at[cols.n - 1].kind, cases[i].last);
		columns_free(&cols);
	}
}

static void test_select_cpu(void **state)
{
	static const uint64_t bits[] = {1ull << 63 | 1, 2};
	const struct selection none = {0}, some = {.cpus = bits, .nr_cpus = 128};

	assert_true(select_cpu(&none, 4711));
	assert_true(select_cpu(&some, 0));
	assert_false(select_cpu(&some, 1));
	assert_true(select_cpu(&some, 63));
	assert_true(select_cpu(&some, 65));
	assert_false(select_cpu(&some, 128));
	assert_false(select_cpu(&some, UINT32_MAX));
}

/* A guest's times on the host's line; the numbers of a file may be anything at all. */
static void test_time_shift(void **state)
{
	static const struct {
		struct dat_time_sample samples[2];
		uint64_t raw, want;
	} cases[] = {
		{{{100, 10}, {200, 30}}, 150, 170},
		{{{100, 10}, {200, 30}}, 100, 110},
		{{{100, -10}, {200, -30}}, 200, 171}, /* libtracecmd's rounding */
		{{{100, 10}, {100, 30}}, 150, 160},
		{{{0, INT64_MIN}, {2, INT64_MAX}}, 2, 2 + (1ull << 63)},
		{{{0, INT64_MAX}, {1, INT64_MIN}}, UINT64_MAX, INT64_MAX - 2},
		{{{0, INT64_MAX}, {UINT64_MAX, INT64_MAX - 9}}, 0, INT64_MAX},
		{{{0, 7, 3, 1}, {1000, 7}}, 10, 22},
		{{{0, 7, 3, 64}, {1000, 7}}, 10, 7},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dat_time_sample samples[2] = {cases[i].samples[0], cases[i].samples[1]};
		struct dat_time_shift shift = {.flags = 1, .nr_cpus = 1};
		struct trace_time time = {.shift = &shift};

		shift.cpus = calloc(1, sizeof(*shift.cpus));
		assert_non_null(shift.cpus);
		shift.cpus[0].samples = samples;
		shift.cpus[0].nr = 2;
		assert_int_equal(trace_time(&time, cases[i].raw, 0), cases[i].want);
		free(shift.cpus);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),	   cmocka_unit_test(test_by_lot),
		cmocka_unit_test(test_seek),	   cmocka_unit_test(test_tell),
		cmocka_unit_test(test_ends_early), cmocka_unit_test(test_emitters),
		cmocka_unit_test(test_time_shift), cmocka_unit_test(test_columns),
		cmocka_unit_test(test_select_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
