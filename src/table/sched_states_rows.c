// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of tasks, and how tasks come and go.
 *
 * A task with a row is in the list `order`, and in that of a CPU or of the dead. A row that begins
 * when it is made keeps `order` sorted; those that do not are counted.
 */
#include "table/sched_states.h"

#define MAX_DEAD 4096 /* that are kept until they are freed; the oldest ones are forgotten */

static const char *const state_names[] = {
	[RUN_UNKNOWN] = "unknown",   [RUN_RUNNING] = "running", [RUN_RUNNABLE] = "runnable",
	[RUN_SLEEPING] = "sleeping", [RUN_BLOCKED] = "blocked", [RUN_STOPPED] = "stopped",
	[RUN_DEAD] = "dead",
};

/* ---- rows ---- */

void states_flush_held(struct states *s, struct task *t)
{
	if (!t->held)
		return;
	t->held = false;
	s->nr_held--;
	s->src->row(s->src->arg, &t->held_row);
}

static const char *open_ends(bool start, bool end)
{
	if (start)
		return end ? row_open_both : row_open_start;
	return end ? row_open_end : NULL;
}

void states_end_row(struct states *s, struct task *t, uint64_t ts, bool open_end, int64_t waker)
{
	struct state_row row = {.ts = t->since,
				.dur = ts > t->since ? (int64_t)(ts - t->since) : 0,
				.pid = t->pid,
				.comm = t->comm,
				.state = state_names[t->state],
				.reason = t->reason,
				.cpu = t->row_cpu,
				.waker = waker,
				.open = open_ends(t->open_start, open_end),
				.buffer = s->src->buffer->data->name};

	states_flush_held(s, t);
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
				      .state = state_names[t->state],
				      .cpu = t->row_cpu,
				      .waker = ROW_NULL,
				      .buffer = s->src->buffer->data->name,
				      .phase = STATE_BEGINS};

	s->src->row(s->src->arg, &row);
}

void states_begin_row(struct states *s, struct task *t, enum run_state state, uint64_t ts,
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
	list_move_last(&t->on_cpu, &s->cpus[t->cpu]);
	if (s->both)
		tell_begin(s, t);
}

void states_begin_late(struct states *s, struct task *t, enum run_state state, uint64_t ts,
		       uint32_t cpu)
{
	states_begin_row(s, t, state, ts, cpu, NULL);
	t->late = true;
	s->nr_late++;
}

/* ---- tasks ---- */

struct task *states_task(struct states *s, int32_t pid)
{
	struct task *t = task_set_find(&s->tasks, pid);

	if (__builtin_expect(t != NULL, 1))
		return t;
	t = task_set_add(&s->tasks, pid, s->src->failed);
	if (t) {
		t->pid = pid;
		list_init(&t->order);
		list_init(&t->on_cpu);
	}
	return t;
}

void states_end_life(struct states *s, struct task *t, uint64_t ts, bool open_end)
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

struct task *states_live_task(struct states *s, int32_t pid, uint64_t ts)
{
	struct task *t = states_task(s, pid);

	if (t && __builtin_expect(t->begun && t->state == RUN_DEAD, 0)) {
		states_end_life(s, t, ts, true);
		t = states_task(s, pid);
	}
	return t;
}

void states_die(struct states *s, struct task *t, uint64_t ts, uint32_t cpu)
{
	states_begin_row(s, t, RUN_DEAD, ts, cpu, NULL);
	list_move_last(&t->on_cpu, &s->dead);
	if (++s->nr_dead > MAX_DEAD)
		states_end_life(s, list_entry(s->dead.next, struct task, on_cpu), ts, true);
}

void states_lose_track(struct states *s, struct task *t, uint64_t seen)
{
	const uint32_t cpu = t->cpu;
	const uint64_t at = seen > t->since ? seen : t->since;

	states_end_row(s, t, at, true, ROW_NULL);
	states_begin_late(s, t, RUN_UNKNOWN, at, cpu);
}

void states_doubt_row(struct states *s, struct task *t)
{
	const bool waits = t->state >= RUN_RUNNABLE && t->state < RUN_DEAD;

	if (t->begun && waits && __builtin_expect(losses_since(&s->losses, t->since, t->losses), 0))
		states_lose_track(s, t, t->since);
}

void states_move(struct states *s, struct task *t, uint32_t cpu)
{
	t->cpu = cpu;
	t->row_cpu = cpu < s->nr_cpus ? (int64_t)cpu : ROW_NULL;
	list_move_last(&t->on_cpu, &s->cpus[cpu]);
}
