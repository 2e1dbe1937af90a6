// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts become intervals: which track of which row, and which value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "view/index/collect.h"

/* ---- how many tasks can run ---- */

/*
 * There is an interval for every change. A few records report changes in the past: a task that
 * leaves a CPU may have been on it since the trace began. So changes wait in a window until some
 * thousand more have come. A change that comes even later counts from the current end.
 */

static bool begin(struct collector *g, struct runnable *r, uint32_t buffer)
{
	r->at = malloc(2 * COUNT_WINDOW * sizeof(*r->at));
	r->row = r->at ? row_of(&g->x->rows, VIEW_COUNTER_ROW, buffer, 0) : UINT32_MAX;
	if (r->row != UINT32_MAX)
		return true;
	index_fail(g->x, -ENOMEM);
	return false;
}

static struct runnable *runnable_of(struct collector *g, uint32_t buffer)
{
	if (!g->runnable)
		g->runnable = calloc(g->x->trace->nr_buffers, sizeof(*g->runnable));
	if (!g->runnable) {
		index_fail(g->x, -ENOMEM);
		return NULL;
	}
	if (!g->runnable[buffer].at && !begin(g, &g->runnable[buffer], buffer))
		return NULL;
	return &g->runnable[buffer];
}

/* Completes the interval before the last change. */
static void end_interval(struct collector *g, struct runnable *r)
{
	if (r->last > r->since)
		collector_put(
			g, &r->track, r->row, VIEW_COUNTER,
			(struct view_interval){.start = r->since,
					       .dur = r->last - r->since,
					       .value = r->shown > 0 ? (uint32_t)r->shown : 0});
	r->since = r->last;
	r->shown = r->value;
}

static void take_first(struct collector *g, struct runnable *r)
{
	const struct change c = r->at[r->first++];

	r->n--;
	if (!r->any)
		r->since = r->last = c.ts;
	r->any = true;
	if (c.ts > r->last) {
		if (r->value != r->shown)
			end_interval(g, r);
		r->last = c.ts;
	}
	r->value += c.by;
}

/* One more or less can run from then on. */
static void runnable_change(struct collector *g, uint32_t buffer, uint64_t ts, int by)
{
	struct runnable *r = runnable_of(g, buffer);
	uint32_t at;

	if (!r)
		return;
	if (r->n == COUNT_WINDOW)
		take_first(g, r);
	if (r->first + r->n == 2 * COUNT_WINDOW) {
		memmove(r->at, r->at + r->first, r->n * sizeof(*r->at));
		r->first = 0;
	}
	ts = r->any && ts < r->last ? r->last : ts;
	for (at = r->first + r->n; at > r->first && r->at[at - 1].ts > ts; at--)
		r->at[at] = r->at[at - 1];
	r->at[at] = (struct change){ts, by};
	r->n++;
}

static void runnable_rest(struct collector *g)
{
	for (uint32_t i = 0; g->runnable && i < g->x->trace->nr_buffers; i++) {
		struct runnable *r = &g->runnable[i];

		while (r->n)
			take_first(g, r);
		/* All states end with the trace, so there are no later changes. */
		end_interval(g, r);
	}
}

static void runnable_free(struct collector *g)
{
	for (uint32_t i = 0; g->runnable && i < g->x->trace->nr_buffers; i++)
		free(g->runnable[i].at);
	free(g->runnable);
}

/* ---- what facts have in common ---- */

static struct view_interval interval(const struct collector *g, const struct fact *f,
				     uint32_t value)
{
	const uint64_t origin = g->x->origin;
	uint64_t end = f->ts + (uint64_t)(f->dur > 0 ? f->dur : 0);
	struct view_interval i = {.value = value,
				  .flags = f->flags & (VIEW_OPEN_START | VIEW_OPEN_END)};

	end = end < f->ts ? UINT64_MAX : end;
	i.start = f->ts > origin ? f->ts - origin : 0;
	i.dur = end > origin ? end - origin - i.start : 0;
	return i;
}

static struct task_tracks *find_task(struct collector *g, uint32_t buffer, int32_t pid)
{
	const uint64_t key = key_of(buffer, pid);
	struct task_tracks *t = slots_get(&g->tasks, key);

