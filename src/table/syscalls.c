// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System calls: entries and exits of one task, which come in turn.
 *
 * Both events of one call, raw_syscalls and syscalls, are recorded by the same hook right after
 * each other. What comes second of the two entries describes the call, so that a row does not
 * depend on whether reading started between them; what comes first of the two exits ends it.
 *
 * An exit without an entry is of a call that was entered before the trace, or before a loss, if its
 * task has not been seen since. Any other has no row: nobody knows when it was entered.
 *
 * A loss on any CPU leaves calls open, as a task may have been there meanwhile, have left this call
 * and entered the next: all but those that are short and stay on a CPU without losses.
 *
 * Invariant: calls that are open are in one of two lists by the time of their entry.
 */
#include "table/syscalls_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

#define TASKS_LIMIT (64u << 20)
#define SAME_CALL   20000 /* ns between its two events, at most */

struct call {
	struct list open; /* points to itself while it is not */
	uint64_t ts;
	int64_t nr;
	const char *name;
	struct syscall_args *args; /* NULL: not known */
	int64_t left_nr;	   /* of the call that ended last */
	uint64_t left;		   /* when it did */
	uint64_t seen;		   /* border that the task has been seen behind */
	int pid;
	uint32_t cpu;
	uint32_t losses; /* so far when it was entered */
	uint8_t by;	 /* enum syscall_source that have told of the entry */
	uint8_t left_by; /* … of the last exit; 0: the other one is not expected any more */
};

struct syscalls {
	const struct table_source *src;
	struct events *events;
	struct comm_times *comms;
	struct syscall_kinds *kinds;
	struct slots tasks;	   /* struct call */
	struct list open, leaving; /* leaving: those that do not return */
	struct losses losses;
	uint64_t border, borders; /* where a call without an entry began; 0: none yet */
};

/* ---- rows ---- */

static void hand_out(struct syscalls *a, struct syscall_row *row)
{
	row->comm = comm_at(a->comms, (int)row->pid, row->ts);
	row->buffer = a->src->buffer->data->name;
	a->src->row(a->src->arg, row);
}

static int64_t span(uint64_t from, uint64_t to)
{
	return to > from ? (int64_t)(to - from) : 0;
}

/* Ends a call; what it returned is in `row` if that is known. */
static void close_call(struct syscalls *a, struct call *c, struct syscall_row *row)
{
	row->ts = c->ts;
	row->cpu = c->cpu;
	row->pid = c->pid;
	row->name = c->name;
	row->nr = c->nr;
	row->args = c->args ? c->args->text : NULL;
	/* Others count, too: buffers have analyses of their own. */
	row->args_id = (uint64_t)a->src->buffer->index << 48 | (c->args ? c->args->id : 0);
	hand_out(a, row);
	syscall_args_drop(a->kinds, c->args);
	c->args = NULL;
	list_remove(&c->open);
}

static void leave_open(struct syscalls *a, struct call *c, uint64_t ts)
{
	struct syscall_row row = {.dur = span(c->ts, ts), .ret = ROW_NULL, .open = row_open_end};

	/* One that never returns takes no time. */
	if (syscall_never_returns(c->name))
		row.dur = ROW_NULL;
	close_call(a, c, &row);
	c->left_by = 0;
}

static void leave_all_open(struct syscalls *a, struct list *calls, uint64_t ts)
{
	while (!list_empty(calls))
		leave_open(a, list_entry(calls->next, struct call, open), ts);
}

/* Hands out the calls that do not return, once nothing more will be told about them. */
static void let_go(struct syscalls *a, uint64_t ts)
{
	while (!list_empty(&a->leaving)) {
		struct call *c = list_entry(a->leaving.next, struct call, open);

		if (ts <= c->ts || ts - c->ts <= SAME_CALL)
			return;
		leave_open(a, c, ts);
	}
}

/* ---- records ---- */

