// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An interval of a row, and what belongs to it: its task, what there is to say about it in labels
 * and texts, who woke the task and whom it woke, and the way back over what it waited for.
 */
#include <string.h>

#include "base/json.h"
#include "view/answers/interval.h"

/* ---- rows and their intervals ---- */

const char *interval_state(uint32_t value)
{
	static const char *const names[] = {
		[VIEW_RUNNABLE] = "runnable", [VIEW_PREEMPTED] = "preempted",
		[VIEW_SLEEPING] = "sleeping", [VIEW_BLOCKED] = "blocked",
		[VIEW_STOPPED] = "stopped",   [VIEW_DEAD] = "dead",
		[VIEW_UNKNOWN] = "unknown",
	};

	return names[STATE_OF(value) < VIEW_UNKNOWN ? STATE_OF(value) : VIEW_UNKNOWN];
}

int64_t interval_track(const struct view_row *r, enum view_track_kind kind, uint32_t depth)
{
	for (uint32_t i = 0; i < r->nr_tracks; i++)
		if (r->tracks[i].kind == kind && r->tracks[i].depth == depth)
			return i;
	return -1;
}

bool interval_row(struct view *v, uint32_t file, uint32_t row, struct interval_row *out)
{
	const struct view_file *f = view_file(v, file);

	*out = (struct interval_row){.view = v, .index = f->index, .file = file, .row = row};
	if (!f->index || !view_index_row(f->index, row, &out->info))
		return false;
	out->running = interval_track(&out->info, VIEW_RUNNING, 0);
	out->state = interval_track(&out->info, VIEW_STATE, 0);
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
	/* One without a length may come before another one at the same time. */
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
	const enum view_state state = STATE_OF(i->value);

	return state == VIEW_SLEEPING || state == VIEW_BLOCKED || state == VIEW_STOPPED;
}

void interval_name(const struct interval_row *r, struct buf *out)
{
	if (r->info.kind != VIEW_TASK_ROW) {
		buf_puts(out, "CPU ");
		buf_i64(out, r->info.number);
		return;
	}
	buf_puts(out, r->info.name ? r->info.name : "<...>");
	buf_putc(out, '-');
	buf_i64(out, r->info.number);
}

uint64_t interval_absolute(const struct interval_row *r, uint64_t ts)
{
	uint64_t sum;

	/* Whoever asks may ask for any time. */
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
	if (STATE_OF(wait->value) != VIEW_RUNNABLE || wait->flags & VIEW_OPEN_START)
		return false;
	if (interval_before(r, r->running, wait->start, &before) ||
	    (interval_before(r, r->state, wait->start, &before) &&
	     STATE_OF(before.value) != VIEW_UNKNOWN && STATE_OF(before.value) != VIEW_DEAD))
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
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (interval_at(&c, interval_track(&c.info, kinds[k], 0), ts, &i))
			return view_index_name(r->index, i.value);
	return NULL;
}

/* ---- the way back ---- */

/*
 * Why it took so long: back from a moment of a task over what it waited for. A task that slept was
 * woken by another one, which may have slept too, or waited for a CPU. The way ends with a task
 * that ran all the time, with an interrupt, or where the trace does not tell.
 */

#define MOST_STEPS 200

struct chain {
	struct view *view;
	struct buf *out;
	const volatile int *stop;
	struct interval_row task;
	uint64_t ts;	/* so far it has been explained */
	bool follows;	/* the task is one that has woken another, … */
	uint64_t since; /* … who had slept since then */
	unsigned int steps;
	struct buf why;
};

static void put_step(struct chain *c, uint64_t start, const char *state)
{
	const int64_t row = view_row_number(c->view, c->task.file, c->task.row);
	struct buf *b = c->out;

	buf_printf(b, "%s{\"row\":%lld,\"start\":%lld,\"end\":%lld,\"state\":\"%s\",\"why\":",
		   c->steps++ ? "," : "", (long long)row,
		   (long long)interval_relative(&c->task, start),
		   (long long)interval_relative(&c->task, c->ts), state);
	if (c->why.len)
		buf_json_string(b, c->why.data, c->why.len);
	else
		buf_puts(b, "null");
	buf_putc(b, '}');
	buf_reset(&c->why);
}

/* False: it is all explained. */
static bool step_running(struct chain *c, const struct view_interval *run)
{
	const bool enough = c->follows && run->start <= c->since;

	if (enough)
		buf_puts(&c->why, "was running all the while");
	put_step(c, enough ? c->since : run->start, "running");
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

/* On to who has woken the task; false: it was an interrupt, or nobody knows. */
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
	put_step(c, sleep->start, interval_state(sleep->value));
	return follow(c, &w, sleep->start);
}

