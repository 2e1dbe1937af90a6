// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks and the events they belong to.
 *
 * A stack is written right behind its event, by the same task and in the same context: what comes
 * between the two on that CPU can only be of an interrupt, or of an interrupt of that. So a CPU has
 * one event that may still get a stack in each context: the task, a softirq, an interrupt, an NMI.
 * An event ends those of its own context and of all that interrupt it.
 *
 * A stack whose event was lost has a row without one, from where the CPU's records begin again or
 * the context was seen last. Until a context has been seen since reading started in the middle of a
 * trace its stacks are of events before that, and have no row.
 */
#include "table/stacks_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define CPUS_LIMIT (16u << 20)
#define NEAR_CPUS  64 /* with numbers below are found at once */

enum context { TASK, SOFTIRQ, HARDIRQ, NMI, NR_CONTEXTS };

/* common_flags */
#define IN_HARDIRQ (1 << 3)
#define IN_SOFTIRQ (1 << 4)
#define IN_NMI	   (1 << 6)

/* An event that may get stacks. */
struct subject {
	const struct event *event; /* NULL: lost */
	int pid;
	const struct folded *user, *kernel; /* nothing that counts until it is `stacked` */
};

struct cpu {
	uint32_t cpu;
	bool listed;
	/* A bit per context, as every record changes several: */
	uint8_t valid;		      /* there is a subject */
	uint8_t stacked;	      /* which has got a stack */
	uint8_t known;		      /* whether the event of a stack that has none was lost, … */
	uint64_t border[NR_CONTEXTS]; /* … at this time or later; the time of a subject */
	struct subject subjects[NR_CONTEXTS];
};

struct stacks {
	const struct table_source *src;
	struct events *events;
	struct comm_times *comms;
	struct folder *folder;
	bool samples; /* which of the two tables this is */
	const struct event *kernel, *user;
	struct slots cpus;
	struct cpu *near[NEAR_CPUS];
	struct {
		struct cpu **at;
		size_t n, cap;
	} all;
};

/* ---- rows ---- */

static void sample(const struct stacks *a, const struct cpu *c, int context)
{
	const struct subject *s = &c->subjects[context];
	const struct sample_row row = {
		.ts = c->border[context],
		.cpu = c->cpu,
		.pid = s->pid,
		.comm = comm_at(a->comms, s->pid, c->border[context]),
		.event = s->event ? s->event->name : NULL,
		.system = s->event ? s->event->system : NULL,
		.depth = (int64_t)(s->user ? s->user->depth : 0) +
			 (s->kernel ? s->kernel->depth : 0),
		.stack = folder_join(a->folder, s->user, s->kernel),
		.buffer = a->src->buffer->data->name,
	};

	a->src->row(a->src->arg, &row);
}

static void stack(const struct stacks *a, const struct cpu *c, int context,
		  const struct folded *folded, const char *kind)
{
	const struct subject *s = &c->subjects[context];
	const struct stack_row row = {
		.ts = c->border[context],
		.cpu = c->cpu,
		.pid = s->pid,
		.comm = comm_at(a->comms, s->pid, c->border[context]),
		.kind = kind,
		.event = s->event ? s->event->name : NULL,
		.system = s->event ? s->event->system : NULL,
		.depth = folded->depth,
		.top = folded->top,
		.stack = folded->text,
		.buffer = a->src->buffer->data->name,
	};

	a->src->row(a->src->arg, &row);
}

/* The contexts from this one on, as bits. */
static inline uint8_t bits_from(enum context from)
{
	return (uint8_t)(((1u << NR_CONTEXTS) - 1) & ~((1u << from) - 1));
}

static void hand_out_samples(const struct stacks *a, const struct cpu *c, enum context from)
{
	for (int i = NR_CONTEXTS - 1; i >= (int)from; i--)
		if (c->valid & c->stacked & 1u << i)
			sample(a, c, i);
}

/* Nothing more will be told about what is in this context, or interrupts it. */
static inline void finish(const struct stacks *a, struct cpu *c, enum context from)
{
	if (__builtin_expect(c->stacked & bits_from(from), 0) && a->samples)
		hand_out_samples(a, c, from);
	c->valid &= (uint8_t)~bits_from(from);
	c->stacked &= (uint8_t)~bits_from(from);
}

/* ---- records ---- */

/* What the contexts from this one on had to tell before is complete. */
static inline void set_border(struct cpu *c, enum context from, uint64_t ts)
{
	c->known |= bits_from(from);
	/* Nearly always all of them, which is a loop of a known length. */
	if (from == TASK)
		for (int i = 0; i < NR_CONTEXTS; i++)
			c->border[i] = ts;
	else
		for (int i = from; i < NR_CONTEXTS; i++)
			c->border[i] = ts;
}

static struct cpu *find_cpu(struct stacks *a, uint32_t cpu)
{
	struct cpu *c = slots_get(&a->cpus, cpu), **slot;

