// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums per task, per CPU and per interrupt, from the rows of a trace's tables. */
#include "stats/top.h"

#include <errno.h>
#include <string.h>

#include "table/feed.h"
#include "table/sched.h"
#include "table/spans.h"
#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"

#define MEMORY	   (32u << 20) /* for tasks; CPUs and interrupts need less */
#define NAME_BYTES (8u << 20)
#define SOFT	   (1ull << 62) /* in the key of a softirq */

struct maker {
	struct top *top;
	const struct top_options *opt;
};

/* ---- finding tasks, CPUs and interrupts ---- */

/* An element by its key; a new one is added to the list. NULL when memory has run out. */
#define ELEMENT(top, list, slots, key)                                                             \
	({                                                                                         \
		__typeof__(*(top)->list.at) e_ = slots_find(&(top)->slots, key);                   \
		if (!e_ && (e_ = slots_get(&(top)->slots, key)) != NULL)                           \
			(top)->full |= !vec_add(&(top)->list, &e_);                                \
		(top)->full |= !e_;                                                                \
		e_;                                                                                \
	})

static const char *name_of(struct top *top, const char *name)
{
	const char *kept = name ? intern_text(&top->names, name, strlen(name)) : NULL;

	return kept ? kept : "<...>";
}

/* NULL: this task is not counted. */
static struct top_task *task(struct maker *m, int64_t pid, const char *comm)
{
	struct top *top = m->top;
	struct top_task *t;

	/* Idle is a state of CPUs, not a task; the task of a request may be unknown. */
	if (!pid || pid == ROW_NULL || (m->opt->wanted && !m->opt->wanted(m->opt->arg, pid, comm)))
		return NULL;
	t = ELEMENT(top, tasks, task_slots, (uint64_t)pid);
	if (!t)
		return NULL;
	t->pid = pid;
	if (!t->comm)
		t->last_cpu = ROW_NULL;
	/* The last name of the task is shown. */
	if (comm || !t->comm)
		t->comm = name_of(top, comm);
	return t;
}

/* CPUs that the user did not select are read, because they affect others, but not counted. */
static bool asked(const struct maker *m, int64_t number)
{
	return walk_asks_cpu(&m->opt->walk, number);
}

static struct top_cpu *cpu(struct maker *m, int64_t number)
{
	struct top_cpu *c;

	if (number < 0)
		return NULL;
	c = ELEMENT(m->top, cpus, cpu_slots, (uint64_t)number);
	if (c)
		c->cpu = number;
	return c;
}

static struct top_irq *irq(struct maker *m, bool soft, int64_t number, const char *name)
{
	struct top_irq *i = ELEMENT(m->top, irqs, irq_slots, (uint64_t)number | (soft ? SOFT : 0));

	if (i && !i->name) {
		i->soft = soft;
		i->number = number;
		i->name = name_of(m->top, name);
	}
	return i;
}

static int64_t known(int64_t value)
{
	return value == ROW_NULL ? 0 : value;
}

static void add(int64_t *sum, int64_t value)
{
	*sum = ns_add(*sum, known(value));
}

static void note_open(struct maker *m, enum row_open open)
{
	m->top->open += open != ROW_WHOLE;
}

/* ---- rows ---- */

/* Notes that a known task runs on a CPU that was not selected. */
static void note_elsewhere(struct maker *m, const struct slice_row *s)
{
	struct top_task *t = slots_find(&m->top->task_slots, (uint64_t)s->pid);

	if (t)
		t->last_cpu = s->cpu;
}

static void take_slice(void *arg, const void *row)
{
	const struct slice_row *s = row;
	struct top_task *t;
	struct top_cpu *c;
	bool moved;

	if (!asked(arg, s->cpu)) {
		note_elsewhere(arg, s);
		return;
	}
	t = task(arg, s->pid, s->comm);
	c = cpu(arg, s->cpu);
	moved = t && t->last_cpu != ROW_NULL && t->last_cpu != s->cpu;
	note_open(arg, s->open);
	if (c && !s->pid)
		add(&c->idle, s->dur);
	if (c && s->pid == ROW_NULL)
		add(&c->sums.unknown, s->dur);
	if (!t)
		return;
	t->last_cpu = s->cpu;
	t->sums.switches += slice_is_switched_to(s);
	t->sums.migrations += moved;
	if (!c)
		return;
	add(&c->sums.running, s->dur);
	c->sums.switches += slice_is_switched_to(s);
	c->sums.migrations += moved;
}

static void add_state(struct top_sums *s, enum run_state state, int64_t dur)
{
	switch (state) {
	case RUN_RUNNABLE: add(&s->runnable, dur); break;
	case RUN_BLOCKED: add(&s->blocked, dur); break;
	case RUN_SLEEPING: add(&s->sleeping, dur); break;
	default: break;
	}
}

static void take_state(void *arg, const void *row)
{
	const struct state_row *s = row;
	struct top_task *t = asked(arg, s->cpu) ? task(arg, s->pid, s->comm) : NULL;
	struct top_cpu *c = t ? cpu(arg, s->cpu) : NULL;

	if (!t)
		return;
	if (s->state == RUN_RUNNING)
		add(&t->sums.running, s->dur);
	else if (s->state == RUN_UNKNOWN)
		add(&t->sums.unknown, s->dur);
	else
		add_state(&t->sums, s->state, s->dur);
	if (c)
		add_state(&c->sums, s->state, s->dur);
}

