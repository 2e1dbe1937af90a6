// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The overview of a trace: the tables tasks, cpus, lost and files.
 *
 * A task is one use of a pid. It begins with the first event that it wrote or that is about it. It
 * ends with the switch away from it in a dead state; where that was not recorded, with the last
 * event before the pid is freed or forked again. The idle tasks share a pid and have no row.
 */
#include "table/overview.h"

#include <errno.h>
#include <stdlib.h>

#include "table/sched/cpus.h"
#include "table/sched/events.h"
#include "scan/lane.h"
#include "base/array.h"

#define MAX_EXITED 4096 /* kept, because they may still write events */

/* ---- tasks ---- */

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
	uint64_t reused; /* when the pid belongs to another task, by the file; NO_TIME: never */
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
}

/* Adds a stretch to the running time of its task. */
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

static int tasks_begin(void *analysis, const struct table_source *src)
{
	struct tasks *a = analysis;

	a->src = src;
	list_init(&a->living);
	list_init(&a->exited);
	task_set_init(&a->tasks, sizeof(struct task));
	return sched_events_init(&a->events, src) < 0 ? -ENOMEM
						      : on_cpus_init(&a->on, src, count_run, a);
}

/* Fills in from the file what events do not say about a task. */
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

/* Returns the row of a task and forgets the task. */
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
			       .open = row_open_ends(!t->born, !t->exited),
			       .buffer = a->src->buffer->data->name};

	row.comm = t->name.text;
	add_told(a, t, &row);
	if (!row.comm) {
		sched_name_listed(&a->events, t->pid, t->last, &t->name);
		row.comm = t->name.text;
	}
	a->src->row(a->src->arg, &row);
	a->nr_exited -= t->exited;
	list_remove(&t->link);
	task_set_remove(&a->tasks, t->pid);
}

static struct task *add_task(struct tasks *a, int32_t pid, uint64_t ts, bool born)
{
	struct task *t = task_set_add(&a->tasks, pid, a->src->failed);

	if (!t)
		return NULL;
	t->pid = pid;
	t->ppid = ROW_NULL;
	t->born = born;
	t->first = t->last = ts;
	t->reused = sched_reused_at(&a->events, pid, ts, born);
	list_init(&t->link);
	list_move_last(&t->link, &a->living);
	return t;
}

/* The task of a pid that an event names at that time; NULL for the idle tasks. */
static inline struct task *hear_of(struct tasks *a, int32_t pid, uint64_t ts)
{
	struct task *t = pid ? task_set_find(&a->tasks, pid) : NULL;

	if (t && __builtin_expect(ts >= t->reused, 0)) {
		end_life(a, t);
		t = NULL;
	}
	if (!t)
		return pid ? add_task(a, pid, ts, false) : NULL;
	t->last = ts > t->last ? ts : t->last;
	return t;
}

/* A task begins to live under that pid. */
static struct task *give_birth(struct tasks *a, int32_t pid, int32_t parent, uint64_t ts)
{
	struct task *t = task_set_find(&a->tasks, pid);

	if (t)
		end_life(a, t);
	t = add_task(a, pid, ts, true);
	if (t)
		t->ppid = parent;
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

static void on_task_switch(struct tasks *a, const struct spur_record *r)
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
	/* A freed task is gone; if its exit was not recorded, the time of its end is unknown. */
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
	case ON_SWITCH: on_task_switch(a, r); break;
	case ON_WAKING:
	case ON_WAKEUP:
	case ON_WAKEUP_NEW: on_wake(a, kind, r); break;
	case ON_FORK: on_fork(a, r); break;
	default: on_task(a, kind, r); break;
	}
}

