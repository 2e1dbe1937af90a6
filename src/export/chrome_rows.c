// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of the analyses as slices, and wakeups as arrows from one to another. */
#include "export/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/vec.h"
#include "export/reader.h"
#include "table/calls.h"
#include "table/overview.h"
#include "table/sched.h"
#include "table/spans.h"
#include "table/stacks.h"

/* ---- members of slices ---------------------------------------------------------------- */

static void slice(struct chrome *c, const char *name, uint64_t ts, int64_t dur, uint64_t pid,
		  uint64_t tid, const char *category)
{
	chrome_begin(c, name, strlen(name), 'X', ts, pid, tid);
	chrome_duration(c, dur);
	json_put_text(json_key(c->json, "cat"), category);
	json_object(json_key(c->json, "args"));
}

/* A moment in a thread. */
static void moment(struct chrome *c, const char *name, uint64_t ts, uint64_t pid, uint64_t tid,
		   const char *category)
{
	chrome_begin(c, name, strlen(name), 'i', ts, pid, tid);
	json_put_text(json_key(c->json, "s"), "t");
	json_put_text(json_key(c->json, "cat"), category);
	json_object(json_key(c->json, "args"));
}

static void arg_number(struct chrome *c, const char *name, int64_t v)
{
	if (v != ROW_NULL)
		chrome_number(json_key(c->json, name), v, true);
}

static void arg_text(struct chrome *c, const char *name, const char *text)
{
	if (text && *text)
		json_put_text(json_key(c->json, name), text);
}

static void finish(struct chrome *c, enum row_open open, const char *buffer)
{
	arg_text(c, "open", row_open_names[open]);
	arg_text(c, "buffer", buffer);
	json_end_object(c->json);
	chrome_end(c);
}

/* ---- calls ---------------------------------------------------------------------------- */

/*
 * Slices are nested. A row has the kernel's own times, so a call and the next one may overlap by
 * the time that recording takes. A reader that sorts slices by time would nest the next call in the
 * first. So a call that has ended waits until the next one in its thread begins, and is cut there;
 * a cut call has its own times as arguments. Each thread stores its open calls, and the nested
 * calls that have ended last.
 */

#define MOST_OPEN 4096 /* open calls of a thread */

struct open_call {
	int64_t id;
	uint64_t ts; /* as it will be written */
};

struct ended_call {
	struct call_row row;
	uint64_t ts, end;
};

struct call_lane {
	uint64_t pid, tid;
	struct {
		struct open_call *at;
		size_t n, cap;
	} open;
	struct {
		struct ended_call *at;
		size_t n, cap;
	} ended;
};

static void put_call(struct chrome *c, const struct call_lane *l, const struct ended_call *e)
{
	const struct call_row *r = &e->row;
	const int64_t dur = (int64_t)(e->end - e->ts);

	slice(c, r->func ? r->func : "?", e->ts, dur, l->pid, l->tid, "call");
	json_put_i64(json_key(c->json, "id"), r->id);
	if (e->ts != r->ts)
		chrome_time(json_key(c->json, "ts_us"), (int64_t)(r->ts - c->start));
	if (r->dur > 0 && dur != r->dur)
		chrome_time(json_key(c->json, "dur_us"), r->dur);
	arg_number(c, "depth", r->depth);
	arg_number(c, "self", r->self);
	arg_number(c, "retval", r->retval);
	arg_number(c, "cpu", r->cpu);
	finish(c, r->open, r->buffer);
}

/* NULL beyond the limit. */
static struct call_lane *lane_of(struct chrome *c, uint64_t pid, uint64_t tid)
{
	struct call_lane *l = slots_get(&c->lanes, pid << 20 ^ tid), **slot;

	if (!l || l->tid)
		return l;
	slot = vec_push(&c->all_lanes);
	if (!slot) {
		c->failed = -ENOMEM;
		return NULL;
	}
	*slot = l;
	l->pid = pid;
	l->tid = tid;
	return l;
}

/* Writes the calls that have ended, because another one begins at that time. */
static void write_ended(struct chrome *c, struct call_lane *l, uint64_t until)
{
	vec_each (e, &l->ended) {
		e->end = e->end < until ? e->end : until;
		e->end = e->end > e->ts ? e->end : e->ts;
		put_call(c, l, e);
	}
	l->ended.n = 0;
}

