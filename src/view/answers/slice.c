// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An interval with all data about it: its name, labels and texts, who woke its task and which tasks
 * it woke, its first record, and its neighbours.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "view/answers/interval.h"

#define TEXT_LIMIT  (64u << 10) /* of a record */
#define TEXTS_LIMIT (16u << 20) /* of an answer */
#define MOST_WOKEN  100
#define MOST_RUNS   50	   /* of a task during a call */
#define MOST_TICKS  100000 /* records that are read to find one of a row */

/* ---- details ---- */

/* The state while an answer is made. */
struct slice {
	struct view *view;
	const volatile int *stop;
	struct view_slice *out;
	struct interval_row row;
	uint32_t track;
	enum view_track_kind kind;
	struct view_interval at;
	struct interval_row task; /* its task, if it has one */
	bool has_task;
};

/* The CPU that a run of a task was on, -1: not known. */
static int64_t slice_cpu(const struct view_interval *run)
{
	return run->value == UINT32_MAX ? -1 : (int64_t)run->value;
}

static void add_detail(struct slice *s, const char *label, struct view_text text)
{
	s->out->failed |= !vec_add(&s->out->details, &(struct view_detail){label, text});
}

static void detail_text(struct slice *s, const char *label, const char *text)
{
	if (text)
		add_detail(s, label, view_text_add(&s->out->texts, text, strlen(text)));
}

static void detail_row(struct slice *s, const char *label, const struct interval_row *row)
{
	const size_t from = s->out->texts.len;

	interval_name(row, &s->out->texts);
	add_detail(s, label, view_text_since(&s->out->texts, from));
}

static void detail_time(struct slice *s, const char *label, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{NS_PER_S, "s"}, {NS_PER_MS, "ms"}, {NS_PER_US, "us"}};
	char text[64];
	size_t i = 0;

	while (i < ARRAY_SIZE(units) && ns < units[i].ns)
		i++;
	if (i < ARRAY_SIZE(units))
		snprintf(text, sizeof(text), "%.6g %s", (double)ns / (double)units[i].ns,
			 units[i].unit);
	else
		snprintf(text, sizeof(text), "%llu ns", (unsigned long long)ns);
	detail_text(s, label, text);
}

/* What the task did next. */
static void detail_then(struct slice *s)
{
	const uint64_t end = s->at.start + s->at.dur;
	struct view_interval i;

	if (s->at.flags & VIEW_OPEN_END || !s->has_task)
		return;
	if (s->kind == VIEW_RUNNING && interval_at(&s->task, s->task.state, end, &i))
		detail_text(s, "then", interval_state(i.value));
	else if (s->kind == VIEW_STATE && interval_at(&s->task, s->task.running, end, &i))
		detail_text(s, "then", "running");
	else if (s->kind == VIEW_STATE && interval_at(&s->task, s->task.state, end, &i))
		detail_text(s, "then", interval_state(i.value));
}

/* The task that was on the CPU when the interrupt came. */
static void detail_interrupted(struct slice *s)
{
	struct view_interval run;
	struct interval_row task;

	if (s->row.info.kind != VIEW_CPU_ROW)
		return;
	if (interval_at(&s->row, s->row.running, s->at.start, &run) &&
	    interval_row(s->view, s->row.file, run.value, &task))
		detail_row(s, "interrupted", &task);
}

static bool add_time(void *sum, const struct view_interval *i)
{
	*(uint64_t *)sum += i->dur;
	return true;
}

static void detail_call(struct slice *s)
{
	const uint32_t depth = s->row.info.tracks[s->track].depth;
	const int64_t inner = view_row_track(&s->row.info, VIEW_CALL, depth + 1);
	struct view_interval caller;
	uint64_t sum = 0;

	if (depth && interval_at(&s->row, view_row_track(&s->row.info, VIEW_CALL, depth - 1),
				 s->at.start, &caller))
		detail_text(s, "caller", view_index_name(s->row.index, caller.value));
	if (inner >= 0)
		view_index_each(s->row.index, s->row.row, (uint32_t)inner, s->at.start,
				s->at.start + s->at.dur, add_time, &sum);
	detail_time(s, "self", s->at.dur > sum ? s->at.dur - sum : 0);
}