/* Nearly all records have the task of the previous record and are not about tasks. */
static inline bool count_usual(struct tasks *a, const struct event *e, const struct spur_record *r)
{
	struct task *t = a->tasks.last;
	struct usual_head head;

	if (!t || r->cpu >= a->on.nr || !record_usual_head(a->events.events, r, &head) ||
	    head.pid != t->pid || r->ts >= t->reused || sched_kind_of(&a->events, e, r) != ON_OTHER)
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

#define TASK(kind, member, about) ROW_COLUMN(task_row, kind, member, about)

static const struct column tasks_columns[] = {
	TASK(TIME, ts, "when it was forked, or seen first"),
	TASK(DURATION, dur, "until it exited, or was seen last"),
	TASK(NUMBER, pid, "of the task"),
	TASK(TEXT, comm, "its last name"),
	TASK(TEXT, first_comm, "its first name"),
	TASK(NUMBER, ppid,
	     "of the task that forked it, else its parent process; none: it is not known"),
	TASK(NUMBER, tgid, "of its process; none: it is not known"),
	TASK(NUMBER, events, "recorded while it ran"),
	TASK(NUMBER, switches, "how often it got a CPU"),
	TASK(DURATION, running, "time on a CPU; none: switches were not recorded"),
	ROW_NAMES(task_row, open, row_open_names,
		  "'start', 'end' or 'both': it is older than the trace, or lives on"),
	TASK(TEXT, buffer, "it was recorded in"),
};

const struct table tasks_table = {
	.name = "tasks",
	.about = "tasks: their names, parents, and times on a CPU",
	.columns = tasks_columns,
	.nr_columns = ARRAY_SIZE(tasks_columns),
	.row_size = sizeof(struct task_row),
	.events = all_events,
	.analysis_size = sizeof(struct tasks),
	.begin = tasks_begin,
	.record = tasks_record,
	.records = tasks_records,
	.losing = tasks_losing,
	.evidence = tasks_evidence,
	.end = tasks_end,
	.free = tasks_free,
};

/* ---- CPUs and losses ---- */

struct cpu {
	uint64_t first, last;
	int64_t events, lost, gaps, switches;
	int64_t busy, idle, unknown;
	bool silent; /* it is unknown at the start; `first` is that time */
	/* A loss; the next record may say how many events it had. */
	bool losing;
	uint64_t lost_from, lost_to;
};

struct cpus {
	const struct table_source *src;
	struct sched_events events;
	struct on_cpus on;
	struct cpu *cpus;
	uint32_t nr_cpus;
	uint32_t nr_losing;
	bool switches; /* were recorded */
};

static void cpus_free(void *analysis)
{
	struct cpus *a = analysis;

	sched_events_free(&a->events);
	on_cpus_free(&a->on);
	free(a->cpus);
}

static void count_time(void *cpus, uint32_t cpu, const struct stretch *s, uint64_t end,
		       bool open_end)
{
	struct cpu *c = &((struct cpus *)cpus)->cpus[cpu];

	*(!s->known ? &c->unknown : s->pid ? &c->busy : &c->idle) += (int64_t)(end - s->since);
}

static int cpus_begin(void *analysis, const struct table_source *src)
{
	struct cpus *a = analysis;

	a->src = src;
	a->nr_cpus = sched_nr_cpus(src->buffer);
	a->cpus = calloc((size_t)a->nr_cpus + 1, sizeof(*a->cpus));
	return !a->cpus || sched_events_init(&a->events, src) < 0
		       ? -ENOMEM
		       : on_cpus_init(&a->on, src, count_time, a);
}

static void on_cpu_switch(struct cpus *a, struct cpu *c, const struct spur_record *r)
{
	const struct sched_type *type = &a->events.types[ON_SWITCH];

	on_cpus_switch(&a->on, r->cpu, sched_pid(&a->events, type, PREV_PID, r),
		       sched_pid(&a->events, type, NEXT_PID, r), r->ts);
	c->switches++;
	a->switches = true;
}

static void cpus_evidence(void *analysis, const struct walk_evidence *e)
{
	struct cpus *a = analysis;
	struct cpu *c = e->cpu < a->nr_cpus ? &a->cpus[e->cpu] : NULL;

	on_cpus_evidence(&a->on, e);
	if (c && e->silent && !c->events) {
		c->silent = true;
		c->first = e->ts;
	}
}

static inline void count_on_cpu(struct cpus *a, const struct event *e, const struct spur_record *r)
{
	struct cpu *c;

	if (r->cpu >= a->nr_cpus)
		return;
	c = &a->cpus[r->cpu];
	if (__builtin_expect(r->ts < c->first, 0) || !c->events)
		c->first = r->ts;
	c->events++;
	c->last = r->ts > c->last ? r->ts : c->last;
	if (__builtin_expect(r->lost > 0, 0) && __builtin_add_overflow(c->lost, r->lost, &c->lost))
		c->lost = INT64_MAX;
	if (sched_kind_of(&a->events, e, r) == ON_SWITCH)
		on_cpu_switch(a, c, r);
}

static void cpus_record(void *analysis, struct event *e, const struct spur_record *r)
{
	count_on_cpu(analysis, e, r);
}

static void cpus_records(void *analysis, const struct table_record *all, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		count_on_cpu(analysis, all[i].event, &all[i].record);
}

static void cpus_lost(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct cpus *a = analysis;

	if (cpu < a->nr_cpus)
		a->cpus[cpu].gaps++;
}

static void cpus_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	on_cpus_losing(&((struct cpus *)analysis)->on, cpu, from);
}

