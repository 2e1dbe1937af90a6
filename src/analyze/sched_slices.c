// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Slices: who was on which CPU, from sched_switch alone.
 *
 * Every CPU has a slice that is going on, in one of three conditions:
 *
 *	known	the task came with a switch that was seen
 *	begun	somebody has been there since the CPU's first record, or since events were lost; who
 *		it is, the next switch tells
 *	neither	who it is and since when is not known
 *
 * A switch whose previous task is another one than the one believed to be there tells of a loss
 * that nobody noted. The slice that was believed to go on is open, and of the other one nothing is
 * known that would make a row: a row must not depend on what came before it.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/sched.h"
#include "analyze/sched_parts.h"

struct cpu {
	uint64_t since; /* of the slice; NO_TIME: not known */
	bool known;	/* whose it is */
	int32_t pid;
	int64_t prio;
	struct name name; /* of the task, or of the one before */
};

struct slices {
	const struct table_source *src;
	struct sched_events events;
	struct cpu *cpus;
	uint32_t nr_cpus;
};

static void slices_free(void *analysis)
{
	struct slices *s = analysis;

	sched_events_free(&s->events);
	free(s->cpus);
	free(s);
}

static int begin_cpus(struct slices *s)
{
	const struct trace_buffer *b = s->src->buffer;
	uint64_t *first;
	bool ok;

	s->nr_cpus = sched_nr_cpus(b);
	s->cpus = calloc((size_t)s->nr_cpus + 1, sizeof(*s->cpus));
	first = sched_first_times(b, s->nr_cpus);
	ok = first && s->cpus;
	/* Whom a CPU had before the records that are shown, somebody else is told. */
	for (uint32_t i = 0; ok && i < s->nr_cpus; i++)
		s->cpus[i].since = first[i] >= s->src->since ? first[i] : NO_TIME;
	free(first);
	return ok ? 0 : -ENOMEM;
}

static void *slices_begin(const struct table_source *src)
{
	struct slices *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->src = src;
	if (sched_events_init(&s->events, src) < 0 || begin_cpus(s) < 0) {
		slices_free(s);
		return NULL;
	}
	return s;
}

/* Hands out the slice of a CPU, which ended then. */
static void hand_out(struct slices *s, uint32_t cpu, uint64_t end, const char *end_state,
		     const char *open)
{
	const struct cpu *c = &s->cpus[cpu];
	struct slice_row row = {.ts = c->since,
				.dur = end > c->since ? (int64_t)(end - c->since) : 0,
				.cpu = cpu,
				.pid = c->pid,
				.comm = c->name.text,
				.prio = c->prio,
				.end_state = end_state,
				.open = open,
				.buffer = s->src->buffer->data->name};

	s->src->row(s->src->arg, &row);
}

/* The slice of the task that is switched away from. */
static void end_slice(struct slices *s, const struct sched_type *t, const struct spur_record *r)
{
	struct cpu *c = &s->cpus[r->cpu];
	const int32_t pid = sched_pid(&s->events, t, PREV_PID, r);
	const char *open = NULL;

	if (c->known && (c->pid != pid || r->ts < c->since)) {
		hand_out(s, r->cpu, c->since, NULL, row_open_end);
		c->since = NO_TIME;
	}
	if (c->since == NO_TIME)
		return;
	if (!c->known) {
		c->pid = pid;
		c->prio = sched_value(&s->events, t, PREV_PRIO, r);
		sched_name(&s->events, t, PREV_COMM, r, &c->name);
		open = row_open_start;
	}
	hand_out(s, r->cpu, r->ts, sched_state_text(&s->events, r), open);
}

static void slices_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct slices *s = analysis;
	const struct sched_type *t = &s->events.types[ON_SWITCH];
	struct cpu *c;

	if (sched_kind_of(&s->events, e, r) != ON_SWITCH || r->cpu >= s->nr_cpus)
		return;
	end_slice(s, t, r);
	c = &s->cpus[r->cpu];
	c->since = r->ts;
	c->known = true;
	c->pid = sched_pid(&s->events, t, NEXT_PID, r);
	c->prio = sched_value(&s->events, t, NEXT_PRIO, r);
	sched_name(&s->events, t, NEXT_COMM, r, &c->name);
}

static void slices_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct slices *s = analysis;
	struct cpu *c;

	if (cpu >= s->nr_cpus)
		return;
	c = &s->cpus[cpu];
	if (c->known)
		hand_out(s, cpu, from, NULL, row_open_end);
	c->known = false;
	c->since = to;
}

static void slices_end(void *analysis, uint64_t ts)
{
	struct slices *s = analysis;

	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].known)
			hand_out(s, i, ts, NULL, row_open_end);
}

static bool slices_pending(const void *analysis, uint64_t ts)
{
	const struct slices *s = analysis;

	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].since <= ts)
			return true;
	return false;
}

static const char *const slices_events[] = {"sched:sched_switch", NULL};

static const struct column slices_columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct slice_row, ts), "when the task got the CPU"},
	{"dur", COLUMN_DURATION, offsetof(struct slice_row, dur), "how long it had it"},
	{"cpu", COLUMN_NUMBER, offsetof(struct slice_row, cpu), "which one"},
	{"pid", COLUMN_NUMBER, offsetof(struct slice_row, pid), "of the task; 0: idle"},
	{"comm", COLUMN_TEXT, offsetof(struct slice_row, comm), "its name when it got the CPU"},
	{"prio", COLUMN_NUMBER, offsetof(struct slice_row, prio),
	 "its priority: 0 to 99 real time, 100 to 139 nice -20 to 19"},
	{"end_state", COLUMN_TEXT, offsetof(struct slice_row, end_state),
	 "the state it left in: S, D, R, R+ (preempted), …"},
	{"open", COLUMN_TEXT, offsetof(struct slice_row, open),
	 "'start', 'end' or 'both': when it began, or ended, is not known"},
	{"buffer", COLUMN_TEXT, offsetof(struct slice_row, buffer), "it was recorded in"},
};

const struct table slices_table = {
	.name = "slices",
	.about = "tasks on CPUs, from switch to switch",
	.columns = slices_columns,
	.nr_columns = sizeof(slices_columns) / sizeof(slices_columns[0]),
	.row_size = sizeof(struct slice_row),
	.events = slices_events,
	.needs = slices_events,
	.starts_anywhere = true,
	.begin = slices_begin,
	.record = slices_record,
	.losing = slices_losing,
	.end = slices_end,
	.free = slices_free,
	.pending = slices_pending,
};
