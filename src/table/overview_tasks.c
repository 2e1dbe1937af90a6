// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks: one row for each life of a pid, when it has ended or with the trace.
 *
 * A task is there from the first event that it wrote or that is about it. It ends with the switch
 * away from it in a dead state; where that was not recorded, with the last event before the pid is
 * freed or forked again. The idle tasks share a pid and are none.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/overview.h"
#include "table/sched_cpus.h"
#include "table/sched_parts.h"

#define MAX_EXITED 4096 /* that are kept because they may still write something */

struct task {
	struct list link; /* among all, or those that have exited */
	int32_t pid;
	int64_t ppid;
	bool born;   /* in the trace */
	bool exited; /* or is about to */
	bool ran;
	uint64_t first, last;
	int64_t events, switches, running;
	struct name name;
	const char *first_comm;
};

struct tasks {
	const struct table_source *src;
	struct sched_events events;
	struct task_set tasks;
	struct list living, exited;
	size_t nr_exited;
	bool switches; /* were recorded */
	struct on_cpus on;
};

static void tasks_free(void *analysis)
{
	struct tasks *a = analysis;

	sched_events_free(&a->events);
	task_set_free(&a->tasks);
	on_cpus_free(&a->on);
	free(a);
}

/* The task on a CPU has had it until then, whatever came afterwards. */
static void count_run(void *tasks, uint32_t cpu, const struct stretch *s, uint64_t end,
		      bool open_end)
{
	struct tasks *a = tasks;
	struct task *t = s->known && s->pid ? task_set_find(&a->tasks, s->pid) : NULL;

	if (!t)
		return;
	t->running += (int64_t)(end - s->since);
	t->first = s->since < t->first && !t->born ? s->since : t->first;
	t->last = end > t->last ? end : t->last;
}

static void *tasks_begin(const struct table_source *src)
{
	struct tasks *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->src = src;
	a->on = (struct on_cpus){.ends = count_run, .arg = a};
	list_init(&a->living);
	list_init(&a->exited);
	task_set_init(&a->tasks, sizeof(struct task));
	if (sched_events_init(&a->events, src) < 0 || on_cpus_init(&a->on, src) < 0) {
		tasks_free(a);
		return NULL;
	}
	return a;
}

static const char *open_ends(const struct task *t)
{
	if (!t->born)
		return t->exited ? row_open_start : row_open_both;
	return t->exited ? NULL : row_open_end;
}

/* What the file says about it, where events say nothing. */
static void add_told(struct tasks *a, const struct task *t, struct task_row *row)
{
	const struct spur_trace *trace = a->src->trace;
	const struct dat_task *first = trace_task_at(trace, t->pid, t->first);
	const struct dat_task *last = trace_task_at(trace, t->pid, t->last);

	if (!last)
		return;
	if (last->tgid)
		row->tgid = last->tgid;
	if (row->ppid == ROW_NULL && last->ppid)
		row->ppid = last->ppid;
	if (!row->comm && *last->name)
		row->comm = last->name;
	if (!row->first_comm && *first->name)
		row->first_comm = first->name;
}

/* Hands a task out and forgets it. */
static void end_life(struct tasks *a, struct task *t)
{
	struct task_row row = {.ts = t->first,
			       .dur = (int64_t)(t->last - t->first),
			       .pid = t->pid,
			       .first_comm = t->first_comm,
			       .ppid = t->ppid,
			       .tgid = ROW_NULL,
			       .events = t->events,
			       .switches = t->switches,
			       .running = a->switches ? t->running : ROW_NULL,
			       .open = open_ends(t),
			       .buffer = a->src->buffer->data->name};

	row.comm = t->name.text;
	add_told(a, t, &row);
	if (!row.comm) {
		sched_name_listed(&a->events, t->pid, &t->name);
		row.comm = t->name.text;
	}
	a->src->row(a->src->arg, &row);
	a->nr_exited -= t->exited;
	list_remove(&t->link);
	task_set_remove(&a->tasks, t->pid);
}

static struct task *add_task(struct tasks *a, int32_t pid, uint64_t ts)
{
	struct task *t = task_set_add(&a->tasks, pid, a->src->failed);

	if (!t)
		return NULL;
	t->pid = pid;
	t->ppid = ROW_NULL;
	t->first = t->last = ts;
	list_init(&t->link);
	list_move_last(&t->link, &a->living);
	return t;
}

