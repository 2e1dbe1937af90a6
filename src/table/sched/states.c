// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * States: what every task did, one row after the other.
 *
 * Rows of a task never overlap and leave no gaps. A task runs from the switch to it, or the first
 * record that shows it on a CPU, to the switch away from it (see cpus.h). If evidence contradicts a
 * state, the task is unknown from its last proof on. A task with a row is in the list `order`, and
 * in the list of the CPU where it was last, or of dead tasks.
 *
 * When events are lost on any CPU, every task that does not run becomes unknown: it may have run
 * there. In a cut recording, a CPU loses events from its last record to the end. A CPU without any
 * record may have been idle, or its data may be missing. If a task is woken for it, the data are
 * missing, and the task is unknown from then on. So is a task whose sleep ends without a wakeup
 * while others have wakeups. If switches have contradicted each other, a task that waits for a CPU
 * is unknown from the moment when that CPU becomes idle.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/analysis.h"
#include "table/sched.h"
#include "table/sched/cpus.h"
#include "table/sched/events.h"
#include "event/names.h"
#include "base/array.h"

#define MAX_DEAD 4096 /* dead tasks are stored until they are freed, at most so many */

struct task {
	struct list order;  /* in the list of all tasks with a row, by the row's begin */
	struct list on_cpu; /* in the list of those last seen on the same CPU, or of dead ones */
	int32_t pid;
	uint32_t cpu; /* the CPU of that list */
	struct name name;
	uint64_t reused; /* when the pid belongs to another task, by the file; NO_TIME: never */

	/* The current row. */
	bool begun; /* there is one */
	bool open_start;
	bool woken;  /* runnable because it was woken, … */
	bool waking; /* … by sched_waking; sched_wakeup is still expected */
	bool late;   /* it began before its predecessor in `order` */
	bool exited; /* it will die */
	bool held;
	enum run_state state;
	uint64_t since;
	uint32_t losses; /* when it was begun */
	int64_t row_cpu;
	const char *comm, *reason;

	struct state_row held_row;
};

struct states {
	const struct table_source *src;
	struct sched_events events;
	struct task_set tasks;
	struct list order;
	struct list dead;
	size_t nr_dead;
	size_t nr_late, nr_held; /* tasks */
	struct losses losses;
	bool wakings; /* sched_waking has been seen */
	bool wakes;   /* so has some event of a wakeup */
	bool reasons; /* sched_blocked_reason may come */
	bool doubts;  /* switches of some tasks were not recorded */
	bool both;    /* a row is also wanted when a state begins */
	struct on_cpus on;
	struct list *cpus;  /* lists of tasks, by CPU; the last list is for those on no CPU */
	uint32_t *waiting;  /* by list: how many of its tasks are runnable */
	bool *absent;	    /* by CPU: the file has no record of it, … */
	uint32_t nr_absent; /* … and how many there are */
	uint32_t nr_cpus;
};

const char *const run_state_names[] = {
	[RUN_UNKNOWN] = "unknown",   [RUN_RUNNING] = "running", [RUN_RUNNABLE] = "runnable",
	[RUN_SLEEPING] = "sleeping", [RUN_BLOCKED] = "blocked", [RUN_STOPPED] = "stopped",
	[RUN_DEAD] = "dead",
};

const char state_preempted[] = "preempted";

/* ---- rows ---- */

/*
 * Returns the row that was held back, if there is one. sched_blocked_reason comes after the wakeup
 * that ends the state that it explains. So if the trace has this event, the row of a blocked task
 * waits for the task's next event.
 */
static void states_flush_held(struct states *s, struct task *t)
{
	if (!t->held)
		return;
	t->held = false;
	s->nr_held--;
	s->src->row(s->src->arg, &t->held_row);
}

