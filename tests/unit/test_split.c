// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splitting. What is in the pieces of a trace, one after the other, has to be what is in the trace.
 *
 * A trace is a script: the pages of two CPUs, which both of its buffers have. A new one is an entry
 * in `scripts`, a new way to cut is one in `ways`.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "file_dir.h"
#include "scan/scan.h"
#include "scan/split.h"

#define NR_CPUS	    2
#define MAX_PAGES   6
#define MAX_RECORDS 400
#define LAST	    UINT64_MAX

struct page {
	uint64_t ts;
	uint32_t records;
	uint32_t step; /* between two records */
	int lost;      /* before it: a number, or -1 */
};

static const struct script {
	const char *name;
	struct page cpus[NR_CPUS][MAX_PAGES];
	uint32_t pages[NR_CPUS];
} scripts[] = {
	{"one CPU", {{{10, 5, 3, 0}, {40, 6, 1, 0}}}, {2, 0}},
	{"two CPUs", {{{10, 5, 3, 0}, {40, 6, 1, 0}}, {{11, 4, 5, 0}, {45, 2, 1, 0}}}, {2, 2}},
	{"equal times", {{{10, 9, 0, 0}, {10, 9, 0, 0}}, {{10, 9, 0, 0}}}, {2, 1}},
	{"losses", {{{10, 3, 1, -1}, {20, 3, 1, 7}, {30, 1, 0, 9}}, {{5, 2, 9, 3}}}, {3, 1}},
	{"losses on empty pages",
	 {{{10, 0, 0, 4}, {20, 3, 1, 0}, {30, 0, 0, 6}, {40, 2, 1, 0}, {50, 0, 0, -1}},
	  {{5, 2, 9, 0}}},
	 {5, 1}},
	{"nothing", {{{10, 0, 0, 0}}}, {1, 0}},
	{"far apart",
	 {{{10, 3, (1u << 27) - 1, 0}, {1ull << 40, 3, 5, 0}}, {{1ull << 33, 3, 1, 0}}},
	 {2, 1}},
	{"back in time",
	 {{{100, 3, 1, 0}, {50, 3, 1, 0}, {200, 3, 1, 0}}, {{90, 3, 20, 0}}},
	 {3, 1}},
	{"around", {{{LAST - 2, 6, 1, 0}, {9, 3, 1, 0}}, {{4, 3, 1, 0}}}, {2, 1}},
};
#define NR_SCRIPTS (sizeof(scripts) / sizeof(scripts[0]))

static const struct {
	const char *name;
	enum split_unit unit;
	uint64_t amount;
	bool per_cpu;
} ways[] = {
	{"an event", SPLIT_EVENTS, 1, false},
	{"3 events", SPLIT_EVENTS, 3, false},
	{"1000 events", SPLIT_EVENTS, 1000, false},
	{"5 ticks", SPLIT_TIME, 5, false},
	{"a tick", SPLIT_TIME, 1, false},
	{"years", SPLIT_TIME, LAST, false},
	{"all", SPLIT_ALL, 0, false},
	{"a page", SPLIT_PAGES, 1, true},
	{"2 pages", SPLIT_PAGES, 2, true},
	{"3 events a CPU", SPLIT_EVENTS, 3, true},
	{"5 ticks a CPU", SPLIT_TIME, 5, true},
};
#define NR_WAYS (sizeof(ways) / sizeof(ways[0]))

/* ---- files ----------------------------------------------------------------------------- */

static void put_page(const struct dat_file *f, struct buf *b, uint32_t cpu, uint32_t index,
		     const void *arg)
{
	const struct script *s = arg;
	const struct page *p = &s->cpus[cpu][index];
	const unsigned int size = f->kind.long_size;
	uint64_t commit = p->records * 12;
	size_t start = b->len;

	if (p->lost)
		commit |= 1u << 31 | (p->lost > 0 ? 1u << 30 : 0);
	file_put(f, b, p->ts, 8);
	file_put(f, b, commit, size);
	for (uint32_t i = 0; i < p->records; i++) {
		uint32_t delta = i ? p->step : 0;

		file_put(f, b, f->kind.big_endian ? 2u << 27 | delta : delta << 5 | 2, 4);
		file_put(f, b, index, 4);
		file_put(f, b, i, 4);
	}
	if (p->lost > 0)
		file_put(f, b, (uint64_t)p->lost, size);
	buf_fill(b, 0, FILE_PAGE - (b->len - start));
}