static bool step_waiting(struct chain *c, const struct view_interval *wait)
{
	struct interval_waker w;
	bool first;

	if (interval_is_sleep(wait))
		return step_sleep(c, wait);
	first = interval_first_waker(&c->task, wait, c->stop, &w);
	if (STATE_OF(wait->value) == VIEW_PREEMPTED)
		buf_puts(&c->why, "preempted, waits for a CPU");
	else if (STATE_OF(wait->value) == VIEW_RUNNABLE)
		buf_puts(&c->why, "waits for a CPU");
	if (first) {
		buf_puts(&c->why, ", ");
		put_waker(c, &w);
	}
	put_step(c, wait->start, interval_state(wait->value));
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

void interval_chain(struct interval_row *from, uint64_t ts, const volatile int *stop,
		    struct buf *out)
{
	struct chain c = {.view = from->view, .out = out, .stop = stop, .task = *from, .ts = ts};
	struct view_interval i;

	buf_init(&c.why, 4096);
	/* What is asked about is all of what happens there. */
	if (interval_at(&c.task, c.task.running, ts, &i) ||
	    interval_at(&c.task, c.task.state, ts, &i))
		c.ts = i.start + i.dur;
	buf_putc(out, '[');
	while (c.steps < MOST_STEPS && !*stop && step(&c))
		;
	buf_putc(out, ']');
	buf_free(&c.why);
}

/* ---- details ---- */

#define TEXT_LIMIT (64u << 10)

static void put_detail(struct slice *s, const char *label, const char *text, size_t len)
{
	buf_printf(s->out, "%s{\"label\":\"%s\",\"text\":", s->details++ ? "," : "", label);
	buf_json_string(s->out, text, len);
	buf_putc(s->out, '}');
}

static void detail_text(struct slice *s, const char *label, const char *text)
{
	if (text)
		put_detail(s, label, text, strlen(text));
}

static void detail_row(struct slice *s, const char *label, const struct interval_row *row)
{
	struct buf text;

	buf_init(&text, TEXT_LIMIT);
	interval_name(row, &text);
	put_detail(s, label, text.data, text.len);
	buf_free(&text);
}

static void detail_time(struct slice *s, const char *label, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	struct buf text;
	size_t i = 0;

	buf_init(&text, 64);
	while (i < 3 && ns < units[i].ns)
		i++;
	if (i < 3)
		buf_printf(&text, "%.6g %s", (double)ns / (double)units[i].ns, units[i].unit);
	else
		buf_printf(&text, "%llu ns", (unsigned long long)ns);
	put_detail(s, label, text.data, text.len);
	buf_free(&text);
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
	const int64_t inner = interval_track(&s->row.info, VIEW_CALL, depth + 1);
	struct view_interval caller;
	uint64_t sum = 0;

	if (depth && interval_at(&s->row, interval_track(&s->row.info, VIEW_CALL, depth - 1),
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
	struct buf text;

	buf_init(&text, TEXT_LIMIT);
	if (view_cursor_open(&c, s->view, NULL, s->q->stop, NULL) == 0) {
		view_cursor_only(&c, s->row.file, s->row.info.buffer, -1);
		view_cursor_to_time(&c, at, false, NULL);
		while (view_cursor_next(&c) && c.rec->ts == at) {
			if (!c.event || strncmp(c.event->name, event, strlen(event)) != 0 ||
			    view_cursor_pid(&c) != s->row.info.number)
				continue;
			view_cursor_text(&c, &text);
			put_detail(s, label, text.data, text.len);
			break;
		}
	}
	view_cursor_close(&c);
	buf_free(&text);
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

/* Why it is not known what a CPU or a task did. */
static void detail_unknown(struct slice *s)
{
	const bool cpu = s->row.info.kind == VIEW_CPU_ROW;
	const struct dat *d = view_file(s->view, s->row.file)->trace->dat;
	const int64_t lost = interval_track(&s->row.info, VIEW_LOST, 0);
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

void slice_details(struct slice *s)
{
	buf_puts(s->out, ",\"details\":[");
	if (s->has_task)
		detail_row(s, "task", &s->task);
	if (s->kind == VIEW_RUNNING && s->row.info.kind == VIEW_TASK_ROW &&
	    slice_cpu(&s->at) >= 0) {
		struct buf cpu;

		buf_init(&cpu, 32);
		buf_printf(&cpu, "%u", s->at.value);
		put_detail(s, "CPU", cpu.data, cpu.len);
		buf_free(&cpu);
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
	else if (s->kind == VIEW_STATE && STATE_OF(s->at.value) == VIEW_UNKNOWN)
		detail_unknown(s);
	buf_putc(s->out, ']');
}

/* ---- wakeups ---- */

#define MOST_WOKEN 100
#define MOST_RUNS  50 /* of a task during a call */

static void put_number(struct buf *b, const char *name, int64_t v)
{
	buf_printf(b, ",\"%s\":%lld", name, (long long)v);
}

/* ---- who woke it ---- */

static void put_slice_waker(struct slice *s, const struct interval_waker *w, bool has_latency,
			    uint64_t latency)
{
	const char *name;

	buf_printf(s->out, ",\"waker\":{\"row\":%lld,\"ts\":%lld", (long long)w->row,
		   (long long)interval_relative(&s->task, w->ts));
	if (has_latency)
		put_number(s->out, "latency", (int64_t)latency);
	if (w->has_record) {
		put_number(s->out, "cpu", w->cpu);
		buf_printf(s->out, ",\"in_interrupt\":%s", w->in_interrupt ? "true" : "false");
		name = w->in_interrupt ? interval_interrupt(&s->task, w->cpu, w->ts) : NULL;
		if (name)
			buf_puts(s->out, ",\"interrupt\":");
		if (name)
			buf_json_string(s->out, name, strlen(name));
	}
	buf_putc(s->out, '}');
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

	if (interval_waker(&s->task, sleep, s->q->stop, &w))
		put_slice_waker(s, &w, waits || runs, waits ? next.dur : 0);
}

/* Who ended the sleep before a task waits for a CPU, or woke one that had not been seen. */
static void waker_of_wait(struct slice *s, const struct view_interval *wait)
{
	struct view_interval sleep;
	struct interval_waker w;

	if ((interval_before(&s->task, s->task.state, wait->start, &sleep) &&
	     interval_waker(&s->task, &sleep, s->q->stop, &w)) ||
	    interval_first_waker(&s->task, wait, s->q->stop, &w))
		put_slice_waker(s, &w, !(wait->flags & VIEW_OPEN_END), wait->dur);
}

/* From a run, or the waiting for it, or the sleep before that, to who ended the sleep. */
void slice_waker(struct slice *s)
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

/* ---- whom it woke ---- */

struct woken {
	struct slice *slice;
	size_t n;
};

static bool take_woken(void *arg, const struct view_wakeup *w)
{
	struct woken *to = arg;
	struct slice *s = to->slice;
	const int64_t row = view_task_row(s->view, w->file, w->buffer, w->pid);

	buf_printf(s->out, "%s{\"row\":%lld,\"ts\":%lld,\"pid\":%lld,\"in_interrupt\":%s}",
		   to->n++ ? "," : "", (long long)row,
		   (long long)(int64_t)(w->ts - view_origin(s->view)), (long long)w->pid,
		   w->in_interrupt ? "true" : "false");
	return to->n < MOST_WOKEN;
}

static void wakeups_of(struct woken *to, int64_t cpu, int64_t waker, uint64_t start, uint64_t end)
{
	const struct slice *s = to->slice;

	view_wakeups(s->view, s->row.file, s->row.info.buffer, cpu, waker,
		     interval_absolute(&s->row, start), interval_absolute(&s->row, end), s->q->stop,
		     take_woken, to);
}

/* A call may be made on several CPUs; only while the task runs it wakes somebody. */
struct runs {
	struct woken *to;
	size_t n;
};

static bool take_run(void *arg, const struct view_interval *run)
{
	struct runs *r = arg;
	const struct slice *s = r->to->slice;
	const uint64_t end = s->at.start + s->at.dur, run_end = run->start + run->dur;

	wakeups_of(r->to, slice_cpu(run), s->task.info.number,
		   run->start > s->at.start ? run->start : s->at.start,
		   run_end < end ? run_end : end);
	return ++r->n < MOST_RUNS && r->to->n < MOST_WOKEN && !*s->q->stop;
}

void slice_woken(struct slice *s)
{
	const uint64_t end = s->at.start + s->at.dur;
	const bool on_cpu = s->row.info.kind == VIEW_CPU_ROW;
	struct woken to = {.slice = s};
	struct runs runs = {.to = &to};

	buf_puts(s->out, ",\"woke\":[");
	if (s->kind == VIEW_RUNNING && s->has_task)
		wakeups_of(&to, on_cpu ? s->row.info.number : slice_cpu(&s->at),
			   s->task.info.number, s->at.start, end);
	else if (s->kind == VIEW_IRQ || s->kind == VIEW_SOFTIRQ)
		wakeups_of(&to, s->row.info.number, -1, s->at.start, end);
	else if ((s->kind == VIEW_CALL || s->kind == VIEW_SYSCALL) && s->has_task &&
		 s->task.running >= 0)
		view_index_each(s->task.index, s->task.row, (uint32_t)s->task.running, s->at.start,
				end, take_run, &runs);
	buf_putc(s->out, ']');
}
