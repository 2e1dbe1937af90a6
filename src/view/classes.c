// SPDX-License-Identifier: GPL-2.0-or-later
/* Event types by what they are about: a word for each, by which ticks get their colour. */
#include <string.h>

#include "event/event.h"
#include "view/index.h"

enum class {
	SCHED,
	IRQ,
	SYSCALLS,
	TIMER,
	WORKQUEUE,
	BLOCK,
	NET,
	POWER,
	MEMORY,
	FUNCTIONS,
	PROBES,
	USER,
	OTHER,
	NR_CLASSES,
};

const char *const view_classes[] = {
	[SCHED] = "sched",
	[IRQ] = "irq",
	[SYSCALLS] = "syscalls",
	[TIMER] = "timer",
	[WORKQUEUE] = "workqueue",
	[BLOCK] = "block",
	[NET] = "net",
	[POWER] = "power",
	[MEMORY] = "memory",
	[FUNCTIONS] = "functions",
	[PROBES] = "probes",
	[USER] = "user",
	[OTHER] = "other",
	[NR_CLASSES] = NULL,
};
_Static_assert(NR_CLASSES <= 32, "a class is a bit of a mask");

/* The first one that fits counts. NULL: any name. */
static const struct {
	const char *system, *name;
	enum class class;
} systems[] = {
	{"ftrace", "print", USER},
	{"ftrace", "bprint", USER},
	{"ftrace", "bputs", USER},
	{"ftrace", "raw_data", USER},
	{"ftrace", NULL, FUNCTIONS},
	{"user_events", NULL, USER},
	{"sched", NULL, SCHED},
	{"task", NULL, SCHED},
	{"cgroup", NULL, SCHED},
	{"signal", NULL, SCHED},
	{"irq", NULL, IRQ},
	{"irq_vectors", NULL, IRQ},
	{"irq_matrix", NULL, IRQ},
	{"ipi", NULL, IRQ},
	{"nmi", NULL, IRQ},
	{"rcu", NULL, IRQ},
	{"syscalls", NULL, SYSCALLS},
	{"raw_syscalls", NULL, SYSCALLS},
	{"timer", NULL, TIMER},
	{"alarmtimer", NULL, TIMER},
	{"workqueue", NULL, WORKQUEUE},
	{"block", NULL, BLOCK},
	{"scsi", NULL, BLOCK},
	{"nvme", NULL, BLOCK},
	{"ext4", NULL, BLOCK},
	{"jbd2", NULL, BLOCK},
	{"xfs", NULL, BLOCK},
	{"btrfs", NULL, BLOCK},
	{"f2fs", NULL, BLOCK},
	{"writeback", NULL, BLOCK},
	{"net", NULL, NET},
	{"sock", NULL, NET},
	{"skb", NULL, NET},
	{"tcp", NULL, NET},
	{"udp", NULL, NET},
	{"napi", NULL, NET},
	{"qdisc", NULL, NET},
	{"bridge", NULL, NET},
	{"fib", NULL, NET},
	{"neigh", NULL, NET},
	{"xdp", NULL, NET},
	{"page_pool", NULL, NET},
	{"power", NULL, POWER},
	{"thermal", NULL, POWER},
	{"cpuhp", NULL, POWER},
	{"rpm", NULL, POWER},
	{"kmem", NULL, MEMORY},
	{"vmscan", NULL, MEMORY},
	{"compaction", NULL, MEMORY},
	{"migrate", NULL, MEMORY},
	{"huge_memory", NULL, MEMORY},
	{"mmap", NULL, MEMORY},
	{"mmap_lock", NULL, MEMORY},
	{"oom", NULL, MEMORY},
	{"pagemap", NULL, MEMORY},
	{"filemap", NULL, MEMORY},
	{"exceptions", NULL, MEMORY},
	{"kprobes", NULL, PROBES},
	{"uprobes", NULL, PROBES},
	{"fprobes", NULL, PROBES},
	{"eprobes", NULL, PROBES},
	{"synthetic", NULL, PROBES},
};

/* What users' own probes have: a group can have any name. */
static bool is_probe(const struct event *e)
{
	static const char field[] = " __probe_";

	return e->format && memmem(e->format, e->format_len, field, strlen(field));
}

unsigned int view_class(const struct event *e)
{
	for (size_t i = 0; e && i < sizeof(systems) / sizeof(systems[0]); i++)
		if (strcmp(e->system, systems[i].system) == 0 &&
		    (!systems[i].name || strcmp(e->name, systems[i].name) == 0))
			return systems[i].class;
	return e && is_probe(e) ? PROBES : OTHER;
}
