// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Evidence of who runs.
 *
 * A record proves that its task was running on its CPU. If every switch was recorded, this follows
 * from the switches. Otherwise a switch is missing: it was lost, filtered or hidden by the kernel.
 * Lanes notice that for their own CPU (struct lane_watch). A task runs on one CPU at a time: when
 * it is seen on a CPU, it has left the previous one. Evidence depends only on the records, not on
 * which of them are wanted.
 */
#include "table/evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dat/dat.h"
#include "table/sched/events.h"

#define MAX_PIDS (1u << 20) /* tasks whose lane is stored; a file may name any number */

/* ---- what can be known of a trace ---- */

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

/* The size that a record of a switch must have; UINT32_MAX if the offsets make no sense. */
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

/* Whether a CPU has a record that the filter wants, and the time of the first one. */
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
 * If no switches were recorded at all, their absence between two records says nothing, so such
 * buffers have no evidence. In nearly every trace the first switch is near the start.
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

/* The first buffer with the clock of this one: their records may be compared. */
static uint32_t family_of(const struct spur_trace *t, uint32_t buffer)
{
	const char *clock = t->buffers[buffer].data->clock;
	uint32_t i = 0;

	while (i < buffer &&
	       (t->buffers[i].data->text || strcmp(t->buffers[i].data->clock, clock) != 0))
		i++;
	return i;
}

/* Links the lanes of each CPU that are of one family to a ring. -ENOMEM. */
static int link_lanes(struct walk *w, struct walk_sight *sight)
{
	struct map last = {0};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < w->scan.nr; i++) {
		const struct lane *l = &w->scan.lanes[i];
		const uint64_t key =
			(uint64_t)family_of(w->trace, l->buffer->index) << 32 | l->cpu->cpu;
		const uintptr_t before = (uintptr_t)map_get(&last, key);

		sight[i].next = i;
		if (before) {
			sight[i].next = sight[before - 1].next;
			sight[before - 1].next = i;
		}
		if (!map_set(&last, key, (void *)(uintptr_t)(i + 1)))
			rc = -ENOMEM;
	}
	map_free(&last);
	return rc;
}

/* Whether a buffer that has switches has the clock of another one. */
static bool any_shared(const struct walk *w)
{
	const struct spur_trace *t = w->trace;
	bool any = false;

	for (uint32_t i = 0; i < t->nr_buffers; i++)
		for (uint32_t k = 0; w->runners->switches[i] && k < t->nr_buffers; k++)
			any |= k != i && !t->buffers[k].data->text &&
			       family_of(t, i) == family_of(t, k);
	return any;
}

/* Called when it is known which buffers have switches. 0 or -ENOMEM. */
static int find_shared(struct walk *w)
{
	struct walk_runners *r = w->runners;

	if (w->trace->nr_buffers < 2 || !any_shared(w))
		return 0;
	r->sight = calloc(w->scan.nr + 1, sizeof(*r->sight));
	return r->sight ? link_lanes(w, r->sight) : -ENOMEM;
}

/*
 * Whether a buffer shares its clock with others, one of which has switches. The lanes of a buffer
 * with another clock are not shared even if those of the others are.
 */
static bool shares(const struct walk *w, uint32_t buffer)
{
	const struct spur_trace *t = w->trace;
	const uint32_t family = family_of(t, buffer);
	bool switches = false;
	uint32_t n = 0;

	for (uint32_t i = 0; w->runners->sight && i < t->nr_buffers; i++)
		if (!t->buffers[i].data->text && family_of(t, i) == family) {
			switches |= w->runners->switches[i];
			n++;
		}
	return switches && n > 1;
}

