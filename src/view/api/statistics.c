// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics over a range of time and some rows as JSON: sums, distributions, and the calls as a
 * tree.
 *
 * What reaches over an end of the range counts, with the part that is in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "view/answers/sums.h"
#include "view/api/api.h"

#define MOST_NAMES 1000	 /* of each kind */
#define MOST_BARS  48	 /* before four become one */
#define MOST_SHOWN 30000 /* frames of a tree */
#define SMALLEST   4000	 /* a frame is shown that has this part of all */

/* ---- what is asked for ---- */

/* since, until and rows, each of which may be left out. */
static int read_range(struct view *v, const struct api_request *q, struct sum_range *range,
		      struct api_rows *rows, struct spur_error *err)
{
	static const uint32_t none;
	int rc;

	*range = sum_range_all(v, 0, view_duration(v) + 1, q->stop);
	rc = api_optional(q, "since", &range->since, NULL, err);
	if (rc == 0)
		rc = api_optional(q, "until", &range->until, NULL, err);
	if (rc < 0)
		return rc;
	if (range->until < range->since)
		return error_set(err, -EINVAL, "the range ends before it begins");
	rc = api_rows(v, q, rows, err);
	if (rc == -ENOENT)
		return 0;
	range->rows = rows->at ? rows->at : &none;
	range->nr_rows = rows->n;
	return rc;
}

/* ---- sum ---- */

static void put_row_sum(struct json_writer *w, const struct row_sum *s, bool task)
{
	json_object(w);
	json_put_u64(json_key(w, "row"), s->row);
	json_put_u64(json_key(w, "running"), s->running);
	if (task) {
		json_put_u64(json_key(w, "runnable"),
			     s->state[VIEW_RUNNABLE] + s->state[VIEW_PREEMPTED]);
		json_put_u64(json_key(w, "preempted"), s->state[VIEW_PREEMPTED]);
		json_put_u64(json_key(w, "blocked"), s->state[VIEW_BLOCKED]);
		json_put_u64(json_key(w, "sleeping"), s->state[VIEW_SLEEPING]);
		json_put_u64(json_key(w, "stopped"), s->state[VIEW_STOPPED]);
	}
	json_put_u64(json_key(w, "unknown"), s->state[VIEW_UNKNOWN]);
	json_put_u64(json_key(w, "switches"), s->switches);
	json_end_object(w);
}

static void put_rows(struct json_writer *w, const char *name, const struct row_sums *sums,
		     bool tasks)
{
	json_array(json_key(w, name));
	for (size_t i = 0; i < sums->n; i++)
		put_row_sum(w, &sums->at[i], tasks);
	json_end_array(w);
}

