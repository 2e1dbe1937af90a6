// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Following the functions that tasks are in.
 *
 * `now` is the stack of the task whose function was seen last; it always exists, and belongs to no
 * task at first and after events were lost, when it is empty. The stacks of other tasks are put
 * aside until one of their functions comes. `pending` is an event together with the functions it
 * happened in: it is counted when it is clear that no kernel stack of it follows.
 */
#include "stats/chains_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scan/lane.h"

#define STOP_EVERY  65536 /* records between two looks at `stop` */
#define NAMES_LIMIT (64u << 20)

struct call_chains;

typedef void chain_handler(struct call_chains *c, struct event *e, const struct spur_record *r);

/* An event that is more than an event: what is done, and up to four fields of it. */
#define KIND_FIELDS 4

struct kind {
	const struct event *event;
	chain_handler *handle;
	const struct event_field *field[KIND_FIELDS];
};

#define NR_KINDS 7

struct call_chains {
	struct spur_trace *trace;
	struct events *events;
	bool all_tasks;
	struct kind kinds[NR_KINDS];
	size_t nr_kinds;
	const struct kind *kind; /* of the record at hand */
	struct chain_tree tree;
	struct task_names names;
	struct stack *now, *aside, *unused;
	struct map newest; /* the newest stack aside of each task */
	struct stack pending;
	uint64_t seen;
	int rc;
};

/* ---- stacks ---- */

/* Makes room for n frames; false when there is none. */
static bool reserve(struct call_chains *c, struct stack *s, size_t n)
{
	size_t cap = s->cap ? s->cap : 16;
	const char **frames;

	if (n <= s->cap)
		return true;
	if (n > MAX_FRAMES)
		return false;
	while (cap < n)
		cap *= 2;
	frames = realloc(s->frames, cap * sizeof(*frames));
	if (!frames) {
		c->rc = -ENOMEM;
		return false;
	}
	s->frames = frames;
	s->cap = cap;
	return true;
}

static void push(struct call_chains *c, struct stack *s, const char *func)
{
	if (reserve(c, s, s->n + 1))
		s->frames[s->n++] = func;
}

static void copy(struct call_chains *c, struct stack *to, const struct stack *from)
{
	to->n = 0;
	if (from->n && reserve(c, to, from->n)) {
		memcpy(to->frames, from->frames, from->n * sizeof(*to->frames));
		to->n = from->n;
	}
}

static void empty(struct stack *s)
{
	s->pid = NO_TASK;
	s->n = 0;
}

/* Another stack, of no task; NULL without memory. */
static struct stack *fresh(struct call_chains *c)
{
	struct stack *s = c->unused;

	if (s) {
		c->unused = s->next;
		s->next = NULL;
	} else {
		s = calloc(1, sizeof(*s));
	}
	if (s)
		empty(s);
	else
		c->rc = -ENOMEM;
	return s;
}

static void put_aside(struct call_chains *c)
{
	struct stack *s = c->now, *next = fresh(c);

	if (!next)
		return;
	s->below = map_get(&c->newest, (uint32_t)s->pid);
	if (!map_set(&c->newest, (uint32_t)s->pid, s))
		c->rc = -ENOMEM;
	s->prev = NULL;
	s->next = c->aside;
	if (s->next)
		s->next->prev = s;
	c->aside = s;
	c->now = next;
}

/* Goes on with the stack that the task had, if it has one aside. */
static void take_back(struct call_chains *c, int pid)
{
	struct stack *s = map_get(&c->newest, (uint32_t)pid);

	if (!s || s == &c->pending)
		return;
	/* The map does not forget: where no stack is left, one that is never aside stands in. */
	map_set(&c->newest, (uint32_t)pid, s->below ? s->below : &c->pending);
	if (s->prev)
		s->prev->next = s->next;
	else
		c->aside = s->next;
	if (s->next)
		s->next->prev = s->prev;
	c->now->next = c->unused;
	c->unused = c->now;
	s->next = s->prev = s->below = NULL;
	c->now = s;
}

static void switch_to(struct call_chains *c, int pid)
{
	if (c->now->pid != NO_TASK && c->now->pid != pid) {
		put_aside(c);
		take_back(c, pid);
	}
	c->now->pid = pid;
}

static void count(struct call_chains *c, int pid, const struct stack *s, bool event)
{
	tree_count(&c->tree, c->all_tasks ? 0 : pid, s->frames, s->n, event);
}

/* ---- records ---- */

static uint64_t number(const struct call_chains *c, size_t field, const struct spur_record *r)
{
	const struct event_field *f = c->kind->field[field];

	return record_uint(c->events, r, f->offset, f->size);
}