/* Counts what is missing after a CPU's last event. */
static void count_cut(void *cpus, const void *row)
{
	struct cpus *a = cpus;
	const struct lost_row *l = row;
	struct cpu *c = l->cpu < a->nr_cpus ? &a->cpus[l->cpu] : NULL;

	if (!c)
		return;
	c->gaps++;
	if (l->events > 0)
		c->lost = ns_add(c->lost, l->events);
}

static void hand_out_cpu(const struct cpus *a, uint32_t cpu, uint64_t ts)
{
	const struct cpu *c = &a->cpus[cpu];
	const uint64_t first = c->events || c->silent ? c->first : ts;
	const struct cpu_row row = {.ts = first,
				    .dur = (int64_t)((c->events ? c->last : ts) - first),
				    .cpu = cpu,
				    .events = c->events,
				    .lost = c->lost,
				    .gaps = c->gaps,
				    .switches = c->switches,
				    .busy = a->switches ? c->busy : ROW_NULL,
				    .idle = a->switches ? c->idle : ROW_NULL,
				    .unknown = a->switches ? c->unknown : ROW_NULL,
				    .buffer = a->src->buffer->data->name};

	if (c->events || c->gaps || c->silent)
		a->src->row(a->src->arg, &row);
}

static void cpus_end(void *analysis, uint64_t ts)
{
	struct cpus *a = analysis;

	lost_by_cut(a->src->trace, a->src->buffer->index, count_cut, a);
	on_cpus_end(&a->on, ts);
	for (uint32_t i = 0; i < a->nr_cpus; i++)
		hand_out_cpu(a, i, ts);
}

/* ---- losses ---- */

static void hand_out_loss(struct cpus *a, uint32_t cpu, int64_t events)
{
	struct cpu *c = &a->cpus[cpu];
	struct lost_row row = {.ts = c->lost_to,
			       .since = c->lost_from ? (int64_t)c->lost_from : ROW_NULL,
			       .cpu = cpu,
			       .events = events > 0 ? events : ROW_NULL,
			       .open = c->lost_from ? ROW_WHOLE : ROW_OPEN_START,
			       .buffer = a->src->buffer->data->name};

	if (!c->losing)
		return;
	c->losing = false;
	a->nr_losing--;
	a->src->row(a->src->arg, &row);
}

static void lost_lost(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct cpus *a = analysis;

	if (cpu >= a->nr_cpus)
		return;
	hand_out_loss(a, cpu, ROW_NULL);
	a->cpus[cpu].losing = true;
	a->nr_losing++;
	a->cpus[cpu].lost_from = from;
	a->cpus[cpu].lost_to = to;
}

/* The first record after a loss says how many events were lost, if that is known. */
static void lost_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct cpus *a = analysis;

	if (__builtin_expect(r->cpu < a->nr_cpus && a->cpus[r->cpu].losing, 0)) {
		a->cpus[r->cpu].lost_to = r->ts;
		hand_out_loss(a, r->cpu, r->lost);
	}
}

static void lost_records(void *analysis, const struct table_record *all, uint32_t n)
{
	const struct cpus *a = analysis;

	for (uint32_t i = 0; a->nr_losing && i < n; i++)
		lost_record(analysis, all[i].event, &all[i].record);
}

bool lost_at_end(const struct lost_row *row)
{
	return (row->open & ROW_OPEN_END) != 0;
}

/* The time of the last event that a cut recording has of a CPU; 0: there is none. */
static uint64_t cut_time(const struct spur_trace *t, const struct dat_cut_cpu *c)
{
	if (!c->last || c->buffer >= t->nr_buffers)
		return 0;
	return trace_time(&t->buffers[c->buffer].time, c->last, c->cpu);
}