/* The text of a record of the task at a time, whose name begins so. */
static void detail_record(struct slice *s, const char *label, const char *event, uint64_t ts)
{
	const uint64_t at = interval_absolute(&s->row, ts);
	struct view_cursor c;
	scoped_buf text = buf_new(TEXT_LIMIT);

	if (view_cursor_open(&c, s->view, NULL, s->stop, NULL) == 0) {
		view_cursor_only(&c, s->row.file, s->row.info.buffer, -1);
		view_cursor_to_time(&c, at, false, NULL);
		while (view_cursor_next(&c) && c.rec->ts == at) {
			if (!c.event || strncmp(c.event->name, event, strlen(event)) != 0 ||
			    view_cursor_pid(&c) != s->row.info.number)
				continue;
			view_cursor_text(&c, &text);
			add_detail(s, label, view_text_add(&s->out->texts, text.data, text.len));
			break;
		}
	}
	view_cursor_close(&c);
}

static void detail_syscall(struct slice *s)
{
	if (!(s->at.flags & VIEW_OPEN_START))
		detail_record(s, "arguments", "sys_enter", s->at.start);
	if (!(s->at.flags & VIEW_OPEN_END))
		detail_record(s, "returned", "sys_exit", s->at.start + s->at.dur);
}

static bool is_filtered(const struct slice *s)
{
	const struct spur_trace *t = view_file(s->view, s->row.file)->trace;

	return dat_filtered(t->dat, t->buffers[s->row.info.buffer].data->name,
			    "sched:sched_switch");
}

/* Why the state of a CPU or a task is unknown. */
static void detail_unknown(struct slice *s)
{
	const bool cpu = s->row.info.kind == VIEW_CPU_ROW;
	const struct dat *d = view_file(s->view, s->row.file)->trace->dat;
	const int64_t lost = view_row_track(&s->row.info, VIEW_LOST, 0);
	struct view_interval i;

	if (cpu && !s->row.info.events)
		detail_text(s, "unknown", "the trace has no events of this CPU");
	else if (cpu && s->at.start >= s->row.info.last && d->cut.is)
		detail_text(s, "unknown", "the recorder was killed: what comes then is missing");
	else if (cpu && interval_at(&s->row, lost, s->at.start + s->at.dur / 2, &i))
		detail_text(s, "unknown", "events of this CPU were lost");
	else if (is_filtered(s))
		detail_text(s, "unknown", "switches were recorded through a filter");
	else if (d->followed.is)
		detail_text(s, "unknown", "the trace has only events of some tasks");
	else
		detail_text(s, "unknown",
			    cpu ? "no event says who had the CPU: a switch is missing"
				: "events were lost, or a switch or wakeup is missing");
}

static void add_details(struct slice *s)
{
	if (s->has_task)
		detail_row(s, "task", &s->task);
	if (s->kind == VIEW_RUNNING && s->row.info.kind == VIEW_TASK_ROW &&
	    slice_cpu(&s->at) >= 0) {
		char cpu[16];

		snprintf(cpu, sizeof(cpu), "%u", s->at.value);
		detail_text(s, "CPU", cpu);
	} else if (s->row.info.kind == VIEW_CPU_ROW) {
		detail_row(s, "on", &s->row);
	}
	detail_time(s, "duration", s->at.dur);
	detail_then(s);
	if (s->kind == VIEW_IRQ || s->kind == VIEW_SOFTIRQ)
		detail_interrupted(s);
	else if (s->kind == VIEW_CALL)
		detail_call(s);
	else if (s->kind == VIEW_SYSCALL)
		detail_syscall(s);
	else if (s->kind == VIEW_STATE && view_state_of(s->at.value) == VIEW_UNKNOWN)
		detail_unknown(s);
}

/* ---- who woke it ---- */

