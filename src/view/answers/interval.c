// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals of rows, who woke a task, and the chain of what a task waited for. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "view/answers/interval.h"

#define TEXTS_LIMIT (16u << 20) /* of an answer */
#define MOST_STEPS  200

/* ---- rows and their intervals ---- */

const char *interval_state(uint32_t value)
{
	static const char *const names[] = {
		[VIEW_RUNNABLE] = "runnable", [VIEW_PREEMPTED] = "preempted",
		[VIEW_SLEEPING] = "sleeping", [VIEW_BLOCKED] = "blocked",
		[VIEW_STOPPED] = "stopped",   [VIEW_DEAD] = "dead",
		[VIEW_UNKNOWN] = "unknown",
	};

	return names[view_state_of(value)];
}

bool interval_row(struct view *v, uint32_t file, uint32_t row, struct interval_row *out)
{
	const struct view_file *f = view_file(v, file);

	*out = (struct interval_row){.view = v, .index = f->index, .file = file, .row = row};
	if (!f->index || !view_index_row(f->index, row, &out->info))
		return false;
	out->running = view_row_track(&out->info, VIEW_RUNNING, 0);
	out->state = view_row_track(&out->info, VIEW_STATE, 0);
	return true;
}

static bool covers(const struct view_interval *i, uint64_t ts)
{
	return i->start <= ts && (ts - i->start < i->dur || (!i->dur && ts == i->start));
}

bool interval_at(const struct interval_row *r, int64_t track, uint64_t ts,
		 struct view_interval *out)
{
	if (track < 0)
		return false;
	/* An interval of length 0 may precede another one at the same time. */
	return (view_index_interval(r->index, r->row, (uint32_t)track, ts, -1, out) &&
		covers(out, ts)) ||
	       (view_index_interval(r->index, r->row, (uint32_t)track, ts, 1, out) &&
		covers(out, ts));
}

bool interval_before(const struct interval_row *r, int64_t track, uint64_t ts,
		     struct view_interval *out)
{
	return track >= 0 && ts &&
	       view_index_interval(r->index, r->row, (uint32_t)track, ts - 1, -1, out) &&
	       out->start + out->dur >= ts;
}

bool interval_is_sleep(const struct view_interval *i)
{
	const enum view_state state = view_state_of(i->value);

	return state == VIEW_SLEEPING || state == VIEW_BLOCKED || state == VIEW_STOPPED;
}

void interval_name(const struct interval_row *r, struct buf *out)
{
	const long long number = r->info.number;

	if (r->info.kind == VIEW_TASK_ROW)
		buf_printf(out, "%s-%lld", r->info.name ? r->info.name : "<...>", number);
	else
		buf_printf(out, "CPU %lld", number);
}

uint64_t interval_absolute(const struct interval_row *r, uint64_t ts)
{
	uint64_t sum;

	/* A request may contain any time. */
	return __builtin_add_overflow(ts, view_index_origin(r->index), &sum) ? UINT64_MAX : sum;
}

int64_t interval_relative(const struct interval_row *r, uint64_t ts)
{
	return (int64_t)(interval_absolute(r, ts) - view_origin(r->view));
}

static bool find_waker(const struct interval_row *r, uint64_t ts, int64_t task,
		       const volatile int *stop, struct interval_waker *out)
{
	struct view_wakeup w;

	*out = (struct interval_waker){.ts = ts, .row = -1, .task = task};
	if (out->task >= 0)
		out->row = view_row_number(r->view, r->file, (uint32_t)out->task);
	if (!view_wakeup_at(r->view, r->file, r->info.buffer, r->info.number,
			    interval_absolute(r, ts), stop, &w))
		return out->row >= 0;
	out->has_record = true;
	out->cpu = w.cpu;
	out->in_interrupt = w.in_interrupt;
	if (out->task < 0)
		out->task = view_index_find_task(r->index, r->info.buffer, w.waker);
	if (out->row < 0 && out->task >= 0)
		out->row = view_row_number(r->view, r->file, (uint32_t)out->task);
	/* The idle task has no row, its CPU has. */
	if (out->row < 0)
		out->row = view_cpu_row(r->view, r->file, r->info.buffer, w.cpu);
	return true;
}