/*
 * The loss at the end of a CPU's data in a cut recording. No event follows, so the loss ends with
 * the recording. All times come from the file: rows do not depend on how much of the trace was
 * read.
 */
void lost_by_cut(const struct spur_trace *t, uint32_t buffer,
		 void (*take)(void *arg, const void *row), void *arg)
{
	const struct dat_cut *cut = &t->dat->cut;
	uint64_t end = 0;

	for (uint32_t i = 0; i < cut->nr; i++) {
		const uint64_t last = cut_time(t, &cut->cpus[i]);

		end = last > end ? last : end;
	}
	for (uint32_t i = 0; i < cut->nr; i++) {
		const struct dat_cut_cpu *c = &cut->cpus[i];
		const uint64_t last = cut_time(t, c);
		const struct lost_row row = {.ts = end,
					     .since = last ? (int64_t)last : ROW_NULL,
					     .cpu = c->cpu,
					     .events = c->after > INT64_MAX ? ROW_NULL
									    : (int64_t)c->after,
					     .open = last ? ROW_OPEN_END : ROW_OPEN_BOTH,
					     .buffer = t->buffers[buffer].data->name};

		if (c->after && c->buffer == buffer)
			take(arg, &row);
	}
}

static void lost_end(void *analysis, uint64_t ts)
{
	struct cpus *a = analysis;

	for (uint32_t i = 0; i < a->nr_cpus; i++)
		hand_out_loss(a, i, ROW_NULL);
	lost_by_cut(a->src->trace, a->src->buffer->index, a->src->row, a->src->arg);
}

static bool lost_pending(const void *analysis, uint64_t ts)
{
	const struct cpus *a = analysis;

	for (uint32_t i = 0; i < a->nr_cpus; i++)
		if (a->cpus[i].losing)
			return true;
	return false;
}

#define CPU(kind, member, about) ROW_COLUMN(cpu_row, kind, member, about)

static const struct column cpus_columns[] = {
	CPU(TIME, ts, "of its first event; if it has none, of the trace's"),
	CPU(DURATION, dur, "until its last event, or the trace's"),
	CPU(NUMBER, cpu, "its number"),
	CPU(NUMBER, events, "that were recorded on it"),
	CPU(NUMBER, lost, "events that are known to have been lost"),
	CPU(NUMBER, gaps, "places where events were lost"),
	CPU(NUMBER, switches, "from task to task"),
	CPU(DURATION, busy,
	    "time with a task, up to the end of the trace; none: switches were not recorded"),
	CPU(DURATION, idle, "time without one"),
	CPU(DURATION, unknown, "time of which the trace does not say who had the CPU"),
	CPU(TEXT, buffer, "they were recorded in"),
};

#define LOST(kind, member, about) ROW_COLUMN(lost_row, kind, member, about)

static const struct column lost_columns[] = {
	LOST(TIME, ts, "of the first event after the loss, or when the recording was cut"),
	LOST(NUMBER, since, "time of the last one before"),
	LOST(NUMBER, cpu, "on which they were lost"),
	LOST(NUMBER, events, "how many; none: not known"),
	ROW_NAMES(lost_row, open, row_open_names,
		  "'start', 'end' or 'both': the CPU has no event before the loss, none after it"),
	LOST(TEXT, buffer, "it happened in"),
};

const struct table cpus_table = {
	.name = "cpus",
	.about = "CPUs: their events, losses, busy and idle times",
	.columns = cpus_columns,
	.nr_columns = ARRAY_SIZE(cpus_columns),
	.row_size = sizeof(struct cpu_row),
	.events = all_events,
	.analysis_size = sizeof(struct cpus),
	.begin = cpus_begin,
	.record = cpus_record,
	.records = cpus_records,
	.lost = cpus_lost,
	.losing = cpus_losing,
	.evidence = cpus_evidence,
	.end = cpus_end,
	.free = cpus_free,
};

