// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A profile as text, with the trees of callers.
 *
 * Stacks that begin with the same functions share a branch. Stacks are sorted by their frames, so
 * that those which share their first n frames are neighbours: a branch is a range of the sorted
 * stacks and a frame number. A branch that does not fork is printed as a list, so nesting is only
 * as deep as there are forks.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/nanoseconds.h"
#include "base/order.h"
#include "base/vec.h"
#include "event/names.h"
#include "stats/profile/store.h"
#include "table/spans.h"

#define INDENT	  5
#define MAX_FORKS 60 /* real stacks have fewer frames; `open` below has a bit for each */

/* Seconds and microseconds. As in trace-cmd, rounding does not carry into the seconds. */
static void put_time(struct buf *out, uint64_t ts)
{
	buf_printf(out, "%llu.%06llu", (unsigned long long)(ts / NS_PER_S),
		   (unsigned long long)((ts % NS_PER_S + 500) / 1000));
}

/* ---- trees of callers ---- */

/* How the traced machine stores a caller. */
struct frames {
	bool big_endian;
	unsigned int size;
	uint64_t stop; /* all bits set: the stack has no further frame */
};

struct printer {
	struct frames frames;
	struct symbols *symbols;
	struct buf *out;
	uint64_t open; /* columns in which a line goes down to a later branch */
};

/* The sorted stacks [first, first + n) share the frames up to `frame`, which is `caller`. */
struct branch {
	const struct stack_use **first;
	size_t n;
	size_t frame;
	uint64_t caller;
	struct figures f;
	int percent;
};

struct branches {
	struct branch *at;
	size_t n, cap;
};

/* The stack's frame of that number; false when it has none. */
static bool frame_at(const struct frames *fr, const struct stack *s, size_t number,
		     uint64_t *caller)
{
	if (number >= s->size / fr->size)
		return false;
	*caller = load_uint(s->data + number * fr->size, fr->size, fr->big_endian);
	return *caller != fr->stop;
}

/* The order of trace-cmd, which compares halves of addresses, the lower one first. */
static int compare_callers(uint64_t a, uint64_t b)
{
	uint64_t x = a << 32 | a >> 32, y = b << 32 | b >> 32;

	return x < y ? -1 : x > y;
}

static int compare_stacks(const void *a, const void *b, void *frames)
{
	const struct stack_use *const *x = a, *const *y = b;
	uint64_t from_x, from_y;

	for (size_t i = 0;; i++) {
		bool more_x = frame_at(frames, (*x)->stack, i, &from_x);
		bool more_y = frame_at(frames, (*y)->stack, i, &from_y);

		if (!more_x || !more_y)
			return more_x - more_y;
		if (from_x != from_y)
			return compare_callers(from_x, from_y);
	}
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->f.total != y->f.total)
		return x->f.total < y->f.total ? 1 : -1;
	if (x->f.count != y->f.count)
		return x->f.count < y->f.count ? 1 : -1;
	return compare_callers(x->caller, y->caller);
}

static int percent(uint64_t part, uint64_t whole)
{
	return whole ? (int)((part * 100 + whole / 2) / whole) : 0;
}

/* The branches into which a range of stacks falls apart at a frame, the costliest first. */
static void split(const struct frames *fr, const struct stack_use **stacks, size_t n, size_t frame,
		  struct branches *out)
{
	uint64_t total = 0, count = 0, caller;
	struct branch *b = NULL;

	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!frame_at(fr, stacks[i]->stack, frame, &caller)) {
			b = NULL;
			continue;
		}
		if (!b || b->caller != caller) {
			b = vec_push(out);
			if (!b)
				return;
			*b = (struct branch){.first = &stacks[i], .frame = frame, .caller = caller};
		}
		figures_merge(&b->f, &stacks[i]->f);
		b->n++;
		total += stacks[i]->f.total;
		count += stacks[i]->f.count;
	}
	if (out->n > 1)
		qsort(out->at, out->n, sizeof(*out->at), compare_branches);
	for (size_t i = 0; i < out->n; i++)
		out->at[i].percent = total ? percent(out->at[i].f.total, total)
					   : percent(out->at[i].f.count, count);
}

