// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums over a range of time: by name, by row and by event type. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "view/answers/interval.h"
#include "view/answers/sums.h"

struct sum_range sum_range_all(struct view *v, uint64_t since, uint64_t until,
			       const volatile int *stop)
{
	return (struct sum_range){
		.view = v, .since = since, .until = until, .nr_rows = view_rows(v), .stop = stop};
}

/* ---- by name ---- */

static void named_sums_free(struct named_sums *s)
{
	vec_free(&s->sums);
	map_free(&s->places);
}

static struct named_sum *sum_of(struct named_sums *s, int64_t name)
{
	uintptr_t place = (uintptr_t)map_get(&s->places, (uint64_t)name);

	if (!place) {
		place = s->sums.n + 1;
		if (!vec_add(&s->sums, &(struct named_sum){.name = name}) ||
		    !map_set(&s->places, (uint64_t)name, (void *)place))
			return NULL;
	}
	return &s->sums.at[place - 1];
}

static void leave(void *arg, struct nested_frame *f)
{
	struct named_sums *s = arg;
	struct named_sum *sum = sum_of(s, view_name_number(s->view, s->file, f->name));
	const uint64_t dur = f->end - f->start;

	if (!sum) {
		s->failed = true;
		return;
	}
	sum->count += f->counted;
	sum->total += f->recursive ? 0 : dur;
	sum->self += dur > f->inner ? dur - f->inner : 0;
	sum->max = f->whole > sum->max ? f->whole : sum->max;
}

/* Adds what a row has of a kind. */
static int named_sums_add(struct named_sums *s, const struct sum_range *range, uint32_t row,
			  enum view_track_kind kind)
{
	const struct view_nested n = {.leave = leave, .arg = s, .stop = range->stop};
	struct view_place place;
	struct view_row info;
	int rc;

	if (!view_row(range->view, row, &place, &info))
		return 0;
	s->view = range->view;
	s->file = place.file_number;
	rc = view_nested(range->view, row, kind, range->since, range->until, &n);
	return rc < 0 ? rc : s->failed ? -ENOMEM : 0;
}

static int by_total(const void *a, const void *b)
{
	const struct named_sum *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Largest total first. */
static void named_sums_sort(struct named_sums *s)
{
	if (s->sums.n)
		qsort(s->sums.at, s->sums.n, sizeof(*s->sums.at), by_total);
}

/* ---- by row ---- */

struct taking {
	uint64_t since, until;
	struct row_sum *sum;
	const volatile int *stop;
	bool states;
};

static bool take(void *arg, const struct view_interval *i)
{
	struct taking *t = arg;
	const uint64_t end = i->start + i->dur;
	const uint64_t from = i->start > t->since ? i->start : t->since;
	const uint64_t to = end < t->until ? end : t->until;
	const uint64_t time = to > from ? to - from : 0;

	if (t->states) {
		t->sum->state[view_state_of(i->value)] += time;
	} else {
		t->sum->running += time;
		t->sum->switches += i->start >= t->since && i->start < t->until &&
				    !(i->flags & VIEW_OPEN_START);
	}
	return !*t->stop;
}

static int sum_row(const struct sum_range *range, uint32_t row, struct row_sum *out)
{
	struct view_place place;
	struct view_row info;
	struct taking t = {.sum = out, .stop = range->stop};
	int rc = 0;

	*out = (struct row_sum){.row = row};
	if (!view_row(range->view, row, &place, &info) || range->until <= place.shift)
		return 0;
	t.since = range->since > place.shift ? range->since - place.shift : 0;
	t.until = range->until - place.shift;
	for (uint32_t i = 0; rc == 0 && i < info.nr_tracks; i++) {
		if (info.tracks[i].kind != VIEW_RUNNING && info.tracks[i].kind != VIEW_STATE)
			continue;
		t.states = info.tracks[i].kind == VIEW_STATE;
		rc = view_index_each(place.file->index, place.row, i, t.since, t.until, take, &t);
	}
	return rc;
}

/* ---- by event ---- */

/*
 * The index has the numbers of records of a whole file. If the range is more than half of the file,
 * the records outside are counted and subtracted. Records are counted lane by lane, because their
 * order does not matter.
 */

#define STOP_RECORDS 4096 /* between two checks for a stop */

struct counting {
	const struct sum_range *range;
	const struct view_file *file;
	uint32_t number;
	uint64_t since, until; /* on the trace's time line */
	uint64_t *counts;      /* of the file's types */
	bool limited;
	struct row_set rows; /* if it is limited to some */
};

static int take_rows(struct counting *c)
{
	int rc = 0;

	c->limited = c->range->rows;
	for (size_t i = 0; rc == 0 && c->limited && i < c->range->nr_rows; i++) {
		struct view_place place;
		struct view_row r;

		if (view_row(c->range->view, c->range->rows[i], &place, &r) &&
		    place.file_number == c->number)
			rc = row_set_add(&c->rows, &r);
	}
	return rc;
}

static bool task_wanted(const struct counting *c, const struct spur_record *r)
{
	return row_set_have_task(&c->rows, r->buffer, events_record_pid(c->file->trace->events, r));
}

/* Counts what a lane has in [from, to). */
static void count_lane(struct counting *c, struct lane *l, uint64_t from, uint64_t to, int64_t by)
{
	const struct events *ev = c->file->trace->events;
	const bool all = !c->limited || row_set_have_cpu(&c->rows, l->buffer->index, l->cpu->cpu);
	uint64_t n = 0;

	if (from >= to || (!all && !c->rows.tasks.n))
		return;
	lane_seek_time(l, from, l->nr_pages / 2);
	while (lane_next(l) && l->rec.ts < to) {
		const struct event *e;

		if (++n % STOP_RECORDS == 0 && *c->range->stop)
			return;
		if (l->rec.ts < from || (!all && !task_wanted(c, &l->rec)))
			continue;
		e = events_of_record(ev, &l->rec);
		if (e)
			c->counts[e->index] += (uint64_t)by;
	}
}

static void count_all(struct counting *c, struct scan *m, uint64_t from, uint64_t to, int64_t by)
{
	for (uint32_t i = 0; i < m->nr && !*c->range->stop; i++)
		count_lane(c, &m->lanes[i], from, to, by);
}

static int count_file(struct counting *c)
{
	const struct spur_trace *t = c->file->trace;
	const uint64_t first = view_index_origin(c->file->index);
	const uint64_t end = first + view_index_duration(c->file->index) + 1;
	const bool known = view_index_progress(c->file->index) >= 1;
	struct scan scan;
	int rc;

	scan_init(&scan, NULL);
	rc = scan_add_trace(&scan, t);
	c->since = c->since > first ? c->since : first;
	c->until = c->until < end ? c->until : end;
	if (rc == 0 && known && !c->limited && c->since < c->until &&
	    (c->until - c->since) > (end - first) / 2) {
		for (size_t i = 0; i < t->events->nr; i++)
			c->counts[i] = view_index_count(c->file->index, (uint32_t)i);
		count_all(c, &scan, first, c->since, -1);
		count_all(c, &scan, c->until, end, -1);
	} else if (rc == 0) {
		count_all(c, &scan, c->since, c->until, 1);
	}
	scan_free(&scan);
	return rc;
}

static int sum_events(const struct sum_range *range, uint64_t *counts)
{
	const uint64_t origin = view_origin(range->view);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < view_nr_files(range->view); i++) {
		const struct view_file *f = view_file(range->view, i);
		struct counting c = {.range = range,
				     .file = f,
				     .number = (uint32_t)i,
				     .since = origin + range->since,
				     .counts = counts + f->first_event};

		if (!f->trace || view_index_origin(f->index) == UINT64_MAX)
			continue;
		if (__builtin_add_overflow(origin, range->until, &c.until))
			c.until = UINT64_MAX;
		rc = take_rows(&c);
		if (rc == 0)
			rc = count_file(&c);
		row_set_free(&c.rows);
	}
	return rc;
}