	if (!c || c->listed)
		return c;
	slot = vec_push(&a->all);
	if (!slot)
		return NULL;
	*slot = c;
	c->listed = true;
	c->cpu = cpu;
	if (cpu < NEAR_CPUS)
		a->near[cpu] = c;
	return c;
}

static inline struct cpu *cpu_of(struct stacks *a, uint32_t cpu)
{
	return cpu < NEAR_CPUS && a->near[cpu] ? a->near[cpu] : find_cpu(a, cpu);
}

static inline enum context context_of(unsigned int flags)
{
	if (__builtin_expect(!(flags & (IN_NMI | IN_HARDIRQ | IN_SOFTIRQ)), 1))
		return TASK;
	if (flags & IN_NMI)
		return NMI;
	return flags & IN_HARDIRQ ? HARDIRQ : flags & IN_SOFTIRQ ? SOFTIRQ : TASK;
}

static inline void take_event(struct stacks *a, struct cpu *c, enum context context,
			      const struct event *e, const struct spur_record *r, int pid)
{
	finish(a, c, context);
	set_border(c, context, r->ts);
	c->subjects[context].event = e;
	c->subjects[context].pid = pid;
	c->valid |= (uint8_t)(1u << context);
}

static void take_stack(struct stacks *a, struct cpu *c, enum context context, struct event *e,
		       const struct spur_record *r, int pid)
{
	const bool user = e == a->user;
	const struct folded *folded =
		user ? folder_user(a->folder, e, r) : folder_kernel(a->folder, e, r);
	struct subject *s = &c->subjects[context];

	if (!(c->valid & 1u << context) || s->pid != pid) {
		if (!(c->known & 1u << context))
			return;
		finish(a, c, context);
		*s = (struct subject){.pid = pid};
		c->valid |= (uint8_t)(1u << context);
	}
	if (!folded)
		return;
	if (!(c->stacked & 1u << context))
		s->user = s->kernel = NULL;
	c->stacked |= (uint8_t)(1u << context);
	if (!a->samples)
		stack(a, c, context, folded, user ? "user" : "kernel");
	/* Of two of one kind the first is the event's; a trigger may have written another. */
	if (user && !s->user)
		s->user = folded;
	else if (!user && !s->kernel)
		s->kernel = folded;
}

static void stacks_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct stacks *a = analysis;
	const enum context context = context_of(events_record_flags(a->events, r));
	const int pid = events_record_pid(a->events, r);
	struct cpu *c = cpu_of(a, r->cpu);

	if (!c)
		return;
	if (e == a->kernel || e == a->user)
		take_stack(a, c, context, e, r, pid);
	else
		take_event(a, c, context, e, r, pid);
}

/* What nearly all records are: of a task, on a CPU that is known, where no stack has just come. */
static inline bool take_usual(struct stacks *a, struct event *e, const struct spur_record *r)
{
	struct cpu *c = r->cpu < NEAR_CPUS ? a->near[r->cpu] : NULL;
	struct usual_head head;

	if (!c || c->stacked || e == a->kernel || e == a->user ||
	    !record_usual_head(a->events, r, &head) || context_of(head.flags) != TASK)
		return false;
	c->valid = 1u << TASK;
	set_border(c, TASK, r->ts);
	c->subjects[TASK].event = e;
	c->subjects[TASK].pid = head.pid;
	return true;
}

/*
 * The records of a batch that count, as bits. Where no stacks are, a task's event ends all that its
 * CPU had before, which makes those in between forgotten.
 */
static uint64_t lasting(const struct stacks *a, const struct table_record *all, uint32_t n)
{
	const uint64_t every = UINT64_MAX >> (TABLE_BATCH - n);
	const struct event *kernel = a->kernel, *user = a->user;
	uint64_t last = 0, forgotten = 0;
	struct usual_head head;

	_Static_assert(TABLE_BATCH == 64 && NEAR_CPUS == 64, "each has a bit");
	for (const struct table_record *at = all + n; at-- > all;) {
		const uint32_t cpu = at->record.cpu;

		if (at->event == kernel || at->event == user)
			return every;
		if (cpu < NEAR_CPUS && forgotten >> cpu & 1)
			continue;
		last |= 1ull << (at - all);
		if (cpu < NEAR_CPUS && record_usual_head(a->events, &at->record, &head) &&
		    context_of(head.flags) == TASK)
			forgotten |= 1ull << cpu;
	}
	return last;
}

static void stacks_records(void *analysis, const struct table_record *all, uint32_t n)
{
	for (uint64_t left = lasting(analysis, all, n); left; left &= left - 1) {
		const struct table_record *t = &all[__builtin_ctzll(left)];

		if (!take_usual(analysis, t->event, &t->record))
			stacks_record(analysis, t->event, &t->record);
	}
}

static void stacks_lost(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct stacks *a = analysis;
	struct cpu *c = cpu_of(a, cpu);

	if (!c)
		return;
	finish(a, c, TASK);
	set_border(c, TASK, to);
}

