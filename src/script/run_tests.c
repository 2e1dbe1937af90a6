// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of the types test and bench, which only --test and --bench run. The output is that of
 * bpftrace: a line for each benchmark, and googletest's lines for tests.
 */
#include <string.h>

#include "base/json.h"
#include "base/nanoseconds.h"
#include "script/run_live.h"

#define BENCH_NS     100000000 /* each is run again and again for about as long … */
#define BENCH_ROUNDS 1000      /* … at least so often */
#define BENCH_MOST   100000000

enum { NAME_WIDTH = 41, TIME_WIDTH = 15 };

/* "bench:add" is called "add". */
static const char *name_of(const struct unit_probe *p)
{
	const char *colon = strchr(p->target->name, ':');

	return colon ? colon + 1 : p->target->name;
}

/* {"type": "benchmark_result", "data": {"add": {…}}} up to the second one. */
static void begin_json(struct buf *to, const char *type, const char *name)
{
	buf_printf(to, "{\"type\": \"%s\", \"data\": {", type);
	buf_json_string(to, name, strlen(name));
	buf_puts(to, ": {");
}

static const char *plural(unsigned int n)
{
	return n == 1 ? "test" : "tests";
}

/* Captures the output of a body, including errors, as text. */
static void capture_begin(struct script *s, struct buf *shown)
{
	buf_init(shown, s->text.limit);
	s->out.to = s->out.errors = shown;
	s->out.json = false;
	s->status = 0;
}

static void capture_end(struct live_run *r, const struct output *before)
{
	live_take_records(r);
	r->s->out.to = before->to;
	r->s->out.errors = before->errors;
	r->s->out.json = before->json;
	r->s->ended = false;
}

/* ---- benchmarks ---- */

static void bench_head(struct script *s, size_t width)
{
	static const char last[] = "Iterations";

	if (s->out.json)
		return;
	buf_put_left(&s->text, "Benchmark", 9, width);
	buf_put_left(&s->text, "Time(ns)", 8, TIME_WIDTH);
	buf_printf(&s->text, "%s\n", last);
	buf_fill(&s->text, '-', width + TIME_WIDTH + strlen(last));
	buf_putc(&s->text, '\n');
}

static void bench_row(struct script *s, const char *name, size_t width, uint64_t average,
		      uint64_t rounds)
{
	struct buf *to = &s->text;
	size_t before;

	if (s->out.json) {
		begin_json(to, "benchmark_result", name);
		buf_printf(to, "\"average\": %llu, \"iters\": %llu}}}\n",
			   (unsigned long long)average, (unsigned long long)rounds);
		return;
	}
	buf_put_left(to, name, strlen(name), width);
	before = to->len;
	buf_u64(to, average);
	before += TIME_WIDTH;
	if (to->len < before)
		buf_fill(to, ' ', before - to->len);
	buf_u64(to, rounds);
	buf_putc(to, '\n');
}

/* False if it failed: it called exit() with a value other than 0. */
static bool run_bench(struct live_run *r, const struct unit_probe *p, size_t width)
{
	struct script *s = r->s;
	const struct output before = s->out;
	uint64_t n = 0, took = 0, start;
	struct buf shown;

	capture_begin(s, &shown);
	start = clock_now_ns(CLOCK_MONOTONIC);
	while (!s->ended && s->rc == 0 && n < BENCH_MOST && (took < BENCH_NS || n < BENCH_ROUNDS)) {
		live_run_here(r, p->prog);
		/* Reading the clock takes as long as a short body. */
		if (++n % 64 == 0) {
			live_take_records(r);
			took = clock_now_ns(CLOCK_MONOTONIC) - start;
		}
		/* Its output is not shown. */
		buf_reset(&shown);
	}
	took = clock_now_ns(CLOCK_MONOTONIC) - start;
	capture_end(r, &before);
	buf_free(&shown);
	if (s->status == 0)
		bench_row(s, name_of(p), width, n ? took / n : 0, n);
	else
		buf_printf(&s->errors, "ERROR: Benchmark '%s' failed.\n", name_of(p));
	return s->status == 0;
}

/* ---- tests ---- */

/* It passes unless an assert() fails, or it returns or calls exit() with something other than 0. */
static bool run_test(struct live_run *r, const struct unit_probe *p)
{
	struct script *s = r->s;
	struct buf *to = &s->text;
	const struct output before = s->out;
	const char *name = name_of(p);
	uint64_t start, took;
	struct buf shown;

	capture_begin(s, &shown);
	start = clock_now_ns(CLOCK_MONOTONIC);
	live_run_here(r, p->prog);
	took = clock_now_ns(CLOCK_MONOTONIC) - start;
	capture_end(r, &before);
	if (s->out.json) {
		begin_json(to, "test_result", name);
		buf_printf(to, "\"duration\": %llu, \"passed\": %s, \"output\": ",
			   (unsigned long long)took, s->status ? "false" : "true");
		buf_json_string(to, shown.data, shown.len);
		buf_puts(to, "}}}\n");
	} else {
		buf_printf(to, "[ RUN      ] %s\n", name);
		if (s->status)
			buf_put(to, shown.data, shown.len);
		buf_printf(to, "[%s] %s (%llu ns)\n", s->status ? "  FAILED  " : "       OK ", name,
			   (unsigned long long)took);
	}
	buf_free(&shown);
	return s->status == 0;
}

static void tests_end(struct script *s, unsigned int all, const struct buf *failed,
		      unsigned int nr_failed)
{
	struct buf *to = &s->text;

	if (s->out.json)
		return;
	buf_printf(to, "[==========] %u %s ran.\n", all, plural(all));
	buf_printf(to, "[  PASSED  ] %u %s.\n", all - nr_failed, plural(all - nr_failed));
	if (!nr_failed)
		return;
	buf_printf(to, "[  FAILED  ] %u %s, listed below:\n", nr_failed, plural(nr_failed));
	buf_put(to, failed->data, failed->len);
}

void run_tests(struct live_run *r)
{
	struct script *s = r->s;
	const enum probe_type type = s->opt.mode == SCRIPT_BENCH ? PT_BENCH : PT_TEST;
	unsigned int all = 0, nr_failed = 0;
	size_t width = NAME_WIDTH;
	struct buf failed;

	for (size_t i = 0; i < s->unit.probes.n; i++) {
		const struct unit_probe *p = &s->unit.probes.at[i];

		all += p->target->type == type;
		if (p->target->type == type && strlen(name_of(p)) >= width)
			width = strlen(name_of(p)) + 1;
	}
	buf_init(&failed, s->text.limit);
	if (type == PT_BENCH)
		bench_head(s, width);
	else if (!s->out.json)
		buf_printf(&s->text, "[==========] Running %u %s.\n", all, plural(all));
	for (size_t i = 0; i < s->unit.probes.n && s->rc == 0; i++) {
		const struct unit_probe *p = &s->unit.probes.at[i];

		if (p->target->type != type)
			continue;
		if (!(type == PT_BENCH ? run_bench(r, p, width) : run_test(r, p))) {
			nr_failed++;
			buf_printf(&failed, "[  FAILED  ] %s\n", name_of(p));
		}
		run_flush(s);
	}
	if (type == PT_TEST)
		tests_end(s, all, &failed, nr_failed);
	run_flush(s);
	buf_free(&failed);
	s->status = nr_failed ? 1 : 0;
}