/* Ends the current row. */
static void states_end_row(struct states *s, struct task *t, uint64_t ts, bool open_end,
			   int64_t waker)
{
	struct state_row row = {.ts = t->since,
				.dur = ts > t->since ? (int64_t)(ts - t->since) : 0,
				.pid = t->pid,
				.comm = t->comm,
				.state = t->state,
				.reason = t->reason,
				.cpu = t->row_cpu,
				.waker = waker,
				.open = row_open_ends(t->open_start, open_end),
				.buffer = s->src->buffer->data->name};

	states_flush_held(s, t);
	s->waiting[t->cpu] -= t->begun && t->state == RUN_RUNNABLE;
	t->begun = false;
	t->since += (uint64_t)row.dur;
	s->nr_late -= t->late;
	t->late = false;
	if (t->state == RUN_UNKNOWN && row.dur == 0)
		return;
	if (s->reasons && t->state == RUN_BLOCKED && !t->reason && !open_end) {
		t->held_row = row;
		t->held = true;
		s->nr_held++;
	} else {
		s->src->row(s->src->arg, &row);
	}
}

static void tell_begin(struct states *s, const struct task *t)
{
	const struct state_row row = {.ts = t->since,
				      .dur = ROW_NULL,
				      .pid = t->pid,
				      .comm = t->comm,
				      .state = t->state,
				      .cpu = t->row_cpu,
				      .waker = ROW_NULL,
				      .buffer = s->src->buffer->data->name,
				      .phase = STATE_BEGINS};

	s->src->row(s->src->arg, &row);
}

static void states_begin_row(struct states *s, struct task *t, enum run_state state, uint64_t ts,
			     uint32_t cpu, const char *reason)
{
	t->begun = true;
	t->open_start = t->woken = t->waking = false;
	t->state = state;
	/* Not before the end of the row before it, even if the times run backwards. */
	t->since = ts > t->since ? ts : t->since;
	t->losses = s->losses.n;
	t->comm = t->name.text;
	t->reason = reason;
	t->row_cpu = cpu < s->nr_cpus ? (int64_t)cpu : ROW_NULL;
	t->cpu = state == RUN_UNKNOWN || cpu > s->nr_cpus ? s->nr_cpus : cpu;
	list_move_last(&t->order, &s->order);
	s->waiting[t->cpu] += state == RUN_RUNNABLE;
	list_move_last(&t->on_cpu, &s->cpus[t->cpu]);
	if (s->both)
		tell_begin(s, t);
}

/* Begins a row earlier than the event that shows it. */
static void states_begin_late(struct states *s, struct task *t, enum run_state state, uint64_t ts,
			      uint32_t cpu)
{
	states_begin_row(s, t, state, ts, cpu, NULL);
	t->late = true;
	s->nr_late++;
}

/* ---- tasks ---- */

/*
 * The task of a pid that is seen at `ts`, possibly without a row yet; NULL without memory. `born`:
 * it is new.
 */
static struct task *states_task(struct states *s, int32_t pid, uint64_t ts, bool born)
{
	struct task *t = task_set_find(&s->tasks, pid);

	if (__builtin_expect(t != NULL, 1))
		return t;
	t = task_set_add(&s->tasks, pid, s->src->failed);
	if (t) {
		t->pid = pid;
		t->reused = sched_reused_at(&s->events, pid, ts, born);
		list_init(&t->order);
		list_init(&t->on_cpu);
	}
	return t;
}

/* From now on the pid belongs to another task, or to none. */
static void states_end_life(struct states *s, struct task *t, uint64_t ts, bool open_end)
{
	if (t->begun) {
		s->nr_dead -= t->state == RUN_DEAD;
		states_end_row(s, t, ts, open_end, ROW_NULL);
	}
	states_flush_held(s, t);
	list_remove(&t->order);
	list_remove(&t->on_cpu);
	task_set_remove(&s->tasks, t->pid);
}

/* The same for a pid that is active, so the task has not died. */
static struct task *states_live_task(struct states *s, int32_t pid, uint64_t ts)
{
	struct task *t = states_task(s, pid, ts, false);

	if (t && __builtin_expect((t->begun && t->state == RUN_DEAD) || ts >= t->reused, 0)) {
		states_end_life(s, t, ts < t->reused ? ts : t->reused, true);
		t = states_task(s, pid, ts, false);
	}
	return t;
}

