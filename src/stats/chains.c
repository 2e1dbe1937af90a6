// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The histogram of call chains: following the tasks' functions, counting chains, printing them.
 *
 * `now` is the stack of the task whose function was seen last. It always exists. At first, and
 * after a loss, it is empty and belongs to no task. The stacks of other tasks are stored until one
 * of their functions comes. `pending` is an event with the functions around it; it is counted when
 * it is certain that no kernel stack for it follows.
 */
#include "stats/chains.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/order.h"
#include "event/names.h"
#include "scan/lane.h"

#define NO_TASK	     (-1)
#define MAX_FRAMES   10000 /* of a stack; real stacks have fewer frames */
#define MEMORY_LIMIT (512u << 20)
#define MAX_FORKS    1000  /* nested; deeper ones are left out */
#define STOP_EVERY   65536 /* records between two checks of `stop` */
#define NAMES_LIMIT  (64u << 20)

/* A kind of event that changes the stacks: its function, and up to four of its fields. */
#define KIND_FIELDS 4
#define NR_KINDS    7

struct stack {
	int pid;
	const char **frames;
	size_t n, cap;

	/*
	 * Links in the list of stacks of other tasks, the newest first; `next` also links unused
	 * ones.
	 */
	struct stack *next, *prev;
	struct stack *below; /* the next older one of the same task */
};

struct chain {
	struct chain *same; /* of equal hash */
	const struct chain *callee;
	const char *func; /* NULL: unknown, or the root of a task */
	struct chain *callers;
	struct chain *sibling;	/* another caller of the same callee */
	struct chain *top_next; /* another chain that is shown by itself */
	struct chain *next;	/* another node of the tree */
	uint64_t count;
	size_t nr_callers;
	int pid;
	bool event;
};

struct chain_tree {
	struct arena arena;
	struct hash_seed seed;
	struct map nodes, roots;
	struct chain *all; /* but the roots */
	struct chain *tops;
	struct chain *root; /* the last one that was found */
	uint64_t total;	    /* chains counted */
	uint64_t dropped;
};

/* Consecutive notes with the same name of a task. */
struct name_run {
	struct name_run *older;
	const char *name; /* NUL-terminated */
	size_t len;
	uint64_t notes;
};

struct task_name {
	struct task_name *next;
	struct name_run *newest;
	uint64_t notes;
	uint64_t first; /* among all notes by pid, once these have been sorted */
	int pid;
};

struct task_names {
	struct arena arena;
	struct map by_pid;
	struct task_name *all;
	uint64_t notes;
	bool settled;
};

/* ---- names of tasks ---- */

/*
 * A task may have had several names: forked under its parent's, then a program's. libtraceevent
 * notes a name with every scheduler event, sorts all notes by pid, and later finds one of a task's
 * by bisection: which one depends on how many notes there are of all tasks. People compare this
 * text, so the same one is found here, from the numbers of notes alone. When names are looked up
 * for the first time, the existing notes stay, and tasks without any get one.
 */

static void names_init(struct task_names *n, size_t memory_limit)
{
	*n = (struct task_names){0};
	arena_init(&n->arena, memory_limit);
}

static void names_free(struct task_names *n)
{
	map_free(&n->by_pid);
	arena_free(&n->arena);
}

static struct task_name *add_task(struct task_names *n, int pid)
{
	struct task_name *t = arena_alloc(&n->arena, sizeof(*t));

	if (!t || !map_set(&n->by_pid, (uint32_t)pid, t))
		return NULL;
	t->pid = pid;
	t->next = n->all;
	n->all = t;
	return t;
}

/* Notes that a task has this name. */
static void names_note(struct task_names *n, int pid, const char *name, size_t len)
{
	struct task_name *t = map_get(&n->by_pid, (uint32_t)pid);
	struct name_run *run = t ? t->newest : NULL;

	if (t && n->settled)
		return;
	if (!run || run->len != len || memcmp(run->name, name, len) != 0) {
		t = t ? t : add_task(n, pid);
		run = t ? arena_alloc(&n->arena, sizeof(*run)) : NULL;
		if (run)
			run->name = arena_strndup(&n->arena, name, len);
		if (!run || !run->name)
			return;
		run->len = len;
		run->older = t->newest;
		t->newest = run;
	}
	run->notes++;
	t->notes++;
}