static void begins(struct chrome *c, struct call_lane *l, const struct call_row *row)
{
	const uint64_t floor = l->open.n ? l->open.at[l->open.n - 1].ts : 0;
	struct open_call *o;

	write_ended(c, l, row->ts);
	o = l->open.n < MOST_OPEN ? vec_push(&l->open) : NULL;
	if (o)
		*o = (struct open_call){row->id, row->ts > floor ? row->ts : floor};
}

/* Returns the begin of the call that ends now, and removes it and its callees. */
static uint64_t began(struct call_lane *l, const struct call_row *row)
{
	size_t i = l->open.n;

	while (i && l->open.at[i - 1].id != row->id)
		i--;
	if (!i)
		return row->ts;
	l->open.n = i - 1;
	return l->open.at[i - 1].ts;
}

static void ends(struct chrome *c, struct call_lane *l, const struct call_row *row)
{
	const uint64_t ts = began(l, row);
	const uint64_t dur = row->dur > 0 ? (uint64_t)row->dur : 0;
	uint64_t end = row->ts + dur > ts ? row->ts + dur : ts;
	struct ended_call *e;

	/* A call of which only the end is known begins after the previous ones. */
	if (row->phase == CALL_ONLY_END && l->ended.n && l->ended.at[0].ts < ts)
		write_ended(c, l, ts);
	vec_each (inner, &l->ended)
		end = inner->ts > end ? inner->ts : end;
	vec_each (inner, &l->ended)
		inner->end = inner->end < end ? inner->end : end;
	if (l->ended.n >= MOST_OPEN)
		write_ended(c, l, end);
	e = vec_push(&l->ended);
	if (!e) {
		c->failed = -ENOMEM;
		return;
	}
	*e = (struct ended_call){*row, ts, end};
	/* The row's name is freed after reading. */
	if (row->func)
		e->row.func = intern_text(&c->texts, row->func, strlen(row->func));
}

/* Without memory for its thread, a call is written with its own times. */
static void put_alone(struct chrome *c, uint64_t pid, uint64_t tid, const struct call_row *row)
{
	const struct call_lane lane = {.pid = pid, .tid = tid};
	const uint64_t dur = row->dur > 0 ? (uint64_t)row->dur : 0;

	if (row->phase != CALL_BEGINS)
		put_call(c, &lane, &(struct ended_call){*row, row->ts, row->ts + dur});
}

static void take_call(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct call_row *r = row;
	uint64_t tid, pid = chrome_task(c, r->pid, r->comm, TASK_CALLS, r->buffer, r->cpu, &tid);
	struct call_lane *l = lane_of(c, pid, tid);

	if (!l)
		put_alone(c, pid, tid, r);
	else if (r->phase == CALL_BEGINS)
		begins(c, l, r);
	else
		ends(c, l, r);
}

void chrome_calls_end(struct chrome *c)
{
	for (size_t i = 0; i < c->all_lanes.n; i++)
		write_ended(c, c->all_lanes.at[i], UINT64_MAX);
}

void chrome_calls_free(struct chrome *c)
{
	for (size_t i = 0; i < c->all_lanes.n; i++) {
		vec_free(&c->all_lanes.at[i]->open);
		vec_free(&c->all_lanes.at[i]->ended);
	}
	vec_free(&c->all_lanes);
	slots_free(&c->lanes);
}

const size_t chrome_lane_size = sizeof(struct call_lane);

/* ---- other rows ----------------------------------------------------------------------- */

static void take_slice(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct slice_row *s = row;
	char name[96];

	/* The idle task is a gap. */
	if (!s->pid)
		return;
	if (s->pid == ROW_NULL)
		snprintf(name, sizeof(name), "unknown");
	else
		snprintf(name, sizeof(name), "%s %" PRId64, s->comm ? s->comm : "", s->pid);
	slice(c, name, s->ts, s->dur, chrome_place(c, PLACE_CPUS, s->buffer, (uint32_t)s->cpu),
	      (uint64_t)s->cpu, "sched");
	arg_number(c, "pid", s->pid);
	arg_text(c, "comm", s->comm);
	arg_number(c, "prio", s->prio);
	arg_text(c, "end_state", s->end_state);
	finish(c, s->open, s->buffer);
}