/* A task begins to live under that pid. */
static struct task *states_new_task(struct states *s, int32_t pid, uint64_t ts)
{
	struct task *t = task_set_find(&s->tasks, pid);

	if (t)
		states_end_life(s, t, ts, true);
	return states_task(s, pid, ts, true);
}

/* The task has died; it is stored until the kernel frees it. */
static void states_die(struct states *s, struct task *t, uint64_t ts, uint32_t cpu)
{
	states_begin_row(s, t, RUN_DEAD, ts, cpu, NULL);
	list_move_last(&t->on_cpu, &s->dead);
	if (++s->nr_dead > MAX_DEAD)
		states_end_life(s, list_entry(s->dead.next, struct task, on_cpu), ts, true);
}

/* It is unknown what the task did since then. */
static void states_lose_track(struct states *s, struct task *t, uint64_t seen)
{
	const uint32_t cpu = t->cpu;
	const uint64_t at = seen > t->since ? seen : t->since;

	states_end_row(s, t, at, true, ROW_NULL);
	states_begin_late(s, t, RUN_UNKNOWN, at, cpu);
}

/*
 * The same for a task that waits or sleeps, if it may have run on a CPU that lost events since
 * then.
 */
static void states_doubt_row(struct states *s, struct task *t)
{
	const bool waits = t->state >= RUN_RUNNABLE && t->state < RUN_DEAD;

	if (t->begun && waits && __builtin_expect(losses_since(&s->losses, t->since, t->losses), 0))
		states_lose_track(s, t, t->since);
}

/* A task that can run waits for another CPU than before. */
static void states_move(struct states *s, struct task *t, uint32_t cpu)
{
	s->waiting[t->cpu]--;
	s->waiting[cpu]++;
	t->cpu = cpu;
	t->row_cpu = cpu < s->nr_cpus ? (int64_t)cpu : ROW_NULL;
	list_move_last(&t->on_cpu, &s->cpus[cpu]);
}

static void states_free(void *analysis)
{
	struct states *s = analysis;

	sched_events_free(&s->events);
	task_set_free(&s->tasks);
	on_cpus_free(&s->on);
	free(s->absent);
	free(s->waiting);
	free(s->cpus);
}

static void tell_unknown(struct states *s, uint32_t cpu, const struct stretch *at, uint64_t ts)
{
	const struct state_row row = {.ts = at->since,
				      .dur = (int64_t)(ts - at->since),
				      .pid = ROW_NULL,
				      .state = RUN_UNKNOWN,
				      .cpu = cpu,
				      .waker = ROW_NULL,
				      .buffer = s->src->buffer->data->name,
				      .phase = STATE_OF_CPU};

	s->src->row(s->src->arg, &row);
}

/*
 * The task that ran on a CPU is not there any more. (A switch away from it is handled elsewhere.)
 */
static void stop_running(void *states, uint32_t cpu, const struct stretch *at, uint64_t ts,
			 bool open_end)
{
	struct states *s = states;
	struct task *t = at->known && at->pid ? task_set_find(&s->tasks, at->pid) : NULL;

	if (open_end && t && t->begun && t->state == RUN_RUNNING && t->cpu == cpu)
		states_lose_track(s, t, ts);
	if (s->both && !at->known)
		tell_unknown(s, cpu, at, ts);
}

static int begin_cpus(struct states *s)
{
	if (on_cpus_init(&s->on, s->src, stop_running, s) < 0)
		return -ENOMEM;
	s->nr_cpus = s->on.nr;
	s->cpus = calloc((size_t)s->nr_cpus + 1, sizeof(*s->cpus));
	s->absent = calloc((size_t)s->nr_cpus + 1, sizeof(*s->absent));
	s->waiting = calloc((size_t)s->nr_cpus + 1, sizeof(*s->waiting));
	if (!s->cpus || !s->absent || !s->waiting)
		return -ENOMEM;
	for (uint32_t i = 0; i <= s->nr_cpus; i++)
		list_init(&s->cpus[i]);
	return 0;
}

