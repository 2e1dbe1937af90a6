// SPDX-License-Identifier: GPL-2.0-or-later
/* Who woke whom, around an interval. */
#include <string.h>

#include "base/json.h"
#include "view/moments_slice.h"

#define MOST_WOKEN 100
#define MOST_RUNS  50 /* of a task during a call */

static void put_number(struct buf *b, const char *name, int64_t v)
{
	buf_printf(b, ",\"%s\":%lld", name, (long long)v);
}

/* ---- who woke it ---- */

static void put_waker(struct slice *s, const struct moment_waker *w, bool has_latency,
		      uint64_t latency)
{
	const char *name;

	buf_printf(s->out, ",\"waker\":{\"row\":%lld,\"ts\":%lld", (long long)w->row,
		   (long long)moment_relative(&s->task, w->ts));
	if (has_latency)
		put_number(s->out, "latency", (int64_t)latency);
	if (w->has_record) {
		put_number(s->out, "cpu", w->cpu);
		buf_printf(s->out, ",\"in_interrupt\":%s", w->in_interrupt ? "true" : "false");
		name = w->in_interrupt ? moment_interrupt(&s->task, w->cpu, w->ts) : NULL;
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
	const bool waits = moment_at(&s->task, s->task.state, end, &next) &&
			   !moment_is_sleep(&next) && !(next.flags & VIEW_OPEN_END);
	const bool runs = !waits && moment_at(&s->task, s->task.running, end, &next);
	struct moment_waker w;

	if (moment_waker(&s->task, sleep, s->q->stop, &w))
		put_waker(s, &w, waits || runs, waits ? next.dur : 0);
}

/* Who ended the sleep before a task waits for a CPU, or woke one that had not been seen. */
static void waker_of_wait(struct slice *s, const struct view_interval *wait)
{
	struct view_interval sleep;
	struct moment_waker w;

	if ((moment_before(&s->task, s->task.state, wait->start, &sleep) &&
	     moment_waker(&s->task, &sleep, s->q->stop, &w)) ||
	    moment_first_waker(&s->task, wait, s->q->stop, &w))
		put_waker(s, &w, !(wait->flags & VIEW_OPEN_END), wait->dur);
}

/* From a run, or the waiting for it, or the sleep before that, to who ended the sleep. */
void slice_waker(struct slice *s)
{
	struct view_interval before;

	if (!s->has_task)
		return;
	if (s->kind == VIEW_STATE && moment_is_sleep(&s->at)) {
		waker_of_sleep(s, &s->at);
	} else if (s->kind == VIEW_STATE) {
		waker_of_wait(s, &s->at);
	} else if (s->kind == VIEW_RUNNING &&
		   moment_before(&s->task, s->task.state, s->at.start, &before)) {
		if (moment_is_sleep(&before))
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

static bool take_woken(void *arg, const struct ask_wakeup *w)
{
	struct woken *to = arg;
	struct slice *s = to->slice;
	const int64_t row = ask_task_row(s->view, w->file, w->buffer, w->pid);

	buf_printf(s->out, "%s{\"row\":%lld,\"ts\":%lld,\"pid\":%lld,\"in_interrupt\":%s}",
		   to->n++ ? "," : "", (long long)row,
		   (long long)(int64_t)(w->ts - view_origin(s->view)), (long long)w->pid,
		   w->in_interrupt ? "true" : "false");
	return to->n < MOST_WOKEN;
}

static void wakeups_of(struct woken *to, int64_t cpu, int64_t waker, uint64_t start, uint64_t end)
{
	const struct slice *s = to->slice;

	ask_wakeups(s->view, s->row.file, s->row.info.buffer, cpu, waker,
		    moment_absolute(&s->row, start), moment_absolute(&s->row, end), s->q->stop,
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