/* Finds the sums that a row is added to: its task's and its CPU's. Returns how many there are. */
static size_t sums_of(struct maker *m, int64_t where, int64_t pid, const char *comm,
		      struct top_sums **sums)
{
	struct top_task *t = asked(m, where) ? task(m, pid, comm) : NULL;
	struct top_cpu *c = t ? cpu(m, where) : NULL;

	sums[0] = t ? &t->sums : NULL;
	sums[1] = c ? &c->sums : NULL;
	return c ? 2 : t != NULL;
}

static void take_wakeup(void *arg, const void *row)
{
	const struct wakeup_row *w = row;
	const int64_t where = w->run_cpu != ROW_NULL ? w->run_cpu : w->target_cpu;
	struct top_sums *sums[2];
	const size_t n = sums_of(arg, where, w->pid, w->comm, sums);

	for (size_t i = 0; i < n; i++) {
		sums[i]->wakeups++;
		if (w->latency > sums[i]->worst) {
			sums[i]->worst = w->latency;
			sums[i]->worst_at = w->ts;
		}
	}
}

/* The duration, or unknown for what was not seen from beginning to end. */
static int64_t whole(int64_t dur, enum row_open open)
{
	return open ? ROW_NULL : dur;
}

static void take_syscall(void *arg, const void *row)
{
	const struct syscall_row *y = row;
	struct top_sums *sums[2];
	const size_t n = sums_of(arg, y->cpu, y->pid, y->comm, sums);

	for (size_t i = 0; i < n; i++) {
		sums[i]->syscalls++;
		add(&sums[i]->syscall_time, whole(y->dur, y->open));
	}
}

static void take_block(void *arg, const void *row)
{
	const struct block_row *b = row;
	struct top_sums *sums[2];
	const size_t n = sums_of(arg, b->cpu, b->pid, b->comm, sums);

	for (size_t i = 0; i < n; i++) {
		sums[i]->requests++;
		sums[i]->bytes += (uint64_t)known(b->bytes);
	}
}

/* Adds an interrupt or a softirq that ran on a CPU. */
static void add_irq(struct top_cpu *c, struct top_irq *i, bool soft, int64_t dur)
{
	if (c) {
		++*(soft ? &c->softirqs : &c->irqs);
		add(soft ? &c->softirq_time : &c->irq_time, dur);
	}
	if (!i)
		return;
	i->count++;
	i->timed += dur != ROW_NULL;
	add(&i->time, dur);
	if (known(dur) > i->longest)
		i->longest = dur;
}

static void take_irq(void *arg, const void *row)
{
	const struct irq_row *q = row;

	if (asked(arg, q->cpu))
		add_irq(cpu(arg, q->cpu), irq(arg, false, q->irq, q->name), false,
			whole(q->dur, q->open));
}

static void take_softirq(void *arg, const void *row)
{
	const struct softirq_row *q = row;

	if (asked(arg, q->cpu))
		add_irq(cpu(arg, q->cpu), irq(arg, true, q->vec, q->name), true,
			whole(q->dur, q->open));
}

/* ---- all of it ---- */

static const struct {
	const struct table *table;
	void (*take)(void *arg, const void *row);
	size_t has; /* where struct top says that there is such a thing */
} sources[] = {
	{&slices_table, take_slice, offsetof(struct top, has_sched)},
	{&states_table, take_state, offsetof(struct top, has_sched)},
	{&wakeups_table, take_wakeup, offsetof(struct top, has_wakeups)},
	{&syscalls_table, take_syscall, offsetof(struct top, has_syscalls)},
	{&irqs_table, take_irq, offsetof(struct top, has_irqs)},
	{&softirqs_table, take_softirq, offsetof(struct top, has_irqs)},
	{&block_table, take_block, offsetof(struct top, has_block)},
};

static void init(struct top *top)
{
	*top = (struct top){0};
	slots_init(&top->task_slots, sizeof(struct top_task), MEMORY);
	slots_init(&top->cpu_slots, sizeof(struct top_cpu), MEMORY);
	slots_init(&top->irq_slots, sizeof(struct top_irq), MEMORY);
	intern_init(&top->names, NAME_BYTES);
}

int top_make(struct top *top, struct spur_trace *t, const struct top_options *opt,
	     struct spur_error *err)
{
	struct maker m = {top, opt};
	struct walk_options all = opt->walk;
	struct feed *f;
	int rc;

	init(top);
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		top->ticks |= !t->buffers[i].nanoseconds;
	/* What begins on one CPU may end on another: rows are chosen, not records. */
	all.cpus = NULL;
	f = feed_new(t, &all);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (!table_possible(sources[i].table, t))
			continue;
		*(bool *)((char *)top + sources[i].has) = true;
		feed_add(f, sources[i].table, sources[i].take, &m);
	}
	rc = feed_run(f, err);
	feed_free(f);
	return rc;
}

void top_free(struct top *top)
{
	vec_free(&top->tasks);
	vec_free(&top->cpus);
	vec_free(&top->irqs);
	slots_free(&top->task_slots);
	slots_free(&top->cpu_slots);
	slots_free(&top->irq_slots);
	intern_free(&top->names);
}