static void enter(struct syscalls *a, struct call *c, const struct syscall_kind *k, struct event *e,
		  const struct spur_record *r, int64_t nr)
{
	const bool same = !list_empty(&c->open) && c->nr == nr && !(c->by & k->source) &&
			  c->cpu == r->cpu && span(c->ts, r->ts) <= SAME_CALL;
	const char *name = syscall_name(a->kinds, k, nr);

	if (same)
		syscall_args_drop(a->kinds, c->args);
	else if (!list_empty(&c->open))
		leave_open(a, c, r->ts);
	c->by = (uint8_t)(same ? c->by | k->source : k->source);
	c->name = name || !same ? name : c->name;
	c->ts = r->ts;
	c->nr = nr;
	c->cpu = r->cpu;
	c->losses = a->losses.n;
	c->args = a->src->brief ? NULL : syscall_args(a->kinds, k, e, r);
	c->left_by = 0;
	list_move_last(&c->open, syscall_never_returns(c->name) ? &a->leaving : &a->open);
}

/* An exit of a task that has entered nothing. */
static void leave_unknown(struct syscalls *a, struct call *c, const struct syscall_kind *k,
			  const struct spur_record *r, int64_t nr, int64_t ret)
{
	struct syscall_row row = {.ts = a->border,
				  .dur = span(a->border, r->ts),
				  .cpu = ROW_NULL,
				  .pid = c->pid,
				  .name = syscall_name(a->kinds, k, nr),
				  .nr = nr,
				  .ret = ret,
				  .error = syscall_error(a->kinds, ret),
				  .open = row_open_start};

	c->left_by = (uint8_t)k->source;
	c->left_nr = nr;
	c->left = r->ts;
	if (c->seen != a->borders && a->borders && !syscall_is_birth(row.name, ret))
		hand_out(a, &row);
}

/* Whether an exit is of the call that its task has entered last. */
static bool is_exit_of(const struct syscalls *a, const struct call *c, const struct spur_record *r,
		       int64_t nr)
{
	/* The number is gone after a return from a signal, on some machines after exec. */
	if (c->nr != nr && nr != -1)
		return false;
	return !losses_since(&a->losses, c->ts, c->losses) ||
	       (c->cpu == r->cpu && span(c->ts, r->ts) < SHORT_STAY);
}

/* Whether the exit has been told already, by the other event. */
static bool is_second_exit(const struct call *c, const struct syscall_kind *k,
			   const struct spur_record *r, int64_t nr)
{
	return c->left_by && !(c->left_by & k->source) && (c->left_nr == nr || nr == -1) &&
	       span(c->left, r->ts) <= SAME_CALL;
}

static void leave(struct syscalls *a, struct call *c, const struct syscall_kind *k,
		  const struct spur_record *r, int64_t nr)
{
	const int64_t ret = number_in(&k->ret, r) ? number_get(a->events, &k->ret, r) : ROW_NULL;
	const bool open = !list_empty(&c->open);

	if (open && is_exit_of(a, c, r, nr)) {
		struct syscall_row row = {.dur = span(c->ts, r->ts),
					  .ret = ret,
					  .error = syscall_error(a->kinds, ret)};

		close_call(a, c, &row);
		c->left_by = (uint8_t)k->source;
		c->left_nr = c->nr;
		c->left = r->ts;
	} else if (open) {
		/* Is it of a call that was entered while events were lost? */
		leave_open(a, c, c->seen != a->borders ? a->border : r->ts);
		leave_unknown(a, c, k, r, nr, ret);
	} else if (is_second_exit(c, k, r, nr)) {
		c->left_by = 0;
	} else {
		leave_unknown(a, c, k, r, nr, ret);
	}
}

static void syscalls_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct syscalls *a = analysis;
	const struct syscall_kind *k = syscall_kind_of(a->kinds, e);
	const int pid = events_record_pid(a->events, r);
	struct call *c;
	int64_t nr;

	syscall_args_age(a->kinds);
	let_go(a, r->ts);
	if (k->what == SYSCALL_NOTHING || !number_in(&k->nr, r))
		return;
	c = slots_get(&a->tasks, task_key(pid, r->cpu));
	if (!c) {
		*a->src->failed = -E2BIG;
		return;
	}
	if (!c->open.next) {
		list_init(&c->open);
		c->pid = pid;
	}
	nr = number_get(a->events, &k->nr, r);
	if (k->what == SYSCALL_ENTER)
		enter(a, c, k, e, r, nr);
	else
		leave(a, c, k, r, nr);
	c->seen = a->borders;
}