	if (t && !t->known) {
		t->row = row_of(&g->x->rows, VIEW_TASK_ROW, buffer, pid);
		t->known = t->row != UINT32_MAX;
		t->key = key;
	}
	if (!t || !t->known) {
		index_fail(g->x, -ENOMEM);
		return NULL;
	}
	g->recent[pid % RECENT] = t;
	return t;
}

static inline struct task_tracks *task_of(struct collector *g, uint32_t buffer, int32_t pid)
{
	struct task_tracks *t = g->recent[pid % RECENT];

	return t && t->key == key_of(buffer, pid) ? t : find_task(g, buffer, pid);
}

static struct cpu_tracks *find_cpu(struct collector *g, uint32_t buffer, int32_t cpu)
{
	const uint64_t key = key_of(buffer, cpu);
	struct cpu_tracks *c = slots_get(&g->cpus, key);

	if (c && !c->known) {
		if (!vec_add(&g->all_cpus, &c)) {
			index_fail(g->x, -ENOMEM);
			return NULL;
		}
		c->row = (uint32_t)row_find(&g->x->rows, VIEW_CPU_ROW, buffer, (uint32_t)cpu);
		/* Another thread may have made it by now, if the CPU is unknown. */
		if (c->row >= g->x->ticks.n)
			c->row = UINT32_MAX;
		c->key = key;
		c->known = true;
	}
	g->recent_cpus[cpu % RECENT] = c;
	return c;
}

/* NULL if it has no row, because it has no records. */
static inline struct cpu_tracks *cpu_of(struct collector *g, uint32_t buffer, int32_t cpu)
{
	struct cpu_tracks *c;

	if (cpu < 0)
		return NULL;
	c = g->recent_cpus[cpu % RECENT];
	if (!c || c->key != key_of(buffer, cpu))
		c = find_cpu(g, buffer, cpu);
	return c && c->row != UINT32_MAX ? c : NULL;
}

/*
 * The number of a name in a row of a table; cached by address, because equal names are the same
 * text.
 */
static uint32_t name_of(struct collector *g, const char *name)
{
	uint32_t *number = slots_get(&g->names, (uintptr_t)name);

	if (!name || !number)
		return VIEW_NO_NAME;
	if (!*number)
		*number = name_number(&g->x->rows, name) + 1;
	return *number - 1;
}

/* ---- states ---- */

static void take_state(struct collector *g, const struct fact *f)
{
	struct view_interval i = interval(g, f, 0);
	struct task_tracks *t, *waker;
	struct cpu_tracks *c;

	if (!(f->flags & FACT_ACTIVE) != !(f->flags & FACT_NEXT))
		runnable_change(g, f->buffer, i.start + i.dur, f->flags & FACT_NEXT ? 1 : -1);
	t = f->pid > 0 ? task_of(g, f->buffer, f->pid) : NULL;
	if (!t)
		return;
	if (f->comm && f->comm != t->comm) {
		row_rename(&g->x->rows, t->row, f->comm);
		t->comm = f->comm;
	}
	if (!(f->flags & FACT_RUNNING)) {
		waker = f->number > 0 ? task_of(g, f->buffer, f->number) : NULL;
		i.value = f->state | (waker ? (waker->row + 1) << VIEW_STATE_BITS : 0);
		collector_put(g, &t->state, t->row, VIEW_STATE, i);
		return;
	}
	i.value = (uint32_t)f->cpu;
	collector_put(g, &t->running, t->row, VIEW_RUNNING, i);
	c = cpu_of(g, f->buffer, f->cpu);
	i.value = t->row;
	if (c)
		collector_put(g, &c->running, c->row, VIEW_RUNNING, i);
}

static void take_begin(struct collector *g, const struct fact *f)
{
	runnable_change(g, f->buffer, index_time(g->x, f->ts), 1);
}

/* A CPU is unknown; if it has no records, it has no row yet. */
static void take_unknown(struct collector *g, const struct fact *f)
{
	struct cpu_tracks *c = f->cpu >= 0 ? find_cpu(g, f->buffer, f->cpu) : NULL;

	if (c && c->row == UINT32_MAX)
		c->row = row_of(&g->x->rows, VIEW_CPU_ROW, f->buffer, (uint32_t)f->cpu);
	if (c && c->row != UINT32_MAX)
		collector_put(g, &c->unknown, c->row, VIEW_STATE, interval(g, f, VIEW_UNKNOWN));
}

/* ---- interrupts ---- */

