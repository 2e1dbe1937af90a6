// SPDX-License-Identifier: GPL-2.0-or-later
#include "brute.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "table/calls.h"
#include "table/feed.h"
#include "table/overview.h"
#include "table/sched.h"
#include "table/spans.h"
#include "base/vec.h"

#define MOST_DEPTH 128

/* ---- tracks ---- */

static struct brute_track *get(struct brute *b, enum view_row_kind row, uint32_t buffer,
			       int64_t number, enum view_track_kind kind, uint32_t depth)
{
	struct brute_track *t, **slot;

	for (size_t i = b->tracks.n; i-- > 0;) {
		t = b->tracks.at[i];
		if (t->row == row && t->buffer == buffer && t->number == number &&
		    t->about.kind == kind && t->about.depth == depth)
			return t;
	}
	t = calloc(1, sizeof(*t));
	slot = vec_push(&b->tracks);
	assert(t && slot);
	*slot = t;
	t->row = row;
	t->buffer = buffer;
	t->number = number;
	t->about = (struct view_track){kind, depth};
	return t;
}

const struct brute_track *brute_find(const struct brute *b, const struct view_row *row,
				     const struct view_track *track)
{
	for (size_t i = 0; i < b->tracks.n; i++) {
		const struct brute_track *t = b->tracks.at[i];

		if (t->row == row->kind && t->buffer == row->buffer && t->number == row->number &&
		    t->about.kind == track->kind && t->about.depth == track->depth)
			return t;
	}
	return NULL;
}

static struct view_interval *push(struct brute_track *t)
{
	struct view_interval *i = vec_push(&t->list);

	assert(i);
	return i;
}

/* Adds one behind the last, which it must not overlap. */
static void add(struct brute_track *t, struct view_interval i)
{
	const struct view_interval *before = t->list.n ? &t->list.at[t->list.n - 1] : NULL;
	const uint64_t end = i.start + i.dur;

	if (before && i.start < before->start + before->dur) {
		i.start = before->start + before->dur;
		i.dur = end > i.start ? end - i.start : 0;
	}
	*push(t) = i;
}

static struct view_interval made(const struct brute *b, uint64_t ts, int64_t dur,
				 enum row_open open, uint32_t value)
{
	uint64_t end = ts + (dur > 0 ? (uint64_t)dur : 0);
	struct view_interval i = {.value = value};

	i.start = ts < b->origin ? 0 : ts - b->origin;
	end = end < b->origin ? 0 : end - b->origin;
	i.dur = end > i.start ? end - i.start : 0;
	i.flags = (open & ROW_OPEN_START ? VIEW_OPEN_START : 0) |
		  (open & ROW_OPEN_END ? VIEW_OPEN_END : 0);
	return i;
}

static uint32_t buffer_number(const struct brute *b, const char *name)
{
	for (uint32_t i = 0; i < b->trace->nr_buffers; i++)
		if (b->trace->buffers[i].data->name == name)
			return i;
	abort();
}

static uint32_t name_number(const struct brute *b, const char *name)
{
	for (uint32_t i = 0; name && i < view_index_names(b->index); i++)
		if (strcmp(view_index_name(b->index, i), name) == 0)
			return i;
	return VIEW_NO_NAME;
}

/* Whether a CPU has records. */
static bool has_cpu(const struct brute *b, uint32_t buffer, int64_t cpu)
{
	struct view_row r;

	for (uint32_t i = 0; view_index_row(b->index, i, &r); i++)
		for (uint32_t k = 0; k < r.nr_tracks; k++)
			if (r.kind == VIEW_CPU_ROW && r.buffer == buffer && r.number == cpu &&
			    r.tracks[k].kind == VIEW_EVENTS)
				return true;
	return false;
}

/* ---- rows of tables ---- */

