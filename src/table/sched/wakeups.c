// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Wakeups: who woke whom, and how long it took until the task ran.
 *
 * A task waits at most once at a time: the kernel does not wake a task that is awake. So a second
 * wakeup means that the run in between was not recorded, and the first wait stays open. A wait
 * during which events were lost on any CPU stays open, too: the task may have run there.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/analysis.h"
#include "table/sched.h"
#include "table/sched/events.h"
#include "table/walk.h"
#include "base/array.h"

struct task {
	struct list order;  /* in the list of all that wait, by the begin of the wait */
	struct list queued; /* in the list of those that wait for the same CPU */
	int32_t pid;
	enum run_state state; /* unless events were lost on `cpu` since */
	uint32_t cpu, losses;
	struct name name;

	bool waits;
	bool waking; /* sched_wakeup is still expected */
	bool is_new, in_interrupt;
	uint64_t since;
	uint32_t all_losses; /* of all CPUs by then */
	int64_t prio, target_cpu;
	int32_t waker;
	uint32_t waker_cpu;
	const char *comm, *waker_comm;
};

struct cpu {
	struct list queue; /* tasks that wait for it */
	uint32_t losses;
	bool known;  /* it is known who runs */
	int32_t pid; /* the task that runs */
	struct name idle;
};

struct wakeups {
	const struct table_source *src;
	struct sched_events events;
	struct task_set tasks;
	struct list waiting;
	struct losses losses;
	bool wakings;	  /* sched_waking has been seen */
	bool doubts;	  /* switches of some tasks were not recorded */
	struct cpu *cpus; /* the last element is for numbers that are no CPU's */
	uint32_t nr_cpus;
};

static void wakeups_free(void *analysis)
{
	struct wakeups *w = analysis;

	sched_events_free(&w->events);
	task_set_free(&w->tasks);
	free(w->cpus);
}

static int begin_cpus(struct wakeups *w)
{
	w->nr_cpus = sched_nr_cpus(w->src->buffer);
	w->cpus = calloc((size_t)w->nr_cpus + 1, sizeof(*w->cpus));
	if (!w->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i <= w->nr_cpus; i++)
		list_init(&w->cpus[i].queue);
	return 0;
}

static int wakeups_begin(void *analysis, const struct table_source *src)
{
	struct wakeups *w = analysis;

	w->src = src;
	list_init(&w->waiting);
	task_set_init(&w->tasks, sizeof(struct task));
	w->doubts = sched_some_missing(src);
	return sched_events_init(&w->events, src) < 0 ? -ENOMEM : begin_cpus(w);
}

/* ---- tasks ---- */

/*
 * What is known about a task becomes invalid if its CPU loses events. So every CPU counts its
 * losses, and every task stores the count of its CPU.
 */

/* Whether switches of a task may be missing. */
static bool is_doubtful(const struct wakeups *w, int32_t pid)
{
	return __builtin_expect(w->doubts, 0) && !sched_all_switches(w->src, pid);
}

static struct task *get_task(struct wakeups *w, int32_t pid)
{
	struct task *t = task_set_find(&w->tasks, pid);

	if (__builtin_expect(t != NULL, 1))
		return t;
	t = task_set_add(&w->tasks, pid, w->src->failed);
	if (t) {
		t->pid = pid;
		list_init(&t->order);
		list_init(&t->queued);
	}
	return t;
}

static enum run_state state_of(const struct wakeups *w, const struct task *t)
{
	return t->losses == w->cpus[t->cpu].losses ? t->state : RUN_UNKNOWN;
}

static void set_state(struct wakeups *w, struct task *t, enum run_state state, uint32_t cpu)
{
	t->state = state;
	t->cpu = cpu;
	t->losses = w->cpus[cpu].losses;
}

/* The name of the task that has written the record: by earlier records, else by the file. */
static const char *current_name(struct wakeups *w, int32_t pid, const struct spur_record *r)
{
	const struct task *t;
	struct name listed = {0};

	if (pid == 0)
		return sched_name_idle(&w->events, r->cpu, &w->cpus[r->cpu].idle);
	t = task_set_find(&w->tasks, pid);
	if (t && t->name.text)
		return t->name.text;
	sched_name_listed(&w->events, pid, r->ts, &listed);
	return listed.text;
}