static int states_begin(void *analysis, const struct table_source *src)
{
	struct states *s = analysis;

	s->src = src;
	list_init(&s->order);
	list_init(&s->dead);
	task_set_init(&s->tasks, sizeof(struct task));
	if (sched_events_init(&s->events, src) < 0 || begin_cpus(s) < 0)
		return -ENOMEM;
	s->reasons = s->events.bound[ON_BLOCKED];
	s->doubts = sched_some_missing(src);
	return 0;
}

static int states_begin_both(void *analysis, const struct table_source *src)
{
	((struct states *)analysis)->both = true;
	return states_begin(analysis, src);
}

/* ---- who runs ---- */

static bool is_absent(const struct states *s, int64_t cpu)
{
	return cpu >= s->nr_cpus || (cpu >= 0 && s->absent[cpu]);
}

/* A task waits for a CPU. If that CPU has no records, the task becomes unknown. */
static void doubt_absent(struct states *s, struct task *t, int64_t cpu, uint64_t ts)
{
	const bool waking = t->waking;

	if (__builtin_expect(!is_absent(s, cpu), 1))
		return;
	states_lose_track(s, t, ts);
	t->waking = waking;
}

/* A task whose switches may not all have been recorded is only known at the time of a record. */
static void doubt_stranger(struct states *s, struct task *t, uint64_t ts)
{
	if (__builtin_expect(s->doubts, 0) && t->state != RUN_DEAD &&
	    !sched_all_switches(s->src, t->pid))
		states_lose_track(s, t, ts);
}

/* A record shows a task on a CPU without a switch to it. It is unknown what the task did before. */
static void begin_seen(struct states *s, struct task *t, uint32_t cpu, uint64_t ts)
{
	if (t->begun && t->state == RUN_RUNNING && t->cpu == cpu)
		return;
	if (t->begun && t->state != RUN_UNKNOWN)
		states_lose_track(s, t, t->state == RUN_RUNNING ? ts : t->since);
	if (t->begun)
		states_end_row(s, t, ts, false, ROW_NULL);
	if (!t->name.text)
		sched_name_listed(&s->events, t->pid, ts, &t->name);
	states_begin_late(s, t, RUN_RUNNING, ts, cpu);
	t->open_start = true;
}

/*
 * A CPU has become idle. If a switch is missing somewhere, a task that seemed to wait for this CPU
 * may have run or slept since.
 */
static void doubt_waiting(struct states *s, uint32_t cpu, uint64_t ts)
{
	const struct list *tasks = &s->cpus[cpu];

	if (!s->on.contradicted)
		return;
	for (struct list *l = tasks->next, *next; s->waiting[cpu] && l != tasks; l = next) {
		struct task *t = list_entry(l, struct task, on_cpu);
		const bool waking = t->waking;

		next = l->next;
		if (t->state != RUN_RUNNABLE)
			continue;
		states_doubt_row(s, t);
		if (t->state == RUN_RUNNABLE)
			states_lose_track(s, t, ts);
		t->waking = waking;
	}
}

static void states_evidence(void *analysis, const struct walk_evidence *e)
{
	struct states *s = analysis;
	struct task *t;

	on_cpus_evidence(&s->on, e);
	if (e->absent && e->cpu < s->nr_cpus) {
		s->absent[e->cpu] = true;
		s->nr_absent++;
	}
	if (e->gone || e->cpu >= s->nr_cpus)
		return;
	if (!e->pid && !e->silent)
		doubt_waiting(s, e->cpu, e->ts);
	if (!e->pid)
		return;
	t = states_live_task(s, e->pid, e->ts);
	if (t)
		begin_seen(s, t, e->cpu, e->ts);
}

static void switch_from(struct states *s, const struct sched_type *type, int32_t pid,
			const struct spur_record *r)
{
	enum run_state state;
	const char *reason = NULL;
	struct task *t;

	t = pid ? states_live_task(s, pid, r->ts) : NULL;
	if (!t)
		return;
	sched_name(&s->events, type, PREV_COMM, r, &t->name);
	if (!t->begun || t->state != RUN_RUNNING || t->cpu != r->cpu)
		begin_seen(s, t, r->cpu, r->ts);
	/* A row without a name gets this one. */
	if (!t->comm)
		t->comm = t->name.text;
	states_end_row(s, t, r->ts, false, ROW_NULL);
	state = sched_left_in(&s->events, r);
	if (state == RUN_RUNNABLE && s->events.states.preempted)
		reason = sched_was_preempted(&s->events, r) ? state_preempted : "yielded";
	if (state == RUN_DEAD)
		states_die(s, t, r->ts, r->cpu);
	else
		states_begin_row(s, t, state, r->ts, r->cpu, reason);
	doubt_stranger(s, t, r->ts);
}

