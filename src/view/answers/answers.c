// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of a view's answers, and the smaller answers: the number of a record, the row of a
 * task, who woke a task.
 *
 * Each index numbers its own records. The number of a record over all files is the number of
 * records in all of them before its time. The record with a given number is found by bisecting the
 * time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/vec.h"
#include "event/handler.h"
#include "view/answers/answers.h"
#include "view/answers/internal.h"

/* ---- what is kept for a view ---- */

struct answers *answers_new(struct view *v)
{
	struct answers *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;

	if (!a)
		return NULL;
	a->view = v;
	a->next_search = 1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->news, &attr);
	pthread_condattr_destroy(&attr);
	return a;
}

static void free_history(struct view_history *h)
{
	vec_each (name, &h->names)
		free(name->name);
	vec_each (c, &h->chains)
		history_chains_free(c);
	vec_free(&h->names);
	vec_free(&h->chains);
}

void answers_free(struct answers *a)
{
	if (!a)
		return;
	a->stop = 1;
	for (size_t i = 0; i < ANSWERS_SEARCHES; i++)
		view_search_put(a->searches[i]);
	for (size_t i = 0; i < ANSWERS_FILES; i++) {
		if (!a->files[i])
			continue;
		if (a->files[i]->history.started)
			pthread_join(a->files[i]->history.thread, NULL);
		free_history(&a->files[i]->history);
		free(a->files[i]->roles);
		free(a->files[i]);
	}
	pthread_cond_destroy(&a->news);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

struct answers_file *answers_file(struct answers *a, uint32_t number)
{
	struct answers_file *f;

	if (!a || number >= ANSWERS_FILES)
		return NULL;
	mutex_hold(&a->lock);
	f = a->files[number];
	if (!f) {
		f = a->files[number] = calloc(1, sizeof(*f));
		if (f) {
			f->answers = a;
			f->number = number;
		}
	}
	return f;
}

/* ---- texts of answers ---- */

struct view_text view_text_add(struct buf *texts, const char *text, size_t len)
{
	const size_t from = texts->len;

	buf_put(texts, text, len);
	return view_text_since(texts, from);
}

struct view_text view_text_since(struct buf *texts, size_t from)
{
	const struct view_text text = {(uint32_t)from, (uint32_t)(texts->len - from)};

	buf_putc(texts, '\0');
	return buf_full(texts) ? (struct view_text){0} : text;
}

/* ---- sets of rows ---- */

static uint64_t key_of(uint32_t buffer, int64_t number)
{
	return (uint64_t)buffer << 32 | (uint32_t)number;
}

int row_set_add(struct row_set *s, const struct view_row *r)
{
	struct map *of = r->kind == VIEW_CPU_ROW ? &s->cpus : &s->tasks;

	if (r->kind == VIEW_COUNTER_ROW)
		return 0;
	return map_set(of, key_of(r->buffer, r->number), s) ? 0 : -ENOMEM;
}

void row_set_free(struct row_set *s)
{
	map_free(&s->cpus);
	map_free(&s->tasks);
}

bool row_set_have_cpu(const struct row_set *s, uint32_t buffer, uint32_t cpu)
{
	return map_get(&s->cpus, key_of(buffer, cpu));
}

bool row_set_have_task(const struct row_set *s, uint32_t buffer, int64_t pid)
{
	return map_get(&s->tasks, key_of(buffer, pid));
}

/* ---- numbers of records and rows ---- */

#define NEAR 2048 /* records that may be read to find one */

static int not_yet(int rc, struct spur_error *err)
{
	if (rc == -EAGAIN)
		return error_set(err, rc, "this part of the trace is not indexed yet");
	return error_set(err, rc, "the index does not answer");
}

static const struct view_file *file_with_records(const struct view *v, size_t i)
{
	const struct view_file *f = view_file(v, i);

	return f && f->trace && f->index && view_index_origin(f->index) != UINT64_MAX ? f : NULL;
}

uint64_t view_record_count(struct view *v)
{
	uint64_t total = 0;

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = file_with_records(v, i);

		total += f ? view_index_records(f->index) : 0;
	}
	return total;
}

int view_record_ordinal(struct view *v, uint64_t ts, uint64_t *n, struct spur_error *err)
{
	*n = 0;
	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = file_with_records(v, i);
		uint64_t origin, before;
		int rc;

		if (!f)
			continue;
		origin = view_index_origin(f->index);
		if (ts <= origin)
			continue;
		rc = view_index_ordinal(f->index, ts - origin, &before);
		if (rc < 0)
			return not_yet(rc, err);
		*n += before;
	}
	return 0;
}

/* The only file that has records; NULL if there are several, or none. */
static const struct view_file *only_file(const struct view *v)
{
	const struct view_file *only = NULL;

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = file_with_records(v, i);

		if (f && only)
			return NULL;
		only = f ? f : only;
	}
	return only;
}

/* Bisects [low, high) until few records are left between `low` and the wanted one. */
static int halve(struct view *v, uint64_t n, uint64_t *first, uint64_t *ts, struct spur_error *err)
{
	uint64_t low = view_origin(v), high = low + view_duration(v) + 1, before = 0;

	while (n - before > NEAR && high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;
		uint64_t at;
		int rc = view_record_ordinal(v, middle, &at, err);

		if (rc < 0)
			return rc;
		if (at > n) {
			high = middle;
		} else {
			low = middle;
			before = at;
		}
	}
	*first = before;
	*ts = low;
	return 0;
}

int view_record_seek(struct view *v, uint64_t n, uint64_t *first, uint64_t *ts,
		     struct spur_error *err)
{
	const struct view_file *f = only_file(v);
	int rc;