static void on_state(void *brute, const void *row)
{
	const char *const words[] = {"runnable", "preempted", "sleeping", "blocked",
				     "stopped",	 "dead",      "unknown"};
	const struct state_row *s = row;
	struct brute *b = brute;
	const uint32_t buffer = buffer_number(b, s->buffer);
	const int64_t task = view_index_find_task(b->index, buffer, s->pid);
	const char *word = s->reason && strcmp(s->reason, "preempted") == 0
				   ? s->reason
				   : run_state_names[s->state];
	uint32_t value = 0;

	if (s->phase == STATE_OF_CPU)
		return;
	if (s->state == RUN_RUNNING || s->state == RUN_RUNNABLE)
		*push(get(b, VIEW_COUNTER_ROW, buffer, 0, VIEW_COUNTER, UINT32_MAX)) =
			(struct view_interval){
				.start = s->ts - b->origin +
					 (uint64_t)(s->phase == STATE_ENDS ? s->dur : 0),
				.value = s->phase == STATE_ENDS ? 0 : 2};
	if (s->phase != STATE_ENDS)
		return;
	if (s->state == RUN_RUNNING) {
		value = s->cpu == ROW_NULL ? UINT32_MAX : (uint32_t)s->cpu;
		add(get(b, VIEW_TASK_ROW, buffer, s->pid, VIEW_RUNNING, 0),
		    made(b, s->ts, s->dur, s->open, value));
		if (has_cpu(b, buffer, s->cpu))
			add(get(b, VIEW_CPU_ROW, buffer, s->cpu, VIEW_RUNNING, 0),
			    made(b, s->ts, s->dur, s->open, (uint32_t)task));
		return;
	}
	while (strcmp(words[value], word) != 0)
		value++;
	if (s->waker > 0)
		value |= (uint32_t)(view_index_find_task(b->index, buffer, s->waker) + 1) << 4;
	add(get(b, VIEW_TASK_ROW, buffer, s->pid, VIEW_STATE, 0),
	    made(b, s->ts, s->dur, s->open, value));
}

/* Of a CPU without a task nothing is known; that it is in the trace at all may be all of it. */
static void on_slice(void *brute, const void *row)
{
	const struct slice_row *s = row;
	struct brute *b = brute;

	if (s->pid == ROW_NULL)
		add(get(b, VIEW_CPU_ROW, buffer_number(b, s->buffer), s->cpu, VIEW_STATE, 0),
		    made(b, s->ts, s->dur, s->open, VIEW_UNKNOWN));
}

static void on_softirq(void *brute, const void *row)
{
	const struct softirq_row *s = row;
	struct brute *b = brute;
	const uint32_t buffer = buffer_number(b, s->buffer);

	if (has_cpu(b, buffer, s->cpu))
		add(get(b, VIEW_CPU_ROW, buffer, s->cpu, VIEW_SOFTIRQ, 0),
		    made(b, s->ts, s->dur, s->open, name_number(b, s->name)));
}

static void on_syscall(void *brute, const void *row)
{
	const struct syscall_row *s = row;
	struct brute *b = brute;
	struct buf text;

	if (s->pid <= 0)
		return;
	buf_init(&text, 64);
	buf_printf(&text, "system call %lld", (long long)s->nr);
	add(get(b, VIEW_TASK_ROW, buffer_number(b, s->buffer), s->pid, VIEW_SYSCALL, 0),
	    made(b, s->ts, s->dur, s->open, name_number(b, s->name ? s->name : buf_str(&text))));
	buf_free(&text);
}

/* One that begins before the last one of its depth goes further down. */
static void add_nested(struct brute *b, enum view_row_kind row, uint32_t buffer, int64_t number,
		       enum view_track_kind kind, uint64_t depth, struct view_interval i)
{
	for (; depth < MOST_DEPTH; depth++) {
		struct brute_track *t = get(b, row, buffer, number, kind, (uint32_t)depth);

		if (!t->in_order || t->in_order - 1 <= i.start) {
			t->in_order = i.start + 1;
			add(t, i);
			return;
		}
	}
}

static void on_irq(void *brute, const void *row)
{
	const struct irq_row *q = row;
	struct brute *b = brute;
	const uint32_t buffer = buffer_number(b, q->buffer);

	if (has_cpu(b, buffer, q->cpu))
		add_nested(b, VIEW_CPU_ROW, buffer, q->cpu, VIEW_IRQ, q->depth,
			   made(b, q->ts, q->dur, q->open, name_number(b, q->name)));
}

static void on_call(void *brute, const void *row)
{
	const struct call_row *k = row;
	struct brute *b = brute;
	const uint32_t buffer = buffer_number(b, k->buffer);
	const uint64_t depth = k->depth < 0 ? 0 : (uint64_t)k->depth;
	const struct view_interval i = made(b, k->ts, k->dur, k->open, name_number(b, k->func));

	if (k->pid > 0)
		add_nested(b, VIEW_TASK_ROW, buffer, k->pid, VIEW_CALL, depth, i);
	else if (has_cpu(b, buffer, k->cpu))
		add_nested(b, VIEW_CPU_ROW, buffer, k->cpu, VIEW_CALL, depth, i);
}