/* Leaves all calls open that are not short, or that were entered on the CPU. */
static void lose(struct syscalls *a, struct list *calls, uint32_t cpu, uint64_t ts)
{
	for (struct list *l = calls->next, *next; l != calls; l = next) {
		struct call *c = list_entry(l, struct call, open);

		next = l->next;
		if (c->cpu == cpu || span(c->ts, ts) >= SHORT_STAY)
			leave_open(a, c, ts);
	}
}

static void syscalls_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct syscalls *a = analysis;

	losses_add(&a->losses, to);
	if (!from)
		return;
	lose(a, &a->open, cpu, from);
	lose(a, &a->leaving, cpu, from);
	a->border = from;
	a->borders++;
}

static void syscalls_end(void *analysis, uint64_t ts)
{
	struct syscalls *a = analysis;

	leave_all_open(a, &a->open, ts);
	leave_all_open(a, &a->leaving, ts);
}

static bool began_by(const struct list *calls, uint64_t ts)
{
	return !list_empty(calls) && list_entry(calls->next, struct call, open)->ts <= ts;
}

static bool syscalls_pending(const void *analysis, uint64_t ts)
{
	const struct syscalls *a = analysis;

	return began_by(&a->open, ts) || began_by(&a->leaving, ts) ||
	       (a->borders && a->border <= ts);
}

/* ---- making ---- */

static void forget_all(struct syscalls *a, struct list *calls)
{
	while (!list_empty(calls)) {
		struct call *c = list_entry(calls->next, struct call, open);

		syscall_args_drop(a->kinds, c->args);
		list_remove(&c->open);
	}
}

static void syscalls_free(void *analysis)
{
	struct syscalls *a = analysis;

	forget_all(a, &a->open);
	forget_all(a, &a->leaving);
	slots_free(&a->tasks);
	comm_times_free(a->comms);
	syscall_kinds_free(a->kinds);
	free(a);
}

static void *syscalls_begin(const struct table_source *src)
{
	struct syscalls *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->src = src;
	a->events = src->trace->events;
	list_init(&a->open);
	list_init(&a->leaving);
	slots_init(&a->tasks, sizeof(struct call), TASKS_LIMIT);
	a->kinds = syscall_kinds_new(src->trace);
	if (!a->kinds || comm_times_for(src, &a->comms) < 0) {
		syscalls_free(a);
		return NULL;
	}
	a->border = buffer_start(src->buffer);
	a->borders = src->since <= a->border;
	return a;
}

#define COLUMN(kind, member, about)                                                                \
	{                                                                                          \
#member, COLUMN_##kind, offsetof(struct syscall_row, member), about                \
	}

static const struct column columns[] = {
	COLUMN(TIME, ts, "when it was entered"),
	COLUMN(DURATION, dur, "until it returned"),
	COLUMN(NUMBER, cpu, "it was entered on"),
	COLUMN(NUMBER, pid, "the task"),
	COLUMN(TEXT, comm, "the task's name"),
	COLUMN(TEXT, name, "of the call"),
	COLUMN(NUMBER, nr, "the call's number"),
	COLUMN(TEXT, args, "its arguments as the report shows them"),
	COLUMN(NUMBER, ret, "what it returned"),
	COLUMN(TEXT, error, "the name of the error that it returned"),
	COLUMN(TEXT, open, "the end that is not known: start, end"),
	COLUMN(TEXT, buffer, "it was recorded in"),
};

static const char *const events[] = {
	"raw_syscalls:sys_enter",
	"raw_syscalls:sys_exit",
	"syscalls:sys_enter_*",
	"syscalls:sys_exit_*",
	NULL,
};

const struct table syscalls_table = {
	.name = "syscalls",
	.about = "system calls: entry and exit joined",
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct syscall_row),
	.events = events,
	.needs = events,
	.starts_anywhere = true,
	.begin = syscalls_begin,
	.record = syscalls_record,
	.losing = syscalls_losing,
	.end = syscalls_end,
	.free = syscalls_free,
	.pending = syscalls_pending,
};
