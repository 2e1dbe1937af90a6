// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of functions as slices that lie within each other.
 *
 * A row's times are the kernel's own; those of a call and of the next one may overlap by what it
 * takes to record them. A reader of slices sorts them by time only, and would take the next call
 * for one within the first. So a call that has ended is kept until it is known what comes next in
 * its thread, and cut off there; what was cut has its own times as arguments. Of each thread the
 * calls that are open are kept, and the last ones that have ended one around the other.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/calls.h"
#include "base/json.h"
#include "base/vec.h"
#include "export/chrome_parts.h"

#define MOST_OPEN 4096 /* calls of a thread that are watched at a time */

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

static void put_number(struct buf *b, const char *name, int64_t v)
{
	if (v == ROW_NULL)
		return;
	chrome_member(b, name);
	chrome_number(b, v, true);
}

static void put_text(struct buf *b, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	chrome_member(b, name);
	buf_json_string(b, text, strlen(text));
}

static void put_call(struct chrome *c, const struct call_lane *l, const struct ended_call *e)
{
	const struct call_row *r = &e->row;
	const char *name = r->func ? r->func : "?";
	const int64_t dur = (int64_t)(e->end - e->ts);
	struct buf *b = &c->out->buf;

	chrome_begin(c, name, strlen(name), 'X', e->ts, l->pid, l->tid);
	chrome_duration(c, dur);
	buf_puts(b, ",\"cat\":\"call\",\"args\":{\"id\":");
	buf_i64(b, r->id);
	if (e->ts != r->ts) {
		chrome_member(b, "ts_us");
		chrome_time(b, (int64_t)(r->ts - c->start));
	}
	if (r->dur > 0 && dur != r->dur) {
		chrome_member(b, "dur_us");
		chrome_time(b, r->dur);
	}
	put_number(b, "depth", r->depth);
	put_number(b, "self", r->self);
	put_number(b, "retval", r->retval);
	put_number(b, "cpu", r->cpu);
	put_text(b, "open", r->open);
	put_text(b, "buffer", r->buffer);
	buf_putc(b, '}');
	chrome_end(c);
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

/* What has ended is followed by something that begins then. */
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

/* When the call began that ends now; those that it had called are gone with it. */
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

	/* A call of which only the end is known comes behind those before it. */
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
	/* The row's own does not stay when the reading has ended. */
	if (row->func)
		e->row.func = intern_text(&c->texts, row->func, strlen(row->func));
}

/* Without memory for its thread a call is written as it is. */
static void put_alone(struct chrome *c, uint64_t pid, uint64_t tid, const struct call_row *row)
{
	const struct call_lane lane = {.pid = pid, .tid = tid};
	const uint64_t dur = row->dur > 0 ? (uint64_t)row->dur : 0;

	if (row->phase != CALL_BEGINS)
		put_call(c, &lane, &(struct ended_call){*row, row->ts, row->ts + dur});
}

void chrome_call(void *arg, const void *row)
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
