// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event types: which of Perfetto's own messages one becomes, and where the fields of these lie.
 *
 * What is not in the table becomes a generic event with the columns that SQL shows, too: every
 * field, and names of numbers where the print format has some. The parts of a generic event that
 * are the same in all records are made once, as bytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "export/perfetto_parts.h"

#define KINDS_LIMIT  (64u << 20)
#define SYSCALL_ARGS 6

struct typed_field {
	const char *name;
	uint8_t field;
	enum value_kind kind;
	bool needed; /* without it the event is a generic one */
};

struct typed_event {
	const char *system, *name;
	uint16_t number;
	enum group group;
	struct typed_field fields[TYPED_OPS];
};

#define NUMBER(name, field)                                                                        \
	{                                                                                          \
		name, field, KIND_NUMBER, false                                                    \
	}
#define NEEDED(name, field)                                                                        \
	{                                                                                          \
		name, field, KIND_NUMBER, true                                                     \
	}
#define TEXT(name, field)                                                                          \
	{                                                                                          \
		name, field, KIND_TEXT, false                                                      \
	}
#define SYMBOL(name, field)                                                                        \
	{                                                                                          \
		name, field, KIND_SYMBOL, true                                                     \
	}

static const struct typed_event typed_events[] = {
	{"ftrace", "print", FTRACE_PRINT, NO_GROUP, {NUMBER("ip", 1), {"buf", 2, KIND_TEXT, true}}},
	{"ftrace", "bprint", FTRACE_PRINT, NO_GROUP, {NEEDED("ip", 1)}},
	{"ftrace", "bputs", FTRACE_PRINT, NO_GROUP, {NEEDED("ip", 1)}},
	{"sched",
	 "sched_switch",
	 FTRACE_SCHED_SWITCH,
	 SCHEDULING,
	 {TEXT("prev_comm", 1), NEEDED("prev_pid", 2), NUMBER("prev_prio", 3),
	  NUMBER("prev_state", 4), TEXT("next_comm", 5), NEEDED("next_pid", 6),
	  NUMBER("next_prio", 7)}},
	{"sched",
	 "sched_waking",
	 FTRACE_SCHED_WAKING,
	 SCHEDULING,
	 {TEXT("comm", 1), NEEDED("pid", 2), NUMBER("prio", 3), NUMBER("success", 4),
	  NUMBER("target_cpu", 5)}},
	{"sched",
	 "sched_wakeup",
	 FTRACE_SCHED_WAKEUP,
	 SCHEDULING,
	 {TEXT("comm", 1), NEEDED("pid", 2), NUMBER("prio", 3), NUMBER("success", 4),
	  NUMBER("target_cpu", 5)}},
	{"sched",
	 "sched_wakeup_new",
	 114,
	 SCHEDULING,
	 {TEXT("comm", 1), NEEDED("pid", 2), NUMBER("prio", 3), NUMBER("success", 4),
	  NUMBER("target_cpu", 5)}},
	{"sched",
	 "sched_migrate_task",
	 491,
	 SCHEDULING,
	 {TEXT("comm", 1), NEEDED("pid", 2), NUMBER("prio", 3), NUMBER("orig_cpu", 4),
	  NUMBER("dest_cpu", 5)}},
	{"sched",
	 "sched_blocked_reason",
	 18,
	 SCHEDULING,
	 {NEEDED("pid", 1), SYMBOL("caller", 2), NUMBER("io_wait", 3)}},
	{"sched",
	 "sched_process_exec",
	 FTRACE_SCHED_EXEC,
	 SCHEDULING,
	 {TEXT("filename", 1), NEEDED("pid", 2), NUMBER("old_pid", 3)}},
	{"sched",
	 "sched_process_exit",
	 238,
	 SCHEDULING,
	 {TEXT("comm", 1), NEEDED("pid", 2), NUMBER("prio", 4)}},
	{"sched",
	 "sched_process_fork",
	 FTRACE_SCHED_FORK,
	 SCHEDULING,
	 {TEXT("parent_comm", 1), NEEDED("parent_pid", 2), TEXT("child_comm", 3),
	  NEEDED("child_pid", 4)}},
	{"sched",
	 "sched_process_free",
	 240,
	 SCHEDULING,
	 {TEXT("comm", 1), NEEDED("pid", 2), NUMBER("prio", 3)}},
	{"task",
	 "task_newtask",
	 235,
	 SCHEDULING,
	 {NEEDED("pid", 1), TEXT("comm", 2), NEEDED("clone_flags", 3), NUMBER("oom_score_adj", 4)}},
	{"task",
	 "task_rename",
	 236,
	 SCHEDULING,
	 {NEEDED("pid", 1), TEXT("oldcomm", 2), TEXT("newcomm", 3), NUMBER("oom_score_adj", 4)}},
	{"irq", "irq_handler_entry", 36, INTERRUPTS, {NEEDED("irq", 1), TEXT("name", 2)}},
	{"irq", "irq_handler_exit", 37, INTERRUPTS, {NEEDED("irq", 1), NUMBER("ret", 2)}},
	{"irq", "softirq_entry", 24, INTERRUPTS, {NEEDED("vec", 1)}},
	{"irq", "softirq_exit", 25, INTERRUPTS, {NEEDED("vec", 1)}},
	{"irq", "softirq_raise", 26, INTERRUPTS, {NEEDED("vec", 1)}},
	{"raw_syscalls",
	 "sys_enter",
	 FTRACE_SYS_ENTER,
	 SYSCALLS,
	 {NEEDED("id", 1), {"args", 2, KIND_ARRAY, false}}},
	{"raw_syscalls",
	 "sys_exit",
	 FTRACE_SYS_EXIT,
	 SYSCALLS,
	 {NEEDED("id", 1), NUMBER("ret", 2)}},
	{"ftrace", "funcgraph_entry", 437, CALLS, {NUMBER("depth", 1), SYMBOL("func", 2)}},
	{"ftrace",
	 "funcgraph_exit",
	 438,
	 CALLS,
	 {NUMBER("calltime", 1), NUMBER("depth", 2), SYMBOL("func", 3), NUMBER("overrun", 4),
	  NUMBER("rettime", 5)}},
	{"ftrace", "fgraph_retaddr_entry", 437, CALLS, {NUMBER("depth", 1), SYMBOL("func", 2)}},
	{"power", "cpu_frequency", 11, POWER, {NEEDED("state", 1), NEEDED("cpu_id", 2)}},
	{"power", "cpu_idle", 13, POWER, {NEEDED("state", 1), NEEDED("cpu_id", 2)}},
	{"workqueue",
	 "workqueue_execute_start",
	 58,
	 CALLS,
	 {NUMBER("work", 1), SYMBOL("function", 2)}},
	{"workqueue",
	 "workqueue_execute_end",
	 57,
	 CALLS,
	 {NUMBER("work", 1), SYMBOL("function", 2)}},
};

