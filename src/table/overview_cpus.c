// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs and losses: what was recorded where, and what was not. */
#include <stdlib.h>

#include "table/overview.h"
#include "table/sched_cpus.h"
#include "table/sched_parts.h"

struct cpu {
	uint64_t first, last;
	int64_t events, lost, gaps, switches;
	int64_t busy, idle, unknown;
	/* A loss of which the next record may tell how much it was. */
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
	free(a);
}

static void count_time(void *cpus, uint32_t cpu, const struct stretch *s, uint64_t end,
		       bool open_end)
{
	struct cpu *c = &((struct cpus *)cpus)->cpus[cpu];

	*(!s->known ? &c->unknown : s->pid ? &c->busy : &c->idle) += (int64_t)(end - s->since);
}

static void *cpus_begin(const struct table_source *src)
{
	struct cpus *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return NULL;
	a->src = src;
	a->nr_cpus = sched_nr_cpus(src->buffer);
	a->cpus = calloc((size_t)a->nr_cpus + 1, sizeof(*a->cpus));
	a->on = (struct on_cpus){.ends = count_time, .arg = a};
	rc = sched_events_init(&a->events, src);
	if (rc == 0)
		rc = on_cpus_init(&a->on, src);
	if (rc < 0 || !a->cpus) {
		cpus_free(a);
		return NULL;
	}
	return a;
}

static void on_switch(struct cpus *a, struct cpu *c, const struct spur_record *r)
{
	const struct sched_type *type = &a->events.types[ON_SWITCH];

	on_cpus_switch(&a->on, r->cpu, sched_pid(&a->events, type, PREV_PID, r),
		       sched_pid(&a->events, type, NEXT_PID, r), r->ts);
	c->switches++;
	a->switches = true;
}

static void cpus_evidence(void *analysis, const struct walk_evidence *e)
{
	/* Only what lies between the CPU's first and last record counts. */
	if (!e->silent)
		on_cpus_evidence(&((struct cpus *)analysis)->on, e);
}

static inline void count_record(struct cpus *a, const struct event *e, const struct spur_record *r)
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
		on_switch(a, c, r);
}

static void cpus_record(void *analysis, struct event *e, const struct spur_record *r)
{
	count_record(analysis, e, r);
}

static void cpus_records(void *analysis, const struct table_record *all, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		count_record(analysis, all[i].event, &all[i].record);
}

static void cpus_lost(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct cpus *a = analysis;
	struct cpu *c;

	if (cpu >= a->nr_cpus)
		return;
	c = &a->cpus[cpu];
	c->gaps++;
}

static void cpus_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	on_cpus_losing(&((struct cpus *)analysis)->on, cpu, from);
}

static void cpus_end(void *analysis, uint64_t ts)
{
	struct cpus *a = analysis;

	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		struct cpu *c = &a->cpus[i];
		struct cpu_row row;

		if (!c->events)
			continue;
		on_cpus_stop(&a->on, i, c->last);
		row = (struct cpu_row){.ts = c->first,
				       .dur = (int64_t)(c->last - c->first),
				       .cpu = i,
				       .events = c->events,
				       .lost = c->lost,
				       .gaps = c->gaps,
				       .switches = c->switches,
				       .busy = a->switches ? c->busy : ROW_NULL,
				       .idle = a->switches ? c->idle : ROW_NULL,
				       .unknown = a->switches ? c->unknown : ROW_NULL,
				       .buffer = a->src->buffer->data->name};
		a->src->row(a->src->arg, &row);
	}
}

/* ---- losses ---- */