static void on_lost(void *brute, const void *row)
{
	const struct lost_row *l = row;
	struct brute *b = brute;
	const bool first = l->since == ROW_NULL;
	const uint64_t since = first ? b->origin : (uint64_t)l->since;
	struct view_interval i =
		made(b, since, (int64_t)(l->ts - since), first ? ROW_OPEN_START : ROW_WHOLE, 0);

	if (l->events != ROW_NULL)
		i.value = l->events > UINT32_MAX ? UINT32_MAX : (uint32_t)l->events;
	add(get(b, VIEW_CPU_ROW, buffer_number(b, l->buffer), l->cpu, VIEW_LOST, 0), i);
}

/* ---- tasks that can run: from one change to the next ---- */

static int by_time(const void *a, const void *b)
{
	const struct view_interval *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void count_runnable(struct brute *b, struct brute_track *changes)
{
	struct brute_track *t = get(b, changes->row, changes->buffer, 0, VIEW_COUNTER, 0);
	struct view_interval *at = changes->list.at;
	const size_t n = changes->list.n;
	int64_t value = 0;

	qsort(at, n, sizeof(*at), by_time);
	for (size_t i = 0; i < n; i++) {
		const struct view_interval *last = t->list.n ? &t->list.at[t->list.n - 1] : NULL;

		value += (int64_t)at[i].value - 1;
		if (i + 1 == n || at[i + 1].start == at[i].start)
			continue;
		/* One that is like the one before goes on. */
		if (last && last->value == value)
			t->list.at[t->list.n - 1].dur += at[i + 1].start - at[i].start;
		else
			*push(t) = (struct view_interval){.start = at[i].start,
							  .dur = at[i + 1].start - at[i].start,
							  .value = (uint32_t)value};
	}
}

/* ---- records ---- */

static void on_record(struct brute *b, uint64_t *times, const struct walk *w,
		      const struct spur_record *r)
{
	const struct events *ev = b->trace->events;
	const struct event *e = events_of_record(ev, r);
	const int pid = events_record_pid(ev, r);
	uint64_t *before = &times[w->scan.current->index], *slot;
	struct view_interval i = {.start = r->ts - b->origin,
				  .value = e ? e->index : UINT32_MAX,
				  .flags = 1u << view_class(e)};

	if (r->ts < b->origin || i.start < *before)
		i.start = *before;
	*before = i.start;
	b->last = i.start > b->last ? i.start : b->last;
	slot = vec_push(&b->records);
	assert(slot);
	*slot = i.start;
	b->counts[e ? e->index : ev->nr]++;
	*push(get(b, VIEW_CPU_ROW, r->buffer, r->cpu, VIEW_EVENTS, 0)) = i;
	if (pid > 0)
		*push(get(b, VIEW_TASK_ROW, r->buffer, pid, VIEW_EVENTS, 0)) = i;
}

static void on_frequency(struct brute *b, const struct event *e, const struct spur_record *r)
{
	uint64_t cpu, state;

	if (strcmp(e->system, "power") != 0 || strcmp(e->name, "cpu_frequency") != 0)
		return;
	if (!field_number(b->trace->events, event_field_find((struct event *)e, "cpu_id"), r,
			  &cpu) ||
	    !field_number(b->trace->events, event_field_find((struct event *)e, "state"), r,
			  &state) ||
	    !has_cpu(b, r->buffer, (int64_t)cpu))
		return;
	*push(get(b, VIEW_CPU_ROW, r->buffer, (int64_t)cpu, VIEW_COUNTER, UINT32_MAX)) =
		made(b, r->ts, 0, ROW_WHOLE, (uint32_t)state);
}

/* A frequency lasts until the next one, or the end. */
static void end_frequencies(struct brute *b, const struct brute_track *from)
{
	struct brute_track *t = get(b, from->row, from->buffer, from->number, VIEW_COUNTER, 0);

	for (size_t i = 0; i < from->list.n; i++) {
		const bool last = i + 1 == from->list.n;
		const uint64_t end = last ? b->last : from->list.at[i + 1].start;
		struct view_interval one = from->list.at[i];

		one.dur = end > one.start ? end - one.start : 0;
		one.flags = last ? VIEW_OPEN_END : 0;
		add(t, one);
	}
}

static void read_records(struct brute *b)
{
	const struct walk_options all = {0};
	const struct spur_record *r;
	uint64_t *times;
	struct walk w;

	assert(walk_open(&w, b->trace, &all, NULL) == 0);
	times = calloc(w.scan.nr + 1, sizeof(*times));
	b->counts = calloc(b->trace->events->nr + 1, sizeof(*b->counts));
	assert(times && b->counts);
	walk_want_all(&w);
	while ((r = walk_next(&w)) != NULL) {
		const struct event *e = events_of_record(b->trace->events, r);

		on_record(b, times, &w, r);
		if (e)
			on_frequency(b, e, r);
	}
	walk_close(&w);
	free(times);
	for (size_t i = 0, n = b->tracks.n; i < n; i++)
		if (b->tracks.at[i]->about.kind == VIEW_COUNTER &&
		    b->tracks.at[i]->row == VIEW_CPU_ROW)
			end_frequencies(b, b->tracks.at[i]);
}

/* ---- all of it ---- */

static void pass_over(void *arg, struct event *e, const struct spur_record *r)
{
}

/* Those of a line are fed together. */
static const struct {
	const struct table *table;
	void (*row)(void *brute, const void *row);
} takes[][3] = {
	{{&states_both_table, on_state}},
	{{&slices_table, on_slice}},
	{{&irqs_table, on_irq}, {&softirqs_table, on_softirq}, {&syscalls_table, on_syscall}},
	{{&calls_table, on_call}},
	{{&lost_table, on_lost}},
};

void brute_make(struct brute *b, struct spur_trace *t, struct view_index *x)
{
	const struct walk_options all = {0};

	*b = (struct brute){.trace = t, .index = x, .origin = view_index_origin(x)};
	for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
		struct feed *f = feed_new(t, &all);

		for (size_t k = 0; k < 3 && takes[i][k].table; k++)
			if (table_possible(takes[i][k].table, t))
				feed_add(f, takes[i][k].table, takes[i][k].row, b);
		/* Frequencies are read with interrupts, and are asked for later. */
		if (takes[i][0].table == &irqs_table)
			feed_watch(f, "power:cpu_frequency", pass_over, NULL);
		assert(feed_run(f, NULL) == 0);
		feed_free(f);
	}
	for (size_t i = 0, n = b->tracks.n; i < n; i++)
		if (b->tracks.at[i]->row == VIEW_COUNTER_ROW)
			count_runnable(b, b->tracks.at[i]);
	read_records(b);
}