static void set_waker(struct slice *s, const struct interval_waker *w, bool has_latency,
		      uint64_t latency)
{
	s->out->has_waker = true;
	s->out->waker = (struct view_waker){
		.who = *w,
		.ts = interval_relative(&s->task, w->ts),
		.latency = latency,
		.has_latency = has_latency,
		.interrupt = w->in_interrupt ? interval_interrupt(&s->task, w->cpu, w->ts) : NULL,
	};
}

/* Who ended a sleep, and how long the task waited then. */
static void waker_of_sleep(struct slice *s, const struct view_interval *sleep)
{
	const uint64_t end = sleep->start + sleep->dur;
	struct view_interval next;
	const bool waits = interval_at(&s->task, s->task.state, end, &next) &&
			   !interval_is_sleep(&next) && !(next.flags & VIEW_OPEN_END);
	const bool runs = !waits && interval_at(&s->task, s->task.running, end, &next);
	struct interval_waker w;

	if (interval_waker(&s->task, sleep, s->stop, &w))
		set_waker(s, &w, waits || runs, waits ? next.dur : 0);
}

/* Finds who ended the sleep before a wait for a CPU, or woke a task without earlier records. */
static void waker_of_wait(struct slice *s, const struct view_interval *wait)
{
	struct view_interval sleep;
	struct interval_waker w;

	if ((interval_before(&s->task, s->task.state, wait->start, &sleep) &&
	     interval_waker(&s->task, &sleep, s->stop, &w)) ||
	    interval_first_waker(&s->task, wait, s->stop, &w))
		set_waker(s, &w, !(wait->flags & VIEW_OPEN_END), wait->dur);
}

/* Finds who ended the sleep before a run: from the run, the wait for it, or the sleep. */
static void find_slice_waker(struct slice *s)
{
	struct view_interval before;

	if (!s->has_task)
		return;
	if (s->kind == VIEW_STATE && interval_is_sleep(&s->at)) {
		waker_of_sleep(s, &s->at);
	} else if (s->kind == VIEW_STATE) {
		waker_of_wait(s, &s->at);
	} else if (s->kind == VIEW_RUNNING &&
		   interval_before(&s->task, s->task.state, s->at.start, &before)) {
		if (interval_is_sleep(&before))
			waker_of_sleep(s, &before);
		else
			waker_of_wait(s, &before);
	}
}

/* ---- which tasks it woke ---- */

static bool take_woken(void *arg, const struct view_wakeup *w)
{
	struct slice *s = arg;
	const struct view_woken woken = {
		.row = view_task_row(s->view, w->file, w->buffer, w->pid),
		.ts = (int64_t)(w->ts - view_origin(s->view)),
		.pid = w->pid,
		.in_interrupt = w->in_interrupt,
	};
	const bool added = vec_add(&s->out->woke, &woken);

	s->out->failed |= !added;
	return added && s->out->woke.n < MOST_WOKEN;
}

static void add_woken(struct slice *s, int64_t cpu, int64_t waker, uint64_t start, uint64_t end)
{
	view_wakeups(s->view, s->row.file, s->row.info.buffer, cpu, waker,
		     interval_absolute(&s->row, start), interval_absolute(&s->row, end), s->stop,
		     take_woken, s);
}

/* A call may be made on several CPUs; it wakes others only while its task runs. */
struct runs {
	struct slice *slice;
	size_t n;
};

static bool take_run(void *arg, const struct view_interval *run)
{
	struct runs *r = arg;
	struct slice *s = r->slice;
	const uint64_t end = s->at.start + s->at.dur, run_end = run->start + run->dur;

	add_woken(s, slice_cpu(run), s->task.info.number,
		  run->start > s->at.start ? run->start : s->at.start,
		  run_end < end ? run_end : end);
	return ++r->n < MOST_RUNS && s->out->woke.n < MOST_WOKEN && !*s->stop;
}