static void put_column(struct buf *out, char c)
{
	buf_fill(out, ' ', INDENT - 1);
	buf_putc(out, c);
	buf_putc(out, ' ');
}

static void put_indent(const struct printer *p, unsigned int level)
{
	for (unsigned int i = 0; i <= level; i++)
		put_column(p->out, p->open >> i & 1 ? '|' : ' ');
}

static void put_caller(const struct printer *p, uint64_t caller)
{
	const struct symbol *sym = symbols_find(p->symbols, caller);

	if (sym) {
		buf_put(p->out, sym->name, sym->len);
		buf_puts(p->out, " (0x");
		buf_hex(p->out, caller);
		buf_puts(p->out, ")\n");
	} else {
		buf_puts(p->out, "0x");
		buf_hex(p->out, caller);
		buf_putc(p->out, '\n');
	}
}

static void put_figures(struct buf *out, const struct branch *b)
{
	buf_printf(out, "  %d%% (%lld)", b->percent, (long long)b->f.count);
	if (b->f.total) {
		buf_printf(out, " time:%lld max:%lld(ts:", (long long)b->f.total,
			   (long long)b->f.max);
		put_time(out, b->f.ts_max);
		buf_printf(out, ") min:%lld(ts:", (long long)b->f.min);
		put_time(out, b->f.ts_min);
		buf_printf(out, ") avg:%lld", (long long)(b->f.total / b->f.count));
	}
	buf_putc(out, '\n');
}

static void put_branches(struct printer *p, const struct branches *all, unsigned int level);

/* One branch: its function, figures, and callers up to the next fork, which comes below it. */
static void put_branch(struct printer *p, const struct branch *b, unsigned int level, bool last)
{
	struct branches below = {0};
	char line = last ? ' ' : '|';

	put_indent(p, level);
	put_column(p->out, '+');
	if (last)
		p->open &= ~(2ull << level);
	put_caller(p, b->caller);
	put_indent(p, level);
	put_column(p->out, line);
	put_figures(p->out, b);

	split(&p->frames, b->first, b->n, b->frame + 1, &below);
	while (below.n == 1) {
		const struct branch only = below.at[0];

		put_indent(p, level);
		put_column(p->out, line);
		buf_puts(p->out, "   ");
		put_caller(p, only.caller);
		split(&p->frames, only.first, only.n, only.frame + 1, &below);
	}
	if (below.n && level < MAX_FORKS)
		put_branches(p, &below, level + 1);
	vec_free(&below);
	put_indent(p, level + 1);
	buf_putc(p->out, '\n');
}

static void put_branches(struct printer *p, const struct branches *all, unsigned int level)
{
	p->open |= 2ull << level;
	put_indent(p, level + 1);
	buf_putc(p->out, '\n');
	for (size_t i = 0; i < all->n && !buf_full(p->out); i++)
		put_branch(p, &all->at[i], level, i + 1 == all->n);
	p->open &= ~(2ull << level);
	put_indent(p, level);
	buf_putc(p->out, '\n');
}

