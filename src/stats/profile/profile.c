// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making a profile: which events mean something to it, and what each record does.
 *
 * An event begins something, ends something, or is only counted. One that lacks a field it should
 * have is only counted. A stack follows the event it was taken at, as a record of its own. Handlers
 * therefore store what the next stack of the task belongs to: the beginning (last_start), the entry
 * (last_entry), or another task's (proxy). Function graph entries are the exception: their stack
 * comes before them.
 */
#include "stats/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/profile/store.h"
#include "base/array.h"
#include "base/error.h"
#include "scan/scan.h"

#define REAL_STATES	 0x3ffu /* bits of prev_state that are a task's state */
#define MAX_STORED_HOOKS 256
#define MEMORY_LIMIT	 (256u << 20)

/* ---- what a record does ---- */

/* As trace-cmd reads fields: without a sign; 0 for what is no number or not in the record. */
static uint64_t number(const struct watch *w, const struct event_field *f,
		       const struct spur_record *r)
{
	return f ? record_uint(w->event->events, r, f->offset, f->size) : 0;
}

static void learn_comm(struct profile_task *t, const struct watch *w, const struct event_field *f,
		       const struct spur_record *r)
{
	size_t size;
	const uint8_t *name;

	if (t->named || !f)
		return;
	name = field_bytes(w->event->events, f, r, &size);
	if (name)
		task_name(t, (const char *)name, size);
}

static void count_stack(struct entry *e, const struct stack *stack, uint64_t duration, uint64_t ts)
{
	struct stack_use *u = stack_use_find(e, stack);

	if (u)
		figures_add(&u->f, duration, ts);
}

/* Ends what has begun last at that watch with that value; the entry it was counted in, or NULL. */
static struct entry *finish(struct profile_task *t, struct watch *begun, uint64_t search,
			    uint64_t ts)
{
	struct start *st = begun ? start_find(t, begun, search) : NULL;
	struct entry *e = st ? entry_find(t, begun, search, st->value) : NULL;

	if (e) {
		/* Clocks of different CPUs may disagree a little. */
		int64_t delta = (int64_t)(ts - st->ts);

		e->last = delta > 0 ? (uint64_t)delta : 0;
		figures_add(&e->f, e->last, ts);
		if (st->stack)
			count_stack(e, st->stack, e->last, st->stack_ts);
	}
	if (st)
		start_drop(st);
	return e;
}

/* The task that a pair's record is about. */
static struct profile_task *task_of(struct scope *s, struct profile_task *current,
				    const struct watch *w, const struct spur_record *r)
{
	if (w->global)
		return w->pinned ? task_of_cpu(s, r->cpu) : task_of_all(s);
	return w->pid ? task_find(s, (int)number(w, w->pid, r)) : current;
}

static struct profile_task *end(struct scope *s, struct profile_task *current, struct watch *w,
				const struct spur_record *r)
{
	struct profile_task *t = task_of(s, current, w, r);

	if (t) {
		t->last_entry = finish(t, w->start, number(w, w->start_match, r), r->ts);
		t->last_start = NULL;
	}
	return t;
}

static struct profile_task *begin(struct scope *s, struct profile_task *current, struct watch *w,
				  const struct spur_record *r)
{
	struct profile_task *t = task_of(s, current, w, r);
	uint64_t value = number(w, w->end_match, r);

	if (t) {
		t->last_start = start_add(t, w, r, value, value);
		t->last_entry = NULL;
	}
	return t;
}

static void handle_pair(struct scope *s, struct profile_task *current, struct watch *w,
			const struct spur_record *r)
{
	uint64_t value;

	if (w->start)
		end(s, current, w, r);
	if (w->end)
		begin(s, current, w, r);
	if (w->start || w->end)
		return;
	value = number(w, w->data, r);
	current->proxy = NULL;
	current->last_start = NULL;
	current->last_entry = entry_find(current, w, value, value);
	if (current->last_entry)
		current->last_entry->f.count++;
}

