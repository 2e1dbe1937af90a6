// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event types: which of Perfetto's own messages one becomes, and where the fields of these lie.
 *
 * What is not in the table becomes a generic event with the columns that SQL shows, too: every
 * field, and names of numbers where the print format has some. The parts of a generic event that
 * are the same in all records are made once, as bytes.
 */
#include "export/perfetto/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "export/reader.h"

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

/* ---- Perfetto's own messages ---------------------------------------------------------- */

/* Up to six numbers one after the other, as registers are recorded. */
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
	for (size_t i = 0; i < ARRAY_SIZE(typed_events); i++) {
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

/* ---- generic events ------------------------------------------------------------------- */

static const char *keep(struct arena *a, const struct buf *b)
{
	char *copy = buf_full(b) ? NULL : arena_alloc(a, b->len + 1);

	if (copy)
		memcpy(copy, b->data, b->len);
	return copy;
}

/* Columns that stand for a field have its own name, whatever SQL had to make of it. */
static const char *name_ending(const struct cell *c)
{
	return c->kind == CELL_NAMED ? "_name" : c->kind == CELL_SYMBOL ? "_sym" : "";
}

static bool make_field(struct perfetto *p, struct generic_op *op, const struct cell *c)
{
	scoped_buf prefix = buf_new(KINDS_LIMIT);
	scoped_buf name = buf_new(KINDS_LIMIT);

	buf_puts(&name, c->field->name);
	buf_puts(&name, name_ending(c));
	proto_text(&prefix, 1, name.data, name.len);
	*op = (struct generic_op){
		.cell = c, .prefix = keep(&p->arena, &prefix), .prefix_len = prefix.len};
	if (c->kind == CELL_NUMBER)
		op->number = (struct number){c->field->offset, (uint8_t)c->field->size,
					     c->field->flags & FIELD_SIGNED};
	return op->prefix;
}

static bool make_generic(struct perfetto *p, struct event_kind *k, struct event *e)
{
	scoped_buf head = buf_new(KINDS_LIMIT);

	if (cells_make(&k->cells, e) < 0)
		return false;
	k->fields = arena_array(&p->arena, k->cells.n, sizeof(*k->fields));
	if (!k->fields)
		return false;
	for (size_t i = 0; i < k->cells.n; i++)
		if (k->cells.at[i].field &&
		    !make_field(p, &k->fields[k->nr_fields++], &k->cells.at[i]))
			return false;
	proto_text(&head, 1, e->name, strlen(e->name));
	k->head_len = head.len;
	k->head = keep(&p->arena, &head);
	k->buffer_field = event_field_find(e, "buffer") ? "in_buffer" : "buffer";
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

/* ---- which buffer's records are drawn ------------------------------------------------- */

/*
 * Perfetto has one timeline for each CPU and task, whichever buffer its events come from. Where
 * several buffers have records of one type, those of one buffer are drawn and the others' become
 * generic events. Types of one group belong together, as the entry and the exit of a call do: a
 * type is drawn from that of its buffers which has most of the group's types. In a trace of several
 * buffers this is found out before the first record is written.
 */

#define WAKEUPS_TRIED 256 /* before the trace is one without sched_waking */

/* For each type, whether each buffer has records of it. */
struct seen {
	const struct spur_trace *trace;
	bool *at;
};

static bool *seen_at(const struct seen *s, uint32_t event, uint32_t buffer)
{
	return &s->at[(size_t)event * s->trace->nr_buffers + buffer];
}

static bool seen_anywhere(const struct seen *s, const struct event *e)
{
	for (uint32_t b = 0; e && b < s->trace->nr_buffers; b++)
		if (*seen_at(s, e->index, b))
			return true;
	return false;
}

/* How many types of a group a buffer has records of. */
static uint32_t types_in(struct perfetto *p, const struct seen *s, enum group group, uint32_t b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->trace->events->nr; i++)
		n += *seen_at(s, i, b) && p->kinds[i] && p->kinds[i]->group == group;
	return n;
}

/* Gives a group's types to buffers, from the buffer that has most of them on. */
static void settle(struct perfetto *p, const struct seen *s, enum group group, uint32_t *types)
{
	const uint32_t nr = p->trace->nr_buffers;

	for (uint32_t b = 0; b < nr; b++)
		types[b] = types_in(p, s, group, b);
	for (uint32_t i = 0; i < p->trace->events->nr; i++) {
		struct event_kind *k = p->kinds[i];

		if (!k || k->group != group)
			continue;
		for (uint32_t b = 0; b < nr; b++)
			if (*seen_at(s, i, b) && (k->owner < 0 || types[b] > types[k->owner]))
				k->owner = b;
	}
}

/* Whether all events of system calls are drawn from one buffer. */
static bool calls_in_one(const struct perfetto *p)
{
	int64_t owner = -1;

	for (uint32_t i = 0; i < p->trace->events->nr; i++) {
		const struct event_kind *k = p->kinds[i];

		if (!k || k->group != SYSCALLS || k->owner < 0)
			continue;
		if (owner >= 0 && k->owner != owner)
			return false;
		owner = k->owner;
	}
	return true;
}

static int settle_all(struct perfetto *p, const struct seen *s, struct spur_error *err)
{
	const struct events *ev = p->trace->events;
	uint32_t *types = calloc(p->trace->nr_buffers, sizeof(*types));

	for (size_t i = 0; i < ev->nr; i++)
		if (seen_anywhere(s, ev->list[i]) && !perfetto_kind(p, ev->list[i]))
			break;
	if (!types || p->failed < 0) {
		free(types);
		return error_set(err, -ENOMEM, "out of memory");
	}
	for (int g = NO_GROUP + 1; g < NR_GROUPS; g++)
		settle(p, s, (enum group)g, types);
	p->has_waking = seen_anywhere(s, events_find(ev, "sched", "sched_waking"));
	if (seen_anywhere(s, events_find(ev, "raw_syscalls", "sys_enter")) ||
	    seen_anywhere(s, events_find(ev, "raw_syscalls", "sys_exit")))
		p->calls_from = calls_in_one(p) ? CALLS_BOTH : CALLS_RAW;
	free(types);
	return 0;
}

/* Gives `record` the records of some types, or of all, until it returns false. */
static int read_ahead(struct perfetto *p, struct event *const *wanted, size_t nr,
		      bool (*record)(struct perfetto *p, void *arg, const struct event *e,
				     const struct spur_record *r),
		      void *arg, struct spur_error *err)
{
	const struct spur_record *r;
	struct export_filter filter;
	struct walk_options opt;
	struct walk w;
	int rc = export_filter_init(p->job, p->trace, &filter, &opt, err);

	opt.progress = NULL;
	if (rc == 0)
		rc = walk_open(&w, p->trace, &opt, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < nr; i++)
		if (wanted[i])
			walk_want(&w, wanted[i]);
	if (!nr)
		walk_want_all(&w);
	while ((r = walk_next(&w)) != NULL) {
		struct event *e = events_of_record(p->trace->events, r);

		if (e && (!opt.take || opt.take(opt.take_arg, e, r)) && !record(p, arg, e, r))
			break;
	}
	walk_close(&w);
	export_filter_done(&filter);
	return 0;
}

static bool note_buffer(struct perfetto *p, void *arg, const struct event *e,
			const struct spur_record *r)
{
	*seen_at(arg, e->index, r->buffer) = true;
	return true;
}

struct tries {
	const struct event *waking;
	int left;
};

static bool note_waking(struct perfetto *p, void *arg, const struct event *e,
			const struct spur_record *r)
{
	struct tries *tries = arg;

	p->has_waking = e == tries->waking;
	return !p->has_waking && --tries->left > 0;
}

static bool has_both_calls(const struct events *ev)
{
	bool raw = false, named = false;

	for (uint32_t i = 0; i < ev->nr; i++) {
		raw |= strcmp(ev->list[i]->system, "raw_syscalls") == 0;
		named |= strcmp(ev->list[i]->system, "syscalls") == 0;
	}
	return raw && named;
}

int perfetto_owners(struct perfetto *p, struct spur_error *err)
{
	struct events *ev = p->trace->events;
	struct event *const wakeups[] = {events_find(ev, "sched", "sched_waking"),
					 events_find(ev, "sched", "sched_wakeup")};
	struct tries tries = {wakeups[0], WAKEUPS_TRIED};
	struct seen seen = {.trace = p->trace};
	int rc;

	if (p->trace->nr_buffers < 2 && has_both_calls(ev))
		p->calls_from = CALLS_BOTH;
	if (p->trace->nr_buffers < 2)
		return wakeups[0] || wakeups[1]
			       ? read_ahead(p, wakeups, 2, note_waking, &tries, err)
			       : 0;
	seen.at = calloc(ev->nr + 1, p->trace->nr_buffers);
	if (!seen.at)
		return error_set(err, -ENOMEM, "out of memory");
	rc = read_ahead(p, NULL, 0, note_buffer, &seen, err);
	if (rc == 0)
		rc = settle_all(p, &seen, err);
	free(seen.at);
	return rc;
}

void perfetto_find_owner(struct perfetto *p, struct event_kind *k, uint32_t buffer)
{
	k->owned = true;
	if (k->group == SYSCALLS && p->calls_from == CALLS_UNKNOWN)
		p->calls_from = k->named_call ? CALLS_NAMED : CALLS_RAW;
	if (k->group == SYSCALLS && p->calls_from != CALLS_BOTH &&
	    k->named_call != (p->calls_from == CALLS_NAMED))
		k->owner = -1;
	else if (k->owner < 0)
		k->owner = buffer;
}
