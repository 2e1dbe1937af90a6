// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Evidence of who runs.
 *
 * A record proves that the task that wrote it was running on its CPU at that moment. As long as
 * every switch was recorded, this follows from the switches. Where it does not, a switch is
 * missing: it was lost, filtered or hidden by the kernel. Lanes notice it for their own CPU (struct
 * lane_watch), also among records that are not wanted. What is added here is that a task runs on
 * one CPU at a time: when it is seen on one, it is gone from the other.
 *
 * Evidence depends on the records alone, not on which of them are wanted or where reading starts.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/sched_parts.h"
#include "analyze/walk.h"
#include "base/error.h"

#define MAX_PIDS (1u << 20) /* tasks whose lane is remembered; a file may name any number */

static bool find_pid(struct event *e, const char *name, uint32_t *offset)
{
	const struct event_field *f = event_field_find(e, name);

	if (!f || f->size != sizeof(int32_t))
		return false;
	*offset = f->offset;
	return true;
}

static struct event *find_event(struct events *ev, const char *name)
{
	struct event *e = events_find(ev, "sched", name);

	return e && e->id >= 0 && event_ready(e) != EVENT_BROKEN ? e : NULL;
}

static bool follows(void *dat, int32_t pid)
{
	return dat_follows(dat, pid);
}

/* How long a switch has to be; none is long enough for offsets that make no sense. */
static uint32_t end_of_both(const struct lane_watch *w)
{
	const uint32_t last = w->prev_offset > w->next_offset ? w->prev_offset : w->next_offset;
	uint32_t end;

	return __builtin_add_overflow(last, sizeof(int32_t), &end) ? UINT32_MAX : end;
}

static void bind_watch(struct walk_runners *r, struct events *ev)
{
	struct event *e = find_event(ev, "sched_switch");
	const struct event_field *f;

	r->watch = (struct lane_watch){.type_offset = ev->common.type.offset,
				       .type_size = ev->common.type.size,
				       .pid_offset = ev->common.pid.offset,
				       .big_endian = ev->big_endian,
				       .switch_id = LANE_NO_ID,
				       .switch_size = UINT32_MAX,
				       .accounting_id = LANE_NO_ID,
				       .usual = ev->common.usual,
				       .has_flags = ev->common.has_flags,
				       .flags_offset = ev->common.flags.offset};
	if (e && find_pid(e, "prev_pid", &r->watch.prev_offset) &&
	    find_pid(e, "next_pid", &r->watch.next_offset)) {
		r->watch.switch_id = (uint64_t)e->id;
		r->watch.switch_size = end_of_both(&r->watch);
	}
	e = find_event(ev, "sched_stat_runtime");
	f = e ? event_field_find(e, "runtime") : NULL;
	if (f && f->size == sizeof(uint64_t) && find_pid(e, "pid", &r->accounted_offset)) {
		r->accounting = e;
		r->watch.accounting_id = (uint64_t)e->id;
		r->runtime_offset = f->offset;
	}
}

/* Whether a CPU has a record that the filter wants, and when the first one was. */
static bool first_record(const struct trace_buffer *b, const struct dat_cpu *cpu,
			 const struct lane_filter *filter, uint64_t *ts)
{
	struct lane l;
	bool found;

	if ((!cpu->size && !cpu->feed) || lane_open(&l, b, cpu) < 0)
		return false;
	l.filter = filter;
	found = lane_next(&l);
	if (found)
		*ts = l.rec.ts;
	lane_close(&l);
	return found;
}

static uint64_t trace_start(const struct spur_trace *t)
{
	uint64_t start = UINT64_MAX, ts;

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];

		for (uint32_t k = 0; !b->data->text && k < b->data->nr_cpus; k++)
			if (first_record(b, &b->data->cpus[k], NULL, &ts) && ts < start)
				start = ts;
	}
	return start;
}

/*
 * Where no switches were recorded at all, that there is none between two records of a task says
 * nothing: such buffers have no evidence. The first switch is near the start of nearly every trace.
 */
static int find_switches(struct walk *w, struct walk_runners *r)
{
	const struct event *e = r->watch.switch_id != LANE_NO_ID
					? find_event(w->trace->events, "sched_switch")
					: NULL;
	struct lane_filter switches;
	uint64_t ts;
	int rc = lane_filter_init(&switches, w->trace->events);

	if (e && rc == 0)
		lane_filter_want(&switches, e);
	for (uint32_t i = 0; e && rc == 0 && i < w->trace->nr_buffers; i++) {
		const struct trace_buffer *b = &w->trace->buffers[i];

		for (uint32_t k = 0; !b->data->text && k < b->data->nr_cpus && !r->switches[i]; k++)
			r->switches[i] = first_record(b, &b->data->cpus[k], &switches, &ts);
	}
	lane_filter_free(&switches);
	return rc;
}

