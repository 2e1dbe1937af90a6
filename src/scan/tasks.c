// SPDX-License-Identifier: LGPL-2.1-or-later
/* Who a task was at a time of the trace, as far as the file says it (DAT_OPT_TASKS). */
#include "scan/trace.h"

/* The entries' clock is that of the first buffer with pages. */
static const struct trace_buffer *clock_of(const struct spur_trace *t)
{
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		if (!t->buffers[i].data->text && t->buffers[i].data->nr_cpus)
			return &t->buffers[i];
	return NULL;
}

uint64_t trace_task_time(const struct spur_trace *t, const struct dat_task *task)
{
	const struct trace_buffer *b = clock_of(t);

	return b && task->kind != DAT_TASK_THERE ? trace_time(&b->time, task->ts, 0) : 0;
}

/* How many entries have a lower pid, or this pid and a time up to `ts`. */
static size_t entries_until(const struct spur_trace *t, int pid, uint64_t ts)
{
	const struct dat *d = t->dat;
	size_t low = 0, high = d ? d->nr_tasks : 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct dat_task *at = &d->tasks[middle];

		if (at->pid > pid || (at->pid == pid && trace_task_time(t, at) > ts))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct task_span trace_task_span(const struct spur_trace *t, int pid, uint64_t ts)
{
	const size_t n = entries_until(t, pid, ts);
	const struct dat_task *list = t->dat ? t->dat->tasks : NULL;
	const struct dat_task *next =
		list && n < t->dat->nr_tasks && list[n].pid == pid ? &list[n] : NULL;
	struct task_span span = {.until = next ? trace_task_time(t, next) : UINT64_MAX};

	if (n && list[n - 1].pid == pid) {
		span.task = &list[n - 1];
		span.from = trace_task_time(t, span.task);
	} else {
		/*
		 * Clocks of CPUs differ: the first record of a new task may be earlier than the
		 * task.
		 */
		span.task = next;
	}
	return span;
}

const struct dat_task *trace_task_at(const struct spur_trace *t, int pid, uint64_t ts)
{
	return trace_task_span(t, pid, ts).task;
}