/* Allocates the state of lanes and buffers; false without memory. */
static bool make_places(struct walk *w, struct walk_runners *r)
{
	const uint32_t lanes = w->scan.nr + 1, buffers = w->trace->nr_buffers + 1;

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
	watch->shared = shares(w, buffer);
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
	if (!r || !make_places(w, r) || find_switches(w, r) < 0 || find_shared(w) < 0)
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

/* ---- what a record proves ---- */

/* A record that shows a task on a CPU. */
struct proof {
	const struct lane *record; /* that stands on it, of any buffer */
	int32_t pid;
	uint64_t last;	 /* time of the previous record, 0: there is none */
	bool other;	 /* the task was not known to run */
	bool after_loss; /* records between the two were lost */
};

static void add(struct walk *w, const struct lane *l, struct walk_evidence e)
{
	e.buffer = l->buffer->index;
	e.cpu = l->cpu->cpu;
	if (w->nr_evidence < w->max_evidence)
		w->evidence[w->nr_evidence++] = e;
}

/* Reports that the lane's CPU is unknown after the last proof of a task. */
static void note_gone(struct walk *w, const struct lane *of, int32_t pid, uint64_t ts)
{
	add(w, of, (struct walk_evidence){.pid = pid, .ts = ts, .gone = true});
}

/* A task was seen on a lane's CPU, so it has left the CPU of another lane. */
static void leave(struct walk *w, struct lane *from, const struct lane *l, int32_t pid, uint64_t ts)
{
	const struct walk_runners *r = w->runners;

	if (from->watch->shared) {
		note_gone(w, from, pid, r->sight[from->index].proof);
		return;
	}
	/* If records have the same time, those of the lane that was added first come first. */
	lane_doubt_runner(from, from->index > l->index ? ts : ts + 1);
	scan_went_back(&w->scan, from->index);
	note_gone(w, from, pid, lane_proof(from));
}

/* The task is on a lane other than before, or is seen for the first time. */
static void change_lane(struct walk *w, const struct lane *l, int32_t pid, uint64_t ts,
			uint64_t key)
{
	struct walk_runners *r = w->runners;
	const uintptr_t was = (uintptr_t)map_get(&r->lanes, key);
	struct lane *from;

	if (was == l->index + 1)
		return;
	from = was ? &w->scan.lanes[was - 1] : NULL;
	if (from && r->on[from->index].known && r->on[from->index].pid == pid) {
		leave(w, from, l, pid, ts);
		r->on[from->index].known = false;
	}
	if (r->lanes.n >= MAX_PIDS)
		map_free(&r->lanes);
	map_set(&r->lanes, key, (void *)(uintptr_t)(l->index + 1));
}

/* The task runs on the lane's CPU from ts on, so it has left other CPUs. */
static inline void leave_others(struct walk *w, const struct lane *l, int32_t pid, uint64_t ts)
{
	struct walk_runners *r = w->runners;
	const uint64_t key = (uint64_t)l->buffer->index << 32 | (uint32_t)pid;
	const uint32_t at = (uint32_t)pid % WALK_RECENT;

	if (!pid || (r->recent[at].key == key && r->recent[at].lane == l->index + 1))
		return;
	change_lane(w, l, pid, ts, key);
	r->recent[at].key = key;
	r->recent[at].lane = l->index + 1;
}

/*
 * The begin of the last loss before ts on any CPU of the buffer, or of the part that was cut off.
 */
static uint64_t lost_before(const struct walk *w, const struct trace_buffer *b, uint64_t ts)
{
	uint64_t lost = w->runners->lost_from[b->index];

	for (uint32_t i = 0; w->trace->dat->cut.nr && i < w->scan.nr; i++) {
		const struct lane *l = &w->scan.lanes[i];

		if (l->buffer == b && l->ended && lane_end(l) < ts && lane_end(l) > lost &&
		    dat_cut_lacks_end(w->trace->dat, b->data, l->cpu->cpu))
			lost = lane_end(l);
	}
	return lost;
}

/*
 * Since when the writer of a record has had the CPU, which the kernel's accounting may show. Not
 * before the last loss on any CPU: rows up to a loss are complete and do not change.
 */
static uint64_t since_when(const struct walk *w, const struct lane *of, const struct proof *p)
{
	const struct walk_runners *r = w->runners;
	const struct events *ev = w->trace->events;
	const struct spur_record *rec = &p->record->rec;
	uint64_t ran, lost, last, ts = rec->ts;

	if (!r->accounting || !p->last || p->after_loss ||
	    events_of_record(ev, rec) != r->accounting ||
	    record_uint(ev, rec, r->accounted_offset, sizeof(int32_t)) != (uint32_t)p->pid)
		return ts;
	ran = record_uint(ev, rec, r->runtime_offset, sizeof(uint64_t));
	ran = ran < WALK_REACH ? ran : WALK_REACH;
	lost = lost_before(w, of->buffer, ts);
	last = lost > p->last ? lost : p->last;
	ts = ran < ts ? ts - ran : 0;
	return ts > last ? ts : last;
}

/* Reports to the buffer of a lane what a proof says about the lane's CPU. */
static void note_seen(struct walk *w, const struct lane *of, const struct proof *p)
{
	const uint64_t ts = p->record->rec.ts;

	leave_others(w, of, p->pid, ts);
	add(w, of,
	    (struct walk_evidence){.pid = p->pid,
				   .ts = p->other ? since_when(w, of, p) : ts,
				   .last = p->last,
				   .continues = !p->other});
}

/* ---- records of buffers that share a clock ---- */

/*
 * A record is also evidence for the other buffers of its file that have the same clock, because
 * they describe the same CPUs. Lanes of such buffers are `shared`. They show every record, and who
 * runs is followed here, in order of time, once for each buffer that has switches: `on` and `sight`
 * are those of its lanes.
 *
 * The switches of a buffer say what happened between two proofs. So records of other buffers count
 * only where all of its switches on the CPU are there:
 * - from its first record on any CPU on: before that, it may not have been recorded yet;
 * - not where the buffer has no records of the CPU at all, or lost some;
 * - after its last record on any CPU, one that contradicts it shows that it was not recorded any
 *   more: what follows is unknown.
 * A record of the same time as one of the buffer's own on the CPU says nothing, either: which came
 * first is not known. What other buffers lost does not matter.
 */

/* A record as its own buffer sees it, or another one. */
struct seen {
	const struct lane *lane; /* which stands on it */
	int32_t pid;		 /* who wrote it */
	bool own;
	bool switched; /* it is a switch of the buffer's own … */
	int32_t next;  /* … to this task; otherwise who wrote it */
};

/* Whether a record of another buffer is evidence for a lane's CPU. */
static bool counts(const struct walk *w, const struct lane *of, const struct lane *l)
{
	const struct walk_runners *r = w->runners;
	const struct walk_sight *s = &r->sight[of->index];
	const uint64_t ts = l->rec.ts;

	if (of->gap || ts < r->first[of->buffer->index] || (s->any && s->own == ts))
		return false;
	if (!of->ended)
		return of->rec.ts != ts;
	/* If the last pages of a lane are not read, it has not come to its end. */
	return w->opt.last_page ||
	       (s->any && !dat_cut_lacks_end(w->trace->dat, of->buffer->data, of->cpu->cpu));
}

/* Whether no record of the buffer will come. */
static bool is_over(const struct walk *w, const struct trace_buffer *b)
{
	for (uint32_t i = 0; i < w->scan.nr; i++)
		if (w->scan.lanes[i].buffer == b && !w->scan.lanes[i].ended)
			return false;
	return !w->opt.last_page;
}

/* The rest of a buffer's switch; another buffer may have recorded the switch itself a bit later. */
static bool is_rest(const struct walk *w, const struct lane *of, const struct seen *e)
{
	const struct walk_runners *r = w->runners;
	const struct walk_sight *s = &r->sight[of->index];
	const struct spur_record *rec = &e->lane->rec;
	uint64_t type;

	if (e->switched || !s->switched || s->left != e->pid || r->on[of->index].pid == e->pid)
		return false;
	type = record_uint(w->trace->events, rec, r->watch.type_offset, r->watch.type_size);
	return type == r->watch.switch_id ||
	       lane_rest_of_switch(of->watch, type, rec->data, rec->size);
}

/*
 * A record shows that a task runs on a lane's CPU. Returns whether that is evidence for the lane's
 * buffer.
 */
static bool see(struct walk *w, const struct lane *of, const struct seen *e)
{
	struct walk_runners *r = w->runners;
	struct walk_sight *s = &r->sight[of->index];
	struct lane_runner *on = &r->on[of->index];
	const bool hidden = of->watch->filtered && !e->switched;
	const uint64_t last = s->proof;
	bool other, known;

	if (hidden || (!e->own && !counts(w, of, e->lane)) || is_rest(w, of, e))
		return false;
	s->proof = e->lane->rec.ts;
	other = !on->known || on->pid != e->pid;
	known = !of->watch->filtered && lane_follows(of->watch, e->next);
	if (other || !r->begun[of->index])
		note_seen(w, of,
			  &(struct proof){.record = e->lane,
					  .pid = e->pid,
					  .last = last,
					  .other = other,
					  .after_loss = e->own && e->lane->gap});
	r->begun[of->index] = true;
	*on = (struct lane_runner){.known = known, .pid = e->next};
	s->switched = e->switched;
	s->left = e->pid;
	if (e->own || (known && !(other && is_over(w, of->buffer))))
		return true;
	on->known = false;
	note_gone(w, of, e->pid, s->proof);
	return true;
}

/* For the lane's own buffer, with the same result as that of a lane which is not shared. */
static void see_own(struct walk *w, struct lane *l, int32_t pid)
{
	struct walk_runners *r = w->runners;
	const struct lane_watch *watch = &r->watch;
	const struct events *ev = w->trace->events;
	const uint64_t type = record_uint(ev, &l->rec, watch->type_offset, watch->type_size);
	struct walk_sight *s = &r->sight[l->index];
	struct seen e = {.lane = l, .pid = pid, .own = true, .next = pid};

	e.switched = type == watch->switch_id && l->rec.size >= watch->switch_size;
	if (e.switched) {
		e.pid = (int32_t)record_uint(ev, &l->rec, watch->prev_offset, sizeof(int32_t));
		e.next = (int32_t)record_uint(ev, &l->rec, watch->next_offset, sizeof(int32_t));
	}
	if (l->gap)
		r->on[l->index].known = s->switched = false;
	s->any = true;
	s->own = l->rec.ts;
	l->wrote = see(w, l, &e);
	l->pid = e.pid;
	l->runner = r->on[l->index];
	l->changes = l->wrote && (!l->runner.known || e.next != e.pid);
	if (l->wrote && l->runner.known && e.next != e.pid)
		leave_others(w, l, e.next, l->rec.ts);
}

/* The same as walk_note_evidence() for a lane that is shared. */
static void note_shared(struct walk *w, struct lane *l)
{
	const struct walk_runners *r = w->runners;
	const int32_t pid = (int32_t)record_uint(w->trace->events, &l->rec, r->watch.pid_offset,
						 sizeof(int32_t));
	const struct seen e = {.lane = l, .pid = pid, .next = pid};

	for (uint32_t i = r->sight[l->index].next; i != l->index; i = r->sight[i].next)
		if (r->switches[w->scan.lanes[i].buffer->index])
			see(w, &w->scan.lanes[i], &e);
	if (r->switches[l->buffer->index])
		see_own(w, l, pid);
	else
		l->wrote = l->changes = false;
}

void walk_note_evidence(struct walk *w, struct lane *l)
{
	struct walk_runners *r = w->runners;

	if (__builtin_expect(r->sight && l->watch->shared, 0)) {
		note_shared(w, l);
		return;
	}
	if (__builtin_expect(l->other || !r->begun[l->index], 0)) {
		r->begun[l->index] = true;
		note_seen(w, l,
			  &(struct proof){.record = l,
					  .pid = l->pid,
					  .last = lane_proof(l),
					  .other = l->other,
					  .after_loss = l->gap});
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

	for (uint32_t i = 0; known && i < w->scan.nr; i++) {
		const struct lane *l = &w->scan.lanes[i];

		if (l->buffer == b && !l->ended && !l->gap && l->watch &&
		    !w->trace->dat->followed.is && !l->watch->filtered)
			known[l->cpu->cpu] = true;
	}
	return known;
}

static bool has_records(const struct walk *w, const struct trace_buffer *b, uint32_t cpu)
{
	for (uint32_t i = 0; i < w->scan.nr; i++) {
		const struct lane *l = &w->scan.lanes[i];

		if (l->buffer == b && l->cpu->cpu == cpu)
			return !l->ended;
	}
	return false;
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
								  .silent = true,
								  .absent = !has_records(w, b, k)});
		free(known);
	}
}