static void handle_switch(struct scope *s, struct profile_task *current, struct watch *w,
			  const struct spur_record *r)
{
	int prev_pid = (int)number(w, w->pid, r), next_pid = (int)number(w, w->end_match, r);
	uint64_t state = number(w, w->data, r) & REAL_STATES;
	struct profile_task *prev = task_find(s, prev_pid), *next;

	if (prev) {
		learn_comm(prev, w, w->comm, r);
		prev->sleeping = state != 0;
		prev->last_start = start_add(prev, w, r, (uint32_t)prev_pid, state);
		prev->last_entry = NULL;
	}
	next = task_find(s, next_pid);
	if (!next)
		return;
	learn_comm(next, w, w->next_comm, r);
	/* It was either woken or preempted; for the other one there is nothing to finish. */
	finish(next, w->start, (uint32_t)next_pid, r->ts);
	finish(next, w, (uint32_t)next_pid, r->ts);
}

static void handle_wakeup(struct scope *s, struct profile_task *current, struct watch *w,
			  const struct spur_record *r)
{
	int pid = (int)number(w, w->pid, r);
	struct profile_task *t;

	if (w->data && !number(w, w->data, r))
		return;
	t = task_find(s, pid);
	if (!t)
		return;
	learn_comm(t, w, w->comm, r);
	if (!t->sleeping) {
		current->proxy = NULL;
		current->last_start = NULL;
		current->last_entry = NULL;
		return;
	}
	t->sleeping = false;
	/* The stack that follows shows who woke it, and belongs to the one woken. */
	current->proxy = t;
	finish(t, w->start, (uint32_t)pid, r->ts);
	t->last_start = start_add(t, w, r, (uint32_t)pid, (uint32_t)pid);
	t->last_entry = NULL;
}

static void handle_stack(struct scope *s, struct profile_task *current, struct watch *w,
			 const struct spur_record *r)
{
	struct profile *p = s->profile;
	struct profile_task *t = current->proxy ? current->proxy : current;
	uint32_t offset = w->data->offset;
	const struct stack *stack = NULL;

	if (r->size > offset && r->size - offset >= w->event->events->long_size)
		stack = stack_keep(p, r->data + offset, r->size - offset);
	current->proxy = NULL;
	current->last_stack = NULL;
	if (t->last_start) {
		/* It is counted when what has begun ends. */
		t->last_start->stack = stack;
		t->last_start->stack_ts = r->ts;
	} else if (t->last_entry) {
		if (stack)
			count_stack(t->last_entry, stack, t->last_entry->last, r->ts);
	} else {
		current->last_stack = stack;
		current->last_stack_ts = r->ts;
		current->last_stack_number = ++p->stack_number;
	}
	t->last_start = NULL;
	t->last_entry = NULL;
}

static void handle_graph_entry(struct scope *s, struct profile_task *current, struct watch *w,
			       const struct spur_record *r)
{
	struct profile_task *t = begin(s, current, w, r);

	if (!t)
		return;
	if (t->last_start && t->last_stack) {
		t->last_start->stack = t->last_stack;
		t->last_start->stack_ts = t->last_stack_ts;
	}
	t->last_stack = NULL;
	/* A stack that follows is not this function's. */
	t->last_start = NULL;
}

static void handle_graph_exit(struct scope *s, struct profile_task *current, struct watch *w,
			      const struct spur_record *r)
{
	struct profile_task *t = end(s, current, w, r);

	if (t)
		t->last_entry = NULL;
}

static void handle_exec(struct scope *s, struct profile_task *current, struct watch *w,
			const struct spur_record *r)
{
	struct profile_task *t = w->data ? task_find(s, (int)number(w, w->data, r)) : current;

	/* Its new name comes with the next scheduler event. */
	if (t)
		t->named = false;
}

/* ---- which events mean something ---- */

enum known {
	IRQ_ENTRY,
	IRQ_EXIT,
	SOFTIRQ_ENTRY,
	SOFTIRQ_EXIT,
	SOFTIRQ_RAISE,
	WAKEUP,
	SWITCH,
	GRAPH_ENTRY,
	GRAPH_EXIT,
	SYS_ENTER,
	SYS_EXIT,
	EXEC,
	STACK,
	FUNCTION,
	NR_KNOWN,
};

