// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distributions: how long the intervals of a track last, and how long tasks wait for a CPU. They
 * hold what begins in the range and was seen whole, in full length.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/dist.h"
#include "base/error.h"
#include "base/vec.h"
#include "view/answers/interval.h"
#include "view/answers/sums.h"

#define SUB_BUCKETS 4 /* of a power of two */
#define NR_BUCKETS  (64 * SUB_BUCKETS)
#define MOST_BARS   48 /* before four become one */
#define MOST_WAITS  65536

struct hist {
	struct interval_row row;
	uint64_t since, until;
	uint64_t value;
	bool has_value; /* only intervals of this value */
	bool latency;
	bool by_cpu; /* latencies of those who ran there */
	const volatile int *stop;
	struct dist dist;
	uint64_t buckets[NR_BUCKETS];
};

static unsigned int bucket_of(uint64_t v)
{
	const unsigned int power = 63 - (unsigned int)__builtin_clzll(v | 1);

	if (v < SUB_BUCKETS)
		return (unsigned int)v;
	return power * SUB_BUCKETS + (unsigned int)(v >> (power - 2) & 3) - SUB_BUCKETS;
}

static uint64_t bucket_start(unsigned int bucket)
{
	const unsigned int power = bucket / SUB_BUCKETS + 1, part = bucket % SUB_BUCKETS;

	if (bucket < SUB_BUCKETS)
		return bucket;
	return (uint64_t)(SUB_BUCKETS + part) << (power - 2);
}

static void count(struct hist *h, uint64_t ns)
{
	dist_add(&h->dist, ns < INT64_MAX ? (int64_t)ns : INT64_MAX);
	h->buckets[bucket_of(ns)]++;
}

static bool take(void *arg, const struct view_interval *i)
{
	struct hist *h = arg;

	if (i->start >= h->since && i->start < h->until && !i->flags &&
	    (!h->has_value || i->value == h->value))
		count(h, i->dur);
	return !*h->stop;
}

/*
 * Latencies: how long tasks that were woken waited for the run that begins in the range. One who
 * waits right behind a run was not woken: it gave way. Waits and runs of a task are read side by
 * side, in parts of at most MOST_WAITS.
 */
struct waits {
	struct hist *hist;
	uint64_t from, to; /* the part: of ends of waits, of starts of runs */
	struct {
		struct wait {
			uint64_t end, dur;
		} * at;
		size_t n, cap;
	} found;
	size_t next;
	uint64_t last_run; /* when the run before ended, … */
	bool ran;	   /* … if there was one */
	int64_t cpu;	   /* -1: any */
	bool failed;
};