static void stacks_end(void *analysis, uint64_t ts)
{
	struct stacks *a = analysis;

	for (size_t i = 0; i < a->all.n; i++)
		finish(a, a->all.at[i], TASK);
}

static bool stacks_pending(const void *analysis, uint64_t ts)
{
	const struct stacks *a = analysis;

	for (size_t i = 0; i < a->all.n; i++)
		for (int k = 0; k < NR_CONTEXTS; k++)
			if (a->all.at[i]->valid & 1u << k && a->all.at[i]->border[k] <= ts)
				return true;
	return false;
}

/* ---- making ---- */

static void stacks_free(void *analysis)
{
	struct stacks *a = analysis;

	folder_free(a->folder);
	comm_times_free(a->comms);
	vec_free(&a->all);
	slots_free(&a->cpus);
	free(a);
}

static struct stacks *begin(const struct table_source *src, bool samples)
{
	const struct dat_buffer *b = src->buffer->data;
	struct stacks *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->src = src;
	a->events = src->trace->events;
	a->samples = samples;
	a->kernel = events_find(a->events, "ftrace", "kernel_stack");
	a->user = events_find(a->events, "ftrace", "user_stack");
	slots_init(&a->cpus, sizeof(struct cpu), CPUS_LIMIT);
	a->folder = folder_new(a->events, samples ? "_[k]" : "");
	a->comms = src->nameless ? NULL : comm_times_new(src->trace, src->stop);
	if (!a->folder || (!a->comms && !src->nameless)) {
		stacks_free(a);
		return NULL;
	}
	for (uint32_t i = 0; !b->text && i < b->nr_cpus; i++) {
		const uint64_t start = cpu_start(src->buffer, &b->cpus[i]);
		struct cpu *c = start != UINT64_MAX ? cpu_of(a, b->cpus[i].cpu) : NULL;

		if (c && src->since <= start)
			set_border(c, TASK, start);
	}
	return a;
}

static void *stacks_begin(const struct table_source *src)
{
	return begin(src, false);
}

static void *samples_begin(const struct table_source *src)
{
	return begin(src, true);
}

#define STACK(kind, member, about)                                                                 \
	{                                                                                          \
#member, COLUMN_##kind, offsetof(struct stack_row, member), about                  \
	}
#define SAMPLE(kind, member, about)                                                                \
	{                                                                                          \
#member, COLUMN_##kind, offsetof(struct sample_row, member), about                 \
	}

static const struct column stack_columns[] = {
	STACK(TIME, ts, "of the event it belongs to"),
	STACK(NUMBER, cpu, "it was recorded on"),
	STACK(NUMBER, pid, "the task"),
	STACK(TEXT, comm, "the task's name"),
	STACK(TEXT, kind, "kernel or user"),
	STACK(TEXT, event, "it belongs to"),
	STACK(NUMBER, depth, "functions in it"),
	STACK(TEXT, top, "the innermost function"),
	STACK(TEXT, stack, "outer;…;inner"),
	STACK(TEXT, buffer, "it was recorded in"),
};

static const struct column sample_columns[] = {
	SAMPLE(TIME, ts, "of the event"),
	SAMPLE(NUMBER, cpu, "it was recorded on"),
	SAMPLE(NUMBER, pid, "the task"),
	SAMPLE(TEXT, comm, "the task's name"),
	SAMPLE(TEXT, event, "the event"),
	SAMPLE(NUMBER, depth, "functions in the stack"),
	SAMPLE(TEXT, stack, "outer;…;inner, the kernel's functions with _[k]"),
	SAMPLE(TEXT, buffer, "it was recorded in"),
};

static const char *const events[] = {"*:*", NULL};
static const char *const needs[] = {"ftrace:kernel_stack", "ftrace:user_stack", NULL};

const struct table stacks_table = {
	.name = "stacks",
	.about = "stacks recorded with events",
	.columns = stack_columns,
	.nr_columns = sizeof(stack_columns) / sizeof(stack_columns[0]),
	.row_size = sizeof(struct stack_row),
	.events = events,
	.needs = needs,
	.starts_anywhere = true,
	.begin = stacks_begin,
	.record = stacks_record,
	.records = stacks_records,
	.lost = stacks_lost,
	.end = stacks_end,
	.free = stacks_free,
	.pending = stacks_pending,
};

const struct table samples_table = {
	.name = "samples",
	.about = "events with stacks: the program's and the kernel's as one",
	.columns = sample_columns,
	.nr_columns = sizeof(sample_columns) / sizeof(sample_columns[0]),
	.row_size = sizeof(struct sample_row),
	.events = events,
	.needs = needs,
	.starts_anywhere = true,
	.begin = samples_begin,
	.record = stacks_record,
	.records = stacks_records,
	.lost = stacks_lost,
	.end = stacks_end,
	.free = stacks_free,
	.pending = stacks_pending,
};