/* ---- Perfetto's own messages ---- */

/* Up to six numbers one behind the other, as registers are recorded. */
static bool bind_array(struct typed_op *op, const struct event_field *f)
{
	if (!f || f->flags & (FIELD_DYNAMIC | FIELD_STRING) || !f->elem_size ||
	    (f->elem_size != 4 && f->elem_size != 8) || f->size / f->elem_size > UINT8_MAX)
		return false;
	op->number = (struct number){f->offset, (uint8_t)f->elem_size, f->flags & FIELD_SIGNED};
	op->count = (uint8_t)(f->size / f->elem_size);
	return true;
}

static bool bind_field(struct typed_op *op, const struct typed_field *f, struct event *e)
{
	const struct event_field *field = event_field_find(e, f->name);

	op->kind = f->kind;
	op->field = f->field;
	if (f->kind == KIND_ARRAY)
		return bind_array(op, field);
	if (f->kind == KIND_TEXT) {
		op->text = field && field->flags & FIELD_STRING ? field : NULL;
		return op->text;
	}
	op->number = number_of(e, f->name);
	return op->number.size;
}

static bool bind_typed(struct event_kind *k, const struct typed_event *t, struct event *e)
{
	for (int i = 0; i < TYPED_OPS && t->fields[i].name; i++) {
		struct typed_op *op = &k->ops[k->nr_ops];

		if (bind_field(op, &t->fields[i], e))
			k->nr_ops++;
		else if (t->fields[i].needed)
			return false;
	}
	k->number = t->number;
	k->group = t->group;
	return true;
}

static void bind_scheduling(struct event_kind *k, struct event *e)
{
	static const char *const next_pid[] = {"next_pid", "pid", "child_pid", NULL};
	static const char *const prev_pid[] = {"prev_pid", "parent_pid", NULL};
	static const char *const next_prio[] = {"next_prio", "prio", NULL};
	const struct event_field *comm = event_field_find(e, "next_comm");

	k->prev_pid = number_find(e, prev_pid);
	k->prev_prio = number_of(e, "prev_prio");
	k->prev_state = number_of(e, "prev_state");
	k->next_pid = number_find(e, next_pid);
	k->next_prio = number_find(e, next_prio);
	k->target_cpu = number_of(e, "target_cpu");
	k->has_success = event_field_find(e, "success");
	k->prev_comm = event_field_find(e, "prev_comm");
	k->next_comm = comm ? comm : event_field_find(e, "comm");
	k->clone_flags = number_of(e, "clone_flags");
}