/* ---- waiting ---- */

/*
 * The kernel records a wakeup once or twice: sched_waking by the task that wakes, and sched_wakeup
 * when the woken task is in the queue of its CPU, which may be written by that CPU. The first
 * recorded one of them begins a wait, which ends with the switch to the task.
 *
 * Tasks that run, or could run, are not woken: an event about one of them says that it will not go
 * to sleep after all.
 */

/* Ends a wait with a row: the task ran on that CPU at that time, or (open) it is unknown when. */
static void hand_out(struct wakeups *w, struct task *t, uint64_t ran, uint32_t cpu)
{
	const bool known = ran != NO_TIME && ran >= t->since &&
			   !losses_since(&w->losses, t->since, t->all_losses);
	struct wakeup_row row = {.ts = t->since,
				 .latency = known ? (int64_t)(ran - t->since) : ROW_NULL,
				 .pid = t->pid,
				 .comm = t->comm,
				 .prio = t->prio,
				 .waker_pid = t->waker,
				 .waker_comm = t->waker_comm,
				 .waker_cpu = t->waker_cpu,
				 .target_cpu = t->target_cpu,
				 .run_cpu = known ? (int64_t)cpu : ROW_NULL,
				 .in_interrupt = t->in_interrupt,
				 .is_new = t->is_new,
				 .open = known ? ROW_WHOLE : ROW_OPEN_END,
				 .buffer = w->src->buffer->data->name};

	w->src->row(w->src->arg, &row);
}

static void leave(struct task *t)
{
	t->waits = false;
	list_remove(&t->order);
	list_remove(&t->queued);
}

static void give_up(struct wakeups *w, struct task *t)
{
	hand_out(w, t, NO_TIME, 0);
	leave(t);
	t->state = RUN_UNKNOWN;
}

/* Adds a waiting task to the queue of a CPU. */
static void enqueue(struct wakeups *w, struct task *t, int64_t cpu)
{
	const uint32_t to = cpu >= 0 && cpu < w->nr_cpus ? (uint32_t)cpu : w->nr_cpus;

	list_move_last(&t->queued, &w->cpus[to].queue);
	set_state(w, t, RUN_RUNNABLE, to);
}

static void begin_wait(struct wakeups *w, struct task *t, enum sched_kind kind,
		       const struct spur_record *r)
{
	const struct sched_type *type = &w->events.types[kind];

	t->waker = events_record_pid(w->events.events, r);
	t->waker_comm = current_name(w, t->waker, r);
	t->waker_cpu = r->cpu;
	t->in_interrupt = sched_in_interrupt(&w->events, r);
	t->is_new = kind == ON_WAKEUP_NEW;
	t->waking = kind == ON_WAKING;
	t->waits = true;
	t->since = r->ts;
	/*
	 * Other wakeups have a sched_waking, so the one of this task was lost: the begin is
	 * unknown.
	 */
	t->all_losses = w->losses.n - (kind == ON_WAKEUP && w->wakings && w->losses.n);
	t->comm = t->name.text;
	t->prio = sched_value(&w->events, type, WAKE_PRIO, r);
	t->target_cpu = sched_value(&w->events, type, WAKE_CPU, r);
	list_move_last(&t->order, &w->waiting);
	enqueue(w, t, t->target_cpu);
}

/* ---- events ---- */

static void on_wake(struct wakeups *w, enum sched_kind kind, const struct spur_record *r)
{
	const struct sched_type *type = &w->events.types[kind];
	const int32_t pid = sched_pid(&w->events, type, WAKE_PID, r);
	enum run_state state;
	struct task *t;

	if (sched_has(type, WAKE_SUCCESS) && !sched_number(&w->events, type, WAKE_SUCCESS, r))
		return;
	t = pid ? get_task(w, pid) : NULL;
	if (!t)
		return;
	sched_name(&w->events, type, TASK_COMM, r, &t->name);
	w->wakings |= kind == ON_WAKING;
	if (t->waits && t->waking && kind == ON_WAKEUP) {
		t->waking = false;
		t->target_cpu = sched_value(&w->events, type, WAKE_CPU, r);
		enqueue(w, t, t->target_cpu);
		return;
	}
	if (t->waits)
		give_up(w, t);
	state = kind == ON_WAKEUP_NEW ? RUN_UNKNOWN : state_of(w, t);
	if (state != RUN_RUNNING && state != RUN_RUNNABLE)
		begin_wait(w, t, kind, r);
}