static const struct {
	const char *system, *name;
	enum watch_kind kind;
	const char *data;
} known_events[NR_KNOWN] = {
	[IRQ_ENTRY] = {"irq", "irq_handler_entry", WATCH_PLAIN, NULL},
	[IRQ_EXIT] = {"irq", "irq_handler_exit", WATCH_PLAIN, NULL},
	[SOFTIRQ_ENTRY] = {"irq", "softirq_entry", WATCH_SOFTIRQ, NULL},
	[SOFTIRQ_EXIT] = {"irq", "softirq_exit", WATCH_SOFTIRQ, NULL},
	[SOFTIRQ_RAISE] = {"irq", "softirq_raise", WATCH_SOFTIRQ, NULL},
	[WAKEUP] = {"sched", "sched_wakeup", WATCH_WAKEUP, "success"},
	[SWITCH] = {"sched", "sched_switch", WATCH_SWITCH, "prev_state"},
	[GRAPH_ENTRY] = {"ftrace", "funcgraph_entry", WATCH_FUNCTION, NULL},
	[GRAPH_EXIT] = {"ftrace", "funcgraph_exit", WATCH_FUNCTION, NULL},
	[SYS_ENTER] = {"raw_syscalls", "sys_enter", WATCH_PLAIN, NULL},
	[SYS_EXIT] = {"raw_syscalls", "sys_exit", WATCH_PLAIN, NULL},
	[EXEC] = {"sched", "sched_process_exec", WATCH_PLAIN, "old_pid"},
	[STACK] = {"ftrace", "kernel_stack", WATCH_PLAIN, "caller"},
	[FUNCTION] = {"ftrace", "function", WATCH_FUNCTION, "ip"},
};

/* How a pair of events belongs together. */
struct pair {
	const char *pid;	 /* field of the first event */
	const char *start_field; /* its value stands … */
	const char *end_field;	 /* … in this one of the second event, too */
	bool pinned, global;
};

/* Pairs by name; both interrupts' pairs become global when that was asked for. */
static const struct {
	enum known start, end;
	struct pair how;
	bool interrupt;
} known_pairs[] = {
	{SWITCH, WAKEUP, {"prev_pid", "next_pid", "pid"}, false},
	{WAKEUP, SWITCH, {"pid", "pid", "prev_pid"}, false},
	{IRQ_ENTRY, IRQ_EXIT, {NULL, "irq", "irq", .pinned = true}, true},
	{SOFTIRQ_ENTRY, SOFTIRQ_EXIT, {NULL, "vec", "vec", .pinned = true}, true},
	{SOFTIRQ_RAISE, SOFTIRQ_ENTRY, {NULL, "vec", "vec", .pinned = true}, true},
	{GRAPH_ENTRY, GRAPH_EXIT, {NULL, "func", "func"}, false},
	{SYS_ENTER, SYS_EXIT, {NULL, "id", "id"}, false},
};

static void warn(const struct profile *p, const char *what, const char *name, const char *then)
{
	char text[2 * HOOK_MAX];

	if (!p->opt.warn)
		return;
	snprintf(text, sizeof(text), "%s%s%s", what, name, then);
	p->opt.warn(p->opt.warn_arg, text);
}

/* A new watch of the event, which replaces an older one for the records to come. */
static struct watch *add_watch(struct binding *b, struct profile *p, struct event *e)
{
	struct watch *w = e && e->index < b->nr_watches ? arena_alloc(&p->arena, sizeof(*w)) : NULL;

	if (!w)
		return NULL;
	w->event = e;
	w->handle = handle_pair;
	b->watches[e->index] = w;
	return w;
}

static struct watch *binding_watch(struct binding *b, struct profile *p, struct event *e)
{
	struct watch *w = e->index < b->nr_watches ? b->watches[e->index] : NULL;

	if (w)
		return w;
	w = add_watch(b, p, e);
	if (w && event_ready(e) != EVENT_BROKEN && e->nr_fields > e->nr_common)
		w->data = &e->fields[e->nr_common];
	return w;
}

/* The name of the field that is missing, NULL when the two have been connected. */
static const char *connect(struct watch *start, struct watch *end, const struct pair *how,
			   struct watch **without)
{
	const struct event_field *pid = how->pid ? event_field_find(start->event, how->pid) : NULL;
	const struct event_field *first = event_field_find(start->event, how->start_field);
	const struct event_field *last = event_field_find(end->event, how->end_field);