/* syscalls:sys_enter_read has the call's number and then a field for each of its arguments. */
static void bind_own_syscall(struct event_kind *k, struct event *e)
{
	static const char *const nr_names[] = {"__syscall_nr", "nr", NULL};
	static const char enter[] = "sys_enter_", leave[] = "sys_exit_";
	const bool enters = strncmp(e->name, enter, sizeof(enter) - 1) == 0;
	const struct number nr = number_find(e, nr_names);

	if (!nr.size || (!enters && strncmp(e->name, leave, sizeof(leave) - 1) != 0))
		return;
	k->ops[k->nr_ops++] = (struct typed_op){.field = 1, .number = nr};
	for (uint32_t i = e->nr_common; i < e->nr_fields && k->nr_ops <= SYSCALL_ARGS; i++) {
		const struct event_field *f = &e->fields[i];
		const struct number arg = number_of(e, f->name);

		if (!arg.size || arg.offset == nr.offset || f->name[0] == '_')
			continue;
		k->ops[k->nr_ops++] = (struct typed_op){.field = 2, .number = arg};
		if (!enters)
			break;
	}
	k->number = enters ? FTRACE_SYS_ENTER : FTRACE_SYS_EXIT;
	k->group = SYSCALLS;
	k->named_call = true;
}

static void bind(struct event_kind *k, struct event *e)
{
	for (size_t i = 0; i < sizeof(typed_events) / sizeof(typed_events[0]); i++) {
		const struct typed_event *t = &typed_events[i];

		if (strcmp(t->name, e->name) != 0 || strcmp(t->system, e->system) != 0)
			continue;
		if (!bind_typed(k, t, e))
			*k = (struct event_kind){.owner = -1};
		else if (t->group == SCHEDULING)
			bind_scheduling(k, e);
		k->by_text = k->number == FTRACE_PRINT && strcmp(e->name, "print") != 0;
		break;
	}
	if (strcmp(e->system, "syscalls") == 0)
		bind_own_syscall(k, e);
	k->is_stack = strcmp(e->system, "ftrace") == 0 &&
		      (strcmp(e->name, "kernel_stack") == 0 || strcmp(e->name, "user_stack") == 0);
	k->tgid = number_of(e, "tgid");
	k->tells_task = k->is_stack || k->clone_flags.size || k->number == FTRACE_SCHED_EXEC ||
			k->number == FTRACE_SCHED_FORK;
}

/* ---- generic events ---- */

static const char *keep(struct arena *a, const struct buf *b)
{
	char *copy = buf_full(b) ? NULL : arena_alloc(a, b->len + 1);

	if (copy)
		memcpy(copy, b->data, b->len);
	return copy;
}

/* Columns that stand for a field have its own name, whatever SQL had to make of it. */
static const char *behind_name(const struct cell *c)
{
	return c->kind == CELL_NAMED ? "_name" : c->kind == CELL_SYMBOL ? "_sym" : "";
}

static bool make_field(struct perfetto *p, struct generic_op *op, const struct cell *c)
{
	struct buf prefix;
	char *name = NULL;

	if (asprintf(&name, "%s%s", c->field->name, behind_name(c)) < 0)
		return false;
	buf_init(&prefix, KINDS_LIMIT);
	proto_text(&prefix, 1, name, strlen(name));
	*op = (struct generic_op){
		.cell = c, .prefix = keep(&p->arena, &prefix), .prefix_len = prefix.len};
	if (c->kind == CELL_NUMBER)
		op->number = (struct number){c->field->offset, (uint8_t)c->field->size,
					     c->field->flags & FIELD_SIGNED};
	buf_free(&prefix);
	free(name);
	return op->prefix;
}

static bool make_generic(struct perfetto *p, struct event_kind *k, struct event *e)
{
	struct buf head;

	if (cells_make(&k->cells, e) < 0)
		return false;
	k->fields = arena_array(&p->arena, k->cells.n, sizeof(*k->fields));
	if (!k->fields)
		return false;
	for (size_t i = 0; i < k->cells.n; i++)
		if (k->cells.at[i].field &&
		    !make_field(p, &k->fields[k->nr_fields++], &k->cells.at[i]))
			return false;
	buf_init(&head, KINDS_LIMIT);
	proto_text(&head, 1, e->name, strlen(e->name));
	k->head_len = head.len;
	k->head = keep(&p->arena, &head);
	buf_free(&head);
	return k->head;
}

struct event_kind *perfetto_kind(struct perfetto *p, struct event *e)
{
	struct event_kind *k = p->kinds[e->index];

	if (__builtin_expect(k && k->ready, 1))
		return k;
	k = k ? k : arena_alloc(&p->arena, sizeof(*k));
	p->kinds[e->index] = k;
	if (k)
		k->owner = -1;
	if (k && event_ready(e) != EVENT_BROKEN)
		bind(k, e);
	if (!k || !make_generic(p, k, e)) {
		p->failed = -ENOMEM;
		return NULL;
	}
	k->ready = true;
	return k;
}

void perfetto_kinds_free(struct perfetto *p)
{
	for (size_t i = 0; p->kinds && i < p->trace->events->nr; i++)
		if (p->kinds[i])
			cells_free(&p->kinds[i]->cells);
	free(p->kinds);
	arena_free(&p->arena);
}