/* Appends the tree of an entry's callers. */
static void put_stacks(const struct entry *e, struct buf *out)
{
	const struct events *ev = e->watch->event->events;
	const struct stack_use **sorted;
	struct branches roots = {0};
	struct printer p = {
		.frames = {ev->big_endian, ev->long_size, UINT64_MAX},
		.symbols = ev->symbols,
		.out = out,
	};
	size_t n = 0;

	if (!e->nr_stacks)
		return;
	p.frames.size = ev->long_size == 4 ? 4 : 8;
	if (p.frames.size == 4)
		p.frames.stop = UINT32_MAX;
	sorted = malloc(e->nr_stacks * sizeof(*sorted));
	if (!sorted)
		return;
	for (const struct stack_use *u = e->stacks; u; u = u->next)
		sorted[n++] = u;
	qsort_r(sorted, n, sizeof(*sorted), compare_stacks, &p.frames);
	split(&p.frames, sorted, n, 0, &roots);
	if (roots.n)
		put_branches(&p, &roots, 0);
	vec_free(&roots);
	free(sorted);
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
	/* trace-cmd has the old name of this one. */
	const char *name = e->value == 5 ? "BLOCK_IOPOLL" : softirq_name((int64_t)e->value);

	if (name)
		buf_printf(out, "%s:%s", e->watch->event->name, name);
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
	const struct entry *x = a, *y = b;
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

static void put_entries(struct profile_task *t, struct buf *out)
{
	t->entries = order_list(t->entries, offsetof(struct entry, next), compare_entries);
	for (const struct entry *e = t->entries; e && !buf_full(out); e = e->next)
		put_entry(e, out);
}

/* ---- tasks ---- */

static void put_task(struct profile_task *t, struct buf *out)
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

static void put_group(struct profile_task *t, struct buf *out)
{
	buf_printf(out, "\ngroup: %s\n", t->comm);
	put_entries(t, out);
}

static int compare_pids(const void *a, const void *b)
{
	const struct profile_task *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct profile_task *)a)->comm,
		      ((const struct profile_task *)b)->comm);
}

static void put_tasks(struct profile_task *first,
		      void (*put)(struct profile_task *t, struct buf *out), struct buf *out)
{
	for (struct profile_task *t = first; t && !buf_full(out); t = t->next)
		put(t, out);
}

static void put_global(struct profile_task *t, struct buf *out)
{
	if (!t || !t->entries)
		return;
	buf_printf(out, "%s\n", t->comm);
	put_entries(t, out);
}

static int compare_cpus(const void *a, const void *b)
{
	const struct cpu_state *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* ---- groups ---- */

/* Values that tell a group's tasks apart are of no use in it. */
static struct entry *entry_of_group(struct profile_task *group, const struct entry *e)
{
	switch (e->watch->kind) {
	case WATCH_WAKEUP: return entry_find(group, e->watch, 0, 0);
	case WATCH_SWITCH: return entry_find(group, e->watch, e->value, e->value);
	default: return entry_find(group, e->watch, e->search, e->value);
	}
}

static void group_task(struct profile_task *group, struct profile_task *t)
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

/* The tasks are sorted by pid: of equal maxima the one of the smallest pid is shown. */
static void group_tasks(struct scope *s)
{
	for (struct profile_task *t = s->tasks; t; t = t->next) {
		struct profile_task *group = t->named ? task_group(s, t->comm) : NULL;

		if (group)
			group_task(group, t);
	}
	s->groups = order_list(s->groups, offsetof(struct profile_task, next), compare_names);
}

/* ---- everything ---- */

static void put_scope(struct scope *s, struct buf *out)
{
	const struct profile *p = s->profile;
	const struct trace_buffer *b = &s->binding->trace->buffers[s->buffer];

	s->tasks = order_list(s->tasks, offsetof(struct profile_task, next), compare_pids);
	s->cpus = order_list(s->cpus, offsetof(struct cpu_state, next), compare_cpus);
	if (p->opt.by_comm)
		group_tasks(s);
	if (s->buffer == 0 && s->binding->name && p->nr_bindings > 1)
		buf_printf(out, "\ntrace: %s\n", s->binding->name);
	if (s->buffer > 0 && s->tasks)
		buf_printf(out, "\ninstance: %s\n", b->data->name);
	put_global(s->global, out);
	for (const struct cpu_state *c = s->cpus; c; c = c->next)
		put_global(c->task, out);
	put_tasks(s->groups, put_group, out);
	put_tasks(s->tasks, put_task, out);
}

void profile_print(struct profile *p, struct buf *out)
{
	for (size_t i = 0; i < p->nr_bindings; i++)
		for (uint32_t k = 0; k < p->bindings[i].nr_scopes && !buf_full(out); k++)
			put_scope(&p->bindings[i].scopes[k], out);
}