int walk_want_evidence(struct walk *w, struct spur_error *err)
{
	const struct event_common *common = &w->trace->events->common;
	struct walk_runners *r;

	if (w->runners || !common->has_pid || common->pid.size != sizeof(int32_t))
		return 0;
	r = calloc(1, sizeof(*r));
	if (r) {
		r->on = calloc(w->merge.nr + 1, sizeof(*r->on));
		r->begun = calloc(w->merge.nr + 1, sizeof(*r->begun));
		r->switches = calloc(w->trace->nr_buffers + 1, sizeof(*r->switches));
		r->lost_from = calloc(w->trace->nr_buffers + 1, sizeof(*r->lost_from));
	}
	w->runners = r;
	if (r)
		bind_watch(r, w->trace->events);
	if (!r || !r->on || !r->begun || !r->switches || !r->lost_from || find_switches(w, r) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r->start = trace_start(w->trace);
	if (w->trace->dat->followed.is) {
		r->watch.follows = follows;
		r->watch.follows_arg = w->trace->dat;
	}
	r->filtered = r->watch;
	r->filtered.filtered = true;
	return 0;
}

void walk_free_evidence(struct walk *w)
{
	struct walk_runners *r = w->runners;

	if (!r)
		return;
	map_free(&r->lanes);
	free(r->on);
	free(r->begun);
	free(r->switches);
	free(r->lost_from);
	free(r);
	w->runners = NULL;
}

void walk_watch_lane(struct walk *w, struct lane *l)
{
	struct walk_runners *r = w->runners;

	if (r->switches[l->buffer->index])
		l->watch = dat_filtered(w->trace->dat, l->buffer->data->name, "sched:sched_switch")
				   ? &r->filtered
				   : &r->watch;
}

static void add(struct walk *w, const struct lane *l, struct walk_evidence e)
{
	e.buffer = l->buffer->index;
	e.cpu = l->cpu->cpu;
	if (w->nr_evidence < MAX_EVIDENCE)
		w->evidence[w->nr_evidence++] = e;
}

/* The task runs on the lane's CPU: it does not run elsewhere any more. */
static void leave_others(struct walk *w, const struct lane *l, int32_t pid, uint64_t ts)
{
	struct walk_runners *r = w->runners;
	const uint64_t key = (uint64_t)l->buffer->index << 32 | (uint32_t)pid;
	const uintptr_t was = (uintptr_t)map_get(&r->lanes, key);
	struct lane *from;

	if (!pid || was == l->index + 1)
		return;
	from = was ? &w->merge.lanes[was - 1] : NULL;
	if (from && r->on[from->index].known && r->on[from->index].pid == pid) {
		/* Of records of the same time, those of the lane added first come first. */
		lane_doubt_runner(from, from->index > l->index ? ts : ts + 1);
		merge_went_back(&w->merge, from->index);
		add(w, from,
		    (struct walk_evidence){.pid = pid, .ts = lane_proof(from), .gone = true});
		r->on[from->index].known = false;
	}
	if (r->lanes.n >= MAX_PIDS)
		map_free(&r->lanes);
	map_set(&r->lanes, key, (void *)(uintptr_t)(l->index + 1));
}

/*
 * Since when the writer of a record has had the CPU: the kernel's accounting may say it. What is
 * said of tasks before a loss, on whatever CPU, has been said by then and stays.
 */
static uint64_t since_when(const struct walk *w, const struct lane *l, uint64_t last)
{
	const struct walk_runners *r = w->runners;
	const struct events *ev = w->trace->events;
	uint64_t ran, ts = l->rec.ts;

	if (!r->accounting || !last || l->gap || events_of_record(ev, &l->rec) != r->accounting ||
	    record_uint(ev, &l->rec, r->accounted_offset, sizeof(int32_t)) != (uint32_t)l->pid)
		return ts;
	ran = record_uint(ev, &l->rec, r->runtime_offset, sizeof(uint64_t));
	ran = ran < WALK_REACH ? ran : WALK_REACH;
	ts = ran < ts ? ts - ran : 0;
	last = r->lost_from[l->buffer->index] > last ? r->lost_from[l->buffer->index] : last;
	return ts > last ? ts : last;
}

/* The record's writer was not known to run. */
static void note_seen(struct walk *w, const struct lane *l)
{
	const uint64_t last = lane_proof(l);

	leave_others(w, l, l->pid, l->rec.ts);
	add(w, l,
	    (struct walk_evidence){.pid = l->pid,
				   .ts = l->other ? since_when(w, l, last) : l->rec.ts,
				   .last = last,
				   .continues = !l->other});
	w->runners->on[l->index] = (struct lane_runner){.known = true, .pid = l->pid};
}

void walk_note_evidence(struct walk *w, const struct lane *l)
{
	struct walk_runners *r = w->runners;

	if (__builtin_expect(l->other || !r->begun[l->index], 0)) {
		r->begun[l->index] = true;
		note_seen(w, l);
	}
	r->on[l->index] = l->runner;
	if (l->runner.pid && l->runner.pid != l->pid && l->runner.known)
		leave_others(w, l, l->runner.pid, l->rec.ts);
}

/* ---- CPUs of which nothing is known at the start ---- */

/* By CPU of a buffer: whether what it did before its first record is known. NULL without memory. */
static bool *known_at_start(const struct walk *w, const struct trace_buffer *b, uint32_t nr)
{
	bool *known = calloc((size_t)nr + 1, sizeof(*known));

	for (uint32_t i = 0; known && i < w->merge.nr; i++) {
		const struct lane *l = &w->merge.lanes[i];

		if (l->buffer == b && !l->ended && !l->gap && l->watch && !l->watch->follows &&
		    !l->watch->filtered)
			known[l->cpu->cpu] = true;
	}
	return known;
}

void walk_tell_silent(const struct walk *w, void (*tell)(void *arg, const struct walk_evidence *e),
		      void *arg)
{
	const struct walk_runners *r = w->runners;

	if (!r || r->start == UINT64_MAX || w->opt.since > r->start)
		return;
	for (uint32_t i = 0; i < w->trace->nr_buffers; i++) {
		const struct trace_buffer *b = &w->trace->buffers[i];
		const uint32_t nr = sched_nr_cpus(b);
		bool *known = r->switches[i] ? known_at_start(w, b, nr) : NULL;

		for (uint32_t k = 0; known && k < nr; k++)
			if (!known[k] && walk_asks_cpu(&w->opt, k))
				tell(arg, &(struct walk_evidence){.buffer = i,
								  .cpu = k,
								  .ts = r->start,
								  .silent = true});
		free(known);
	}
}

/* ---- ranges ---- */

/* The time of the last record before the range that shows a task on the CPU, or `none`. */
static uint64_t last_shown(const struct walk *w, struct lane *l, uint64_t none)
{
	struct lane_runner runner = {0};
	uint64_t proof;

	lane_seek_before(l, w->opt.since, l->nr_pages / 2);
	while (lane_next(l) && l->rec.ts < w->opt.since)
		runner = l->runner;
	proof = lane_proof(l);
	return runner.known && runner.pid && proof && proof < none ? proof : none;
}

/*
 * Who runs on a CPU when the range begins is what its last record before it says, unless the task
 * was seen elsewhere since. So reading begins with the earliest of these last records.
 */
static uint64_t where_to_begin(struct walk *w)
{
	uint64_t from = w->opt.since;

	for (uint32_t i = 0; i < w->merge.nr; i++) {
		struct lane *l = &w->merge.lanes[i];

		l->filter = NULL;
		if (l->watch)
			from = last_shown(w, l, from);
	}
	return from;
}

void walk_start_in_range(struct walk *w)
{
	const uint64_t from = where_to_begin(w);
	const struct lane *first;

	for (uint32_t i = 0; i < w->merge.nr; i++) {
		struct lane *l = &w->merge.lanes[i];

		lane_forget_runner(l);
		lane_seek_before(l, from, l->nr_pages / 2);
	}
	merge_start(&w->merge);
	while ((first = merge_first(&w->merge)) && first->rec.ts < w->opt.since) {
		merge_next(&w->merge);
		if (first->changes)
			walk_note_evidence(w, first);
	}
	for (uint32_t i = 0; i < w->merge.nr; i++) {
		struct lane *l = &w->merge.lanes[i];

		lane_filter_from(l, w->all ? NULL : &w->filter);
		l->changes = l->watch && l->wrote;
		l->announce = l->watch && !l->wrote;
		w->runners->begun[i] = false;
	}
	merge_restart(&w->merge);
}
