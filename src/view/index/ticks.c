// SPDX-License-Identifier: GPL-2.0-or-later
/* The types and classes of events, and the records of a CPU as ticks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/event.h"
#include "view/index/index.h"
#include "view/index/ticks.h"

/* ---- classes of events ---- */

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
	for (size_t i = 0; e && i < ARRAY_SIZE(systems); i++)
		if (strcmp(e->system, systems[i].system) == 0 &&
		    (!systems[i].name || strcmp(e->name, systems[i].name) == 0))
			return systems[i].class;
	return e && is_probe(e) ? PROBES : OTHER;
}

/* ---- reading records as ticks ---- */

#define FAR 128 /* places between two times: some twenty thousand records */

int types_init(struct event_types *t, const struct events *ev)
{
	const size_t n = ev->nr + 1;

	*t = (struct event_types){.nr = (uint32_t)ev->nr,
				  .number = calloc(n, sizeof(*t->number)),
				  .events = calloc(n, sizeof(*t->events)),
				  .class = calloc(n, sizeof(*t->class)),
				  .masks = calloc(n, sizeof(*t->masks)),
				  .counts = calloc(n, sizeof(*t->counts))};
	if (!t->number || !t->events || !t->class || !t->masks || !t->counts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		t->class[i] = 1u << view_class(i < ev->nr ? ev->list[i] : NULL);
	return 0;
}

void types_free(struct event_types *t)
{
	free(t->number);
	free(t->events);
	free(t->class);
	free(t->masks);
	free(t->counts);
}

struct ticks *ticks_new(const struct trace_buffer *b, const struct dat_cpu *cpu)
{
	struct ticks *t = calloc(1, sizeof(*t));

	if (t) {
		t->buffer = b;
		t->cpu = cpu;
		pthread_mutex_init(&t->lock, NULL);
	}
	return t;
}

static void free_reader(struct ticks_reader *r)
{
	lane_close(&r->lane);
	free(r);
}

void ticks_free(struct ticks *t)
{
	if (!t)
		return;
	while (t->idle) {
		struct ticks_reader *r = t->idle;

		t->idle = r->next;
		free_reader(r);
	}
	free(t->places.at);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

struct ticks_reader *ticks_open(struct ticks *t)
{
	struct ticks_reader *r;

	pthread_mutex_lock(&t->lock);
	r = t->idle;
	if (r)
		t->idle = r->next;
	pthread_mutex_unlock(&t->lock);
	if (!r) {
		r = calloc(1, sizeof(*r));
		if (!r || lane_open(&r->lane, t->buffer, t->cpu) < 0) {
			free(r);
			return NULL;
		}
		r->ticks = t;
	}
	r->time = UINT64_MAX;
	return r;
}

void ticks_close(struct ticks *t, struct ticks_reader *r)
{
	pthread_mutex_lock(&t->lock);
	r->next = t->idle;
	t->idle = r;
	pthread_mutex_unlock(&t->lock);
}

/* The last place before which there is nothing at or after a time. */
static const struct ticks_place *find_place(const struct ticks *t, uint64_t ts)
{
	size_t i;

	binary_search(i, 0, t->places.n, t->places.at[i].before < ts);
	return t->places.n ? &t->places.at[i ? i - 1 : 0] : NULL;
}

bool ticks_far(const struct ticks *t, uint64_t since, uint64_t until)
{
	const struct ticks_place *a = find_place(t, since), *b = find_place(t, until);

	return a && b && b - a > FAR;
}

uint64_t ticks_before(const struct ticks *t, uint64_t ts)
{
	const struct ticks_place *p = find_place(t, ts);

	return p ? p->before : 0;
}

void ticks_seek(struct ticks_reader *r, uint64_t ts)
{
	const struct ticks_place *p = find_place(r->ticks, ts);

	if (r->time < ts && (!p || p->page <= r->lane.page_index))
		return;
	r->time = p ? p->before : 0;
	lane_seek(&r->lane, (struct lane_pos){.page = p ? p->page : 0});
}

bool ticks_next(struct ticks_reader *r, struct view_interval *out)
{
	const struct event *e;

	if (!lane_next(&r->lane))
		return false;
	e = events_of_record(r->ticks->buffer->trace->events, &r->lane.rec);
	r->time = ticks_time(r->lane.rec.ts, r->ticks->origin, r->time);
	*out = (struct view_interval){.start = r->time, .value = e ? e->index : UINT32_MAX};
	return true;
}
