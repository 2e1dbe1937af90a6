// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Who was on which CPU: stretches, and the table of slices made of them.
 *
 * The walk reports evidence that contradicts a stretch before the record itself. A slice is a
 * stretch with the data of the switches at both ends; an unknown stretch has a row without a task.
 */
#include "table/sched/cpus.h"

#include <errno.h>
#include <stdlib.h>

#include "table/sched.h"
#include "table/sched/events.h"
#include "base/array.h"

int on_cpus_init(struct on_cpus *o, const struct table_source *src,
		 void (*ends)(void *arg, uint32_t cpu, const struct stretch *s, uint64_t ts,
			      bool open_end),
		 void *arg)
{
	*o = (struct on_cpus){.nr = sched_nr_cpus(src->buffer), .ends = ends, .arg = arg};
	o->at = calloc((size_t)o->nr + 1, sizeof(*o->at));
	return o->at ? 0 : -ENOMEM;
}

void on_cpus_free(struct on_cpus *o)
{
	free(o->at);
	o->at = NULL;
}

/* Ends a stretch, not before its begin: times of an untrusted file may run backwards. */
static void end(struct on_cpus *o, uint32_t cpu, uint64_t ts, bool open_end)
{
	struct stretch *s = &o->at[cpu];

	if (s->begun && (s->known || ts > s->since))
		o->ends(o->arg, cpu, s, ts > s->since ? ts : s->since, open_end);
	s->begun = false;
}

static void become_unknown(struct on_cpus *o, uint32_t cpu, uint64_t ts)
{
	o->at[cpu] = (struct stretch){.since = ts, .begun = true};
}

/* Ends the stretch of a CPU; what follows is unknown. */
static void forget(struct on_cpus *o, uint32_t cpu, uint64_t ts)
{
	struct stretch *s = &o->at[cpu];
	const uint64_t at = ts > s->since ? ts : s->since;

	if (!s->begun || !s->known)
		return;
	end(o, cpu, at, true);
	become_unknown(o, cpu, at);
}

void on_cpus_evidence(struct on_cpus *o, const struct walk_evidence *e)
{
	struct stretch *s;

	if (e->cpu >= o->nr)
		return;
	s = &o->at[e->cpu];
	if (e->silent) {
		forget(o, e->cpu, e->ts);
		/* When the range begins, the CPU may have been unknown for some time. */
		if (!s->begun && !e->continues)
			become_unknown(o, e->cpu, e->ts);
		return;
	}
	if (e->gone) {
		if (s->known && s->pid == e->pid)
			forget(o, e->cpu, e->ts);
		return;
	}
	if (s->begun && s->known && s->pid == e->pid)
		return;
	o->contradicted |= s->begun && s->known;
	forget(o, e->cpu, e->last);
	end(o, e->cpu, e->ts, false);
	*s = (struct stretch){.since = e->ts,
			      .begun = true,
			      .known = true,
			      .pid = e->pid,
			      .open_start = true,
			      .outside = e->continues};
}

/* For traces without evidence, as their records do not say who wrote them. */
static void on_cpus_contradict(struct on_cpus *o, uint32_t cpu, int32_t prev, uint64_t ts)
{
	struct stretch *s = &o->at[cpu];

	if (ts < s->since)
		forget(o, cpu, s->since);
	if (!s->begun || !s->known || s->pid != prev)
		on_cpus_evidence(o, &(struct walk_evidence){
					    .cpu = cpu, .pid = prev, .ts = ts, .last = s->since});
}

void on_cpus_switch(struct on_cpus *o, uint32_t cpu, int32_t prev, int32_t next, uint64_t ts)
{
	struct stretch *s = &o->at[cpu];

	if (__builtin_expect(!s->begun || !s->known || s->pid != prev || ts < s->since, 0)) {
		on_cpus_contradict(o, cpu, prev, ts);
		end(o, cpu, ts, false);
	} else {
		o->ends(o->arg, cpu, s, ts, false);
	}
	*s = (struct stretch){.since = ts, .begun = true, .known = true, .pid = next};
}

void on_cpus_losing(struct on_cpus *o, uint32_t cpu, uint64_t from)
{
	if (cpu < o->nr)
		forget(o, cpu, from);
}

void on_cpus_end(struct on_cpus *o, uint64_t ts)
{
	for (uint32_t i = 0; i < o->nr; i++)
		end(o, i, ts, true);
}

bool on_cpus_pending(const struct on_cpus *o, uint64_t ts)
{
	for (uint32_t i = 0; i < o->nr; i++)
		if (o->at[i].begun && o->at[i].since <= ts)
			return true;
	return false;
}

/* ---- slices ---- */

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
}

/*
 * A slice that does not begin with a switch: its name is that of the switch away, if there is one.
 */
static void describe_seen(struct slices *s, int32_t pid, uint32_t cpu, uint64_t ts, struct comer *c)
{
	const struct sched_type *t = &s->events.types[ON_SWITCH];

	*c = (struct comer){.known = true, .prio = ROW_NULL};
	if (s->leaving) {
		c->prio = sched_value(&s->events, t, PREV_PRIO, s->leaving);
		sched_name(&s->events, t, PREV_COMM, s->leaving, &c->name);
	} else if (pid) {
		sched_name_listed(&s->events, pid, ts, &c->name);
	} else {
		sched_name_idle(&s->events, cpu, &c->name);
	}
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
			describe_seen(s, at->pid, cpu, at->since, c);
		row.pid = at->pid;
		row.comm = c->name.text;
		row.prio = c->prio;
		row.open = row_open_ends(at->open_start, open_end);
		if (s->leaving)
			row.end_state = sched_state_text(&s->events, s->leaving);
	}
	c->known = false;
	s->src->row(s->src->arg, &row);
}

static int slices_begin(void *analysis, const struct table_source *src)
{
	struct slices *s = analysis;

	s->src = src;
	if (sched_events_init(&s->events, src) < 0 || on_cpus_init(&s->on, src, hand_out, s) < 0)
		return -ENOMEM;
	s->comers = calloc((size_t)s->on.nr + 1, sizeof(*s->comers));
	return s->comers ? 0 : -ENOMEM;
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

#define COLUMN(kind, member, about) ROW_COLUMN(slice_row, kind, member, about)

static const struct column slices_columns[] = {
	COLUMN(TIME, ts, "when the task got the CPU"),
	COLUMN(DURATION, dur, "how long it had it"),
	COLUMN(NUMBER, cpu, "which one"),
	COLUMN(NUMBER, pid, "of the task; 0: idle; none: not known"),
	COLUMN(TEXT, comm, "its name when it got the CPU"),
	COLUMN(NUMBER, prio, "its priority: 0 to 99 real time, 100 to 139 nice -20 to 19"),
	COLUMN(TEXT, end_state, "the state it left in: S, D, R, R+ (preempted), …"),
	ROW_NAMES(slice_row, open, row_open_names,
		  "'start', 'end' or 'both': when it began, or ended, is not known"),
	COLUMN(TEXT, buffer, "it was recorded in"),
};

const struct table slices_table = {
	.name = "slices",
	.about = "tasks on CPUs, from switch to switch",
	.columns = slices_columns,
	.nr_columns = ARRAY_SIZE(slices_columns),
	.row_size = sizeof(struct slice_row),
	.events = slices_events,
	.needs = slices_events,
	.starts_anywhere = true,
	.analysis_size = sizeof(struct slices),
	.begin = slices_begin,
	.record = slices_record,
	.losing = slices_losing,
	.evidence = slices_evidence,
	.end = slices_end,
	.free = slices_free,
	.pending = slices_pending,
};