bool interval_waker(const struct interval_row *r, const struct view_interval *sleep,
		    const volatile int *stop, struct interval_waker *out)
{
	*out = (struct interval_waker){.row = -1, .task = -1};
	return interval_is_sleep(sleep) && !(sleep->flags & VIEW_OPEN_END) &&
	       find_waker(r, sleep->start + sleep->dur, ENDER_OF(sleep->value), stop, out);
}

bool interval_first_waker(const struct interval_row *r, const struct view_interval *wait,
			  const volatile int *stop, struct interval_waker *out)
{
	struct view_interval before;

	*out = (struct interval_waker){.row = -1, .task = -1};
	if (view_state_of(wait->value) != VIEW_RUNNABLE || wait->flags & VIEW_OPEN_START)
		return false;
	if (interval_before(r, r->running, wait->start, &before) ||
	    (interval_before(r, r->state, wait->start, &before) &&
	     view_state_of(before.value) != VIEW_UNKNOWN &&
	     view_state_of(before.value) != VIEW_DEAD))
		return false;
	return find_waker(r, wait->start, -1, stop, out);
}

const char *interval_interrupt(const struct interval_row *r, uint32_t cpu, uint64_t ts)
{
	static const enum view_track_kind kinds[] = {VIEW_IRQ, VIEW_SOFTIRQ};
	const int64_t number = view_cpu_row(r->view, r->file, r->info.buffer, cpu);
	struct view_interval i;
	struct view_place place;
	struct interval_row c;
	struct view_row info;

	if (number < 0 || !view_row(r->view, (uint32_t)number, &place, &info) ||
	    !interval_row(r->view, r->file, place.row, &c))
		return NULL;
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		if (interval_at(&c, view_row_track(&c.info, kinds[k], 0), ts, &i))
			return view_index_name(r->index, i.value);
	return NULL;
}

int interval_place(struct view *v, uint64_t number, uint64_t *ts, struct interval_row *out,
		   struct spur_error *err)
{
	struct view_place place;
	struct view_row info;

	if (number > UINT32_MAX || !view_row(v, (uint32_t)number, &place, &info) ||
	    !interval_row(v, place.file_number, place.row, out))
		return error_set(err, -ENOENT, "there is no row %llu", (unsigned long long)number);
	*ts = *ts > place.shift ? *ts - place.shift : 0;
	return 0;
}

int interval_task(struct view *v, uint64_t number, uint64_t *ts, struct interval_row *out,
		  struct spur_error *err)
{
	struct interval_row row;
	struct view_interval run;
	int rc = interval_place(v, number, ts, &row, err);

	if (rc < 0)
		return rc;
	*out = row;
	if (row.info.kind != VIEW_TASK_ROW && (!interval_at(&row, row.running, *ts, &run) ||
					       !interval_row(v, row.file, run.value, out)))
		return error_set(err, -ENOENT, "no task runs there");
	return 0;
}

/* ---- the way back ---- */

/*
 * The critical path: back from a moment of a task over what it waited for. A task that slept was
 * woken by another one, which may have slept too, or waited for a CPU. The path ends with a task
 * that ran all the time, with an interrupt, or where the trace has no data.
 */

struct chain {
	struct view *view;
	struct view_chain *out;
	const volatile int *stop;
	struct interval_row task;
	uint64_t ts;	/* explained back to this time */
	bool follows;	/* the task is one that has woken another, … */
	uint64_t since; /* … which slept since then */
	struct buf why;
};

static void add_step(struct chain *c, uint64_t start, const char *state)
{
	const struct view_step s = {
		.row = view_row_number(c->view, c->task.file, c->task.row),
		.start = interval_relative(&c->task, start),
		.end = interval_relative(&c->task, c->ts),
		.state = state,
		.why = view_text_add(&c->out->texts, c->why.data, c->why.len),
	};

	c->out->failed |= !vec_add(&c->out->steps, &s);
	buf_reset(&c->why);
}

/* False if everything is explained. */
static bool step_running(struct chain *c, const struct view_interval *run)
{
	const bool enough = c->follows && run->start <= c->since;

	if (enough)
		buf_puts(&c->why, "was running all the while");
	add_step(c, enough ? c->since : run->start, "running");
	c->ts = run->start;
	return !enough && !(run->flags & VIEW_OPEN_START);
}