static void switch_to(struct states *s, const struct sched_type *type, int32_t pid,
		      const struct spur_record *r)
{
	struct task *t;

	t = pid ? states_live_task(s, pid, r->ts) : NULL;
	if (!t)
		return;
	states_doubt_row(s, t);
	if (t->begun && t->state == RUN_RUNNING)
		states_lose_track(s, t, r->ts);
	if (__builtin_expect(s->nr_absent && s->wakes, 0) && t->begun && t->state >= RUN_SLEEPING &&
	    t->state < RUN_DEAD)
		states_lose_track(s, t, t->since);
	if (t->begun)
		states_end_row(s, t, r->ts, t->state != RUN_RUNNABLE && t->state != RUN_UNKNOWN,
			       ROW_NULL);
	sched_name(&s->events, type, NEXT_COMM, r, &t->name);
	states_begin_row(s, t, RUN_RUNNING, r->ts, r->cpu, NULL);
}

static void on_switch(struct states *s, const struct sched_type *type, const struct spur_record *r)
{
	const int32_t prev = sched_pid(&s->events, type, PREV_PID, r);
	const int32_t next = sched_pid(&s->events, type, NEXT_PID, r);

	on_cpus_switch(&s->on, r->cpu, prev, next, r->ts);
	switch_from(s, type, prev, r);
	switch_to(s, type, next, r);
	if (!next)
		doubt_waiting(s, r->cpu, r->ts);
}

/* ---- wakeups ---- */

static uint32_t queue_of(const struct states *s, int64_t cpu)
{
	return cpu >= 0 && cpu < s->nr_cpus ? (uint32_t)cpu : s->nr_cpus;
}

/* Whether the event is news: it shows that the task did not sleep, or that it is awake. */
static bool wakes(struct states *s, struct task *t, enum sched_kind kind, int64_t target)
{
	if (!t->begun)
		return true;
	if (t->waking && kind == ON_WAKEUP) {
		t->waking = false;
		if (t->state == RUN_UNKNOWN)
			return !is_absent(s, target);
		states_move(s, t, queue_of(s, target));
		return false;
	}
	return t->state != RUN_RUNNING && (t->state != RUN_RUNNABLE || t->woken);
}

static void on_wake(struct states *s, enum sched_kind kind, const struct spur_record *r)
{
	const struct sched_type *type = &s->events.types[kind];
	const int32_t pid = sched_pid(&s->events, type, WAKE_PID, r);
	const int64_t target = sched_value(&s->events, type, WAKE_CPU, r);
	const uint32_t cpu = queue_of(s, target);
	const bool is_new = kind == ON_WAKEUP_NEW;
	int64_t waker = ROW_NULL;
	struct task *t;

	if (!pid ||
	    (sched_has(type, WAKE_SUCCESS) && !sched_number(&s->events, type, WAKE_SUCCESS, r)))
		return;
	t = is_new ? states_new_task(s, pid, r->ts) : states_live_task(s, pid, r->ts);
	s->wakes = true;
	if (!t || !wakes(s, t, kind, target))
		return;
	states_doubt_row(s, t);
	/* Only a task that sleeps is woken, so this one ran and slept again without a record. */
	if (t->begun && t->state == RUN_RUNNABLE)
		states_lose_track(s, t, t->since);
	if (t->begun) {
		const bool slept = t->state >= RUN_SLEEPING;

		if (slept && !sched_in_interrupt(&s->events, r))
			waker = events_record_pid(s->events.events, r);
		states_end_row(s, t, r->ts, !slept && t->state != RUN_UNKNOWN, waker);
	}
	sched_name(&s->events, type, TASK_COMM, r, &t->name);
	states_begin_row(s, t, RUN_RUNNABLE, r->ts, cpu, is_new ? "new" : "woken");
	t->woken = true;
	t->waking = kind == ON_WAKING;
	s->wakings |= t->waking;
	/* Other wakeups have a sched_waking, so the one of this task was lost. */
	t->open_start = kind == ON_WAKEUP && s->wakings && s->losses.n;
	doubt_absent(s, t, target, r->ts);
	doubt_stranger(s, t, r->ts);
}

