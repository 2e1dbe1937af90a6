// SPDX-License-Identifier: GPL-2.0-or-later
/* The types and classes of events, and the records of a CPU as ticks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mutex.h"
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

/* The systems of each class, without the events of ftrace that come from users. */
static const char *const systems[NR_CLASSES][14] = {
	[SCHED] = {"sched", "task", "cgroup", "signal"},
	[IRQ] = {"irq", "irq_vectors", "irq_matrix", "ipi", "nmi", "rcu"},
	[SYSCALLS] = {"syscalls", "raw_syscalls"},
	[TIMER] = {"timer", "alarmtimer"},
	[WORKQUEUE] = {"workqueue"},
	[BLOCK] = {"block", "scsi", "nvme", "ext4", "jbd2", "xfs", "btrfs", "f2fs", "writeback"},
	[NET] = {"net", "sock", "skb", "tcp", "udp", "napi", "qdisc", "bridge", "fib", "neigh",
		 "xdp", "page_pool"},
	[POWER] = {"power", "thermal", "cpuhp", "rpm"},
	[MEMORY] = {"kmem", "vmscan", "compaction", "migrate", "huge_memory", "mmap", "mmap_lock",
		    "oom", "pagemap", "filemap", "exceptions"},
	[FUNCTIONS] = {"ftrace"},
	[PROBES] = {"kprobes", "uprobes", "fprobes", "eprobes", "synthetic"},
	[USER] = {"user_events"},
};

static const char *const of_users[] = {"print", "bprint", "bputs", "raw_data"};

/* What users' own probes have: a group can have any name. */
static bool is_probe(const struct event *e)
{
	static const char field[] = " __probe_";

	return e->format && memmem(e->format, e->format_len, field, strlen(field));
}

unsigned int view_class(const struct event *e)
{
	if (!e)
		return OTHER;
	for (size_t i = 0; strcmp(e->system, "ftrace") == 0 && i < ARRAY_SIZE(of_users); i++)
		if (strcmp(e->name, of_users[i]) == 0)
			return USER;
	for (unsigned int c = 0; c < NR_CLASSES; c++)
		for (const char *const *s = systems[c]; *s; s++)
			if (strcmp(e->system, *s) == 0)
				return c;
	return is_probe(e) ? PROBES : OTHER;
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
	mutex_hold(&t->lock);
	r->next = t->idle;
	t->idle = r;
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