void brute_free(struct brute *b)
{
	for (size_t i = 0; i < b->tracks.n; i++) {
		vec_free(&b->tracks.at[i]->list);
		free(b->tracks.at[i]);
	}
	vec_free(&b->tracks);
	vec_free(&b->records);
	free(b->counts);
}

/* ---- bins ---- */

/* What of an interval lies in a bin. */
static uint64_t share(const struct view_interval *i, uint64_t since, uint64_t until)
{
	const uint64_t from = i->start > since ? i->start : since;
	const uint64_t to = i->start + i->dur < until ? i->start + i->dur : until;

	return to > from ? to - from : 0;
}

static void one_bin(const struct brute_track *t, size_t from, uint64_t since, uint64_t until,
		    struct view_bin *out)
{
	uint64_t most = 0;

	for (size_t i = from; i < t->list.n && t->list.at[i].start < until; i++) {
		const struct view_interval *one = &t->list.at[i];
		uint64_t sum = 0;

		out->n += one->start >= since;
		if (t->about.kind == VIEW_EVENTS && one->start >= since)
			out->mask |= one->flags;
		out->busy += share(one, since, until);
		if (!share(one, since, until))
			continue;
		for (size_t k = from; k < t->list.n && t->list.at[k].start < until; k++)
			if (t->list.at[k].value == one->value)
				sum += share(&t->list.at[k], since, until);
		if (sum > most || (sum == most && one->value < out->top)) {
			most = sum;
			out->top = one->value;
		}
	}
}

void brute_bins(const struct brute_track *t, uint32_t level, uint64_t tile,
		struct view_bin out[VIEW_TILE_BINS])
{
	size_t from = 0;

	for (uint32_t i = 0; i < VIEW_TILE_BINS; i++) {
		const uint64_t since = (tile * VIEW_TILE_BINS + i) << level;

		while (from < t->list.n && t->list.at[from].start + t->list.at[from].dur < since)
			from++;
		out[i] = (struct view_bin){.bin = i};
		one_bin(t, from, since, since + (1ull << level), &out[i]);
	}
}