	*first = 0;
	*ts = view_origin(v);
	/* The beginning can be read without an index. */
	if (n <= NEAR)
		return 0;
	if (!f)
		return halve(v, n, first, ts, err);
	rc = view_index_seek(f->index, n, first, ts);
	if (rc < 0)
		return not_yet(rc, err);
	*ts += view_index_origin(f->index);
	return 0;
}

int64_t view_task_row(struct view *v, uint32_t file, uint32_t buffer, int64_t pid)
{
	const struct view_file *f = file_with_records(v, file);
	const int64_t row = f ? view_index_find_task(f->index, buffer, pid) : -1;

	return row < 0 ? -1 : view_row_number(v, file, (uint32_t)row);
}

int64_t view_cpu_row(struct view *v, uint32_t file, uint32_t buffer, uint32_t cpu)
{
	const struct view_file *f = file_with_records(v, file);
	const uint32_t rows = f ? view_index_rows(f->index) : 0;
	struct view_row r;

	for (uint32_t i = 0; i < rows; i++)
		if (view_index_row(f->index, i, &r) && r.kind == VIEW_CPU_ROW &&
		    r.buffer == buffer && r.number == cpu)
			return view_row_number(v, file, i);
	return -1;
}

/* ---- wakeups ---- */

/* The index has who ended a sleep; records have the rest. */

#define IN_INTERRUPT 0x58 /* hard and soft interrupts, NMIs, in common_flags */

static const char *const names[] = {"sched_waking", "sched_wakeup", "sched_wakeup_new"};

#define NR_NAMES ARRAY_SIZE(names)

/* Those events of a trace, and their fields. */
struct wake_events {
	struct event *event[NR_NAMES];
	const struct event_field *pid[NR_NAMES];
	const struct event_field *success[NR_NAMES]; /* of old kernels; NULL: none */
};

/* False when the trace has none of them. */
static bool find_events(struct wake_events *w, const struct spur_trace *t)
{
	bool any = false;

	for (size_t i = 0; i < NR_NAMES; i++) {
		struct event *e = events_find(t->events, "sched", names[i]);

		w->event[i] = e;
		w->pid[i] = e && event_ready(e) != EVENT_BROKEN ? event_field_find(e, "pid") : NULL;
		w->success[i] = w->pid[i] ? event_field_find(e, "success") : NULL;
		any |= w->pid[i] != NULL;
	}
	return any;
}

static bool woken_pid(const struct wake_events *w, const struct view_cursor *c, int64_t *pid)
{
	uint64_t v;

	for (size_t i = 0; i < NR_NAMES; i++) {
		if (c->event != w->event[i] || !w->pid[i])
			continue;
		if (w->success[i] && field_number(c->event->events, w->success[i], c->rec, &v) &&
		    !v)
			return false;
		if (!field_number(c->event->events, w->pid[i], c->rec, &v))
			return false;
		*pid = (int32_t)v;
		return true;
	}
	return false;
}

/* Makes a filter that skips all other events. */
static int set_filter(struct view_cursor *c, const struct wake_events *w, struct events *ev,
		      struct lane_filter *filter)
{
	if (lane_filter_init(filter, ev) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < NR_NAMES; i++)
		if (w->pid[i])
			lane_filter_want(filter, w->event[i]);
	for (uint32_t i = 0; i < c->scan.nr; i++)
		c->scan.lanes[i].filter = filter;
	return 0;
}

static void read_wakeups(struct view_cursor *c, const struct wake_events *w, int64_t waker,
			 uint64_t until, bool (*take)(void *arg, const struct view_wakeup *w),
			 void *arg)
{
	while (view_cursor_next(c) && c->rec->ts < until) {
		struct view_wakeup it = {.ts = c->rec->ts,
					 .cpu = c->rec->cpu,
					 .file = c->from->file,
					 .buffer = c->rec->buffer,
					 .waker = view_cursor_pid(c)};

		if (!woken_pid(w, c, &it.pid) || (waker >= 0 && it.waker != waker))
			continue;
		it.in_interrupt = events_record_flags(c->event->events, c->rec) & IN_INTERRUPT;
		if (!take(arg, &it))
			return;
	}
}

int view_wakeups(struct view *v, uint32_t file, uint32_t buffer, int64_t cpu, int64_t waker,
		 uint64_t since, uint64_t until, const volatile int *stop,
		 bool (*take)(void *arg, const struct view_wakeup *w), void *arg)
{
	const struct spur_trace *t = view_file(v, file)->trace;
	struct lane_filter filter = {0};
	struct wake_events w;
	struct view_cursor c;
	int rc;

	if (!t || !find_events(&w, t))
		return 0;
	rc = view_cursor_open(&c, v, NULL, stop, NULL);
	if (rc == 0) {
		view_cursor_only(&c, file, buffer, cpu);
		rc = set_filter(&c, &w, t->events, &filter);
	}
	if (rc == 0)
		rc = view_cursor_to_time(&c, since, false, NULL);
	if (rc == 0)
		read_wakeups(&c, &w, waker, until, take, arg);
	view_cursor_close(&c);
	lane_filter_free(&filter);
	return rc;
}

struct wanted {
	int64_t pid;
	struct view_wakeup *out;
	bool found;
};

static bool take_wanted(void *arg, const struct view_wakeup *w)
{
	struct wanted *want = arg;

	if (w->pid != want->pid)
		return true;
	*want->out = *w;
	want->found = true;
	return false;
}

bool view_wakeup_at(struct view *v, uint32_t file, uint32_t buffer, int64_t pid, uint64_t ts,
		    const volatile int *stop, struct view_wakeup *out)
{
	struct wanted want = {.pid = pid, .out = out};

	view_wakeups(v, file, buffer, -1, -1, ts, ts + 1, stop, take_wanted, &want);
	return want.found;
}