/* ---- other events ---- */

static void on_migrate(struct states *s, struct task *t, const struct spur_record *r)
{
	const int64_t cpu = sched_value(&s->events, &s->events.types[ON_MIGRATE], MIGRATE_CPU, r);

	if (!t->begun || t->state != RUN_RUNNABLE)
		return;
	states_move(s, t, queue_of(s, cpu));
	doubt_absent(s, t, cpu, r->ts);
}

static void on_fork(struct states *s, const struct spur_record *r)
{
	const struct sched_type *type = &s->events.types[ON_FORK];
	const int32_t pid = sched_pid(&s->events, type, FORK_CHILD, r);
	struct task *t = task_set_find(&s->tasks, pid);

	if (t)
		states_end_life(s, t, r->ts, true);
}

static void on_free(struct states *s, struct task *t, const struct spur_record *r)
{
	/* The pid may be in use again by then. */
	if (t->begun && (t->state == RUN_DEAD || t->state == RUN_UNKNOWN || t->exited))
		states_end_life(s, t, r->ts, t->state != RUN_DEAD);
}

static const char *blocked_in(const struct states *s, const struct spur_record *r)
{
	const struct sched_type *type = &s->events.types[ON_BLOCKED];
	const struct symbol *sym = NULL;

	if (sched_has(type, BLOCKED_CALLER))
		sym = symbols_find(s->events.events->symbols,
				   (uint64_t)sched_number(&s->events, type, BLOCKED_CALLER, r));
	if (sym)
		return sym->name;
	return sched_number(&s->events, type, BLOCKED_IO, r) ? "iowait" : NULL;
}

static void on_blocked(struct states *s, struct task *t, const struct spur_record *r)
{
	const char *reason = blocked_in(s, r);

	if (t->held)
		t->held_row.reason = reason;
	else if (t->begun && t->state == RUN_BLOCKED)
		t->reason = reason;
	states_flush_held(s, t);
}

/* Events about one task that is known. */
static void on_task(struct states *s, enum sched_kind kind, const struct spur_record *r)
{
	const struct sched_type *type = &s->events.types[kind];
	struct task *t = task_set_find(&s->tasks, sched_pid(&s->events, type, TASK_PID, r));

	if (!t)
		return;
	switch (kind) {
	case ON_MIGRATE: on_migrate(s, t, r); break;
	case ON_EXEC: sched_name_exec(&s->events, r, &t->name); break;
	case ON_RENAME: sched_name(&s->events, type, TASK_COMM, r, &t->name); break;
	case ON_EXIT: t->exited = true; break;
	case ON_FREE: on_free(s, t, r); break;
	case ON_BLOCKED: on_blocked(s, t, r); break;
	default: break;
	}
}

static void states_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct states *s = analysis;
	const enum sched_kind kind = sched_kind_of(&s->events, e, r);

	if (r->cpu >= s->nr_cpus)
		return;
	switch (kind) {
	case ON_OTHER: break;
	case ON_SWITCH: on_switch(s, &s->events.types[kind], r); break;
	case ON_WAKING:
	case ON_WAKEUP:
	case ON_WAKEUP_NEW: on_wake(s, kind, r); break;
	case ON_FORK: on_fork(s, r); break;
	default: on_task(s, kind, r); break;
	}
}

/* Called twice: before the events that other CPUs recorded in the meantime, and after them. */
static void states_lost(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct states *s = analysis;

	if (cpu >= s->nr_cpus)
		return;
	on_cpus_losing(&s->on, cpu, from);
	while (!list_empty(&s->cpus[cpu]))
		states_lose_track(s, list_entry(s->cpus[cpu].next, struct task, on_cpu), from);
}

