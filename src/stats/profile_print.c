// SPDX-License-Identifier: GPL-2.0-or-later
/* A profile as text. */
#include <stdlib.h>
#include <string.h>

#include "stats/profile_parts.h"
#include "event/names.h"

#define NSEC_PER_SEC 1000000000u

/* Seconds and microseconds. As in trace-cmd, rounding does not carry into the seconds. */
void put_time(struct buf *out, uint64_t ts)
{
	buf_printf(out, "%llu.%06llu", (unsigned long long)(ts / NSEC_PER_SEC),
		   (unsigned long long)((ts % NSEC_PER_SEC + 500) / 1000));
}

/* ---- names of entries ---- */

static void put_switch(const struct entry *e, struct buf *out)
{
	static const char states[] = "SDTtXZxKWP";

	buf_printf(out, "%s:", e->watch->event->name);
	if (!e->value)
		buf_putc(out, 'R');
	for (unsigned int i = 0; i < sizeof(states) - 1; i++)
		if (e->value >> i & 1)
			buf_putc(out, states[i]);
}

static void put_function(const struct entry *e, struct buf *out)
{
	const struct symbol *sym = symbols_find(e->watch->event->events->symbols, e->value);

	if (sym)
		buf_printf(out, "func: %s()", sym->name);
	else
		buf_printf(out, "func: 0x%llx", (unsigned long long)e->value);
}