/* Forgets the task of a CPU: it is not there. */
static void forget_current(struct wakeups *w, uint32_t cpu)
{
	struct cpu *c = &w->cpus[cpu];
	struct task *t = c->known ? task_set_find(&w->tasks, c->pid) : NULL;

	c->known = false;
	if (t && t->state == RUN_RUNNING && t->cpu == cpu)
		t->state = RUN_UNKNOWN;
}

/* A record shows a task on a CPU. If it was waiting, it is unknown when it began to run. */
static void see_running(struct wakeups *w, struct task *t, uint32_t cpu)
{
	if (t->waits)
		give_up(w, t);
	set_state(w, t, RUN_RUNNING, cpu);
}

static void wakeups_evidence(void *analysis, const struct walk_evidence *e)
{
	struct wakeups *w = analysis;
	struct cpu *c;
	struct task *t;

	if (e->cpu >= w->nr_cpus || e->silent)
		return;
	c = &w->cpus[e->cpu];
	if (!c->known || e->gone || c->pid != e->pid)
		forget_current(w, e->cpu);
	if (e->gone)
		return;
	c->known = true;
	c->pid = e->pid;
	t = e->pid ? get_task(w, e->pid) : NULL;
	if (t)
		see_running(w, t, e->cpu);
}

static void switch_from(struct wakeups *w, const struct sched_type *type,
			const struct spur_record *r)
{
	const int32_t pid = sched_pid(&w->events, type, PREV_PID, r);
	struct cpu *c = &w->cpus[r->cpu];
	enum run_state state;
	struct task *t;

	if (__builtin_expect(c->known && c->pid != pid, 0))
		forget_current(w, r->cpu);
	if (pid == 0) {
		sched_name(&w->events, type, PREV_COMM, r, &c->idle);
		return;
	}
	t = get_task(w, pid);
	if (!t)
		return;
	if (__builtin_expect(t->waits, 0))
		see_running(w, t, r->cpu);
	state = sched_left_in(&w->events, r);
	if (state == RUN_DEAD) {
		task_set_remove(&w->tasks, pid);
		return;
	}
	sched_name(&w->events, type, PREV_COMM, r, &t->name);
	set_state(w, t, is_doubtful(w, pid) ? RUN_UNKNOWN : state, r->cpu);
}

static void switch_to(struct wakeups *w, const struct sched_type *type, const struct spur_record *r)
{
	const int32_t pid = sched_pid(&w->events, type, NEXT_PID, r);
	struct cpu *c = &w->cpus[r->cpu];
	struct task *t;

	c->known = true;
	c->pid = pid;
	if (pid == 0) {
		sched_name(&w->events, type, NEXT_COMM, r, &c->idle);
		return;
	}
	t = get_task(w, pid);
	if (!t)
		return;
	sched_name(&w->events, type, NEXT_COMM, r, &t->name);
	/* It may have run before without a record. */
	if (t->waits && is_doubtful(w, pid)) {
		give_up(w, t);
	} else if (t->waits) {
		hand_out(w, t, r->ts, r->cpu);
		leave(t);
	}
	set_state(w, t, RUN_RUNNING, r->cpu);
}

static void on_migrate(struct wakeups *w, const struct spur_record *r)
{
	const struct sched_type *type = &w->events.types[ON_MIGRATE];
	struct task *t = task_set_find(&w->tasks, sched_pid(&w->events, type, MIGRATE_PID, r));

	if (t && t->waits && sched_has(type, MIGRATE_CPU))
		enqueue(w, t, sched_number(&w->events, type, MIGRATE_CPU, r));
}

static void on_rename(struct wakeups *w, enum sched_kind kind, const struct spur_record *r)
{
	const struct sched_type *type = &w->events.types[kind];
	struct task *t = task_set_find(&w->tasks, sched_pid(&w->events, type, TASK_PID, r));

	if (t && kind == ON_EXEC)
		sched_name_exec(&w->events, r, &t->name);
	else if (t)
		sched_name(&w->events, type, TASK_COMM, r, &t->name);
}