static struct spur_trace *open_trace(struct file_dir *dir, const char *name)
{
	const struct trace_options opt = {.raw_ts = true};
	struct spur_error err = {0};
	struct spur_trace *t;

	if (trace_open(file_in(dir, name), &opt, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static struct spur_trace *make_trace(struct file_dir *dir, const struct script *s,
				     const struct dat_kind *kind)
{
	struct dat_content content = {.nr_cpus = NR_CPUS,
				      .cpus = {0, 1},
				      .chunk_pages = 2,
				      .put_page = put_page,
				      .arg = s};

	memcpy(content.pages, s->pages, sizeof(s->pages));
	file_dir_put(dir, "t", kind, &content, 0);
	return open_trace(dir, "t");
}

/* ---- records --------------------------------------------------------------------------- */

struct record {
	uint64_t ts;
	uint32_t cpu, buffer, page, number;
	int64_t lost;
};

struct records {
	struct record at[MAX_RECORDS];
	size_t n;
};

static void read_trace(struct spur_trace *t, struct records *r)
{
	const struct spur_record *rec;
	struct scan m;

	scan_init(&m, NULL);
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		assert_int_equal(scan_add_buffer(&m, &t->buffers[i]), 0);
	scan_start(&m);
	while ((rec = scan_next(&m))) {
		assert_true(r->n < MAX_RECORDS);
		assert_int_equal(rec->size, 8);
		r->at[r->n++] = (struct record){
			.ts = rec->ts,
			.cpu = rec->cpu,
			.buffer = rec->buffer,
			.page = (uint32_t)load_uint(rec->data, 4, t->dat->big_endian),
			.number = (uint32_t)load_uint(rec->data + 4, 4, t->dat->big_endian),
			.lost = rec->lost,
		};
	}
	scan_free(&m);
	/* One of the formats in these files is empty, which is noted first. */
	assert_non_null(strstr(t->dat->damage.text, "has no name or id"));
}

static bool same_record(const struct record *a, const struct record *b)
{
	return a->ts == b->ts && a->cpu == b->cpu && a->buffer == b->buffer && a->page == b->page &&
	       a->number == b->number && a->lost == b->lost;
}

static int by_cpu(const void *a, const void *b)
{
	const struct record *x = a, *y = b;
	const uint64_t p[] = {x->buffer, x->cpu, x->page, x->number};
	const uint64_t q[] = {y->buffer, y->cpu, y->page, y->number};

	for (size_t i = 0; i < 4; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

static void compare(const char *script, const char *way, const struct records *want,
		    const struct records *got)
{
	if (want->n != got->n)
		fail_msg("%s, %s: %zu records instead of %zu", script, way, got->n, want->n);
	for (size_t i = 0; i < want->n; i++)
		if (!same_record(&want->at[i], &got->at[i]))
			fail_msg("%s, %s: record %zu is of %llu, CPU %u, lost %lld", script, way, i,
				 (unsigned long long)got->at[i].ts, got->at[i].cpu,
				 (long long)got->at[i].lost);
}

/* ---- tests ----------------------------------------------------------------------------- */

struct pieces {
	struct file_dir *dir;
	struct records all;
	unsigned int n;
	uint64_t most; /* events that one may have; 0: any number */
};

static void wrote(void *arg, const struct split_piece *piece)
{
	struct pieces *p = arg;
	struct spur_trace *t = open_trace(p->dir, strrchr(piece->path, '/') + 1);
	size_t before = p->all.n;

	read_trace(t, &p->all);
	assert_int_equal(p->all.n - before, piece->events);
	assert_true(!p->most || piece->events <= p->most);
	assert_int_equal(t->nr_buffers, 2);
	assert_string_equal(t->buffers[1].data->name, "inst");
	assert_string_equal(t->buffers[1].data->clock, "global");
	trace_close(t);
	p->n++;
	unlink(piece->path);
}

static void check_way(struct file_dir *dir, struct spur_trace *t, const char *script, size_t way,
		      struct records *whole)
{
	char output[FILE_PATH];
	struct pieces pieces = {.dir = dir};
	const struct split s = {.trace = t,
				.output = output,
				.unit = ways[way].unit,
				.amount = ways[way].amount,
				.per_cpu = ways[way].per_cpu,
				.repeat = true,
				.wrote = wrote,
				.wrote_arg = &pieces};
	struct spur_error err = {0};

	snprintf(output, sizeof(output), "%s", file_in(dir, "p"));
	if (ways[way].unit == SPLIT_EVENTS && !ways[way].per_cpu)
		pieces.most = ways[way].amount;
	if (split_run(&s, &err) < 0)
		fail_msg("%s, %s: %s", script, ways[way].name, err.text);
	assert_true(pieces.n > 0);
	if (ways[way].per_cpu) {
		qsort(whole->at, whole->n, sizeof(*whole->at), by_cpu);
		qsort(pieces.all.at, pieces.all.n, sizeof(*pieces.all.at), by_cpu);
	}
	compare(script, ways[way].name, whole, &pieces.all);
	assert_int_equal(file_dir_count(dir), 1);
}

static void test_pieces_are_the_whole(void **state)
{
	struct file_dir dir;

	file_dir_open(&dir);
	for (size_t k = 0; k < FILE_NR_KINDS; k++)
		for (size_t i = 0; i < NR_SCRIPTS; i++)
			for (size_t w = 0; w < NR_WAYS; w++) {
				struct spur_trace *t =
					make_trace(&dir, &scripts[i], &file_kinds[k]);
				struct records whole = {0};

				read_trace(t, &whole);
				check_way(&dir, t, scripts[i].name, w, &whole);
				trace_close(t);
			}
	file_dir_close(&dir);
}

/* From one time to another: what lies between them in the order in which the trace is read. */
static void expect_range(const struct records *whole, uint64_t start, uint64_t end,
			 struct records *want)
{
	size_t i = 0;

	while (i < whole->n && whole->at[i].ts < start)
		i++;
	for (; i < whole->n && whole->at[i].ts <= end; i++)
		want->at[want->n++] = whole->at[i];
}

static void check_range(struct file_dir *dir, struct spur_trace *t, const char *script,
			const struct records *whole, uint64_t start, uint64_t end)
{
	char output[FILE_PATH];
	struct pieces pieces = {.dir = dir};
	struct records want = {0};
	const struct split s = {.trace = t,
				.output = output,
				.has_start = true,
				.has_end = true,
				.start = start,
				.end = end,
				.wrote = wrote,
				.wrote_arg = &pieces};
	struct spur_error err = {0};
	int rc;

	snprintf(output, sizeof(output), "%s", file_in(dir, "p.1"));
	expect_range(whole, start, end, &want);
	rc = split_run(&s, &err);
	assert_int_equal(rc, want.n ? 0 : -EINVAL);
	compare(script, "range", &want, &pieces.all);
	assert_int_equal(file_dir_count(dir), 1);
}

static void test_ranges(void **state)
{
	struct file_dir dir;

	file_dir_open(&dir);
	/* The last two have times that run backwards: where they begin cannot be found quickly. */
	for (size_t i = 0; i < NR_SCRIPTS - 2; i++) {
		struct spur_trace *t =
			make_trace(&dir, &scripts[i], &file_kinds[i % FILE_NR_KINDS]);
		struct records whole = {0};

		read_trace(t, &whole);
		for (uint64_t start = 0; start < 55; start += 3)
			for (uint64_t end = start; end < 60; end += 4)
				check_range(&dir, t, scripts[i].name, &whole, start, end);
		trace_close(t);
	}
	file_dir_close(&dir);
}

static void test_one_cpu(void **state)
{
	struct file_dir dir;
	struct spur_trace *t, *piece;
	struct spur_error err = {0};
	struct records got = {0};
	char output[FILE_PATH];

	file_dir_open(&dir);
	t = make_trace(&dir, &scripts[1], &file_kinds[2]);
	snprintf(output, sizeof(output), "%s", file_in(&dir, "p.1"));
	assert_int_equal(
		split_run(&(struct split){.trace = t, .output = output, .one_cpu = true, .cpu = 1},
			  &err),
		0);
	piece = open_trace(&dir, "p.1");
	read_trace(piece, &got);
	assert_int_equal(got.n, 12);
	for (size_t i = 0; i < got.n; i++)
		assert_int_equal(got.at[i].cpu, 1);
	trace_close(piece);
	assert_int_equal(
		split_run(&(struct split){.trace = t, .output = output, .one_cpu = true, .cpu = 9},
			  &err),
		-EINVAL);
	assert_non_null(strstr(err.text, "no CPU 9"));
	trace_close(t);
	file_dir_close(&dir);
}

/* Which buffers there are, and what they are called. */
static const struct {
	struct split_buffer keep[2];
	size_t nr;
	const char *want[2]; /* names of the buffers… */
	size_t records[2];   /* …and how many records they have */
	int rc;
} selections[] = {
	{{{"", ""}}, 1, {""}, {17}, 0},
	{{{"inst", "inst"}}, 1, {"", "inst"}, {0, 17}, 0},
	{{{"inst", ""}}, 1, {""}, {17}, 0},
	{{{"inst", "b"}, {"", ""}}, 2, {"", "b"}, {17, 17}, 0},
	{{{"inst", ""}, {"", "old"}}, 2, {"", "old"}, {17, 17}, 0},
	{{{"nosuch", ""}}, 1, .rc = -EINVAL},
	{{{"inst", "a"}, {"", "a"}}, 2, .rc = -EINVAL},
};

static void check_buffers(struct file_dir *dir, size_t n)
{
	struct spur_trace *t = open_trace(dir, "p.1");
	struct records got = {0};

	for (size_t i = 0; i < 2 && selections[n].want[i]; i++) {
		size_t records = 0;

		assert_true(i < t->nr_buffers);
		assert_string_equal(t->buffers[i].data->name, selections[n].want[i]);
		got.n = 0;
		read_trace(t, &got);
		for (size_t k = 0; k < got.n; k++)
			records += got.at[k].buffer == i;
		assert_int_equal(records, selections[n].records[i]);
	}
	trace_close(t);
}

static void test_buffers(void **state)
{
	struct file_dir dir;
	char output[FILE_PATH];

	file_dir_open(&dir);
	snprintf(output, sizeof(output), "%s", file_in(&dir, "p.1"));
	for (size_t k = 0; k < FILE_NR_KINDS; k++)
		for (size_t i = 0; i < sizeof(selections) / sizeof(selections[0]); i++) {
			struct spur_trace *t = make_trace(&dir, &scripts[1], &file_kinds[k]);
			const struct split s = {.trace = t,
						.output = output,
						.buffers = selections[i].keep,
						.nr_buffers = selections[i].nr};
			struct spur_error err = {0};

			assert_int_equal(split_run(&s, &err), selections[i].rc);
			if (!selections[i].rc)
				check_buffers(&dir, i);
			trace_close(t);
		}
	file_dir_close(&dir);
}

/* The trace is never replaced by one of its pieces, and a piece that was stopped is not there. */
static void test_refusals(void **state)
{
	const volatile int stop = 1;
	struct file_dir dir;
	struct spur_trace *t;
	struct spur_error err = {0};
	char output[FILE_PATH];

	file_dir_open(&dir);
	t = make_trace(&dir, &scripts[1], &file_kinds[0]);
	snprintf(output, sizeof(output), "%s", file_in(&dir, "t"));
	assert_int_equal(split_run(&(struct split){.trace = t, .output = output}, &err), -EINVAL);
	assert_non_null(strstr(err.text, "is to be split"));
	err = (struct spur_error){0};
	snprintf(output, sizeof(output), "%s", file_in(&dir, "p"));
	assert_int_equal(
		split_run(&(struct split){.trace = t, .output = output, .job.stop = &stop}, &err),
		-EINTR);
	assert_int_equal(file_dir_count(&dir), 1);
	trace_close(t);
	file_dir_close(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_are_the_whole),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
