// SPDX-License-Identifier: GPL-2.0-or-later
/* Who a task was at a time of the trace, as far as the file says it (DAT_OPT_TASKS). */
#include "stream/trace.h"

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

const struct dat_task *trace_task_at(const struct spur_trace *t, int pid, uint64_t ts)
{
	const struct dat *d = t->dat;
	size_t low = 0, high = d ? d->nr_tasks : 0;

	/* The first entry that is of a later task, or of a later time. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct dat_task *at = &d->tasks[middle];

		if (at->pid > pid || (at->pid == pid && trace_task_time(t, at) > ts))
			high = middle;
		else
			low = middle + 1;
	}
	if (low && d->tasks[low - 1].pid == pid)
		return &d->tasks[low - 1];
	/* Clocks of CPUs differ: a new task's first record may seem older than the task. */
	return d && low < d->nr_tasks && d->tasks[low].pid == pid ? &d->tasks[low] : NULL;
}
