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
#include "base/json.h"
#include "view/answers/sums.h"
#include "view/api/api.h"

#define ROWS_TEXT  (1u << 20)
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
	struct buf text;
	int rc;

	*range = sum_range_all(v, 0, view_duration(v) + 1, q->stop);
	rc = api_number(q, "since", &range->since, err);
	if (rc == 0 || rc == -ENOENT)
		rc = api_number(q, "until", &range->until, err);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	if (range->until < range->since)
		return error_set(err, -EINVAL, "the range ends before it begins");
	buf_init(&text, ROWS_TEXT);
	rc = 0;
	if (api_text(q, "rows", &text)) {
		rc = api_row_list(v, buf_str(&text), rows, err);
		range->rows = rows->at ? rows->at : &none;
		range->nr_rows = rows->n;
	}
	buf_free(&text);
	return rc;
}

/* ---- sum ---- */

static void put_row_sum(struct buf *b, uint32_t row, const struct row_sum *s, bool task)
{
	buf_printf(b, "{\"row\":%u,\"running\":%llu", row, (unsigned long long)s->running);
	if (task)
		buf_printf(b,
			   ",\"runnable\":%llu,\"preempted\":%llu,\"blocked\":%llu,"
			   "\"sleeping\":%llu,\"stopped\":%llu,\"unknown\":%llu",
			   (unsigned long long)(s->state[VIEW_RUNNABLE] + s->state[VIEW_PREEMPTED]),
			   (unsigned long long)s->state[VIEW_PREEMPTED],
			   (unsigned long long)s->state[VIEW_BLOCKED],
			   (unsigned long long)s->state[VIEW_SLEEPING],
			   (unsigned long long)s->state[VIEW_STOPPED],
			   (unsigned long long)s->state[VIEW_UNKNOWN]);
	else
		buf_printf(b, ",\"unknown\":%llu", (unsigned long long)s->state[VIEW_UNKNOWN]);
	buf_printf(b, ",\"switches\":%llu}", (unsigned long long)s->switches);
}

static void put_rows(const char *name, const struct row_sums *sums, bool tasks, struct buf *b)
{
	buf_printf(b, "\"%s\":[", name);
	for (size_t i = 0; i < sums->n; i++) {
		buf_puts(b, i ? "," : "");
		put_row_sum(b, sums->at[i].row, &sums->at[i].sum, tasks);
	}
	buf_putc(b, ']');
}

static void put_events(const struct range_sums *s, struct buf *b)
{
	const char *comma = "";

	buf_puts(b, ",\"events\":[");
	for (uint32_t i = 0; i < s->nr_events; i++) {
		if (!s->events[i])
			continue;
		buf_printf(b, "%s{\"id\":%u,\"count\":%llu}", comma, i,
			   (unsigned long long)s->events[i]);
		comma = ",";
	}
	buf_putc(b, ']');
}

static void put_named(struct view *v, const struct named_sums *sums, const char *kind,
		      const char **comma, struct buf *b)
{
	for (size_t i = 0; i < sums->sums.n && i < MOST_NAMES; i++) {
		const struct named_sum *s = &sums->sums.at[i];
		const char *name = s->name >= 0 ? view_name(v, (uint32_t)s->name) : NULL;

		buf_printf(b, "%s{\"name\":", *comma);
		buf_json_string(b, name ? name : "?", name ? strlen(name) : 1);
		if (kind)
			buf_printf(b, ",\"kind\":\"%s\"", kind);
		buf_printf(b, ",\"count\":%llu,\"total\":%llu,\"self\":%llu,\"max\":%llu}",
			   (unsigned long long)s->count, (unsigned long long)s->total,
			   (unsigned long long)s->self, (unsigned long long)s->max);
		*comma = ",";
	}
}

static void put_names(struct view *v, const struct range_sums *s, struct buf *b)
{
	static const struct {
		const char *list; /* NULL: the one before */
		const char *word;
	} names[NR_SUM_NAMES] = {
		[SUM_FUNCTIONS] = {"functions", NULL},
		[SUM_SYSCALLS] = {"syscalls", NULL},
		[SUM_IRQS] = {"irqs", "irq"},
		[SUM_SOFTIRQS] = {NULL, "softirq"},
	};
	const char *comma = "";

	for (size_t i = 0; i < NR_SUM_NAMES; i++) {
		if (names[i].list) {
			buf_printf(b, "%s,\"%s\":[", i ? "]" : "", names[i].list);
			comma = "";
		}
		put_named(v, &s->names[i], names[i].word, &comma, b);
	}
	buf_putc(b, ']');
}

static int answer_sum(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	struct api_rows rows = {0};
	struct sum_range range;
	struct range_sums sums;
	int rc = read_range(v, q, &range, &rows, err);

	if (rc == 0) {
		rc = range_sums_read(&range, &sums);
		buf_putc(&a->body, '{');
		put_rows("tasks", &sums.tasks, true, &a->body);
		buf_putc(&a->body, ',');
		put_rows("cpus", &sums.cpus, false, &a->body);
		put_events(&sums, &a->body);
		put_names(v, &sums, &a->body);
		buf_putc(&a->body, '}');
		range_sums_free(&sums);
	}
	api_rows_free(&rows);
	return rc;
}

