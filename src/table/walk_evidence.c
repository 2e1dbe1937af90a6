// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Evidence of who runs.
 *
 * A record proves that the task that wrote it was running on its CPU at that moment. As long as
 * every switch was recorded, this follows from the switches. Where it does not, a switch is
 * missing: it was lost, filtered or hidden by the kernel. Lanes notice it for their own CPU (struct
 * lane_watch), also among records that are not wanted. What is added here is that a task runs on
 * one CPU at a time: when it is seen on one, it is gone from the other. Where several buffers tell
 * of the same CPUs, walk_shared.c follows who runs.
 *
 * Evidence depends on the records alone, not on which of them are wanted or where reading starts.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/sched_parts.h"
#include "table/walk.h"
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

/* Whether all switches of a task are in a buffer. */
static bool follows(void *buffer, int32_t pid)
{
	const struct trace_buffer *b = buffer;

	return dat_follows(b->trace->dat, pid) && !dat_hides(b->trace->dat, b->data->name, pid);
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

static void find_starts(const struct spur_trace *t, struct walk_runners *r)
{
	uint64_t ts;

	r->start = UINT64_MAX;
	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];

		r->first[i] = UINT64_MAX;
		for (uint32_t k = 0; !b->data->text && k < b->data->nr_cpus; k++)
			if (first_record(b, &b->data->cpus[k], NULL, &ts) && ts < r->first[i])
				r->first[i] = ts;
		r->start = r->first[i] < r->start ? r->first[i] : r->start;
	}
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

/* Everything that is kept by lane or by buffer; false without memory. */
static bool make_places(struct walk *w, struct walk_runners *r)
{
	const uint32_t lanes = w->merge.nr + 1, buffers = w->trace->nr_buffers + 1;

	r->on = calloc(lanes, sizeof(*r->on));
	r->begun = calloc(lanes, sizeof(*r->begun));
	r->switches = calloc(buffers, sizeof(*r->switches));
	r->lost_from = calloc(buffers, sizeof(*r->lost_from));
	r->first = calloc(buffers, sizeof(*r->first));
	r->watches = calloc(buffers, sizeof(*r->watches));
	w->max_evidence = MAX_EVIDENCE * buffers;
	w->evidence = calloc(w->max_evidence, sizeof(*w->evidence));
	return r->on && r->begun && r->switches && r->lost_from && r->first && r->watches &&
	       w->evidence;
}

static void bind_buffer(struct walk *w, uint32_t buffer)
{
	const struct dat *d = w->trace->dat;
	struct lane_watch *watch = &w->runners->watches[buffer];
	struct trace_buffer *b = &w->trace->buffers[buffer];

	*watch = w->runners->watch;
	watch->shared = walk_shares(w, buffer);
	watch->filtered = dat_filtered(d, b->data->name, "sched:sched_switch");
	watch->follows = follows;
	watch->follows_arg = b;
	watch->unsure = d->followed.is ? UINT64_MAX : d->hidden.bits;
}