static void put_softirq(const struct entry *e, struct buf *out)
{
	static const char *const names[] = {"HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					    "BLOCK_IOPOLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU"};

	if (e->value < sizeof(names) / sizeof(names[0]))
		buf_printf(out, "%s:%s", e->watch->event->name, names[e->value]);
	else
		buf_printf(out, "%s:%d", e->watch->event->name, (int)e->value);
}

static void put_syscall(const struct entry *e, struct buf *out)
{
	buf_printf(out, "%s:%d", e->watch->event->name, (int)e->value);
}

static void put_plain(const struct entry *e, struct buf *out)
{
	buf_printf(out, "%s:0x%llx", e->watch->event->name, (unsigned long long)e->value);
}

static void (*const put_name[])(const struct entry *e, struct buf *out) = {
	[WATCH_PLAIN] = put_plain,     [WATCH_SWITCH] = put_switch,
	[WATCH_WAKEUP] = put_plain,    [WATCH_FUNCTION] = put_function,
	[WATCH_SOFTIRQ] = put_softirq, [WATCH_SYSCALL] = put_syscall,
};

/* ---- entries ---- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Switches first, then wakeups. */
static int rank(const struct entry *e)
{
	return e->watch->kind == WATCH_SWITCH ? 0 : e->watch->kind == WATCH_WAKEUP ? 1 : 2;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = *(const struct entry *const *)a;
	const struct entry *y = *(const struct entry *const *)b;
	int by = rank(x) - rank(y);

	if (!by && x->watch->kind == WATCH_SWITCH)
		by = compare(x->value, y->value);
	if (!by)
		by = (x->watch->event->id > y->watch->event->id) -
		     (x->watch->event->id < y->watch->event->id);
	if (!by)
		by = compare(y->f.total, x->f.total);
	if (!by)
		by = compare(y->f.count, x->f.count);
	if (!by)
		by = compare(x->value, y->value);
	return by ? by : compare(x->search, y->search);
}

static void put_entry(const struct entry *e, struct buf *out)
{
	const struct figures *f = &e->f;

	buf_puts(out, "  Event: ");
	put_name[e->watch->kind](e, out);
	buf_printf(out, " (%lld)", (long long)f->count);
	if (f->total) {
		buf_printf(out, " Total: %lld Avg: %lld Max: %lld(ts:", (long long)f->total,
			   (long long)(f->total / f->count), (long long)f->max);
		put_time(out, f->ts_max);
		buf_printf(out, ") Min:%lld(ts:", (long long)f->min);
		put_time(out, f->ts_min);
		buf_putc(out, ')');
	}
	buf_putc(out, '\n');
	put_stacks(e, out);
}

static void put_entries(const struct task *t, struct buf *out)
{
	const struct entry **sorted = malloc((t->nr_entries + 1) * sizeof(*sorted));
	size_t n = 0;

	if (!sorted) {
		t->scope->profile->dropped++;
		return;
	}
	for (const struct entry *e = t->entries; e; e = e->next)
		sorted[n++] = e;
	qsort(sorted, n, sizeof(*sorted), compare_entries);
	for (size_t i = 0; i < n && !buf_full(out); i++)
		put_entry(sorted[i], out);
	free(sorted);
}

/* ---- tasks ---- */

static void put_task(const struct task *t, struct buf *out)
{
	size_t len;

	if (t->grouped)
		return;
	if (t->named)
		buf_printf(out, "\ntask: %s-%d\n", t->comm, t->pid);
	else
		buf_printf(out, "\ntask: %s-%d\n",
			   comms_find(t->scope->binding->events->comms, t->pid, &len), t->pid);
	put_entries(t, out);
}

static void put_group(const struct task *t, struct buf *out)
{
	buf_printf(out, "\ngroup: %s\n", t->comm);
	put_entries(t, out);
}

static int compare_pids(const void *a, const void *b)
{
	const struct task *x = *(const struct task *const *)a;
	const struct task *y = *(const struct task *const *)b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int compare_names(const void *a, const void *b)
{
	const struct task *x = *(const struct task *const *)a;
	const struct task *y = *(const struct task *const *)b;

	return strcmp(x->comm, y->comm);
}

static void put_tasks(const struct task *first, size_t n, int (*order)(const void *, const void *),
		      void (*put)(const struct task *, struct buf *), struct buf *out)
{
	const struct task **sorted = malloc((n + 1) * sizeof(*sorted));
	size_t k = 0;

	for (const struct task *t = first; sorted && t; t = t->next)
		sorted[k++] = t;
	if (sorted)
		qsort(sorted, k, sizeof(*sorted), order);
	for (size_t i = 0; i < k && !buf_full(out); i++)
		put(sorted[i], out);
	free(sorted);
}

static void put_global(const struct task *t, struct buf *out)
{
	if (!t || !t->entries)
		return;
	buf_printf(out, "%s\n", t->comm);
	put_entries(t, out);
}

static int compare_cpus(const void *a, const void *b)
{
	const struct cpu_state *x = *(const struct cpu_state *const *)a;
	const struct cpu_state *y = *(const struct cpu_state *const *)b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void put_cpus(const struct scope *s, struct buf *out)
{
	struct {
		const struct cpu_state **at;
		size_t n, cap;
	} cpus = {0};

	for (const struct cpu_state *c = s->cpus; c; c = c->next) {
		const struct cpu_state **slot = c->task ? vec_push(&cpus) : NULL;

		if (slot)
			*slot = c;
	}
	if (cpus.n)
		qsort(cpus.at, cpus.n, sizeof(*cpus.at), compare_cpus);
	vec_each (c, &cpus)
		put_global((*c)->task, out);
	vec_free(&cpus);
}

/* ---- groups ---- */

/* Values that tell a group's tasks apart are of no use in it. */
static struct entry *entry_of_group(struct task *group, const struct entry *e)
{
	switch (e->watch->kind) {
	case WATCH_WAKEUP: return entry_find(group, e->watch, 0, 0);
	case WATCH_SWITCH: return entry_find(group, e->watch, e->value, e->value);
	default: return entry_find(group, e->watch, e->search, e->value);
	}
}

static void group_task(struct task *group, struct task *t)
{
	t->grouped = true;
	for (const struct entry *e = t->entries; e; e = e->next) {
		struct entry *sum = entry_of_group(group, e);

		if (!sum)
			continue;
		figures_merge(&sum->f, &e->f);
		for (const struct stack_use *u = e->stacks; u; u = u->next) {
			struct stack_use *use = stack_use_find(sum, u->stack);

			if (use)
				figures_merge(&use->f, &u->f);
		}
	}
}

static void group_tasks(struct scope *s)
{
	struct task **sorted = malloc((s->nr_tasks + 1) * sizeof(*sorted));
	size_t n = 0;

	for (struct task *t = s->tasks; sorted && t; t = t->next)
		sorted[n++] = t;
	/* Of equal maxima the one of the smallest pid is shown. */
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), compare_pids);
	for (size_t i = 0; i < n; i++) {
		struct task *group = sorted[i]->named ? task_group(s, sorted[i]->comm) : NULL;

		if (group)
			group_task(group, sorted[i]);
	}
	free(sorted);
}

/* ---- everything ---- */

static void put_scope(struct scope *s, struct buf *out)
{
	const struct profile *p = s->profile;
	const struct trace_buffer *b = &s->binding->trace->buffers[s->buffer];

	if (p->opt.by_comm)
		group_tasks(s);
	if (s->buffer == 0 && s->binding->name && p->nr_bindings > 1)
		buf_printf(out, "\ntrace: %s\n", s->binding->name);
	if (s->buffer > 0 && s->tasks)
		buf_printf(out, "\ninstance: %s\n", b->data->name);
	put_global(s->global, out);
	put_cpus(s, out);
	put_tasks(s->groups, s->nr_groups, compare_names, put_group, out);
	put_tasks(s->tasks, s->nr_tasks, compare_pids, put_task, out);
}

void profile_print(struct profile *p, struct buf *out)
{
	for (size_t i = 0; i < p->nr_bindings; i++)
		for (uint32_t k = 0; k < p->bindings[i].nr_scopes && !buf_full(out); k++)
			put_scope(&p->bindings[i].scopes[k], out);
}