static int by_pid(const void *a, const void *b)
{
	const struct task_name *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* To be called before names are looked up, each time when there may be new notes. */
static void names_settle(struct task_names *n)
{
	n->all = order_list(n->all, offsetof(struct task_name, next), by_pid);
	n->notes = 0;
	for (struct task_name *t = n->all; t; t = t->next) {
		t->first = n->notes;
		n->notes += t->notes;
	}
	n->settled = true;
}

/* The note of the task that a bisection of all notes meets, counted from the task's newest. */
static uint64_t bisect(const struct task_names *n, const struct task_name *t)
{
	uint64_t low = 0, high = n->notes;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (mid < t->first)
			low = mid + 1;
		else if (mid - t->first >= t->notes)
			high = mid;
		else
			return mid - t->first;
	}
	return 0;
}

static const char *names_find(const struct task_names *n, int pid)
{
	const struct task_name *t = map_get(&n->by_pid, (uint32_t)pid);
	const struct name_run *run = t ? t->newest : NULL;
	uint64_t number;

	if (!pid)
		return "<idle>";
	if (!run)
		return "<...>";
	number = bisect(n, t);
	while (number >= run->notes && run->older) {
		number -= run->notes;
		run = run->older;
	}
	return run->name;
}

/* ---- the tree of chains ---- */

/*
 * Every task has a root, below which are the functions and events that ended its chains, below each
 * its callers, and so on outwards. New nodes go to the front of their lists.
 *
 * A node without a function is treated as a root: what it calls is counted as a chain of its own,
 * although it is only a function without a symbol. trace-cmd does the same, and these are its
 * counts.
 */

static void tree_init(struct chain_tree *t, size_t memory_limit)
{
	*t = (struct chain_tree){.seed = hash_seed_new()};
	arena_init(&t->arena, memory_limit ? memory_limit : MEMORY_LIMIT);
}

static void tree_free(struct chain_tree *t)
{
	map_free(&t->nodes);
	map_free(&t->roots);
	arena_free(&t->arena);
}

static struct chain *root_of(struct chain_tree *t, int pid)
{
	struct chain *root = t->root;

	if (root && root->pid == pid)
		return root;
	root = map_get(&t->roots, (uint32_t)pid);
	if (!root) {
		root = arena_alloc(&t->arena, sizeof(*root));
		if (!root || !map_set(&t->roots, (uint32_t)pid, root))
			return NULL;
		root->pid = pid;
	}
	return t->root = root;
}

static struct chain *add_caller(struct chain_tree *t, struct chain *callee, const char *func,
				uint64_t key, struct chain *same)
{
	struct chain *c = arena_alloc(&t->arena, sizeof(*c));

	if (!c || !map_set(&t->nodes, key, c))
		return NULL;
	c->same = same;
	c->callee = callee;
	c->func = func;
	c->pid = callee->pid;
	c->next = t->all;
	t->all = c;
	c->sibling = callee->callers;
	callee->callers = c;
	callee->nr_callers++;
	if (!callee->func) {
		c->top_next = t->tops;
		t->tops = c;
	}
	return c;
}

static struct chain *caller_of(struct chain_tree *t, struct chain *callee, const char *func,
			       bool event)
{
	uint64_t key =
		hash_add(&t->seed, hash_add(&t->seed, 0, (uintptr_t)callee), (uintptr_t)func);
	struct chain *first = map_get(&t->nodes, key), *c;

	for (c = first; c; c = c->same)
		if (c->callee == callee && c->func == func)
			return c;
	c = add_caller(t, callee, func, key, first);
	if (c)
		c->event = event;
	return c;
}

/* Counts a chain: the last function, which is an event or not, called by the one before, … */
static void tree_count(struct chain_tree *t, int pid, const char *const *frames, size_t n,
		       bool event)
{
	struct chain *c = root_of(t, pid);

	for (; c; c = caller_of(t, c, frames[n], event), event = false) {
		t->total += !c->func;
		c->count++;
		if (!n--)
			return;
	}
	t->dropped++;
}

/* ---- sorting ---- */