static void put_events(struct json_writer *w, const struct range_sums *s)
{
	json_array(json_key(w, "events"));
	for (uint32_t i = 0; i < s->nr_events; i++) {
		if (!s->events[i])
			continue;
		json_object(w);
		json_put_u64(json_key(w, "id"), i);
		json_put_u64(json_key(w, "count"), s->events[i]);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_named(struct json_writer *w, struct view *v, const struct named_sums *sums,
		      const char *kind)
{
	for (size_t i = 0; i < sums->sums.n && i < MOST_NAMES; i++) {
		const struct named_sum *s = &sums->sums.at[i];
		const char *name = s->name >= 0 ? view_name(v, (uint32_t)s->name) : NULL;

		json_object(w);
		json_put_text(json_key(w, "name"), name ? name : "?");
		if (kind)
			json_put_text(json_key(w, "kind"), kind);
		json_put_u64(json_key(w, "count"), s->count);
		json_put_u64(json_key(w, "total"), s->total);
		json_put_u64(json_key(w, "self"), s->self);
		json_put_u64(json_key(w, "max"), s->max);
		json_end_object(w);
	}
}

static void put_names(struct json_writer *w, struct view *v, const struct range_sums *s)
{
	json_array(json_key(w, "functions"));
	put_named(w, v, &s->names[SUM_FUNCTIONS], NULL);
	json_end_array(w);
	json_array(json_key(w, "syscalls"));
	put_named(w, v, &s->names[SUM_SYSCALLS], NULL);
	json_end_array(w);
	json_array(json_key(w, "irqs"));
	put_named(w, v, &s->names[SUM_IRQS], "irq");
	put_named(w, v, &s->names[SUM_SOFTIRQS], "softirq");
	json_end_array(w);
}

static int answer_sum(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	struct json_writer w = {&a->body};
	struct api_rows rows = {0};
	struct sum_range range;
	struct range_sums sums;
	int rc = read_range(v, q, &range, &rows, err);

	if (rc == 0) {
		rc = range_sums_read(&range, &sums);
		json_object(&w);
		put_rows(&w, "tasks", &sums.tasks, true);
		put_rows(&w, "cpus", &sums.cpus, false);
		put_events(&w, &sums);
		put_names(&w, v, &sums);
		json_end_object(&w);
		range_sums_free(&sums);
	}
	api_rows_free(&rows);
	return rc;
}

/* ---- hist ---- */

static void put_bars(struct json_writer *w, const struct hist *h)
{
	unsigned int first = 0, last = HIST_BUCKETS - 1, step = 1;

	while (first < HIST_BUCKETS && !h->buckets[first])
		first++;
	while (last > first && !h->buckets[last])
		last--;
	if (first < HIST_BUCKETS && last - first >= MOST_BARS) {
		step = HIST_SUB_BUCKETS;
		first -= first % HIST_SUB_BUCKETS;
	}
	json_array(json_key(w, "buckets"));
	for (unsigned int i = first; i < HIST_BUCKETS && i <= last; i += step) {
		uint64_t n = 0;

		for (unsigned int k = i; k < i + step && k < HIST_BUCKETS; k++)
			n += h->buckets[k];
		json_object(w);
		json_put_u64(json_key(w, "low"), hist_bucket_start(i));
		json_put_u64(json_key(w, "high"), hist_bucket_start(i + step));
		json_put_u64(json_key(w, "n"), n);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_hist(struct json_writer *w, struct hist *h)
{
	struct dist *d = &h->dist;

	json_object(w);
	json_put_u64(json_key(w, "count"), d->n);
	if (d->n) {
		json_put_i64(json_key(w, "min"), d->min);
		json_put_i64(json_key(w, "p50"), dist_quantile(d, 0.5));
		json_put_i64(json_key(w, "p90"), dist_quantile(d, 0.9));
		json_put_i64(json_key(w, "p99"), dist_quantile(d, 0.99));
		json_put_i64(json_key(w, "max"), d->max);
		json_put_printf(json_key(w, "avg"), "%.1f", d->mean);
		json_put_printf(json_key(w, "total"), "%.0f", d->sum);
	}
	put_bars(w, h);
	json_end_object(w);
}

static int read_what(const struct api_request *q, bool *latency, struct spur_error *err)
{
	scoped_buf what = buf_new(64);

	*latency = api_text(q, "what", &what) && strcmp(buf_str(&what), "latency") == 0;
	if (!*latency && what.len && strcmp(buf_str(&what), "duration") != 0)
		return error_set(err, -EINVAL, "what=duration or what=latency");
	return 0;
}

/* Finds the row and the track; times become those of the index. */
static int read_hist(struct view *v, const struct api_request *q, struct hist_options *h,
		     struct spur_error *err)
{
	uint64_t row = 0, number = 0;
	bool has_track = false;
	int rc = api_number(q, "row", &row, err);

	if (rc == -ENOENT)
		return error_set(err, -EINVAL, "hist?what=WHAT&row=ROW&track=TRACK");
	if (rc == 0)
		rc = api_optional(q, "track", &number, &has_track, err);
	*h = (struct hist_options){.until = view_duration(v) + 1, .stop = q->stop};
	if (rc == 0)
		rc = api_optional(q, "since", &h->since, NULL, err);
	if (rc == 0)
		rc = api_optional(q, "until", &h->until, NULL, err);
	if (rc == 0)
		rc = api_optional(q, "value", &h->value, &h->has_value, err);
	if (rc == 0)
		rc = read_what(q, &h->latency, err);
	if (rc < 0)
		return rc;
	rc = interval_place(v, row, &h->since, &h->row, err);
	if (rc == 0)
		rc = interval_place(v, row, &h->until, &h->row, err);
	if (rc < 0)
		return rc;
	if (!h->latency && !has_track)
		return error_set(err, -EINVAL, "hist?what=duration&row=ROW&track=TRACK");
	h->track = (uint32_t)number;
	if (!h->latency && number >= h->row.info.nr_tracks)
		return error_set(err, -ENOENT, "the row has no such track");
	return 0;
}

static int answer_hist(struct view *v, const struct api_request *q, struct api_answer *a,
		       struct spur_error *err)
{
	struct json_writer w = {&a->body};
	struct hist_options o;
	struct hist h;
	int rc = read_hist(v, q, &o, err);

	if (rc < 0)
		return rc;
	rc = hist_read(&o, &h);
	if (rc == 0)
		put_hist(&w, &h);
	dist_free(&h.dist);
	return rc;
}

/* ---- flame ---- */

/* A frame, whose list of children is left open. */
static void begin_node(struct json_writer *w, const struct flame_node *n)
{
	json_object(w);
	json_put_text(json_key(w, "name"), flame_name(n));
	json_put_u64(json_key(w, "value"), n->total[0]);
	json_put_u64(json_key(w, "self"), n->self[0]);
	json_array(json_key(w, "children"));
}

static const struct flame_node *first_shown(const struct flame_node *n, uint64_t least)
{
	while (n && (n->total[0] < least || !n->total[0]))
		n = n->sibling;
	return n;
}

/*
 * Depth first, without recursion: a tree may be as deep as a stack. The root's list of children is
 * left open. What is too small to be seen is left out: a frame's value is then more than its own
 * and its children's.
 */
static void put_tree(struct json_writer *w, const struct flame *f)
{
	const struct flame_node *n = f->root, *next;
	const uint64_t least = n->total[0] / SMALLEST;

	begin_node(w, n);
	for (size_t shown = 0; shown < MOST_SHOWN; shown++) {
		next = first_shown(n->child, least);
		/* Up until there is one beside. */
		while (!next && n->parent) {
			json_end_array(w);
			json_end_object(w);
			next = first_shown(n->sibling, least);
			n = n->parent;
		}
		if (!next)
			return;
		n = next;
		begin_node(w, n);
	}
	for (; n->parent; n = n->parent) {
		json_end_array(w);
		json_end_object(w);
	}
}

static int answer_flame(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct flame_choice choice = {.calls = true, .stacks = true};
	struct json_writer w = {&a->body};
	struct api_rows rows = {0};
	struct sum_range range;
	struct flame f;
	scoped_buf from = buf_new(64);
	bool calls;
	int rc = read_range(v, q, &range, &rows, err);

	if (api_text(q, "from", &from)) {
		choice.calls = strcmp(buf_str(&from), "calls") == 0;
		choice.stacks = strcmp(buf_str(&from), "stacks") == 0;
		if (rc == 0 && !choice.calls && !choice.stacks)
			rc = error_set(err, -EINVAL, "from=calls or from=stacks");
	}
	buf_reset(&from);
	choice.by_task = api_text(q, "by", &from) && strcmp(buf_str(&from), "task") == 0;
	if (rc == 0)
		rc = sum_flame(&range, &choice, &f, &calls, err);
	if (rc == 0) {
		put_tree(&w, &f);
		json_end_array(&w);
		json_put_text(json_key(&w, "unit"), calls ? "ns" : "samples");
		json_put_text(json_key(&w, "from"), calls ? "calls" : "stacks");
		json_end_object(&w);
		flame_free(&f);
	}
	api_rows_free(&rows);
	return rc;
}

const struct api_question api_statistics[] = {
	{"sum", false, answer_sum},
	{"hist", false, answer_hist},
	{"flame", false, answer_flame},
	{NULL},
};
