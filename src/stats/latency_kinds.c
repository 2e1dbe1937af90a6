// SPDX-License-Identifier: GPL-2.0-or-later
/* The latencies that have a name. */
#include <errno.h>
#include <string.h>

#include "stats/latency.h"
#include "table/sched.h"
#include "table/spans.h"
#include "base/error.h"
#include "base/suggest.h"

static bool is_runnable(const void *row)
{
	const struct state_row *s = row;

	return s->state && strcmp(s->state, "runnable") == 0;
}

static bool has_latency(const void *row)
{
	const struct softirq_row *s = row;

	return s->latency != ROW_NULL || s->open;
}

static bool is_futex(const void *row)
{
	const struct syscall_row *s = row;

	return s->name && strncmp(s->name, "futex", 5) == 0;
}

static const char *const of_wakeups[] = {"run_cpu",    "comm",	    "pid", "prio",
					 "waker_comm", "waker_pid", NULL};
static const char *const of_states[] = {"cpu", "comm", "pid", "reason", NULL};
static const char *const of_irqs[] = {"cpu", "irq", "name", "handled", "comm", "pid", NULL};
static const char *const of_softirqs[] = {"cpu", "name", "comm", "pid", NULL};
static const char *const of_syscalls[] = {"cpu", "comm", "pid", "name", "ret", "error", NULL};
static const char *const of_block[] = {"cpu",	 "comm",  "pid",  "device",
				       "sector", "bytes", "rwbs", NULL};
static const char *const of_pairs[] = {"from_cpu", "to_cpu", "comm", "pid", "key", NULL};

const struct latency_kind latency_kinds[] = {
	{
		.name = "wakeup",
		.about = "from when a task is woken until it runs",
		.table = "wakeups",
		.value = "latency",
		.by = "task",
		.cpu = "run_cpu",
		.shown = of_wakeups,
		.record = "-e sched_switch -e sched_wakeup -e sched_wakeup_new",
		.waits = true,
	},
	{
		.name = "sched",
		.about = "from when a task could run (woken, preempted) until it runs",
		.table = "states",
		.value = "dur",
		.wanted = is_runnable,
		.by = "task",
		.cpu = "cpu",
		.shown = of_states,
		.record = "-e sched_switch -e sched_wakeup -e sched_wakeup_new",
		.waits = true,
	},
	{
		.name = "irq",
		.about = "from the entry of an interrupt's handler until its exit",
		.table = "irqs",
		.value = "dur",
		.by = "name",
		.cpu = "cpu",
		.shown = of_irqs,
		.record = "-e irq_handler_entry -e irq_handler_exit",
	},
	{
		.name = "softirq",
		.about = "from when a softirq is raised until it runs",
		.table = "softirqs",
		.value = "latency",
		.wanted = has_latency,
		.by = "name",
		.cpu = "cpu",
		.shown = of_softirqs,
		.record = "-e softirq_raise -e softirq_entry -e softirq_exit",
	},
	{
		.name = "softirq-time",
		.about = "from the entry of a softirq until its exit",
		.table = "softirqs",
		.value = "dur",
		.by = "name",
		.cpu = "cpu",
		.shown = of_softirqs,
		.record = "-e softirq_entry -e softirq_exit",
	},
	{
		.name = "syscall",
		.about = "from the entry of a system call until its exit",
		.table = "syscalls",
		.value = "dur",
		.by = "name",
		.cpu = "cpu",
		.shown = of_syscalls,
		.record = "-e raw_syscalls",
	},
	{
		.name = "block",
		.about = "from when a request is given to a block device until it is done",
		.table = "block",
		.value = "dur",
		.by = "device",
		.cpu = "cpu",
		.shown = of_block,
		.record = "-e block_rq_issue -e block_rq_complete",
	},
	{
		.name = "futex",
		.about = "from the entry of a futex system call until its exit",
		.table = "syscalls",
		.value = "dur",
		.wanted = is_futex,
		.by = "task",
		.cpu = "cpu",
		.shown = of_syscalls,
		.record = "-e sys_enter_futex -e sys_exit_futex",
	},
	{0},
};

const struct latency_kind latency_of_pairs = {
	.name = "pairs",
	.table = "pairs",
	.value = "dur",
	.cpu = "to_cpu",
	.shown = of_pairs,
};

const struct latency_kind *latency_kind_find(const char *name, struct spur_error *err)
{
	struct suggest near = suggest_for(name, strlen(name));

	for (const struct latency_kind *k = latency_kinds; k->name; k++) {
		if (strcmp(k->name, name) == 0)
			return k;
		suggest_try(&near, k->name);
	}
	error_set(err, -EINVAL, "there is no kind of latency '%s'%s", name, suggest_hint(&near));
	return NULL;
}

const struct column *latency_column(const struct latency_kind *k, const struct table *t,
				    const char *name, size_t len)
{
	if (len == 3 && memcmp(name, "cpu", 3) == 0 && k->cpu) {
		name = k->cpu;
		len = strlen(name);
	}
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (strlen(t->columns[i].name) == len && memcmp(t->columns[i].name, name, len) == 0)
			return &t->columns[i];
	return NULL;
}