int walk_want_evidence(struct walk *w, struct spur_error *err)
{
	const struct event_common *common = &w->trace->events->common;
	struct walk_runners *r;

	if (w->runners || !common->has_pid || common->pid.size != sizeof(int32_t))
		return 0;
	r = w->runners = calloc(1, sizeof(*r));
	if (r)
		bind_watch(r, w->trace->events);
	if (!r || !make_places(w, r) || find_switches(w, r) < 0 || walk_find_shared(w) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	find_starts(w->trace, r);
	for (uint32_t i = 0; i < w->trace->nr_buffers; i++)
		bind_buffer(w, i);
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
	free(r->first);
	free(r->watches);
	free(r->sight);
	free(r);
	w->runners = NULL;
	free(w->evidence);
	w->evidence = NULL;
}

void walk_watch_lane(struct walk *w, struct lane *l)
{
	struct walk_runners *r = w->runners;
	const uint32_t buffer = l->buffer->index;

	if (r->switches[buffer] || r->watches[buffer].shared)
		l->watch = &r->watches[buffer];
}

static void add(struct walk *w, const struct lane *l, struct walk_evidence e)
{
	e.buffer = l->buffer->index;
	e.cpu = l->cpu->cpu;
	if (w->nr_evidence < w->max_evidence)
		w->evidence[w->nr_evidence++] = e;
}

void walk_note_gone(struct walk *w, const struct lane *of, int32_t pid, uint64_t ts)
{
	add(w, of, (struct walk_evidence){.pid = pid, .ts = ts, .gone = true});
}

/* A task was seen on a lane's CPU, so it has left the CPU of another lane. */
static void leave(struct walk *w, struct lane *from, const struct lane *l, int32_t pid, uint64_t ts)
{
	const struct walk_runners *r = w->runners;

	if (from->watch->shared) {
		walk_note_gone(w, from, pid, r->sight[from->index].proof);
		return;
	}
	/* Of records of the same time, those of the lane added first come first. */
	lane_doubt_runner(from, from->index > l->index ? ts : ts + 1);
	merge_went_back(&w->merge, from->index);
	walk_note_gone(w, from, pid, lane_proof(from));
}

void walk_leave_others(struct walk *w, const struct lane *l, int32_t pid, uint64_t ts)
{
	struct walk_runners *r = w->runners;
	const uint64_t key = (uint64_t)l->buffer->index << 32 | (uint32_t)pid;
	const uintptr_t was = (uintptr_t)map_get(&r->lanes, key);
	struct lane *from;

	if (!pid || was == l->index + 1)
		return;
	from = was ? &w->merge.lanes[was - 1] : NULL;
	if (from && r->on[from->index].known && r->on[from->index].pid == pid) {
		leave(w, from, l, pid, ts);
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
static uint64_t since_when(const struct walk *w, const struct lane *of, const struct walk_proof *p)
{
	const struct walk_runners *r = w->runners;
	const struct events *ev = w->trace->events;
	const struct spur_record *rec = &p->record->rec;
	const uint64_t lost = r->lost_from[of->buffer->index];
	const uint64_t last = lost > p->last ? lost : p->last;
	uint64_t ran, ts = rec->ts;

	if (!r->accounting || !p->last || p->after_loss ||
	    events_of_record(ev, rec) != r->accounting ||
	    record_uint(ev, rec, r->accounted_offset, sizeof(int32_t)) != (uint32_t)p->pid)
		return ts;
	ran = record_uint(ev, rec, r->runtime_offset, sizeof(uint64_t));
	ran = ran < WALK_REACH ? ran : WALK_REACH;
	ts = ran < ts ? ts - ran : 0;
	return ts > last ? ts : last;
}

void walk_note_seen(struct walk *w, const struct lane *of, const struct walk_proof *p)
{
	const uint64_t ts = p->record->rec.ts;

	walk_leave_others(w, of, p->pid, ts);
	add(w, of,
	    (struct walk_evidence){.pid = p->pid,
				   .ts = p->other ? since_when(w, of, p) : ts,
				   .last = p->last,
				   .continues = !p->other});
}

void walk_note_evidence(struct walk *w, struct lane *l)
{
	struct walk_runners *r = w->runners;

	if (__builtin_expect(r->sight && l->watch->shared, 0)) {
		walk_note_shared(w, l);
		return;
	}
	if (__builtin_expect(l->other || !r->begun[l->index], 0)) {
		r->begun[l->index] = true;
		walk_note_seen(w, l,
			       &(struct walk_proof){.record = l,
						    .pid = l->pid,
						    .last = lane_proof(l),
						    .other = l->other,
						    .after_loss = l->gap});
	}
	r->on[l->index] = l->runner;
	if (l->runner.pid && l->runner.pid != l->pid && l->runner.known)
		walk_leave_others(w, l, l->runner.pid, l->rec.ts);
}

/* ---- CPUs of which nothing is known at the start ---- */

/* By CPU of a buffer: whether what it did before its first record is known. NULL without memory. */
static bool *known_at_start(const struct walk *w, const struct trace_buffer *b, uint32_t nr)
{
	bool *known = calloc((size_t)nr + 1, sizeof(*known));

	for (uint32_t i = 0; known && i < w->merge.nr; i++) {
		const struct lane *l = &w->merge.lanes[i];

		if (l->buffer == b && !l->ended && !l->gap && l->watch &&
		    !w->trace->dat->followed.is && !l->watch->filtered)
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

	for (uint32_t i = 0; i < w->merge.nr; i++) {
		struct lane *l = &w->merge.lanes[i];

		lane_forget_runner(l);
		lane_seek_before(l, from, l->nr_pages / 2);
	}
	merge_start(&w->merge);
	while (merge_first(&w->merge) && merge_first(&w->merge)->rec.ts < w->opt.since) {
		merge_next(&w->merge);
		if (w->merge.current->changes)
			walk_note_evidence(w, w->merge.current);
	}
	for (uint32_t i = 0; i < w->merge.nr; i++) {
		struct lane *l = &w->merge.lanes[i];

		lane_filter_from(l, w->all ? NULL : &w->filter);
		if (l->watch && !l->watch->shared) {
			l->changes = l->wrote;
			l->announce = !l->wrote;
		}
		w->runners->begun[i] = false;
	}
	merge_restart(&w->merge);
}