	*without = start;
	if (how->pid && !pid)
		return how->pid;
	if (!first)
		return how->start_field;
	*without = end;
	if (!last)
		return how->end_field;
	start->end = end;
	end->start = start;
	if (pid)
		start->pid = pid;
	start->end_match = first;
	end->start_match = last;
	start->pinned = end->pinned = how->pinned;
	start->global = end->global = how->global;
	return NULL;
}

static void set_handlers(struct watch *known[NR_KNOWN])
{
	struct watch *w = known[SWITCH];

	if (w) {
		/*
		 * Without sched_wakeup in the trace there is no pair, but switches tell enough.
		 * trace-cmd takes fields it has not looked up then, and shows tasks at random.
		 */
		w->pid = event_field_find(w->event, "prev_pid");
		w->end_match = event_field_find(w->event, "next_pid");
		w->comm = event_field_find(w->event, "prev_comm");
		w->next_comm = event_field_find(w->event, "next_comm");
		if (w->pid && w->end_match && w->data)
			w->handle = handle_switch;
	}
	w = known[WAKEUP];
	if (w && w->end && known[SWITCH]->handle == handle_switch) {
		w->comm = event_field_find(w->event, "comm");
		w->handle = handle_wakeup;
	}
	if (known[GRAPH_ENTRY] && known[GRAPH_ENTRY]->end) {
		known[GRAPH_ENTRY]->handle = handle_graph_entry;
		known[GRAPH_EXIT]->handle = handle_graph_exit;
	}
	if (known[SYS_ENTER] && known[SYS_ENTER]->end)
		known[SYS_ENTER]->kind = known[SYS_EXIT]->kind = WATCH_SYSCALL;
	if (known[EXEC])
		known[EXEC]->handle = handle_exec;
	if (known[STACK] && known[STACK]->data)
		known[STACK]->handle = handle_stack;
}

static bool add_known(struct binding *b, struct profile *p)
{
	struct watch *known[NR_KNOWN] = {0}, *without;

	for (int i = 0; i < NR_KNOWN; i++) {
		struct event *e =
			events_find(b->events, known_events[i].system, known_events[i].name);

		if (!e)
			continue;
		known[i] = add_watch(b, p, e);
		if (!known[i])
			return false;
		known[i]->kind = known_events[i].kind;
		if (known_events[i].data)
			known[i]->data = event_field_find(e, known_events[i].data);
	}
	for (size_t i = 0; i < ARRAY_SIZE(known_pairs); i++) {
		struct watch *start = known[known_pairs[i].start], *end = known[known_pairs[i].end];
		struct pair how = known_pairs[i].how;

		how.global = known_pairs[i].interrupt && p->opt.global;
		if (start && end)
			connect(start, end, &how, &without);
	}
	set_handlers(known);
	return true;
}

/* A hook's watches. `stored`: it came with the trace, so nothing in it is the user's mistake. */
static int add_hook(struct binding *b, struct profile *p, const struct hook *h, bool stored,
		    struct spur_error *err)
{
	struct pair how = {h->pid, h->start.field, h->end.field, h->pinned, h->global};
	struct watch *start =
		add_watch(b, p, events_find(b->events, h->start.system, h->start.name));
	struct watch *end = add_watch(b, p, events_find(b->events, h->end.system, h->end.name));
	struct watch *without;
	const char *missing;

	if (!start || !end) {
		warn(p, "Event ", start ? h->end.name : h->start.name, " not found");
		return 0;
	}
	missing = connect(start, end, &how, &without);
	if (!missing)
		return 0;
	if (!stored)
		return error_set(err, -EINVAL, "event %s does not have a field %s",
				 without->event->name, missing);
	warn(p, without->event->name, " does not have a field ", missing);
	return 0;
}

/* Hooks of the file, the last one first, as trace-cmd takes them. */
static void add_stored_hooks(struct binding *b, struct profile *p)
{
	const struct dat *d = b->trace->dat;
	unsigned int left = MAX_STORED_HOOKS;

	for (size_t i = d ? d->nr_options : 0; i-- > 0 && left;) {
		const char *text = (const char *)d->options[i].data.data;
		struct spur_error err = {0};
		struct hook h;

		if (d->options[i].id != DAT_OPT_HOOK)
			continue;
		left--;
		if (hook_parse(&h, text, strnlen(text, d->options[i].data.size), &err) < 0)
			warn(p, err.text, "", "");
		else
			add_hook(b, p, &h, true, NULL);
	}
}