static void take_state(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct state_row *s = row;
	uint64_t tid, pid;

	if (!s->pid)
		return;
	pid = chrome_task(c, s->pid, s->comm, TASK_STATES, s->buffer, -1, &tid);
	slice(c, run_state_names[s->state], s->ts, s->dur, pid, tid, "state");
	arg_text(c, "reason", s->reason);
	arg_number(c, "cpu", s->cpu);
	arg_number(c, "waker", s->waker);
	finish(c, s->open, s->buffer);
}

static void take_irq(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct irq_row *i = row;
	char name[32];

	snprintf(name, sizeof(name), "irq %" PRId64, i->irq);
	slice(c, i->name ? i->name : name, i->ts, i->dur,
	      chrome_place(c, PLACE_INTERRUPTS, i->buffer, (uint32_t)i->cpu), (uint64_t)i->cpu,
	      "irq");
	arg_number(c, "irq", i->irq);
	arg_number(c, "handled", i->handled);
	arg_number(c, "pid", i->pid);
	finish(c, i->open, i->buffer);
}

static void take_softirq(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct softirq_row *s = row;

	slice(c, s->name ? s->name : "softirq", s->ts, s->dur,
	      chrome_place(c, PLACE_SOFTIRQS, s->buffer, (uint32_t)s->cpu), (uint64_t)s->cpu,
	      "softirq");
	arg_number(c, "vec", s->vec);
	arg_number(c, "latency", s->latency);
	arg_number(c, "pid", s->pid);
	finish(c, s->open, s->buffer);
}

static void take_syscall(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct syscall_row *s = row;
	char name[32];
	uint64_t tid, pid = chrome_task(c, s->pid, s->comm, TASK_SYSCALLS, s->buffer, s->cpu, &tid);

	snprintf(name, sizeof(name), "system call %" PRId64, s->nr);
	slice(c, s->name ? s->name : name, s->ts, s->dur, pid, tid, "syscall");
	arg_number(c, "nr", s->nr);
	arg_text(c, "args", s->args);
	arg_number(c, "ret", s->ret);
	arg_text(c, "error", s->error);
	arg_number(c, "cpu", s->cpu);
	finish(c, s->open, s->buffer);
}

/* An arrow from the waker to the run of the woken task. */
static void take_wakeup(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct wakeup_row *w = row;
	uint64_t pid, tid;

	if (w->latency == ROW_NULL || w->latency < 0 || !w->pid || !w->waker_pid)
		return;
	++*c->flows;
	pid = chrome_task(c, w->waker_pid, w->waker_comm, TASK_STATES, w->buffer, -1, &tid);
	chrome_begin(c, "wakeup", strlen("wakeup"), 's', w->ts, pid, tid);
	json_put_text(json_key(c->json, "cat"), "wakeup");
	json_put_u64(json_key(c->json, "id"), *c->flows);
	chrome_end(c);
	pid = chrome_task(c, w->pid, w->comm, TASK_STATES, w->buffer, -1, &tid);
	chrome_begin(c, "wakeup", strlen("wakeup"), 'f', w->ts + (uint64_t)w->latency, pid, tid);
	json_put_text(json_key(c->json, "cat"), "wakeup");
	json_put_text(json_key(c->json, "bp"), "e");
	json_put_u64(json_key(c->json, "id"), *c->flows);
	chrome_end(c);
}

static void take_sample(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct sample_row *s = row;
	uint64_t tid, pid = chrome_task(c, s->pid, s->comm, TASK_EVENTS, s->buffer, s->cpu, &tid);

	moment(c, "stack", s->ts, pid, tid, "stack");
	arg_number(c, "cpu", s->cpu);
	arg_text(c, "event", s->event);
	arg_text(c, "stack", s->stack);
	finish(c, ROW_WHOLE, s->buffer);
}

static void take_loss(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct lost_row *l = row;

	moment(c, "lost events", l->ts, chrome_place(c, PLACE_CPUS, l->buffer, (uint32_t)l->cpu),
	       (uint64_t)l->cpu, "lost");
	arg_number(c, "events", l->events);
	finish(c, ROW_WHOLE, l->buffer);
}

const struct export_table chrome_tables[] = {
	{&slices_table, take_slice},	 {&states_table, take_state},
	{&irqs_table, take_irq},	 {&softirqs_table, take_softirq},
	{&syscalls_table, take_syscall}, {&calls_both_table, take_call},
	{&wakeups_table, take_wakeup},	 {&samples_table, take_sample},
	{&lost_table, take_loss},
};
const size_t chrome_nr_tables = ARRAY_SIZE(chrome_tables);