static int by_count(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

/* Sorts by count; of equals the newest first, unless they have been sorted before. */
static void tree_sort(struct chain_tree *t)
{
	t->tops = order_list(t->tops, offsetof(struct chain, top_next), by_count);
	for (struct chain *c = t->all; c; c = c->next)
		c->callers = order_list(c->callers, offsetof(struct chain, sibling), by_count);
}

/* ---- the tree as text ---- */

/*
 * Prints each chain with its callers below it. If a function has several callers, each gets a
 * column, with its share of the calls.
 */

struct fork_printer {
	struct buf *out;
	bool open[MAX_FORKS + 1]; /* a line goes down this column to a later caller */
};

static double percent(uint64_t whole, uint64_t part)
{
	return (double)part / (double)whole * 100.0;
}

static const char *name_of(const struct chain *c)
{
	return c->func ? c->func : "(null)";
}

static bool is_line(const struct chain *c)
{
	while (c->nr_callers == 1)
		c = c->callers;
	return !c->nr_callers;
}

static void put_columns(const struct fork_printer *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_puts(p->out, p->open[i] ? "            |" : "             ");
}

static void put_caller(const struct fork_printer *p, const struct chain *c, size_t column)
{
	put_columns(p, column);
	buf_printf(p->out, "          %s\n", name_of(c));
}

static void put_line(const struct fork_printer *p, const struct chain *c, size_t column)
{
	while ((c = c->callers) != NULL)
		put_caller(p, c, column);
}

/* A fork's callers; `column` is that of the function they call. */
static void put_fork(struct fork_printer *p, const struct chain *callee, size_t column)
{
	if (column >= MAX_FORKS)
		return;
	p->open[column] = true;
	for (const struct chain *c = callee->callers; c && !buf_full(p->out); c = c->sibling) {
		const struct chain *fork = c;

		put_columns(p, column + 1);
		buf_putc(p->out, '\n');
		put_columns(p, column + 1);
		buf_printf(p->out, "--%%%.2f-- %s  # %llu\n", percent(callee->count, c->count),
			   name_of(c), (unsigned long long)c->count);
		if (!c->sibling)
			p->open[column] = false;
		if (is_line(c)) {
			put_line(p, c, column + 1);
			continue;
		}
		/* A function with a single caller needs no column. */
		while (fork->nr_callers == 1 && fork->callers->count == fork->count) {
			fork = fork->callers;
			put_caller(p, fork, column + 1);
		}
		if (is_line(fork))
			put_line(p, fork, column + 1);
		else
			put_fork(p, fork, column + 1);
	}
}

static void put_head(const struct chain_tree *t, const struct task_names *names,
		     const struct chain *c, struct buf *out)
{
	const double share = percent(t->total, c->count);

	if (names)
		buf_printf(out, "  %%%3.2f  (%d) %s %30s #%llu\n", share, c->pid,
			   names_find(names, c->pid), name_of(c), (unsigned long long)c->count);
	else
		buf_printf(out, "  %%%3.2f <all pids> %30s #%llu\n", share, name_of(c),
			   (unsigned long long)c->count);
	buf_puts(out, "         |\n         --- ");
	buf_printf(out, c->event ? "*%s*\n" : "%s\n", name_of(c));
}

/* names NULL: tasks are not distinguished. */
static void tree_print(const struct chain_tree *t, const struct task_names *names, struct buf *out)
{
	struct fork_printer p = {.out = out};

	for (const struct chain *c = t->tops; c && !buf_full(out); c = c->top_next) {
		if (c != t->tops)
			buf_putc(out, '\n');
		put_head(t, names, c, out);
		if (is_line(c))
			put_line(&p, c, 0);
		else
			put_fork(&p, c, 0);
	}
}

/* ---- following functions ---- */

struct call_chains;

typedef void chain_handler(struct call_chains *c, struct event *e, const struct spur_record *r);

struct kind {
	const struct event *event;
	chain_handler *handle;
	const struct event_field *field[KIND_FIELDS];
};

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

/* Allocates n frames; false without memory or beyond the limit. */
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

/* Continues with the stored stack of the task, if there is one. */
static void take_back(struct call_chains *c, int pid)
{
	struct stack *s = map_get(&c->newest, (uint32_t)pid);

	if (!s || s == &c->pending)
		return;
	/*
	 * Keys are not removed from the map: if no stack is left, the value is one that is never
	 * stored.
	 */
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
		/* Returns to its caller. The innermost function has ended in any case. */
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
		/* It is the stack of the function that was entered last. */
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

	/* Unreadable data have been noted as damage; other lanes can be read. */
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
	names_settle(&c->names);
	tree_sort(&c->tree);
	tree_print(&c->tree, c->all_tasks ? NULL : &c->names, out);
}