/* ---- hist ---- */

static void put_bars(const struct hist *h, struct buf *b)
{
	unsigned int first = 0, last = HIST_BUCKETS - 1, step = 1;
	const char *comma = "";

	while (first < HIST_BUCKETS && !h->buckets[first])
		first++;
	while (last > first && !h->buckets[last])
		last--;
	buf_puts(b, ",\"buckets\":[");
	if (first < HIST_BUCKETS && last - first >= MOST_BARS) {
		step = HIST_SUB_BUCKETS;
		first -= first % HIST_SUB_BUCKETS;
	}
	for (unsigned int i = first; i < HIST_BUCKETS && i <= last; i += step, comma = ",") {
		uint64_t n = 0;

		for (unsigned int k = i; k < i + step && k < HIST_BUCKETS; k++)
			n += h->buckets[k];
		buf_printf(b, "%s{\"low\":%llu,\"high\":%llu,\"n\":%llu}", comma,
			   (unsigned long long)hist_bucket_start(i),
			   (unsigned long long)hist_bucket_start(i + step), (unsigned long long)n);
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
static int read_optional(const struct api_request *q, const char *name, uint64_t *out, bool *there,
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
static int read_hist(struct view *v, const struct api_request *q, struct hist_options *h,
		     struct spur_error *err)
{
	uint64_t row = 0, number = 0;
	bool there, has_track = false;
	int rc = api_number(q, "row", &row, err);

	if (rc == -ENOENT)
		return error_set(err, -EINVAL, "hist?what=WHAT&row=ROW&track=TRACK");
	if (rc == 0)
		rc = read_optional(q, "track", &number, &has_track, err);
	*h = (struct hist_options){.until = view_duration(v) + 1, .stop = q->stop};
	if (rc == 0)
		rc = read_optional(q, "since", &h->since, &there, err);
	if (rc == 0)
		rc = read_optional(q, "until", &h->until, &there, err);
	if (rc == 0)
		rc = read_optional(q, "value", &h->value, &h->has_value, err);
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
	struct hist_options o;
	struct hist h;
	int rc = read_hist(v, q, &o, err);

	if (rc < 0)
		return rc;
	rc = hist_read(&o, &h);
	if (rc == 0)
		put_hist(&h, &a->body);
	hist_free(&h);
	return rc;
}

/* ---- flame ---- */

static void put_node(const struct flame_node *n, struct buf *b)
{
	const char *name = flame_name(n);

	buf_puts(b, "{\"name\":");
	buf_json_string(b, name, strlen(name));
	buf_printf(b, ",\"value\":%llu,\"self\":%llu", (unsigned long long)n->total[0],
		   (unsigned long long)n->self[0]);
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
static void put_tree(const struct flame *f, struct buf *b)
{
	const struct flame_node *n = f->root;
	const uint64_t least = n->total[0] / SMALLEST;
	size_t shown = 0;

	put_node(n, b);
	while (n) {
		const struct flame_node *child =
			shown < MOST_SHOWN ? first_shown(n->child, least) : NULL;

		buf_puts(b, ",\"children\":[");
		if (child) {
			n = child;
			put_node(n, b);
			shown++;
			continue;
		}
		if (!n->parent)
			return;
		buf_puts(b, "]}");
		/* Up until there is one beside. */
		while (n) {
			const struct flame_node *next = n->parent && shown < MOST_SHOWN
								? first_shown(n->sibling, least)
								: NULL;

			if (next) {
				n = next;
				buf_putc(b, ',');
				put_node(n, b);
				shown++;
				break;
			}
			n = n->parent;
			if (n && n->parent)
				buf_puts(b, "]}");
			else if (n)
				return;
		}
	}
}

static int answer_flame(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct flame_choice choice = {.calls = true, .stacks = true};
	struct api_rows rows = {0};
	struct sum_range range;
	struct flame f;
	struct buf from;
	bool calls;
	int rc = read_range(v, q, &range, &rows, err);

	buf_init(&from, 64);
	if (api_text(q, "from", &from)) {
		choice.calls = strcmp(buf_str(&from), "calls") == 0;
		choice.stacks = strcmp(buf_str(&from), "stacks") == 0;
		if (rc == 0 && !choice.calls && !choice.stacks)
			rc = error_set(err, -EINVAL, "from=calls or from=stacks");
	}
	buf_reset(&from);
	choice.by_task = api_text(q, "by", &from) && strcmp(buf_str(&from), "task") == 0;
	buf_free(&from);
	if (rc == 0)
		rc = sum_flame(&range, &choice, &f, &calls, err);
	if (rc == 0) {
		put_tree(&f, &a->body);
		buf_printf(&a->body, "],\"unit\":\"%s\",\"from\":\"%s\"}", calls ? "ns" : "samples",
			   calls ? "calls" : "stacks");
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
