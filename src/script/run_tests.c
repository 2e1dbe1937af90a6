// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes of the types test and bench, which nothing but --test and --bench runs. */
#include <time.h>

#include "script/run_live.h"

#define BENCH_NS     100000000 /* each is run again and again for about as long … */
#define BENCH_ROUNDS 1000      /* … at least so often */
#define BENCH_MOST   100000000

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* It has passed unless an assert() failed or it called exit() with something else than 0. */
static bool run_test(struct live_run *r, const struct unit_probe *p)
{
	struct script *s = r->s;
	bool passed;

	s->status = 0;
	live_run_here(r, p->prog);
	passed = s->status == 0;
	s->ended = false;
	return passed;
}

static void run_bench(struct live_run *r, const struct unit_probe *p)
{
	struct script *s = r->s;
	const uint64_t start = now();
	uint64_t n = 0, took = 0;

	while (!s->ended && s->rc == 0 && n < BENCH_MOST && (took < BENCH_NS || n < BENCH_ROUNDS)) {
		live_run_here(r, p->prog);
		/* Asking for the time takes as long as a short body. */
		if (++n % 64 == 0)
			took = now() - start;
	}
	took = now() - start;
	buf_printf(&s->text, "%-24s %12.1f ns  %llu rounds\n", p->target->name,
		   n ? (double)took / (double)n : 0.0, (unsigned long long)n);
	s->ended = false;
}

void run_tests(struct live_run *r)
{
	struct script *s = r->s;
	const enum probe_type type = s->opt.mode == SCRIPT_BENCH ? PT_BENCH : PT_TEST;
	unsigned int failed = 0;

	for (size_t i = 0; i < s->unit.probes.n && s->rc == 0; i++) {
		const struct unit_probe *p = &s->unit.probes.at[i];

		if (p->target->type != type)
			continue;
		if (type == PT_BENCH) {
			run_bench(r, p);
		} else {
			const bool passed = run_test(r, p);

			failed += !passed;
			buf_printf(&s->text, "%s: %s\n", p->target->name, passed ? "ok" : "FAILED");
		}
		run_flush(s);
	}
	s->status = failed ? 1 : 0;
}
