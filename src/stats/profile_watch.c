// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which events mean something to a profile: the ones it knows, those that hooks connect, and all
 * others, which are only counted.
 *
 * An event that lacks a field it should have (a format is text from a stranger) is only counted.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stats/profile_parts.h"
#include "base/error.h"

#define MAX_STORED_HOOKS 256

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

struct watch *binding_watch(struct binding *b, struct profile *p, struct event *e)
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
	for (size_t i = 0; i < sizeof(known_pairs) / sizeof(known_pairs[0]); i++) {
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

int binding_init(struct binding *b, struct profile *p, struct spur_error *err)
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
