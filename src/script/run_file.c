// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A script over a recording: the executor runs the programs of tracepoints on each record, in the
 * order of time; the trace's clock drives intervals.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/umap.h"
#include "script/run_file.h"

#define LOOK_EVERY 16384 /* records between two looks at the user */
/*
 * How often an interval may run between two records. More are the work of a clock that jumped,
 * by which a damaged file could keep us for years.
 */
#define MAX_ROUNDS 10000000

/* ---- getting ready ---- */

static bool add_prog(struct on_event *e, uint32_t prog)
{
	uint32_t *more = realloc(e->progs, (e->n + 1) * sizeof(*more));

	if (!more)
		return false;
	e->progs = more;
	e->progs[e->n++] = prog;
	return true;
}

static int add_event(struct file_run *r, const struct unit_probe *p, struct spur_error *err)
{
	struct event *e = events_find(r->trace->events, p->target->system, p->target->event);

	if (!e || e->id < 0)
		return error_set(err, -ENOENT, "the recording has no %s", p->target->name);
	if ((size_t)e->id >= r->nr_ids) {
		size_t n = (size_t)e->id + 64;
		struct on_event *more = realloc(r->events, n * sizeof(*more));

		if (!more)
			return error_set(err, -ENOMEM, "out of memory");
		memset(more + r->nr_ids, 0, (n - r->nr_ids) * sizeof(*more));
		r->events = more;
		r->nr_ids = n;
	}
	return add_prog(&r->events[e->id], p->prog) ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int add_interval(struct file_run *r, const struct unit_probe *p, struct spur_error *err)
{
	struct interval *more = realloc(r->intervals, (r->nr_intervals + 1) * sizeof(*more));

	if (!more)
		return error_set(err, -ENOMEM, "out of memory");
	r->intervals = more;
	r->intervals[r->nr_intervals++] = (struct interval){p->prog, p->target->period_ns, 0};
	return 0;
}

static int prepare(struct file_run *r, struct spur_error *err)
{
	struct script *s = r->s;
	int rc = 0;

	for (size_t i = 0; i < s->unit.probes.n && rc == 0; i++) {
		const struct unit_probe *p = &s->unit.probes.at[i];

		if (p->target->type == PT_INTERVAL)
			rc = add_interval(r, p, err);
		else if (p->target->system)
			rc = add_event(r, p, err);
	}
	return rc;
}

static void free_run(struct file_run *r)
{
	for (size_t i = 0; i < r->nr_ids; i++)
		free(r->events[i].progs);
	free(r->events);
	free(r->intervals);
	stacks_free(r->stacks);
	run_groups_free(r->groups);
	merge_free(&r->merge);
}

/* ---- running ---- */

/* Every so often: tells how far it is, and sees whether the user wants the end. */
static void look_up(struct file_run *r)
{
	const struct script_options *o = &r->s->opt;
	struct pollfd stop = {o->stop_fd, POLLIN, 0};
	uint64_t done = 0, total = 0;

	if (++r->steps % LOOK_EVERY)
		return;
	for (uint32_t i = 0; o->progress && i < r->merge.nr; i++) {
		const struct lane *l = &r->merge.lanes[i];

		done += l->ended ? l->nr_pages : l->page_index;
		total += l->nr_pages;
	}
	if (o->progress)
		o->progress(o->arg, done, total);
	r->stopped = poll(&stop, 1, 0) > 0;
}

static bool goes_on(const struct file_run *r)
{
	return !r->s->ended && !r->stopped;
}

/* The moment that programs are told of. */
static void set_now(struct file_run *r, uint64_t ns)
{
	r->s->now.ns = ns;
	r->s->out.wall_ns = ns ? (int64_t)ns : 1;
}

/* ---- intervals ---- */

static void set_next_interval(struct file_run *r)
{
	r->next_interval = UINT64_MAX;
	for (size_t i = 0; i < r->nr_intervals; i++)
		if (r->intervals[i].next < r->next_interval)
			r->next_interval = r->intervals[i].next;
}

/* When it is due again; never, if that is beyond the end of time. */
static void postpone(struct interval *iv, uint64_t rounds)
{
	uint64_t by;

	if (__builtin_mul_overflow(iv->period, rounds, &by) ||
	    __builtin_add_overflow(iv->next, by, &iv->next))
		iv->next = UINT64_MAX;
}

/* Leaves out what is too much up to a time. */
static void skip_rounds(struct file_run *r, uint64_t until)
{
	for (size_t i = 0; i < r->nr_intervals; i++) {
		struct interval *iv = &r->intervals[i];
		const uint64_t rounds =
			iv->next <= until && iv->period ? (until - iv->next) / iv->period : 0;

		if (rounds < MAX_ROUNDS)
			continue;
		postpone(iv, rounds - MAX_ROUNDS);
		r->skipped += rounds - MAX_ROUNDS;
	}
	set_next_interval(r);
}

/* Runs those that are due up to a time, in order. */
static void run_intervals(struct file_run *r, uint64_t until)
{
	skip_rounds(r, until);
	while (r->next_interval <= until && r->next_interval != UINT64_MAX && goes_on(r)) {
		for (size_t i = 0; i < r->nr_intervals && !r->s->ended; i++) {
			struct interval *iv = &r->intervals[i];

			if (iv->next != r->next_interval)
				continue;
			set_now(r, iv->next);
			run_program(r->s, iv->prog, NULL, 0);
			postpone(iv, 1);
		}
		set_next_interval(r);
		look_up(r);
	}
}

/* ---- from record to record ---- */

static void start_clock(struct file_run *r, uint64_t first)
{
	struct script *s = r->s;

	set_now(r, first);
	/* What elapsed counts from. */
	if (s->unit.start >= 0)
		s->maps[s->unit.start]->ops->update(s->maps[s->unit.start], &(uint32_t){0}, &first,
						    0);
	for (size_t i = 0; i < r->nr_intervals; i++) {
		r->intervals[i].next = first;
		postpone(&r->intervals[i], 1);
	}
	set_next_interval(r);
}

static void run_record_of(struct file_run *r, const struct spur_record *rec,
			  const struct on_event *e)
{
	struct script *s = r->s;

	set_now(r, rec->ts);
	s->now.cpu = rec->cpu;
	s->now.tid = (uint32_t)events_record_pid(r->trace->events, rec);
	r->in_record = true;
	for (uint32_t i = 0; i < e->n && !s->ended; i++)
		run_program(s, e->progs[i], rec->data, rec->size);
	r->in_record = false;
}

static void walk(struct file_run *r, const struct spur_record *rec)
{
	for (; rec && goes_on(r); rec = merge_next(&r->merge)) {
		const struct event *e = events_of_record(r->trace->events, rec);

		look_up(r);
		if (rec->ts >= r->next_interval)
			run_intervals(r, rec->ts);
		run_groups_follow(r, e, rec);
		if (e && (size_t)e->id < r->nr_ids && r->events[e->id].n && goes_on(r))
			run_record_of(r, rec, &r->events[e->id]);
	}
}

static void tell_skipped(const struct file_run *r)
{
	char text[200];

	if (!r->skipped || !r->s->opt.note)
		return;
	snprintf(text, sizeof(text),
		 "%llu rounds of intervals were left out: the recording's clock jumps",
		 (unsigned long long)r->skipped);
	r->s->opt.note(r->s->opt.arg, text);
}

static int open_lanes(struct file_run *r, struct spur_error *err)
{
	int rc = 0;

	merge_init(&r->merge);
	for (uint32_t i = 0; i < r->trace->nr_buffers && rc == 0; i++)
		rc = merge_add_buffer(&r->merge, &r->trace->buffers[i]);
	if (rc < 0)
		return error_sys(err, rc, "the recording");
	merge_start(&r->merge);
	return 0;
}

static void run_all(struct file_run *r)
{
	struct script *s = r->s;
	const struct spur_record *first = merge_next(&r->merge);

	/* Time begins with the first record, also for what runs before it. */
	start_clock(r, first ? first->ts : 0);
	run_probes(s, PT_BEGIN);
	walk(r, first);
	s->ended = false;
	s->at_end = true;
	run_probes(s, PT_END);
	run_print_maps(s);
	run_flush(s);
	run_losses(s);
	tell_skipped(r);
}

int run_file(struct script *s, struct spur_error *err)
{
	struct file_run r = {.s = s, .trace = s->opt.trace, .next_interval = UINT64_MAX};
	int rc;

	s->file = &r;
	s->maps = umaps_new(&s->unit);
	if (!s->maps)
		return error_set(err, -ENOMEM, "out of memory");
	rc = run_begin(s, &run_user_ops, err);
	if (rc == 0)
		rc = prepare(&r, err);
	if (rc == 0)
		rc = open_lanes(&r, err);
	if (rc == 0) {
		if (s->opt.attached)
			s->opt.attached(s->opt.arg, s->unit.probes.n);
		run_all(&r);
		rc = s->rc < 0 ? error_set(err, s->rc, "%s", s->err.text) : 0;
	}
	run_end(s);
	free_run(&r);
	umaps_free(s->maps, s->unit.maps.n);
	s->maps = NULL;
	s->file = NULL;
	return rc;
}