static void hand_out_loss(struct cpus *a, uint32_t cpu, int64_t events)
{
	struct cpu *c = &a->cpus[cpu];
	struct lost_row row = {.ts = c->lost_to,
			       .since = c->lost_from ? (int64_t)c->lost_from : ROW_NULL,
			       .cpu = cpu,
			       .events = events > 0 ? events : ROW_NULL,
			       .open = c->lost_from ? NULL : row_open_start,
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

/* The first record behind a loss says how much it was, if that is known. */
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
	return row->open == row_open_end || row->open == row_open_both;
}

/* The time of the last event that a cut recording has of a CPU; 0: there is none. */
static uint64_t cut_time(const struct spur_trace *t, const struct dat_cut_cpu *c)
{
	if (!c->last || c->buffer >= t->nr_buffers)
		return 0;
	return trace_time(&t->buffers[c->buffer].time, c->last, c->cpu);
}

/*
 * What a cut recording lacks after the last event of a CPU. No event comes after it, so the loss
 * ends with the recording. All times are the file's own: rows of a range do not depend on how much
 * of the trace was read.
 */
static void hand_out_cuts(const struct cpus *a)
{
	const struct spur_trace *t = a->src->trace;
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
					     .open = last ? row_open_end : row_open_both,
					     .buffer = a->src->buffer->data->name};

		if (c->after && c->buffer == a->src->buffer->index)
			a->src->row(a->src->arg, &row);
	}
}

static void lost_end(void *analysis, uint64_t ts)
{
	struct cpus *a = analysis;

	for (uint32_t i = 0; i < a->nr_cpus; i++)
		hand_out_loss(a, i, ROW_NULL);
	hand_out_cuts(a);
}

static bool lost_pending(const void *analysis, uint64_t ts)
{
	const struct cpus *a = analysis;

	for (uint32_t i = 0; i < a->nr_cpus; i++)
		if (a->cpus[i].losing)
			return true;
	return false;
}

static const char *const all_events[] = {"*:*", NULL};

static const struct column cpus_columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct cpu_row, ts), "of its first event"},
	{"dur", COLUMN_DURATION, offsetof(struct cpu_row, dur), "until its last event"},
	{"cpu", COLUMN_NUMBER, offsetof(struct cpu_row, cpu), "its number"},
	{"events", COLUMN_NUMBER, offsetof(struct cpu_row, events), "that were recorded on it"},
	{"lost", COLUMN_NUMBER, offsetof(struct cpu_row, lost),
	 "events that are known to have been lost"},
	{"gaps", COLUMN_NUMBER, offsetof(struct cpu_row, gaps), "places where events were lost"},
	{"switches", COLUMN_NUMBER, offsetof(struct cpu_row, switches), "from task to task"},
	{"busy", COLUMN_DURATION, offsetof(struct cpu_row, busy),
	 "time with a task; none: switches were not recorded"},
	{"idle", COLUMN_DURATION, offsetof(struct cpu_row, idle), "time without one"},
	{"unknown", COLUMN_DURATION, offsetof(struct cpu_row, unknown),
	 "time of which the trace does not say who had the CPU"},
	{"buffer", COLUMN_TEXT, offsetof(struct cpu_row, buffer), "they were recorded in"},
};

static const struct column lost_columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct lost_row, ts),
	 "of the first event after the loss, or when the recording was cut"},
	{"since", COLUMN_NUMBER, offsetof(struct lost_row, since), "time of the last one before"},
	{"cpu", COLUMN_NUMBER, offsetof(struct lost_row, cpu), "on which they were lost"},
	{"events", COLUMN_NUMBER, offsetof(struct lost_row, events), "how many; none: not known"},
	{"open", COLUMN_TEXT, offsetof(struct lost_row, open),
	 "'start', 'end' or 'both': the CPU has no event before the loss, none after it"},
	{"buffer", COLUMN_TEXT, offsetof(struct lost_row, buffer), "it happened in"},
};

const struct table cpus_table = {
	.name = "cpus",
	.about = "CPUs: their events, losses, busy and idle times",
	.columns = cpus_columns,
	.nr_columns = sizeof(cpus_columns) / sizeof(cpus_columns[0]),
	.row_size = sizeof(struct cpu_row),
	.events = all_events,
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
	.nr_columns = sizeof(lost_columns) / sizeof(lost_columns[0]),
	.row_size = sizeof(struct lost_row),
	.events = all_events,
	.starts_anywhere = true,
	.begin = cpus_begin,
	.record = lost_record,
	.records = lost_records,
	.lost = lost_lost,
	.end = lost_end,
	.free = cpus_free,
	.pending = lost_pending,
};
