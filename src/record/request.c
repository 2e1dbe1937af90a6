// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds a request from a user's options. */
#include "record/request.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"

struct request_buffer *request_add_buffer(struct request *r, const char *name)
{
	struct request_buffer *b = vec_push(&r->buffers);

	if (b)
		b->name = name;
	return b;
}

struct request_buffer *request_buffer(struct request *r)
{
	return r->buffers.n ? &r->buffers.at[r->buffers.n - 1] : request_add_buffer(r, "");
}

struct request_event *request_add_event(struct request *r, enum request_event_kind kind,
					const char *text)
{
	struct request_buffer *b = request_buffer(r);
	struct request_event *e = b ? vec_push(&b->events) : NULL;

	if (e) {
		e->kind = kind;
		e->text = text;
		b->last = b->events.n - 1;
	}
	return e;
}

/* Presets: events that are useful together. Events that the kernel does not have are left out. */
static const struct {
	const char *name;
	const char *events[16];
} presets[] = {
	{"sched",
	 {"sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup",
	  "sched:sched_wakeup_new", "sched:sched_migrate_task", "sched:sched_process_fork",
	  "sched:sched_process_exec", "sched:sched_process_exit", "sched:sched_pi_setprio"}},
	{"irq", {"irq", "irq_vectors", "ipi", "workqueue:workqueue_execute_*"}},
	{"block", {"block", "writeback:writeback_*", "filelock", "scsi", "nvme"}},
	{"net", {"net", "napi", "skb", "sock", "tcp", "udp", "qdisc"}},
	{"syscall", {"raw_syscalls"}},
	{"rt",
	 {"sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup",
	  "sched:sched_migrate_task", "sched:sched_pi_setprio", "irq", "timer:hrtimer_expire_*",
	  "timer:hrtimer_start", "osnoise", "irq_vectors:local_timer_*", "power:cpu_idle"}},
	{"boot",
	 {"initcall", "module", "sched:sched_process_*", "devices", "dev:*", "regulator",
	  "clk:clk_enable", "gpio"}},
};

#define NR_PRESETS ARRAY_SIZE(presets)

const char *request_presets(void)
{
	return "sched irq block net syscall rt boot";
}

int request_add_preset(struct request *r, const char *name)
{
	struct request_buffer *b = request_buffer(r);
	size_t first = b ? b->events.n : 0;

	for (size_t i = 0; i < NR_PRESETS; i++) {
		if (strcmp(presets[i].name, name) != 0)
			continue;
		for (const char *const *e = presets[i].events; *e; e++) {
			struct request_event *event = request_add_event(r, WANT_EVENTS, *e);

			if (!event)
				return -ENOMEM;
			event->may_lack = true;
		}
		b->last = first;
		return 0;
	}
	return -ENOENT;
}

/* The events that a profile needs: where a task waited, and who woke it. */
static const struct {
	const char *event;
	bool stacks;
} profile_events[] = {
	{"exceptions:page_fault_*", false},
	{"irq:irq_handler_*", false},
	{"irq:softirq_*", false},
	{"sched:sched_process_exec", false},
	{"raw_syscalls", false},
	{"sched:sched_switch", true},
	{"sched:sched_wakeup*", true},
};

int request_add_profile(struct request *r, bool graph)
{
	struct request_buffer *b = request_buffer(r);

	if (!b)
		return -ENOMEM;
	if (graph && !b->tracer) {
		b->tracer = "function_graph";
		r->max_graph_depth = r->max_graph_depth ? r->max_graph_depth : 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(profile_events); i++) {
		struct request_event *e =
			request_add_event(r, WANT_EVENTS, profile_events[i].event);

		if (!e)
			return -ENOMEM;
		e->may_lack = true;
		if (profile_events[i].stacks && !string_refs_add(&e->triggers, "stacktrace"))
			return -ENOMEM;
	}
	return 0;
}

void request_free(struct request *r)
{
	vec_each (b, &r->buffers) {
		vec_each (e, &b->events)
			vec_free(&e->triggers);
		vec_free(&b->events);
		vec_free(&b->functions);
		vec_free(&b->graph);
		vec_free(&b->hidden);
		vec_free(&b->options);
	}
	vec_free(&r->buffers);
	vec_free(&r->pids);
}
