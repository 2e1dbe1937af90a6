// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long tasks were off the CPU: from the sched_switch away from a task to the next one to it, on
 * whatever CPU. Where events were lost a task may have run in between, so that nothing is known of
 * those that were waiting then. The same holds for tasks whose switches were not all recorded (see
 * sched_all_switches()), and for one that a record shows on a CPU meanwhile.
 */
#include <stdlib.h>

#include "stats/flame_rows.h"
#include "table/analysis.h"
#include "table/sched/events.h"
#include "table/walk.h"

#define TASK_BYTES (64u << 20)

struct waiting {
	uint64_t since;
	uint32_t losses; /* that there had been by then */
	uint32_t cpu;
	bool waits;
};

struct off_cpu {
	const struct table_source *src;
	struct slots tasks;
	struct losses losses;
	struct number prev, next;
	bool known; /* the fields have been looked up */
};

static void *begin(const struct table_source *src)
{
	struct off_cpu *o = calloc(1, sizeof(*o));

	if (o) {
		o->src = src;
		slots_init(&o->tasks, sizeof(struct waiting), TASK_BYTES);
	}
	return o;
}

static void leaves(struct off_cpu *o, int64_t pid, const struct spur_record *r)
{
	struct waiting *w = pid > 0 ? slots_get(&o->tasks, (uint64_t)pid) : NULL;

	if (w)
		*w = (struct waiting){r->ts, o->losses.n, r->cpu,
				      sched_all_switches(o->src, (int32_t)pid)};
}

static void comes(struct off_cpu *o, int64_t pid, const struct spur_record *r)
{
	struct waiting *w = pid > 0 ? slots_find(&o->tasks, (uint64_t)pid) : NULL;
	struct off_cpu_row row;

	if (!w || !w->waits)
		return;
	w->waits = false;
	if (losses_since(&o->losses, w->since, w->losses) || r->ts < w->since)
		return;
	row = (struct off_cpu_row){w->since, (int64_t)(r->ts - w->since), pid, w->cpu,
				   o->src->buffer->data->name};
	o->src->row(o->src->arg, &row);
}

static void record(void *analysis, struct event *e, const struct spur_record *r)
{
	const struct events *ev;
	struct off_cpu *o = analysis;

	if (!o->known) {
		o->prev = number_of(e, "prev_pid");
		o->next = number_of(e, "next_pid");
		o->known = true;
	}
	if (!number_in(&o->prev, r) || !number_in(&o->next, r))
		return;
	ev = o->src->trace->events;
	leaves(o, record_int(ev, r, o->prev.offset, o->prev.size), r);
	comes(o, record_int(ev, r, o->next.offset, o->next.size), r);
}

static void losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	losses_add(&((struct off_cpu *)analysis)->losses, to);
}

static void evidence(void *analysis, const struct walk_evidence *e)
{
	struct off_cpu *o = analysis;
	struct waiting *w = e->pid > 0 && !e->gone && !e->silent
				    ? slots_find(&o->tasks, (uint64_t)e->pid)
				    : NULL;

	if (w)
		w->waits = false;
}

/* A task that has not come back has no time yet. */
static void end(void *analysis, uint64_t ts)
{
}

static void free_analysis(void *analysis)
{
	struct off_cpu *o = analysis;

	slots_free(&o->tasks);
	free(o);
}

static const struct column columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct off_cpu_row, ts), "when it left the CPU"},
	{"dur", COLUMN_DURATION, offsetof(struct off_cpu_row, dur), "until it ran again"},
	{"pid", COLUMN_NUMBER, offsetof(struct off_cpu_row, pid), "the task"},
	{"cpu", COLUMN_NUMBER, offsetof(struct off_cpu_row, cpu), "it left"},
};

static const char *const events[] = {"sched:sched_switch", NULL};

const struct table off_cpu_table = {
	.name = "off_cpu",
	.about = "times in which tasks were off the CPU",
	.columns = columns,
	.nr_columns = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct off_cpu_row),
	.events = events,
	.needs = events,
	.starts_anywhere = true,
	.begin = begin,
	.record = record,
	.losing = losing,
	.evidence = evidence,
	.end = end,
	.free = free_analysis,
};