static int binding_init(struct binding *b, struct profile *p, struct spur_error *err)
{
	b->nr_watches = b->events->nr;
	b->watches = arena_array(&p->arena, b->nr_watches + 1, sizeof(struct watch *));
	if (!b->watches || !add_known(b, p))
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = p->nr_hooks; i-- > 0;) {
		int rc = add_hook(b, p, &p->hooks[i], false, err);

		if (rc < 0)
			return rc;
	}
	add_stored_hooks(b, p);
	return 0;
}

/* ---- making ---- */

static int parse_hooks(struct profile *p, struct spur_error *err)
{
	p->hooks = calloc(p->opt.nr_hooks + 1, sizeof(*p->hooks));
	if (!p->hooks)
		return error_set(err, -ENOMEM, "out of memory");
	for (; p->nr_hooks < p->opt.nr_hooks; p->nr_hooks++) {
		const char *text = p->opt.hooks[p->nr_hooks];
		struct hook *h = &p->hooks[p->nr_hooks];
		int rc = hook_parse(h, text, strlen(text), err);

		if (rc < 0)
			return rc;
		if (h->unknown_flag && p->opt.warn) {
			char warning[32];

			snprintf(warning, sizeof(warning), "unknown flag %c", h->unknown_flag);
			p->opt.warn(p->opt.warn_arg, warning);
		}
	}
	return 0;
}

static int bind_trace(struct profile *p, struct binding *b, struct spur_trace *t,
		      struct spur_error *err)
{
	b->trace = t;
	b->events = t->events;
	b->nr_scopes = t->nr_buffers;
	b->scopes = arena_array(&p->arena, (size_t)b->nr_scopes + 1, sizeof(*b->scopes));
	if (!b->scopes)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < b->nr_scopes; i++)
		b->scopes[i] = (struct scope){.profile = p, .binding = b, .buffer = i};
	return binding_init(b, p, err);
}

struct profile *profile_new(struct spur_trace *const *traces, size_t n,
			    const struct profile_options *opt, struct spur_error *err)
{
	struct profile *p = calloc(1, sizeof(*p));
	int rc;

	if (!p) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (opt)
		p->opt = *opt;
	p->seed = hash_seed_new();
	arena_init(&p->arena, p->opt.memory_limit ? p->opt.memory_limit : MEMORY_LIMIT);
	p->bindings = calloc(n + 1, sizeof(*p->bindings));
	rc = p->bindings ? parse_hooks(p, err) : error_set(err, -ENOMEM, "out of memory");
	for (; rc == 0 && p->nr_bindings < n; p->nr_bindings++) {
		struct binding *b = &p->bindings[p->nr_bindings];

		b->name = p->opt.names ? p->opt.names[p->nr_bindings] : NULL;
		rc = bind_trace(p, b, traces[p->nr_bindings], err);
	}
	if (rc < 0) {
		profile_free(p);
		return NULL;
	}
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr_bindings; i++)
		for (uint32_t k = 0; k < p->bindings[i].nr_scopes; k++)
			map_free(&p->bindings[i].scopes[k].by_cpu);
	map_free(&p->tasks);
	map_free(&p->entries);
	map_free(&p->starts);
	map_free(&p->stacks);
	map_free(&p->stack_uses);
	map_free(&p->groups);
	arena_free(&p->arena);
	free(p->bindings);
	free(p->hooks);
	free(p);
}

uint64_t profile_dropped(const struct profile *p)
{
	return p->dropped;
}

/* ---- feeding ---- */

static struct scope *find_scope(struct profile *p, const struct spur_trace *t, uint32_t buffer)
{
	if (p->scope && p->scope->binding->trace == t && p->scope->buffer == buffer)
		return p->scope;
	for (size_t i = 0; i < p->nr_bindings; i++) {
		struct binding *b = &p->bindings[i];

		if (b->trace == t && buffer < b->nr_scopes)
			return p->scope = &b->scopes[buffer];
	}
	return NULL;
}

