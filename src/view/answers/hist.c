// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distributions: how long the intervals of a track last, and how long tasks wait for a CPU. They
 * contain the full length of what begins in the range and is complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "view/answers/interval.h"
#include "view/answers/sums.h"

#define MOST_WAITS 65536

/* A distribution while it is made. */
struct filling {
	struct hist_options o;
	struct hist *hist;
	bool by_cpu; /* latencies of the tasks that ran there */
};

static unsigned int bucket_of(uint64_t v)
{
	const unsigned int power = 63 - (unsigned int)__builtin_clzll(v | 1);

	if (v < HIST_SUB_BUCKETS)
		return (unsigned int)v;
	return power * HIST_SUB_BUCKETS + (unsigned int)(v >> (power - 2) & 3) - HIST_SUB_BUCKETS;
}

uint64_t hist_bucket_start(unsigned int bucket)
{
	const unsigned int power = bucket / HIST_SUB_BUCKETS + 1, part = bucket % HIST_SUB_BUCKETS;

	if (bucket < HIST_SUB_BUCKETS)
		return bucket;
	return (uint64_t)(HIST_SUB_BUCKETS + part) << (power - 2);
}

static void count(struct hist *h, uint64_t ns)
{
	dist_add(&h->dist, ns < INT64_MAX ? (int64_t)ns : INT64_MAX);
	h->buckets[bucket_of(ns)]++;
}

static bool take(void *arg, const struct view_interval *i)
{
	struct filling *f = arg;

	if (i->start >= f->o.since && i->start < f->o.until && !i->flags &&
	    (!f->o.has_value || i->value == f->o.value))
		count(f->hist, i->dur);
	return !*f->o.stop;
}

/*
 * Latencies: how long tasks that were woken waited for the run that begins in the range. A task
 * that waits right after a run was not woken: it gave way. Waits and runs of a task are read side
 * by side, in parts of at most MOST_WAITS.
 */
struct waits {
	struct filling *filling;
	uint64_t from, to; /* the part: of ends of waits, of starts of runs */
	struct {
		struct wait {
			uint64_t end, dur;
		} * at;
		size_t n, cap;
	} found;
	size_t next;
	uint64_t last_run; /* when the previous run ended, … */
	bool ran;	   /* … if there was one */
	int64_t cpu;	   /* -1: any */
	bool failed;
};

static bool take_wait(void *arg, const struct view_interval *i)
{
	struct waits *w = arg;
	const uint64_t end = i->start + i->dur;

	if (end >= w->to)
		return false;
	if (end < w->from || view_state_of(i->value) != VIEW_RUNNABLE || i->flags)
		return true;
	if (w->found.n >= MOST_WAITS && end > w->from) {
		w->to = end;
		return false;
	}
	w->failed = !vec_add(&w->found, &(struct wait){.end = end, .dur = i->dur});
	return !w->failed && !*w->filling->o.stop;
}

static bool take_run(void *arg, const struct view_interval *run)
{
	struct waits *w = arg;
	const struct wait *wait;

	while (w->next < w->found.n && w->found.at[w->next].end < run->start)
		w->next++;
	if (w->next == w->found.n)
		return false;
	wait = &w->found.at[w->next];
	if (wait->end == run->start && !(run->flags & VIEW_OPEN_START) &&
	    (w->cpu < 0 || run->value == w->cpu) &&
	    !(w->ran && w->last_run == wait->end - wait->dur))
		count(w->filling->hist, wait->dur);
	w->ran = true;
	w->last_run = run->start + run->dur;
	return !*w->filling->o.stop;
}

/* The part from w->from on. */
static int add_part(struct waits *w, const struct interval_row *task)
{
	struct view_interval before;
	int rc;

	w->found.n = w->next = 0;
	rc = view_index_each(task->index, task->row, (uint32_t)task->state,
			     w->from ? w->from - 1 : 0, w->to, take_wait, w);
	if (rc < 0 || w->failed || !w->found.n)
		return w->failed ? -ENOMEM : rc;
	w->ran = interval_before(task, task->running, w->found.at[0].end - w->found.at[0].dur,
				 &before);
	w->last_run = w->ran ? before.start + before.dur : 0;
	return view_index_each(task->index, task->row, (uint32_t)task->running, w->from, w->to,
			       take_run, w);
}

static int add_latencies(struct filling *f, const struct interval_row *task, int64_t cpu)
{
	struct waits w = {.filling = f, .cpu = cpu};
	int rc = 0;

	if (task->running < 0 || task->state < 0)
		return 0;
	for (w.from = f->o.since; rc == 0 && w.from < f->o.until && !*f->o.stop; w.from = w.to) {
		w.to = f->o.until;
		rc = add_part(&w, task);
	}
	vec_free(&w.found);
	return rc;
}

/* Latencies of a task, or of all that ran on a CPU. */
static int add_all_latencies(struct filling *f)
{
	const uint32_t rows = view_index_rows(f->o.row.index);
	struct interval_row task;
	int rc = 0;

	if (!f->by_cpu)
		return add_latencies(f, &f->o.row, -1);
	for (uint32_t i = 0; rc == 0 && i < rows && !*f->o.stop; i++)
		if (interval_row(f->o.row.view, f->o.row.file, i, &task) &&
		    task.info.kind == VIEW_TASK_ROW && task.info.buffer == f->o.row.info.buffer)
			rc = add_latencies(f, &task, f->o.row.info.number);
	return rc;
}

/* Converts a value to the numbers of the index; false for names and rows of another file. */
static bool index_value(struct filling *f)
{
	const struct interval_row *row = &f->o.row;
	const enum view_track_kind kind = row->info.tracks[f->o.track].kind;
	struct view_place place;
	struct view_row info;

	if (!f->o.has_value)
		return true;
	if (kind == VIEW_RUNNING && f->by_cpu) {
		if (f->o.value > UINT32_MAX ||
		    !view_row(row->view, (uint32_t)f->o.value, &place, &info))
			return false;
		f->o.value = place.row;
		return place.file_number == row->file;
	}
	if (kind != VIEW_IRQ && kind != VIEW_SOFTIRQ && kind != VIEW_SYSCALL && kind != VIEW_CALL)
		return true;
	for (uint32_t i = 0; i < view_index_names(row->index); i++)
		if (view_name_number(row->view, row->file, i) == (int64_t)f->o.value) {
			f->o.value = i;
			return true;
		}
	return false;
}

int hist_read(const struct hist_options *o, struct hist *out)
{
	struct filling f = {.o = *o, .hist = out, .by_cpu = o->row.info.kind == VIEW_CPU_ROW};
	int rc = 0;

	*out = (struct hist){0};
	if (o->latency)
		rc = add_all_latencies(&f);
	else if (index_value(&f))
		rc = view_index_each(o->row.index, o->row.row, o->track, o->since, o->until, take,
				     &f);
	if (rc == 0 && out->dist.failed)
		rc = -ENOMEM;
	return rc == 0 && *o->stop ? -EINTR : rc;
}