/* The task of a pid, of which something is heard at that time; NULL for the idle ones. */
static inline struct task *hear_of(struct tasks *a, int32_t pid, uint64_t ts)
{
	struct task *t = pid ? task_set_find(&a->tasks, pid) : NULL;

	if (!t)
		return pid ? add_task(a, pid, ts) : NULL;
	t->last = ts > t->last ? ts : t->last;
	return t;
}

/* A task begins to live under that pid. */
static struct task *give_birth(struct tasks *a, int32_t pid, int32_t parent, uint64_t ts)
{
	struct task *t = task_set_find(&a->tasks, pid);

	if (t)
		end_life(a, t);
	t = add_task(a, pid, ts);
	if (t) {
		t->born = true;
		t->ppid = parent;
	}
	return t;
}

static void name_task(struct tasks *a, struct task *t, const struct sched_type *type,
		      unsigned int text, const struct spur_record *r)
{
	sched_name(&a->events, type, text, r, &t->name);
	if (!t->first_comm)
		t->first_comm = t->name.text;
}

static void exit_task(struct tasks *a, struct task *t)
{
	if (t->exited)
		return;
	t->exited = true;
	list_move_last(&t->link, &a->exited);
	if (++a->nr_exited > MAX_EXITED)
		end_life(a, list_entry(a->exited.next, struct task, link));
}

/* ---- events ---- */

static void on_switch(struct tasks *a, const struct spur_record *r)
{
	const struct sched_type *type = &a->events.types[ON_SWITCH];
	const int32_t prev = sched_pid(&a->events, type, PREV_PID, r);
	const int32_t next = sched_pid(&a->events, type, NEXT_PID, r);
	struct task *t = hear_of(a, prev, r->ts);

	a->switches = true;
	on_cpus_switch(&a->on, r->cpu, prev, next, r->ts);
	if (t)
		name_task(a, t, type, PREV_COMM, r);
	if (t && sched_left_in(&a->events, r) == RUN_DEAD) {
		exit_task(a, t);
		t = task_set_find(&a->tasks, prev);
		if (t)
			end_life(a, t);
	}
	t = hear_of(a, next, r->ts);
	if (t) {
		name_task(a, t, type, NEXT_COMM, r);
		t->switches++;
		t->ran = true;
	}
}

static void on_wake(struct tasks *a, enum sched_kind kind, const struct spur_record *r)
{
	const struct sched_type *type = &a->events.types[kind];
	const int32_t pid = sched_pid(&a->events, type, WAKE_PID, r);
	struct task *t = task_set_find(&a->tasks, pid);
	const bool forked = t && t->born && !t->ran && !t->events;

	if (pid && kind == ON_WAKEUP_NEW && !forked)
		t = give_birth(a, pid, events_record_pid(a->events.events, r), r->ts);
	else
		t = hear_of(a, pid, r->ts);
	if (t)
		name_task(a, t, type, TASK_COMM, r);
}

static void on_fork(struct tasks *a, const struct spur_record *r)
{
	const struct sched_type *type = &a->events.types[ON_FORK];
	const int32_t parent = sched_pid(&a->events, type, FORK_PARENT, r);
	const int32_t child = sched_pid(&a->events, type, FORK_CHILD, r);
	struct task *t = hear_of(a, parent, r->ts);

	if (t)
		name_task(a, t, type, PREV_COMM, r);
	t = child ? give_birth(a, child, parent, r->ts) : NULL;
	if (t)
		name_task(a, t, type, NEXT_COMM, r);
}

static void on_task(struct tasks *a, enum sched_kind kind, const struct spur_record *r)
{
	const struct sched_type *type = &a->events.types[kind];
	const int32_t pid = sched_pid(&a->events, type, TASK_PID, r);
	struct task *t = task_set_find(&a->tasks, pid);

	if (t && kind == ON_FREE && t->exited)
		end_life(a, t);
	/* What is freed is gone; whose exit was not recorded, at a time that is not known. */
	t = kind == ON_FREE ? NULL : hear_of(a, pid, r->ts);
	if (!t)
		return;
	if (kind == ON_EXEC)
		sched_name_exec(&a->events, r, &t->name);
	else if (type->text[TASK_COMM])
		name_task(a, t, type, TASK_COMM, r);
	if (kind == ON_EXIT)
		exit_task(a, t);
}