static const char *function_at(const struct call_chains *c, uint64_t addr)
{
	const struct symbol *sym = symbols_find(c->events->symbols, addr);

	return sym ? sym->name : NULL;
}

static void on_function(struct call_chains *c, struct event *e, const struct spur_record *r)
{
	const char *func = function_at(c, number(c, 0, r));
	const char *parent = function_at(c, number(c, 1, r));
	struct stack *s;

	switch_to(c, events_record_pid(c->events, r));
	s = c->now;
	if (s->n && s->frames[s->n - 1] != parent) {
		count(c, s->pid, s, false);
		/* Back to its caller. The innermost one has ended in any case. */
		while (s->n && (--s->n == 0 || s->frames[s->n - 1] != parent))
			;
	}
	if (!s->n)
		push(c, s, parent);
	push(c, s, func);
}

/* Functions deeper than that have returned. */
static void return_to(struct call_chains *c, uint64_t depth)
{
	struct stack *s = c->now;

	if (s->n == depth)
		return;
	count(c, s->pid, s, false);
	if (s->n > depth)
		s->n = (size_t)depth;
}

static void on_graph_entry(struct call_chains *c, struct event *e, const struct spur_record *r)
{
	switch_to(c, events_record_pid(c->events, r));
	return_to(c, number(c, 1, r));
	push(c, c->now, function_at(c, number(c, 0, r)));
}

static void on_graph_exit(struct call_chains *c, struct event *e, const struct spur_record *r)
{
	switch_to(c, events_record_pid(c->events, r));
	return_to(c, number(c, 0, r));
}

/* Pushes the callers, the outermost first, up to the end mark or the end of the record. */
static void push_callers(struct call_chains *c, const struct spur_record *r)
{
	const unsigned int size = c->events->long_size == 4 ? 4 : 8;
	const uint32_t first = c->kind->field[0]->offset;
	uint32_t end = first;

	for (; end < r->size && r->size - end >= size; end += size)
		if ((uint32_t)record_uint(c->events, r, end, size) == UINT32_MAX)
			break;
	while (end > first) {
		const char *func;

		end -= size;
		func = function_at(c, record_uint(c->events, r, end, size));
		if (func)
			push(c, c->now, func);
	}
}

static void on_stack(struct call_chains *c, struct event *e, const struct spur_record *r)
{
	int pid = events_record_pid(c->events, r);
	bool back = false;

	if (c->pending.pid != NO_TASK && c->pending.pid != pid) {
		empty(&c->pending);
		return;
	}
	if (c->pending.pid != NO_TASK) {
		back = c->now->pid != NO_TASK;
		if (back)
			put_aside(c);
	} else if (c->now->pid != NO_TASK) {
		/* It is the stack of a function, the one that was entered last. */
		c->pending.pid = c->now->pid;
		copy(c, &c->pending, c->now);
		empty(c->now);
	}
	c->now->pid = pid;
	push_callers(c, r);
	if (c->pending.pid != NO_TASK && c->pending.n)
		push(c, c->now, c->pending.frames[c->pending.n - 1]);
	empty(&c->pending);
	count(c, pid, c->now, true);
	if (back)
		take_back(c, pid);
}

static void on_event(struct call_chains *c, struct event *e, const struct spur_record *r)
{
	if (c->pending.pid != NO_TASK)
		count(c, c->pending.pid, &c->pending, true);
	copy(c, &c->pending, c->now);
	push(c, &c->pending, e->name);
	c->pending.pid = events_record_pid(c->events, r);
}

/* Two fields: a task's name and its pid. */
static void learn(struct call_chains *c, size_t field, const struct spur_record *r)
{
	size_t size;
	const uint8_t *name = field_bytes(c->events, c->kind->field[field], r, &size);

	if (name)
		names_note(&c->names, (int)number(c, field + 1, r), (const char *)name,
			   strnlen((const char *)name, size));
}

static void on_wakeup(struct call_chains *c, struct event *e, const struct spur_record *r)
{
	learn(c, 0, r);
	on_event(c, e, r);
}

static void on_switch(struct call_chains *c, struct event *e, const struct spur_record *r)
{
	learn(c, 0, r);
	learn(c, 2, r);
	on_event(c, e, r);
}

static const struct {
	const char *system, *name;
	chain_handler *handle;
	const char *fields[KIND_FIELDS];
} kinds[NR_KINDS] = {
	{"ftrace", "function", on_function, {"ip", "parent_ip"}},
	{"ftrace", "funcgraph_entry", on_graph_entry, {"func", "depth"}},
	{"ftrace", "funcgraph_exit", on_graph_exit, {"depth"}},
	{"ftrace", "kernel_stack", on_stack, {"caller"}},
	{"sched", "sched_wakeup", on_wakeup, {"comm", "pid"}},
	{"sched", "sched_wakeup_new", on_wakeup, {"comm", "pid"}},
	{"sched", "sched_switch", on_switch, {"prev_comm", "prev_pid", "next_comm", "next_pid"}},
};