const struct table lost_table = {
	.name = "lost",
	.about = "where events were lost",
	.columns = lost_columns,
	.nr_columns = ARRAY_SIZE(lost_columns),
	.row_size = sizeof(struct lost_row),
	.events = all_events,
	.starts_anywhere = true,
	.analysis_size = sizeof(struct cpus),
	.begin = cpus_begin,
	.record = lost_record,
	.records = lost_records,
	.lost = lost_lost,
	.end = lost_end,
	.free = cpus_free,
	.pending = lost_pending,
};

/* ---- the file ---- */

struct sums {
	uint64_t first, last;
	int64_t events, lost;
};

struct files {
	const struct table_source *src;
};

static int files_begin(void *analysis, const struct table_source *src)
{
	((struct files *)analysis)->src = src;
	return 0;
}

static void count_in_file(struct sums *sums, const struct spur_record *r)
{
	if (!sums->events++)
		sums->first = sums->last = r->ts;
	sums->first = r->ts < sums->first ? r->ts : sums->first;
	sums->last = r->ts > sums->last ? r->ts : sums->last;
	if (r->lost > 0 && __builtin_add_overflow(sums->lost, r->lost, &sums->lost))
		sums->lost = INT64_MAX;
}

static int count_cpu(const struct trace_buffer *b, const struct dat_cpu *cpu, struct sums *sums)
{
	struct lane l;
	int rc = lane_open(&l, b, cpu);

	/* What cannot be read has been noted as damage. */
	if (rc < 0)
		return rc == -EBADMSG ? 0 : rc;
	while (lane_next(&l))
		count_in_file(sums, &l.rec);
	lane_close(&l);
	return 0;
}

static int count_trace(const struct spur_trace *t, struct sums *sums)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct dat_buffer *b = t->buffers[i].data;

		for (uint32_t k = 0; rc == 0 && !b->text && k < b->nr_cpus; k++)
			if (b->cpus[k].size)
				rc = count_cpu(&t->buffers[i], &b->cpus[k], sums);
	}
	return rc;
}

static void add_cut(void *sums, const void *row)
{
	const struct lost_row *l = row;

	if (l->events > 0)
		((struct sums *)sums)->lost = ns_add(((struct sums *)sums)->lost, l->events);
}

static const char *text_or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static void files_end(void *analysis, uint64_t ts)
{
	struct files *a = analysis;
	const struct dat *d = a->src->trace->dat;
	struct sums sums = {0};
	struct file_row row;

	if (a->src->buffer->index != 0)
		return;
	if (count_trace(a->src->trace, &sums) < 0) {
		*a->src->failed = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < a->src->trace->nr_buffers; i++)
		lost_by_cut(a->src->trace, i, add_cut, &sums);
	row = (struct file_row){.ts = sums.first,
				.dur = (int64_t)(sums.last - sums.first),
				.name = d->path,
				.host = text_or_null(d->uname),
				.version = d->version,
				.bytes = (int64_t)d->file_size,
				.cpus = d->nr_cpus,
				.events = sums.events,
				.lost = sums.lost,
				.clock = text_or_null(d->clock),
				.compression = text_or_null(d->compression)};
	a->src->row(a->src->arg, &row);
}

static const char *const no_events[] = {NULL};

#define WHOLE_FILE(kind, member, about) ROW_COLUMN(file_row, kind, member, about)

static const struct column files_columns[] = {
	WHOLE_FILE(TIME, ts, "of the first event"),
	WHOLE_FILE(DURATION, dur, "until the last one"),
	WHOLE_FILE(TEXT, name, "of the file"),
	WHOLE_FILE(TEXT, host, "the machine, as uname shows it"),
	WHOLE_FILE(NUMBER, version, "of the format"),
	WHOLE_FILE(NUMBER, bytes, "of the file"),
	WHOLE_FILE(NUMBER, cpus, "of the machine"),
	WHOLE_FILE(NUMBER, events, "of all CPUs and buffers"),
	WHOLE_FILE(NUMBER, lost, "events that are known to have been lost"),
	WHOLE_FILE(TEXT, clock, "that the times are of"),
	WHOLE_FILE(TEXT, compression, "of the file"),
};

const struct table files_table = {
	.name = "files",
	.about = "the trace file",
	.columns = files_columns,
	.nr_columns = ARRAY_SIZE(files_columns),
	.row_size = sizeof(struct file_row),
	.events = no_events,
	.analysis_size = sizeof(struct files),
	.begin = files_begin,
	.end = files_end,
};