static bool take_wait(void *arg, const struct view_interval *i)
{
	struct waits *w = arg;
	const uint64_t end = i->start + i->dur;
	struct wait *slot;

	if (end >= w->to)
		return false;
	if (end < w->from || STATE_OF(i->value) != VIEW_RUNNABLE || i->flags)
		return true;
	if (w->found.n >= MOST_WAITS && end > w->from) {
		w->to = end;
		return false;
	}
	slot = vec_push(&w->found);
	if (!slot) {
		w->failed = true;
		return false;
	}
	*slot = (struct wait){.end = end, .dur = i->dur};
	return !*w->hist->stop;
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
		count(w->hist, wait->dur);
	w->ran = true;
	w->last_run = run->start + run->dur;
	return !*w->hist->stop;
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

static int add_latencies(struct hist *h, const struct interval_row *task, int64_t cpu)
{
	struct waits w = {.hist = h, .cpu = cpu};
	int rc = 0;

	if (task->running < 0 || task->state < 0)
		return 0;
	for (w.from = h->since; rc == 0 && w.from < h->until && !*h->stop; w.from = w.to) {
		w.to = h->until;
		rc = add_part(&w, task);
	}
	vec_free(&w.found);
	return rc;
}

/* Of a task, or of all that ran on a CPU. */
static int add_all_latencies(struct hist *h)
{
	const uint32_t rows = view_index_rows(h->row.index);
	struct interval_row task;
	int rc = 0;

	if (!h->by_cpu)
		return add_latencies(h, &h->row, -1);
	for (uint32_t i = 0; rc == 0 && i < rows && !*h->stop; i++)
		if (interval_row(h->row.view, h->row.file, i, &task) &&
		    task.info.kind == VIEW_TASK_ROW && task.info.buffer == h->row.info.buffer)
			rc = add_latencies(h, &task, h->row.info.number);
	return rc;
}

static void put_bars(const struct hist *h, struct buf *b)
{
	unsigned int first = 0, last = NR_BUCKETS - 1, step = 1;
	const char *comma = "";

	while (first < NR_BUCKETS && !h->buckets[first])
		first++;
	while (last > first && !h->buckets[last])
		last--;
	buf_puts(b, ",\"buckets\":[");
	if (first < NR_BUCKETS && last - first >= MOST_BARS) {
		step = SUB_BUCKETS;
		first -= first % SUB_BUCKETS;
	}
	for (unsigned int i = first; i < NR_BUCKETS && i <= last; i += step, comma = ",") {
		uint64_t n = 0;

		for (unsigned int k = i; k < i + step && k < NR_BUCKETS; k++)
			n += h->buckets[k];
		buf_printf(b, "%s{\"low\":%llu,\"high\":%llu,\"n\":%llu}", comma,
			   (unsigned long long)bucket_start(i),
			   (unsigned long long)bucket_start(i + step), (unsigned long long)n);
	}
	buf_putc(b, ']');
}

static void put_hist(struct hist *h, struct buf *b)
{
	struct dist *d = &h->dist;

	buf_printf(b, "{\"count\":%llu", (unsigned long long)d->n);
	if (d->n)
		buf_printf(b,
			   ",\"min\":%lld,\"p50\":%lld,\"p90\":%lld,\"p99\":%lld,\"max\":%lld,"
			   "\"avg\":%.1f,\"total\":%.0f",
			   (long long)d->min, (long long)dist_quantile(d, 0.5),
			   (long long)dist_quantile(d, 0.9), (long long)dist_quantile(d, 0.99),
			   (long long)d->max, d->mean, d->sum);
	put_bars(h, b);
	buf_putc(b, '}');
}

/* A number that may be left out; whether it is there. */
static int optional(const struct api_request *q, const char *name, uint64_t *out, bool *there,
		    struct spur_error *err)
{
	int rc = api_number(q, name, out, err);

	*there = rc == 0;
	return rc == -ENOENT ? 0 : rc;
}

static int read_what(const struct api_request *q, bool *latency, struct spur_error *err)
{
	struct buf what;
	int rc = 0;

	buf_init(&what, 64);
	if (api_text(q, "what", &what) && strcmp(buf_str(&what), "latency") == 0)
		*latency = true;
	else if (what.len && strcmp(buf_str(&what), "duration") != 0)
		rc = error_set(err, -EINVAL, "what=duration or what=latency");
	buf_free(&what);
	return rc;
}

/* Finds the row and the track; times become those of the index. */
static int read_hist(struct view *v, const struct api_request *q, struct hist *h, uint32_t *track,
		     struct spur_error *err)
{
	uint64_t row = 0, number = 0;
	struct view_place place;
	struct view_row info;
	bool there, has_track = false;
	int rc = api_number(q, "row", &row, err);

	if (rc == -ENOENT)
		return error_set(err, -EINVAL, "hist?what=WHAT&row=ROW&track=TRACK");
	if (rc == 0)
		rc = optional(q, "track", &number, &has_track, err);
	h->until = view_duration(v) + 1;
	if (rc == 0)
		rc = optional(q, "since", &h->since, &there, err);
	if (rc == 0)
		rc = optional(q, "until", &h->until, &there, err);
	if (rc == 0)
		rc = optional(q, "value", &h->value, &h->has_value, err);
	if (rc == 0)
		rc = read_what(q, &h->latency, err);
	if (rc < 0)
		return rc;
	if (row > UINT32_MAX || !view_row(v, (uint32_t)row, &place, &info) ||
	    !interval_row(v, place.file_number, place.row, &h->row))
		return error_set(err, -ENOENT, "there is no row %llu", (unsigned long long)row);
	h->since = h->since > place.shift ? h->since - place.shift : 0;
	h->until = h->until > place.shift ? h->until - place.shift : 0;
	h->by_cpu = info.kind == VIEW_CPU_ROW;
	if (!h->latency && !has_track)
		return error_set(err, -EINVAL, "hist?what=duration&row=ROW&track=TRACK");
	*track = (uint32_t)number;
	if (!h->latency && number >= info.nr_tracks)
		return error_set(err, -ENOENT, "the row has no such track");
	return 0;
}

/* Values of the view's numbers in the index: names and rows of another file are none. */
static bool value_of(struct view *v, struct hist *h, uint32_t track)
{
	const enum view_track_kind kind = h->row.info.tracks[track].kind;
	struct view_place place;
	struct view_row info;

	if (!h->has_value)
		return true;
	if (kind == VIEW_RUNNING && h->by_cpu) {
		if (h->value > UINT32_MAX || !view_row(v, (uint32_t)h->value, &place, &info))
			return false;
		h->value = place.row;
		return place.file_number == h->row.file;
	}
	if (kind != VIEW_IRQ && kind != VIEW_SOFTIRQ && kind != VIEW_SYSCALL && kind != VIEW_CALL)
		return true;
	for (uint32_t i = 0; i < view_index_names(h->row.index); i++)
		if (view_name_number(v, h->row.file, i) == (int64_t)h->value) {
			h->value = i;
			return true;
		}
	return false;
}

int hist_answer(struct view *v, const struct api_request *q, struct api_answer *a,
		struct spur_error *err)
{
	struct hist *h = calloc(1, sizeof(*h));
	uint32_t track = 0;
	int rc = h ? read_hist(v, q, h, &track, err) : -ENOMEM;

	if (rc == 0) {
		h->stop = q->stop;
		if (h->latency)
			rc = add_all_latencies(h);
		else if (value_of(v, h, track))
			rc = view_index_each(h->row.index, h->row.row, track, h->since, h->until,
					     take, h);
		if (rc == 0 && !h->dist.failed)
			put_hist(h, &a->body);
		else if (rc == 0)
			rc = -ENOMEM;
	}
	if (h)
		dist_free(&h->dist);
	free(h);
	return rc == 0 && *q->stop ? -EINTR : rc;
}
