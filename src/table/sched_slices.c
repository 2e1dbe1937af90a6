// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Slices: who was on which CPU. See sched_cpus.h for when one begins and ends; here they become
 * rows, with what the switches at both ends say of the task.
 *
 * An unknown stretch has a row without a task.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/sched.h"
#include "table/sched_cpus.h"
#include "table/sched_parts.h"

/* The task that was switched to. */
struct comer {
	bool known;
	int64_t prio;
	struct name name;
};

struct slices {
	const struct table_source *src;
	struct sched_events events;
	struct on_cpus on;
	struct comer *comers;		   /* by CPU */
	const struct spur_record *leaving; /* the switch that ends the stretch; NULL: none does */
};

static void slices_free(void *analysis)
{
	struct slices *s = analysis;

	sched_events_free(&s->events);
	on_cpus_free(&s->on);
	free(s->comers);
	free(s);
}

/*
 * The task was seen without a switch to it: its name is that of the switch away, if there is one.
 */
static void describe_seen(struct slices *s, int32_t pid, uint32_t cpu, struct comer *c)
{
	const struct sched_type *t = &s->events.types[ON_SWITCH];

	*c = (struct comer){.known = true, .prio = ROW_NULL};
	if (s->leaving) {
		c->prio = sched_value(&s->events, t, PREV_PRIO, s->leaving);
		sched_name(&s->events, t, PREV_COMM, s->leaving, &c->name);
	} else if (pid) {
		sched_name_listed(&s->events, pid, &c->name);
	} else {
		sched_name_idle(&s->events, cpu, &c->name);
	}
}

static const char *open_ends(bool start, bool end)
{
	if (start)
		return end ? row_open_both : row_open_start;
	return end ? row_open_end : NULL;
}

static void hand_out(void *slices, uint32_t cpu, const struct stretch *at, uint64_t end,
		     bool open_end)
{
	struct slices *s = slices;
	struct comer *c = &s->comers[cpu];
	struct slice_row row = {.ts = at->since,
				.dur = (int64_t)(end - at->since),
				.cpu = cpu,
				.pid = ROW_NULL,
				.prio = ROW_NULL,
				.buffer = s->src->buffer->data->name};

	if (at->outside)
		return;
	if (at->known) {
		if (!c->known)
			describe_seen(s, at->pid, cpu, c);
		row.pid = at->pid;
		row.comm = c->name.text;
		row.prio = c->prio;
		row.open = open_ends(at->open_start, open_end);
		if (s->leaving)
			row.end_state = sched_state_text(&s->events, s->leaving);
	}
	c->known = false;
	s->src->row(s->src->arg, &row);
}

static void *slices_begin(const struct table_source *src)
{
	struct slices *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return NULL;
	s->src = src;
	s->on = (struct on_cpus){.ends = hand_out, .arg = s};
	rc = sched_events_init(&s->events, src);
	if (rc == 0)
		rc = on_cpus_init(&s->on, src);
	s->comers = calloc((size_t)s->on.nr + 1, sizeof(*s->comers));
	if (rc < 0 || !s->comers) {
		slices_free(s);
		return NULL;
	}
	return s;
}

static void slices_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct slices *s = analysis;
	const struct sched_type *t = &s->events.types[ON_SWITCH];
	struct comer *c;

	if (sched_kind_of(&s->events, e, r) != ON_SWITCH || r->cpu >= s->on.nr)
		return;
	s->leaving = r;
	on_cpus_switch(&s->on, r->cpu, sched_pid(&s->events, t, PREV_PID, r),
		       sched_pid(&s->events, t, NEXT_PID, r), r->ts);
	s->leaving = NULL;
	c = &s->comers[r->cpu];
	c->known = true;
	c->prio = sched_value(&s->events, t, NEXT_PRIO, r);
	sched_name(&s->events, t, NEXT_COMM, r, &c->name);
}

static void slices_evidence(void *analysis, const struct walk_evidence *e)
{
	on_cpus_evidence(&((struct slices *)analysis)->on, e);
}

static void slices_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	on_cpus_losing(&((struct slices *)analysis)->on, cpu, from);
}

static void slices_end(void *analysis, uint64_t ts)
{
	on_cpus_end(&((struct slices *)analysis)->on, ts);
}

static bool slices_pending(const void *analysis, uint64_t ts)
{
	return on_cpus_pending(&((const struct slices *)analysis)->on, ts);
}

static const char *const slices_events[] = {"sched:sched_switch", NULL};

static const struct column slices_columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct slice_row, ts), "when the task got the CPU"},
	{"dur", COLUMN_DURATION, offsetof(struct slice_row, dur), "how long it had it"},
	{"cpu", COLUMN_NUMBER, offsetof(struct slice_row, cpu), "which one"},
	{"pid", COLUMN_NUMBER, offsetof(struct slice_row, pid),
	 "of the task; 0: idle; none: not known"},
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
	.evidence = slices_evidence,
	.end = slices_end,
	.free = slices_free,
	.pending = slices_pending,
};