static void tasks_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct tasks *a = analysis;
	const enum sched_kind kind = sched_kind_of(&a->events, e, r);
	struct task *t;

	if (r->cpu >= a->on.nr)
		return;
	t = hear_of(a, events_record_pid(a->events.events, r), r->ts);
	if (t)
		t->events++;
	switch (kind) {
	case ON_OTHER: break;
	case ON_SWITCH: on_switch(a, r); break;
	case ON_WAKING:
	case ON_WAKEUP:
	case ON_WAKEUP_NEW: on_wake(a, kind, r); break;
	case ON_FORK: on_fork(a, r); break;
	default: on_task(a, kind, r); break;
	}
}

/* What nearly all records are: of the task that the one before was of, and not about tasks. */
static inline bool count_usual(struct tasks *a, const struct event *e, const struct spur_record *r)
{
	struct task *t = a->tasks.last;
	struct usual_head head;

	if (!t || r->cpu >= a->on.nr || !record_usual_head(a->events.events, r, &head) ||
	    head.pid != t->pid || sched_kind_of(&a->events, e, r) != ON_OTHER)
		return false;
	t->last = r->ts > t->last ? r->ts : t->last;
	t->events++;
	return true;
}

static void tasks_records(void *analysis, const struct table_record *all, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!count_usual(analysis, all[i].event, &all[i].record))
			tasks_record(analysis, all[i].event, &all[i].record);
}

static void tasks_evidence(void *analysis, const struct walk_evidence *e)
{
	struct tasks *a = analysis;

	if (!e->gone && !e->silent)
		hear_of(a, e->pid, e->ts);
	on_cpus_evidence(&a->on, e);
}

static void tasks_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	on_cpus_losing(&((struct tasks *)analysis)->on, cpu, from);
}

static void tasks_end(void *analysis, uint64_t ts)
{
	struct tasks *a = analysis;

	on_cpus_end(&a->on, ts);
	while (!list_empty(&a->exited))
		end_life(a, list_entry(a->exited.next, struct task, link));
	while (!list_empty(&a->living))
		end_life(a, list_entry(a->living.next, struct task, link));
}

static const char *const all_events[] = {"*:*", NULL};

static const struct column tasks_columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct task_row, ts), "when it was forked, or seen first"},
	{"dur", COLUMN_DURATION, offsetof(struct task_row, dur),
	 "until it exited, or was seen last"},
	{"pid", COLUMN_NUMBER, offsetof(struct task_row, pid), "of the task"},
	{"comm", COLUMN_TEXT, offsetof(struct task_row, comm), "its last name"},
	{"first_comm", COLUMN_TEXT, offsetof(struct task_row, first_comm), "its first name"},
	{"ppid", COLUMN_NUMBER, offsetof(struct task_row, ppid),
	 "of the task that forked it, else its parent process; none: it is not known"},
	{"tgid", COLUMN_NUMBER, offsetof(struct task_row, tgid),
	 "of its process; none: it is not known"},
	{"events", COLUMN_NUMBER, offsetof(struct task_row, events), "recorded while it ran"},
	{"switches", COLUMN_NUMBER, offsetof(struct task_row, switches), "how often it got a CPU"},
	{"running", COLUMN_DURATION, offsetof(struct task_row, running),
	 "time on a CPU; none: switches were not recorded"},
	{"open", COLUMN_TEXT, offsetof(struct task_row, open),
	 "'start', 'end' or 'both': it is older than the trace, or lives on"},
	{"buffer", COLUMN_TEXT, offsetof(struct task_row, buffer), "it was recorded in"},
};

const struct table tasks_table = {
	.name = "tasks",
	.about = "tasks: their names, parents, and times on a CPU",
	.columns = tasks_columns,
	.nr_columns = sizeof(tasks_columns) / sizeof(tasks_columns[0]),
	.row_size = sizeof(struct task_row),
	.events = all_events,
	.begin = tasks_begin,
	.record = tasks_record,
	.records = tasks_records,
	.losing = tasks_losing,
	.evidence = tasks_evidence,
	.end = tasks_end,
	.free = tasks_free,
};