void profile_record(struct profile *p, const struct spur_trace *t, struct event *e,
		    const struct spur_record *r)
{
	struct scope *s = find_scope(p, t, r->buffer);
	struct watch *w;
	struct profile_task *task;
	uint64_t stack;

	if (!s)
		return;
	if (r->lost)
		starts_lost(s, r->cpu);
	w = e ? binding_watch(s->binding, p, e) : NULL;
	p->dropped += e && !w;
	task = w ? task_find(s, events_record_pid(s->binding->events, r)) : NULL;
	if (!task)
		return;
	stack = task->last_stack_number;
	w->handle(s, task, w, r);
	/* A stack that nothing has claimed waits for one event only. */
	if (task->last_stack_number == stack)
		task->last_stack = NULL;
}

/* ---- a whole trace ---- */

/* What reading and selecting needs. */
struct reader {
	struct profile *p;
	const struct profile_input *in;
	struct scan scan;
	const struct emit_source **source_of; /* by lane */
	struct select_stack *stacks;	      /* by lane */
	struct event_printer *printers; /* one per trace; filters ask them for names of tasks */
	size_t nr_printers;
};

static int add_sources(struct reader *rd)
{
	const struct profile_input *in = rd->in;
	size_t lanes = 0;

	for (size_t i = 0; i < in->nr_sources; i++)
		lanes += in->sources[i].buffer->data->nr_cpus;
	rd->source_of = calloc(lanes + 1, sizeof(*rd->source_of));
	rd->stacks = calloc(lanes + 1, sizeof(*rd->stacks));
	if (!rd->source_of || !rd->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_sources; i++) {
		uint32_t first = rd->scan.nr;
		int rc = scan_add_buffer(&rd->scan, in->sources[i].buffer);

		if (rc < 0)
			return rc;
		for (uint32_t k = first; k < rd->scan.nr; k++)
			rd->source_of[k] = &in->sources[i];
	}
	return 0;
}

static int add_printers(struct reader *rd)
{
	const struct profile *p = rd->p;

	if (!rd->in->select)
		return 0;
	rd->printers = calloc(p->nr_bindings + 1, sizeof(*rd->printers));
	if (!rd->printers)
		return -ENOMEM;
	for (; rd->nr_printers < p->nr_bindings; rd->nr_printers++) {
		int rc = event_printer_init(&rd->printers[rd->nr_printers],
					    p->bindings[rd->nr_printers].events);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void reader_done(struct reader *rd)
{
	while (rd->nr_printers)
		event_printer_done(&rd->printers[--rd->nr_printers]);
	free(rd->printers);
	free(rd->stacks);
	free(rd->source_of);
	scan_free(&rd->scan);
}

static bool wanted(struct reader *rd, const struct spur_trace *t, struct event *e,
		   const struct spur_record *r)
{
	const struct selection *sel = rd->in->select;
	const uint32_t lane = rd->scan.current->index;
	size_t i = 0;

	if (!sel)
		return true;
	if (sel->cpus && !select_cpu(sel, rd->source_of[lane]->first_cpu + r->cpu))
		return false;
	while (i + 1 < rd->p->nr_bindings && rd->p->bindings[i].trace != t)
		i++;
	return select_record(sel, &rd->stacks[lane], t, &rd->printers[i], e, r);
}

static int feed(struct reader *rd)
{
	const struct spur_record *r;

	while ((r = scan_next(&rd->scan)) != NULL) {
		const struct spur_trace *t = scan_buffer(&rd->scan)->trace;
		struct event *e = events_of_record(t->events, r);

		if (wanted(rd, t, e, r))
			profile_record(rd->p, t, e, r);
	}
	return scan_stopped(&rd->scan) ? -EINTR : 0;
}

int profile_run(struct profile *p, const struct profile_input *in, struct spur_error *err)
{
	const struct selection *sel = in->select;
	struct reader rd = {.p = p, .in = in};
	int rc;

	scan_init(&rd.scan, &(struct scan_options){.since = sel && sel->has_since ? sel->since : 0,
						   .has_until = sel && sel->has_until,
						   .until = sel ? sel->until : 0,
						   .stop = in->stop});
	rc = add_sources(&rd);
	if (rc == 0)
		rc = add_printers(&rd);
	if (rc == 0)
		rc = feed(&rd);
	reader_done(&rd);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