/* A task that does not run may run on the CPU that loses events. */
static void lose_waiting(struct states *s, const struct list *tasks, uint64_t from)
{
	for (struct list *l = tasks->next, *next; l != tasks; l = next) {
		struct task *t = list_entry(l, struct task, on_cpu);

		next = l->next;
		states_doubt_row(s, t);
		if (t->state != RUN_RUNNING && t->state != RUN_UNKNOWN)
			states_lose_track(s, t, from);
	}
}

static void states_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct states *s = analysis;

	for (uint32_t i = 0; i < s->nr_cpus; i++)
		lose_waiting(s, &s->cpus[i], from);
	losses_add(&s->losses, to);
	states_lost(analysis, cpu, from, to);
}

/* The events are missing to the end of the recording. */
static void states_cut(void *analysis, uint32_t cpu, uint64_t from)
{
	states_losing(analysis, cpu, from, UINT64_MAX);
}

static void states_end(void *analysis, uint64_t ts)
{
	struct states *s = analysis;

	while (!list_empty(&s->order)) {
		struct task *t = list_entry(s->order.next, struct task, order);

		states_doubt_row(s, t);
		if (t->begun)
			states_end_row(s, t, ts < t->reused ? ts : t->reused, true, ROW_NULL);
		states_flush_held(s, t);
		list_remove(&t->order);
	}
	on_cpus_end(&s->on, ts);
}

static bool states_pending(const void *analysis, uint64_t ts)
{
	const struct states *s = analysis;

	return s->nr_late || s->nr_held ||
	       (!list_empty(&s->order) &&
		list_entry(s->order.next, struct task, order)->since <= ts);
}

static const char *const states_events[] = {
	"sched:sched_switch",	      "sched:sched_waking",	  "sched:sched_wakeup",
	"sched:sched_wakeup_new",     "sched:sched_migrate_task", "sched:sched_process_fork",
	"sched:sched_process_exec",   "sched:sched_process_exit", "sched:sched_process_free",
	"sched:sched_blocked_reason", "task:task_rename",	  NULL};
static const char *const states_needs[] = {"sched:sched_switch", NULL};

#define COLUMN(kind, member, about) ROW_COLUMN(state_row, kind, member, about)

static const struct column states_columns[] = {
	COLUMN(TIME, ts, "when the state began"),
	COLUMN(DURATION, dur, "how long it lasted"),
	COLUMN(NUMBER, pid, "of the task"),
	COLUMN(TEXT, comm, "its name when the state began"),
	ROW_NAMES(state_row, state, run_state_names,
		  "running, runnable, sleeping, blocked, stopped, dead or unknown"),
	COLUMN(TEXT, reason,
	       "runnable: woken, preempted, new, yielded; blocked: the function it waits in, or "
	       "iowait"),
	COLUMN(NUMBER, cpu, "it runs on, waits for, or has run on last"),
	COLUMN(NUMBER, waker, "pid of the task that ended a sleep; none: an interrupt did"),
	ROW_NAMES(state_row, open, row_open_names,
		  "'start', 'end' or 'both': when it began, or ended, is not known"),
	COLUMN(TEXT, buffer, "it was recorded in"),
};

#define STATES_TABLE(begin_with)                                                                   \
	{                                                                                          \
		.name = "states",                                                                  \
		.about = "what tasks did: ran, waited for a CPU, slept, were blocked",             \
		.columns = states_columns, .nr_columns = ARRAY_SIZE(states_columns),               \
		.row_size = sizeof(struct state_row), .events = states_events,                     \
		.needs = states_needs, .analysis_size = sizeof(struct states),                     \
		.begin = (begin_with), .record = states_record, .lost = states_lost,               \
		.losing = states_losing, .cut = states_cut, .evidence = states_evidence,           \
		.end = states_end, .free = states_free, .pending = states_pending,                 \
	}

const struct table states_table = STATES_TABLE(states_begin);
const struct table states_both_table = STATES_TABLE(states_begin_both);