/* ---- ranges ---- */

/* The time of the last record before the range that proves who runs on the CPU, or `none`. */
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
 * The last record before the range shows who runs on a CPU when the range begins, unless the task
 * was seen elsewhere since. So reading begins with the earliest of these last records.
 */
static uint64_t where_to_begin(struct walk *w)
{
	uint64_t from = w->opt.since;

	for (uint32_t i = 0; i < w->scan.nr; i++) {
		struct lane *l = &w->scan.lanes[i];

		l->filter = NULL;
		if (l->watch)
			from = last_shown(w, l, from);
	}
	return from;
}

void walk_start_in_range(struct walk *w)
{
	const uint64_t from = where_to_begin(w);

	for (uint32_t i = 0; i < w->scan.nr; i++) {
		struct lane *l = &w->scan.lanes[i];

		lane_forget_runner(l);
		lane_seek_before(l, from, l->nr_pages / 2);
	}
	scan_start(&w->scan);
	while (scan_first(&w->scan) && scan_first(&w->scan)->rec.ts < w->opt.since) {
		scan_next(&w->scan);
		if (w->scan.current->changes)
			walk_note_evidence(w, w->scan.current);
	}
	for (uint32_t i = 0; i < w->scan.nr; i++) {
		struct lane *l = &w->scan.lanes[i];

		lane_filter_from(l, w->all ? NULL : &w->filter);
		if (l->watch && !l->watch->shared) {
			l->changes = l->wrote;
			l->announce = !l->wrote;
		}
		w->runners->begun[i] = false;
	}
	scan_restart(&w->scan);
}
