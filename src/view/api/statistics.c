// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics over a range of time and some rows: sums, distributions, and the calls as a tree.
 *
 * What reaches over an end of the range counts, with the part that is in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "view/answers/sums.h"
#include "view/answers/sums.h"

#define ROWS_TEXT  (1u << 20)
#define MOST_NAMES 1000 /* that are told of each kind */

/* ---- what is asked for ---- */

static int all_rows(struct view *v, struct api_rows *rows)
{
	const uint32_t nr = view_rows(v);

	rows->at = malloc(((size_t)nr + 1) * sizeof(*rows->at));
	if (!rows->at)
		return -ENOMEM;
	for (rows->n = 0; rows->n < nr; rows->n++)
		rows->at[rows->n] = (uint32_t)rows->n;
	rows->cap = (size_t)nr + 1;
	return 0;
}

/* since, until and rows, each of which may be left out. */
static int read_range(struct view *v, const struct api_request *q, struct sum_range *range,
		      struct api_rows *rows, struct spur_error *err)
{
	struct buf text;
	int rc;

	*range = (struct sum_range){
		.view = v, .until = view_duration(v) + 1, .rows = rows, .stop = q->stop};
	rc = api_number(q, "since", &range->since, err);
	if (rc == 0 || rc == -ENOENT)
		rc = api_number(q, "until", &range->until, err);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	if (range->until < range->since)
		return error_set(err, -EINVAL, "the range ends before it begins");
	buf_init(&text, ROWS_TEXT);
	range->all_rows = !api_text(q, "rows", &text);
	rc = range->all_rows ? all_rows(v, rows) : api_row_list(v, buf_str(&text), rows, err);
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

static bool is_empty(const struct row_sum *s)
{
	uint64_t all = s->running | s->switches;

	for (size_t i = 0; i <= VIEW_UNKNOWN; i++)
		all |= s->state[i];
	return !all;
}

/* Rows of a kind that did anything in the range. */
static int put_rows(const struct sum_range *range, enum view_row_kind kind, struct buf *b)
{
	const char *comma = "";

	buf_puts(b, kind == VIEW_TASK_ROW ? "\"tasks\":[" : ",\"cpus\":[");
	for (size_t i = 0; i < range->rows->n; i++) {
		struct view_place place;
		struct view_row info;
		struct row_sum s;
		int rc;

		if (*range->stop)
			return -EINTR;
		if (!view_row(range->view, range->rows->at[i], &place, &info) || info.kind != kind)
			continue;
		rc = row_sum(range, range->rows->at[i], &s);
		if (rc < 0)
			return rc;
		if (is_empty(&s))
			continue;
		buf_puts(b, comma);
		put_row_sum(b, range->rows->at[i], &s, kind == VIEW_TASK_ROW);
		comma = ",";
	}
	buf_putc(b, ']');
	return 0;
}

static int put_events(const struct sum_range *range, struct buf *b)
{
	const uint32_t nr = view_events(range->view);
	uint64_t *counts = calloc((size_t)nr + 1, sizeof(*counts));
	const char *comma = "";
	int rc = counts ? sum_events(range, counts) : -ENOMEM;

	buf_puts(b, ",\"events\":[");
	for (uint32_t i = 0; rc == 0 && i < nr; i++) {
		if (!counts[i])
			continue;
		buf_printf(b, "%s{\"id\":%u,\"count\":%llu}", comma, i,
			   (unsigned long long)counts[i]);
		comma = ",";
	}
	buf_putc(b, ']');
	free(counts);
	return rc;
}

static void put_named(struct view *v, struct named_sums *sums, const char *kind, const char **comma,
		      struct buf *b)
{
	named_sums_sort(sums);
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

static int add_names(const struct sum_range *range, enum view_track_kind kind, const char *word,
		     const char **comma, struct buf *b)
{
	struct named_sums sums = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < range->rows->n; i++)
		rc = *range->stop ? -EINTR : named_sums_add(&sums, range, range->rows->at[i], kind);
	if (rc == 0)
		put_named(range->view, &sums, word, comma, b);
	named_sums_free(&sums);
	return rc;
}

static const struct {
	enum view_track_kind kind;
	const char *list; /* NULL: the one before */
	const char *word;
} named_kinds[] = {
	{VIEW_CALL, "functions", NULL},
	{VIEW_SYSCALL, "syscalls", NULL},
	{VIEW_IRQ, "irqs", "irq"},
	{VIEW_SOFTIRQ, NULL, "softirq"},
};

static int put_names(const struct sum_range *range, struct buf *b)
{
	const char *comma = "";
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(named_kinds) / sizeof(named_kinds[0]); i++) {
		if (named_kinds[i].list) {
			buf_printf(b, "%s,\"%s\":[", i ? "]" : "", named_kinds[i].list);
			comma = "";
		}
		rc = add_names(range, named_kinds[i].kind, named_kinds[i].word, &comma, b);
	}
	buf_putc(b, ']');
	return rc;
}

static int answer_sum(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	struct api_rows rows = {0};
	struct sum_range range;
	int rc = read_range(v, q, &range, &rows, err);

	if (rc == 0) {
		buf_putc(&a->body, '{');
		rc = put_rows(&range, VIEW_TASK_ROW, &a->body);
	}
	if (rc == 0)
		rc = put_rows(&range, VIEW_CPU_ROW, &a->body);
	if (rc == 0)
		rc = put_events(&range, &a->body);
	if (rc == 0)
		rc = put_names(&range, &a->body);
	buf_putc(&a->body, '}');
	api_rows_free(&rows);
	return rc == 0 && *q->stop ? -EINTR : rc;
}

/* ---- flame ---- */

static int answer_flame(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct flame_choice choice = {.calls = true, .stacks = true};
	struct api_rows rows = {0};
	struct sum_range range;
	struct buf from;
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
		rc = sum_flame(&range, &choice, &a->body, err);
	api_rows_free(&rows);
	return rc;
}

const struct api_question api_statistics[] = {
	{"sum", false, answer_sum},
	{"hist", false, hist_answer},
	{"flame", false, answer_flame},
	{NULL},
};