static void find_woken(struct slice *s)
{
	const uint64_t end = s->at.start + s->at.dur;
	const bool on_cpu = s->row.info.kind == VIEW_CPU_ROW;
	struct runs runs = {.slice = s};

	if (s->kind == VIEW_RUNNING && s->has_task)
		add_woken(s, on_cpu ? s->row.info.number : slice_cpu(&s->at), s->task.info.number,
			  s->at.start, end);
	else if (s->kind == VIEW_IRQ || s->kind == VIEW_SOFTIRQ)
		add_woken(s, s->row.info.number, -1, s->at.start, end);
	else if ((s->kind == VIEW_CALL || s->kind == VIEW_SYSCALL) && s->has_task &&
		 s->task.running >= 0)
		view_index_each(s->task.index, s->task.row, (uint32_t)s->task.running, s->at.start,
				end, take_run, &runs);
}

/* ---- all of it ---- */

/* Its value with the view's numbers. */
static int64_t slice_value(const struct slice *s)
{
	const uint32_t value = s->at.value;

	switch (s->kind) {
	case VIEW_RUNNING:
		return s->row.info.kind == VIEW_CPU_ROW
			       ? view_row_number(s->view, s->row.file, value)
			       : value;
	case VIEW_STATE: return view_state_of(value);
	case VIEW_IRQ:
	case VIEW_SOFTIRQ:
	case VIEW_SYSCALL:
	case VIEW_CALL: return view_name_number(s->view, s->row.file, value);
	default: return value;
	}
}

static void slice_name(const struct slice *s, struct buf *to)
{
	const char *name;

	switch (s->kind) {
	case VIEW_RUNNING:
		if (s->row.info.kind == VIEW_CPU_ROW && s->has_task)
			interval_name(&s->task, to);
		else if (slice_cpu(&s->at) < 0)
			buf_puts(to, "running");
		else
			buf_printf(to, "CPU %u", s->at.value);
		break;
	case VIEW_STATE: buf_puts(to, interval_state(s->at.value)); break;
	case VIEW_LOST:
		if (s->at.value)
			buf_printf(to, "%u events lost", s->at.value);
		else
			buf_puts(to, "events lost");
		break;
	case VIEW_COUNTER: buf_printf(to, "%u", s->at.value); break;
	default: name = view_index_name(s->row.index, s->at.value); buf_puts(to, name ? name : "?");
	}
}

static void set_neighbour(struct slice *s, struct view_neighbour *out,
			  const struct interval_row *row, int64_t track, uint64_t ts, int dir)
{
	struct view_interval i;
	int64_t number = view_row_number(s->view, row->file, row->row), shown = track;
	struct view_row info;

	if (track < 0 || !view_index_interval(row->index, row->row, (uint32_t)track, ts, dir, &i) ||
	    i.start == s->at.start)
		return;
	/* A task's other runs are shown where they were: on a CPU. */
	if (s->row.info.kind == VIEW_CPU_ROW && s->kind == VIEW_RUNNING) {
		number = view_cpu_row(s->view, row->file, row->info.buffer, i.value);
		if (number < 0 || !view_row(s->view, (uint32_t)number, NULL, &info))
			return;
		shown = view_row_track(&info, VIEW_RUNNING, 0);
	}
	*out = (struct view_neighbour){.is_there = true,
				       .start = interval_relative(row, i.start),
				       .dur = i.dur,
				       .row = number,
				       .track = shown};
}

static void set_neighbours(struct slice *s)
{
	const bool of_task = s->kind == VIEW_RUNNING && s->has_task;
	const struct interval_row *row = of_task ? &s->task : &s->row;
	const int64_t track = of_task ? s->task.running : (int64_t)s->track;

	if (s->at.start)
		set_neighbour(s, &s->out->previous, row, track, s->at.start - 1, -1);
	set_neighbour(s, &s->out->next, row, track, s->at.start + (s->at.dur ? s->at.dur : 1), 1);
}

/* ---- the record it begins with ---- */

static bool is_in_buffer(const struct slice *s, const struct view_cursor *c)
{
	return c->from->file == s->row.file && c->rec->buffer == s->row.info.buffer;
}

static bool is_of_row(const struct slice *s, const struct view_cursor *c)
{
	if (!is_in_buffer(s, c))
		return false;
	return s->row.info.kind == VIEW_CPU_ROW ? c->rec->cpu == s->row.info.number
						: view_cursor_pid(c) == s->row.info.number;
}