int call_chains_record(struct call_chains *c, struct event *e, const struct spur_record *r)
{
	c->seen++;
	if (r->lost && c->now->pid != NO_TASK) {
		count(c, c->now->pid, c->now, false);
		empty(c->now);
	}
	if (!e)
		return c->rc;
	c->kind = NULL;
	for (size_t i = 0; i < c->nr_kinds && !c->kind; i++)
		if (c->kinds[i].event == e)
			c->kind = &c->kinds[i];
	if (c->kind)
		c->kind->handle(c, e, r);
	else
		on_event(c, e, r);
	return c->rc;
}

int call_chains_end(struct call_chains *c)
{
	if (c->now->pid != NO_TASK)
		count(c, c->now->pid, c->now, false);
	if (c->pending.pid != NO_TASK)
		count(c, c->pending.pid, &c->pending, true);
	while (c->aside && c->rc == 0) {
		take_back(c, c->aside->pid);
		count(c, c->now->pid, c->now, false);
	}
	return c->rc;
}

/* ---- making ---- */

static void add_kind(struct call_chains *c, size_t i)
{
	struct event *e = events_find(c->events, kinds[i].system, kinds[i].name);
	struct kind *k = &c->kinds[c->nr_kinds];

	if (!e)
		return;
	*k = (struct kind){.event = e, .handle = kinds[i].handle};
	for (size_t f = 0; f < KIND_FIELDS && kinds[i].fields[f]; f++) {
		k->field[f] = event_field_find(e, kinds[i].fields[f]);
		if (!k->field[f])
			return;
	}
	c->nr_kinds++;
}

static void note_stored(void *arg, int pid, const char *name)
{
	struct call_chains *c = arg;

	names_note(&c->names, pid, name, strlen(name));
}

struct call_chains *call_chains_new(struct spur_trace *t, const struct call_chains_options *opt,
				    struct spur_error *err)
{
	struct call_chains *c = calloc(1, sizeof(*c));

	if (c) {
		c->trace = t;
		c->events = t->events;
		c->all_tasks = opt->all_tasks;
		tree_init(&c->tree, opt->memory_limit);
		empty(&c->pending);
		c->now = fresh(c);
		names_init(&c->names, NAMES_LIMIT);
		comms_each(t->events->comms, note_stored, c);
	}
	if (!c || !c->now) {
		call_chains_free(c);
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < NR_KINDS; i++)
		add_kind(c, i);
	return c;
}

static void free_stacks(struct stack *s)
{
	while (s) {
		struct stack *next = s->next;

		free(s->frames);
		free(s);
		s = next;
	}
}

void call_chains_free(struct call_chains *c)
{
	if (!c)
		return;
	free_stacks(c->now);
	free_stacks(c->aside);
	free_stacks(c->unused);
	free(c->pending.frames);
	map_free(&c->newest);
	tree_free(&c->tree);
	names_free(&c->names);
	free(c);
}

/* ---- a whole buffer ---- */

static int follow_cpu(struct call_chains *c, const struct trace_buffer *b,
		      const struct dat_cpu *cpu, const volatile int *stop)
{
	struct lane l;
	int rc = lane_open(&l, b, cpu);

	/* Data that cannot be read at all have been noted as damage; the rest can. */
	if (rc < 0)
		return rc == -EBADMSG ? 0 : rc;
	l.stop = stop;
	while (rc == 0 && lane_next(&l)) {
		rc = call_chains_record(c, events_of_record(c->events, &l.rec), &l.rec);
		if (c->seen % STOP_EVERY == 0 && stop && *stop)
			rc = -EINTR;
	}
	lane_close(&l);
	return stop && *stop ? -EINTR : rc;
}

int call_chains_run(struct call_chains *c, const struct trace_buffer *b, const volatile int *stop,
		    struct spur_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < b->data->nr_cpus && rc == 0; i++)
		if (b->data->cpus[i].size)
			rc = follow_cpu(c, b, &b->data->cpus[i], stop);
	if (rc == 0)
		rc = call_chains_end(c);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

uint64_t call_chains_seen(const struct call_chains *c)
{
	return c->seen;
}

uint64_t call_chains_dropped(const struct call_chains *c)
{
	return c->tree.dropped;
}

void call_chains_print(struct call_chains *c, struct buf *out)
{
	if (names_settle(&c->names) && tree_sort(&c->tree))
		tree_print(&c->tree, c->all_tasks ? NULL : &c->names, out);
	else
		out->full = true;
}