static void wakeups_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct wakeups *w = analysis;
	const enum sched_kind kind = sched_kind_of(&w->events, e, r);

	if (r->cpu >= w->nr_cpus)
		return;
	switch (kind) {
	case ON_SWITCH:
		switch_from(w, &w->events.types[kind], r);
		switch_to(w, &w->events.types[kind], r);
		break;
	case ON_WAKING:
	case ON_WAKEUP:
	case ON_WAKEUP_NEW: on_wake(w, kind, r); break;
	case ON_MIGRATE: on_migrate(w, r); break;
	case ON_EXEC:
	case ON_RENAME: on_rename(w, kind, r); break;
	default: break;
	}
}

/*
 * Called twice: before the events that other CPUs recorded in the meantime, and after them. If
 * these say that a task waits for this CPU, it may have run here.
 */
static void wakeups_lost(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct wakeups *w = analysis;
	struct cpu *c;

	if (cpu >= w->nr_cpus)
		return;
	c = &w->cpus[cpu];
	while (!list_empty(&c->queue))
		give_up(w, list_entry(c->queue.next, struct task, queued));
	c->losses++;
	c->known = false;
}

static void wakeups_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	losses_add(&((struct wakeups *)analysis)->losses, to);
	wakeups_lost(analysis, cpu, from, to);
}

static void wakeups_cut(void *analysis, uint32_t cpu, uint64_t from)
{
	wakeups_losing(analysis, cpu, from, UINT64_MAX);
}

static void wakeups_end(void *analysis, uint64_t ts)
{
	struct wakeups *w = analysis;

	while (!list_empty(&w->waiting))
		give_up(w, list_entry(w->waiting.next, struct task, order));
}

static bool wakeups_pending(const void *analysis, uint64_t ts)
{
	const struct wakeups *w = analysis;

	return !list_empty(&w->waiting) &&
	       list_entry(w->waiting.next, struct task, order)->since <= ts;
}

static const char *const wakeups_events[] = {"sched:sched_switch",	 "sched:sched_waking",
					     "sched:sched_wakeup",	 "sched:sched_wakeup_new",
					     "sched:sched_migrate_task", "sched:sched_process_exec",
					     "task:task_rename",	 NULL};
static const char *const wakeups_needs[] = {"sched:sched_waking", "sched:sched_wakeup",
					    "sched:sched_wakeup_new", NULL};

#define COLUMN(kind, member, about) ROW_COLUMN(wakeup_row, kind, member, about)

static const struct column wakeups_columns[] = {
	COLUMN(TIME, ts, "when the task was woken"),
	COLUMN(DURATION, latency, "until it ran"),
	COLUMN(NUMBER, pid, "of the task that was woken"),
	COLUMN(TEXT, comm, "its name"),
	COLUMN(NUMBER, prio, "its priority: 0 to 99 real time, 100 to 139 nice -20 to 19"),
	COLUMN(NUMBER, waker_pid, "of the task that woke it, or was interrupted by who did"),
	COLUMN(TEXT, waker_comm, "its name"),
	COLUMN(NUMBER, waker_cpu, "where it ran"),
	COLUMN(NUMBER, target_cpu, "that the woken task was to run on"),
	COLUMN(NUMBER, run_cpu, "where it ran then"),
	COLUMN(NUMBER, in_interrupt, "1: woken by an interrupt or softirq"),
	COLUMN(NUMBER, is_new, "1: the first wakeup of a new task"),
	ROW_NAMES(wakeup_row, open, row_open_names,
		  "'end': it did not run before the end, or events were lost"),
	COLUMN(TEXT, buffer, "it was recorded in"),
};

const struct table wakeups_table = {
	.name = "wakeups",
	.about = "wakeups of tasks, and how long it took until they ran",
	.columns = wakeups_columns,
	.nr_columns = ARRAY_SIZE(wakeups_columns),
	.row_size = sizeof(struct wakeup_row),
	.events = wakeups_events,
	.needs = wakeups_needs,
	.analysis_size = sizeof(struct wakeups),
	.begin = wakeups_begin,
	.record = wakeups_record,
	.lost = wakeups_lost,
	.losing = wakeups_losing,
	.cut = wakeups_cut,
	.evidence = wakeups_evidence,
	.end = wakeups_end,
	.free = wakeups_free,
	.pending = wakeups_pending,
};