static bool is_its_record(const struct slice *s, const struct view_cursor *c)
{
	if (s->kind == VIEW_RUNNING && s->row.info.kind == VIEW_TASK_ROW)
		return is_in_buffer(s, c) && c->rec->cpu == s->at.value;
	return is_of_row(s, c);
}

static void find_first_record(struct slice *s)
{
	const uint64_t ts = interval_absolute(&s->row, s->at.start);
	struct view_cursor c;
	bool found = false;

	if (!(s->at.flags & VIEW_OPEN_START) &&
	    view_cursor_open(&c, s->view, NULL, s->stop, NULL) == 0) {
		if (view_cursor_to_time(&c, ts, true, NULL) == 0)
			while (!found && view_cursor_next(&c) && c.rec->ts == ts) {
				found = is_its_record(s, &c);
				if (found || !s->out->has_event)
					s->out->event = c.n;
				s->out->has_event = true;
			}
		view_cursor_close(&c);
	}
}

static void find_slice_task(struct slice *s)
{
	if (s->row.info.kind == VIEW_TASK_ROW) {
		s->task = s->row;
		s->has_task = true;
	} else if (s->row.info.kind == VIEW_CPU_ROW && s->kind == VIEW_RUNNING) {
		s->has_task = interval_row(s->view, s->row.file, s->at.value, &s->task);
	}
}

static void read_slice(struct slice *s)
{
	struct view_slice *out = s->out;
	const size_t from = out->texts.len;

	find_slice_task(s);
	slice_name(s, &out->texts);
	out->name = view_text_since(&out->texts, from);
	out->start = interval_relative(&s->row, s->at.start);
	out->dur = s->at.dur;
	out->flags = s->at.flags;
	out->value = slice_value(s);
	if (s->has_task)
		out->task = view_row_number(s->view, s->task.file, s->task.row);
	if (s->kind == VIEW_STATE)
		out->state = interval_state(s->at.value);
	add_details(s);
	find_first_record(s);
	find_slice_waker(s);
	find_woken(s);
	set_neighbours(s);
}

/* A tick: the record of the row at the time, or the first one after it. */
static int read_tick(struct slice *s, uint64_t ts, struct spur_error *err)
{
	struct view_slice *out = s->out;
	struct view_cursor c;
	bool found = false;
	int rc = view_cursor_open(&c, s->view, NULL, s->stop, err);

	if (rc == 0)
		rc = view_cursor_to_time(&c, interval_absolute(&s->row, ts), true, err);
	for (int i = 0; rc == 0 && !found && i < MOST_TICKS && view_cursor_next(&c); i++)
		found = is_of_row(s, &c);
	if (rc == 0 && !found)
		rc = error_set(err, -ENOENT, "there is no event");
	if (rc == 0) {
		out->start = (int64_t)(c.rec->ts - view_origin(s->view));
		out->value = -1;
		if (c.event) {
			out->value = (int64_t)view_file(s->view, c.from->file)->first_event +
				     c.event->index;
			out->name =
				view_text_add(&out->texts, c.event->name, strlen(c.event->name));
		}
		out->event = c.n;
		out->has_event = true;
	}
	view_cursor_close(&c);
	return rc;
}

int view_slice_read(const struct interval_row *row, uint32_t track, uint64_t ts,
		    const volatile int *stop, struct view_slice *out, struct spur_error *err)
{
	struct slice s = {.view = row->view, .stop = stop, .out = out, .row = *row, .track = track};

	*out = (struct view_slice){.task = -1};
	buf_init(&out->texts, TEXTS_LIMIT);
	if (track >= row->info.nr_tracks)
		return error_set(err, -ENOENT, "the row has no such track");
	out->kind = s.kind = row->info.tracks[track].kind;
	if (s.kind == VIEW_EVENTS)
		return read_tick(&s, ts, err);
	if (!interval_at(row, track, ts, &s.at))
		return error_set(err, -ENOENT, "nothing is there");
	read_slice(&s);
	return out->failed ? -ENOMEM : 0;
}

void view_slice_free(struct view_slice *s)
{
	vec_free(&s->details);
	vec_free(&s->woke);
	buf_free(&s->texts);
}