static void put_waker(struct chain *c, const struct interval_waker *w)
{
	const char *name = NULL;
	struct interval_row waker;

	if (w->in_interrupt) {
		name = interval_interrupt(&c->task, w->cpu, w->ts);
		buf_printf(&c->why, "woken in an interrupt on CPU %u%s%s", w->cpu, name ? ": " : "",
			   name ? name : "");
	} else if (w->task >= 0 && interval_row(c->view, c->task.file, (uint32_t)w->task, &waker)) {
		buf_puts(&c->why, "woken by ");
		interval_name(&waker, &c->why);
	} else if (w->has_record) {
		buf_printf(&c->why, "woken on CPU %u", w->cpu);
	}
}

/* Continues with the task's waker; false if that was an interrupt, or is unknown. */
static bool follow(struct chain *c, const struct interval_waker *w, uint64_t since)
{
	if (w->in_interrupt || w->task < 0 || w->task == c->task.row)
		return false;
	c->follows = true;
	c->since = since;
	return interval_row(c->view, c->task.file, (uint32_t)w->task, &c->task);
}

static bool step_sleep(struct chain *c, const struct view_interval *sleep)
{
	struct interval_waker w = {.task = -1};

	if (sleep->start + sleep->dur == c->ts && interval_waker(&c->task, sleep, c->stop, &w))
		put_waker(c, &w);
	add_step(c, sleep->start, interval_state(sleep->value));
	return follow(c, &w, sleep->start);
}

static bool step_waiting(struct chain *c, const struct view_interval *wait)
{
	struct interval_waker w;
	bool first;

	if (interval_is_sleep(wait))
		return step_sleep(c, wait);
	first = interval_first_waker(&c->task, wait, c->stop, &w);
	if (view_state_of(wait->value) == VIEW_PREEMPTED)
		buf_puts(&c->why, "preempted, waits for a CPU");
	else if (view_state_of(wait->value) == VIEW_RUNNABLE)
		buf_puts(&c->why, "waits for a CPU");
	if (first) {
		buf_puts(&c->why, ", ");
		put_waker(c, &w);
	}
	add_step(c, wait->start, interval_state(wait->value));
	c->ts = wait->start;
	return first ? follow(c, &w, 0) : !(wait->flags & VIEW_OPEN_START);
}

static bool step(struct chain *c)
{
	struct view_interval i;

	if (interval_before(&c->task, c->task.running, c->ts, &i))
		return step_running(c, &i);
	return interval_before(&c->task, c->task.state, c->ts, &i) && step_waiting(c, &i);
}

int view_chain_read(const struct interval_row *task, uint64_t ts, const volatile int *stop,
		    struct view_chain *out)
{
	struct chain c = {.view = task->view, .out = out, .stop = stop, .task = *task, .ts = ts};
	struct view_interval i;

	*out = (struct view_chain){0};
	buf_init(&out->texts, TEXTS_LIMIT);
	buf_init(&c.why, 4096);
	/* The whole interval at the moment is explained. */
	if (interval_at(&c.task, c.task.running, ts, &i) ||
	    interval_at(&c.task, c.task.state, ts, &i))
		c.ts = i.start + i.dur;
	while (out->steps.n < MOST_STEPS && !out->failed && !*stop && step(&c))
		;
	buf_free(&c.why);
	return out->failed ? -ENOMEM : 0;
}

void view_chain_free(struct view_chain *c)
{
	vec_free(&c->steps);
	buf_free(&c->texts);
}

/* ---- in words ---- */

int view_why(const struct interval_row *task, uint64_t ts, const volatile int *stop,
	     struct why *out, struct spur_error *err)
{
	struct spur_trace *trace = view_file(task->view, task->file)->trace;
	struct why_options opt = {
		.stop = stop, .pid = task->info.number, .moment = interval_absolute(task, ts)};
	int rc;

	if (task->info.buffer < trace->nr_buffers)
		opt.buffer = trace->buffers[task->info.buffer].data->name;
	rc = why_make(out, trace, &opt, err);
	return rc == 0 && !out->found
		       ? error_set(err, -ENOENT, "what the task did then is not known")
		       : rc;
}