static void take_irq(struct collector *g, const struct fact *f)
{
	struct cpu_tracks *c = cpu_of(g, f->buffer, f->cpu);

	if (c)
		collector_put_nested(g, &c->irqs, c->row, VIEW_IRQ, (uint32_t)f->number,
				     interval(g, f, name_of(g, f->name)));
}

static void take_softirq(struct collector *g, const struct fact *f)
{
	struct cpu_tracks *c = cpu_of(g, f->buffer, f->cpu);

	if (c)
		collector_put(g, &c->softirqs, c->row, VIEW_SOFTIRQ,
			      interval(g, f, name_of(g, f->name)));
}

/* ---- system calls, functions ---- */

static uint32_t call_without_name(struct collector *g, int32_t nr)
{
	scoped_buf text = buf_new(64);

	buf_printf(&text, "system call %d", nr);
	return name_number(&g->x->rows, buf_str(&text));
}

static void take_syscall(struct collector *g, const struct fact *f)
{
	struct task_tracks *t = f->pid > 0 ? task_of(g, f->buffer, f->pid) : NULL;
	const uint32_t name = f->name ? name_of(g, f->name) : call_without_name(g, f->number);

	if (t)
		collector_put(g, &t->syscalls, t->row, VIEW_SYSCALL, interval(g, f, name));
}

static void take_call(struct collector *g, const struct fact *f)
{
	const struct view_interval i = interval(g, f, name_of(g, f->name));
	const uint32_t depth = (uint32_t)f->number;

	if (f->pid > 0) {
		struct task_tracks *t = task_of(g, f->buffer, f->pid);

		if (t)
			collector_put_nested(g, &t->calls, t->row, VIEW_CALL, depth, i);
	} else {
		struct cpu_tracks *c = cpu_of(g, f->buffer, f->cpu);

		if (c)
			collector_put_nested(g, &c->calls, c->row, VIEW_CALL, depth, i);
	}
}

/* ---- frequencies ---- */

static void end_speed(struct collector *g, struct cpu_tracks *c, uint64_t ts)
{
	if (!c->has_speed)
		return;
	c->speed.dur = ts > c->speed.start ? ts - c->speed.start : 0;
	collector_put(g, &c->frequency, c->row, VIEW_COUNTER, c->speed);
}

static void take_frequency(struct collector *g, const struct fact *f)
{
	struct cpu_tracks *c = cpu_of(g, f->buffer, f->cpu);

	if (!c)
		return;
	end_speed(g, c, index_time(g->x, f->ts));
	c->speed =
		(struct view_interval){.start = index_time(g->x, f->ts), .value = (uint32_t)f->dur};
	c->has_speed = true;
}

/* ---- all of it ---- */

void collector_take(struct collector *g, const struct fact *f)
{
	static void (*const takes[NR_FACTS])(struct collector * g, const struct fact *f) = {
		[A_STATE] = take_state, [A_BEGIN] = take_begin,		[AN_UNKNOWN] = take_unknown,
		[AN_IRQ] = take_irq,	[A_SOFTIRQ] = take_softirq,	[A_SYSCALL] = take_syscall,
		[A_CALL] = take_call,	[A_FREQUENCY] = take_frequency,
	};

	takes[f->kind](g, f);
}

void collector_rest(struct collector *g)
{
	runnable_rest(g);
	for (size_t i = 0; i < g->all_cpus.n; i++) {
		struct cpu_tracks *c = g->all_cpus.at[i];

		c->speed.flags = VIEW_OPEN_END;
		end_speed(g, c, view_index_duration(g->x));
	}
}

static void free_tracks(struct slots *k, void (*drop)(void *tracks))
{
	for (size_t i = 0; i < k->map.cap; i++)
		if (k->map.slots[i].value)
			drop(k->map.slots[i].value);
}

static void drop_task(void *tracks)
{
	free(((struct task_tracks *)tracks)->calls.at);
}

static void drop_cpu(void *tracks)
{
	free(((struct cpu_tracks *)tracks)->calls.at);
	free(((struct cpu_tracks *)tracks)->irqs.at);
}

void collector_free_tracks(struct collector *g)
{
	runnable_free(g);
	free_tracks(&g->tasks, drop_task);
	free_tracks(&g->cpus, drop_cpu);
	vec_free(&g->all_cpus);
}