/* ---- all of it ---- */

static bool is_empty(const struct row_sum *s)
{
	uint64_t all = s->running | s->switches;

	for (size_t i = 0; i <= VIEW_UNKNOWN; i++)
		all |= s->state[i];
	return !all;
}

static int sum_rows(const struct sum_range *range, enum view_row_kind kind, struct row_sums *out)
{
	for (size_t i = 0; i < range->nr_rows; i++) {
		const uint32_t row = sum_range_row(range, i);
		struct view_row info;
		struct row_sum s;
		int rc;

		if (*range->stop)
			return -EINTR;
		if (!view_row(range->view, row, NULL, &info) || info.kind != kind)
			continue;
		rc = sum_row(range, row, &s);
		if (rc < 0)
			return rc;
		if (is_empty(&s))
			continue;
		if (!vec_add(out, &s))
			return -ENOMEM;
	}
	return 0;
}

static int sum_names(const struct sum_range *range, enum view_track_kind kind,
		     struct named_sums *out)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < range->nr_rows; i++)
		rc = *range->stop ? -EINTR
				  : named_sums_add(out, range, sum_range_row(range, i), kind);
	named_sums_sort(out);
	return rc;
}

int range_sums_read(const struct sum_range *range, struct range_sums *out)
{
	static const enum view_track_kind kinds[] = {
		[SUM_FUNCTIONS] = VIEW_CALL,
		[SUM_SYSCALLS] = VIEW_SYSCALL,
		[SUM_IRQS] = VIEW_IRQ,
		[SUM_SOFTIRQS] = VIEW_SOFTIRQ,
	};
	int rc;

	*out = (struct range_sums){.nr_events = view_events(range->view)};
	out->events = calloc((size_t)out->nr_events + 1, sizeof(*out->events));
	rc = out->events ? sum_rows(range, VIEW_TASK_ROW, &out->tasks) : -ENOMEM;
	if (rc == 0)
		rc = sum_rows(range, VIEW_CPU_ROW, &out->cpus);
	if (rc == 0)
		rc = sum_events(range, out->events);
	for (size_t i = 0; rc == 0 && i < NR_SUM_NAMES; i++)
		rc = sum_names(range, kinds[i], &out->names[i]);
	return rc == 0 && *range->stop ? -EINTR : rc;
}

void range_sums_free(struct range_sums *s)
{
	vec_free(&s->tasks);
	vec_free(&s->cpus);
	free(s->events);
	for (size_t i = 0; i < NR_SUM_NAMES; i++)
		named_sums_free(&s->names[i]);
}
