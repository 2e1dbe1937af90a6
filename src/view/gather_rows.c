// SPDX-License-Identifier: GPL-2.0-or-later
/* What rows of tables say, in short: done by the thread that walks, which has enough to do. */
#include <errno.h>
#include <string.h>

#include "table/calls.h"
#include "table/sched.h"
#include "table/spans.h"
#include "view/gather.h"

static uint32_t buffer_of(struct gather *g, const char *name)
{
	const struct spur_trace *t = g->x->trace;

	if (name != g->buffer_name) {
		g->buffer_name = name;
		for (g->buffer = 0; g->buffer + 1 < t->nr_buffers; g->buffer++)
			if (t->buffers[g->buffer].data->name == name)
				break;
	}
	return g->buffer;
}

static uint16_t flags_of(enum row_open open)
{
	return (uint16_t)((open & ROW_OPEN_START ? VIEW_OPEN_START : 0) |
			  (open & ROW_OPEN_END ? VIEW_OPEN_END : 0));
}

static int32_t small(int64_t number)
{
	return number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
}

static bool can_run(const struct state_row *s)
{
	return s->state == RUN_RUNNING || s->state == RUN_RUNNABLE;
}

/* Most states begin where another one of the same task has just ended. */
static void on_begin(struct gather *g, const struct state_row *s)
{
	struct fact *f = gather_last_fact(g);

	if (!can_run(s))
		return;
	if (f && f->kind == A_STATE && f->pid == s->pid && f->ts + (uint64_t)f->dur == s->ts &&
	    !(f->flags & FACT_NEXT)) {
		f->flags |= FACT_NEXT;
		return;
	}
	f = gather_fact(g);
	if (f)
		*f = (struct fact){.kind = A_BEGIN, .ts = s->ts, .buffer = buffer_of(g, s->buffer)};
}

static void on_unknown(struct gather *g, const struct state_row *s)
{
	struct fact *f = gather_fact(g);

	if (f)
		*f = (struct fact){.kind = AN_UNKNOWN,
				   .ts = s->ts,
				   .dur = s->dur,
				   .cpu = small(s->cpu),
				   .buffer = buffer_of(g, s->buffer)};
}

static void on_state(void *gather, const void *row)
{
	const struct state_row *s = row;
	struct fact *f;

	if (s->phase != STATE_ENDS) {
		(s->phase == STATE_BEGINS ? on_begin : on_unknown)(gather, s);
		return;
	}
	f = gather_fact(gather);
	if (f)
		*f = (struct fact){.kind = A_STATE,
				   .ts = s->ts,
				   .dur = s->dur,
				   .name = run_state_names[s->state],
				   .more = s->reason,
				   .comm = s->comm,
				   .pid = small(s->pid),
				   .cpu = small(s->cpu),
				   .number = small(s->waker),
				   .flags = flags_of(s->open) | (can_run(s) ? FACT_ACTIVE : 0),
				   .buffer = buffer_of(gather, s->buffer)};
}

static void on_irq(void *gather, const void *row)
{
	const struct irq_row *q = row;
	struct fact *f = gather_fact(gather);

	if (f)
		*f = (struct fact){.kind = AN_IRQ,
				   .ts = q->ts,
				   .dur = q->dur,
				   .name = q->name,
				   .cpu = small(q->cpu),
				   .number = (int32_t)q->depth,
				   .flags = flags_of(q->open),
				   .buffer = buffer_of(gather, q->buffer)};
}

static void on_softirq(void *gather, const void *row)
{
	const struct softirq_row *s = row;
	struct fact *f = gather_fact(gather);

	if (f)
		*f = (struct fact){.kind = A_SOFTIRQ,
				   .ts = s->ts,
				   .dur = s->dur,
				   .name = s->name,
				   .cpu = small(s->cpu),
				   .flags = flags_of(s->open),
				   .buffer = buffer_of(gather, s->buffer)};
}

static void on_syscall(void *gather, const void *row)
{
	const struct syscall_row *s = row;
	struct fact *f = gather_fact(gather);

	if (f)
		*f = (struct fact){.kind = A_SYSCALL,
				   .ts = s->ts,
				   .dur = s->dur,
				   .name = s->name,
				   .pid = small(s->pid),
				   .number = small(s->nr),
				   .flags = flags_of(s->open),
				   .buffer = buffer_of(gather, s->buffer)};
}

static void on_call(void *gather, const void *row)
{
	const struct call_row *k = row;
	struct fact *f = gather_fact(gather);

	if (f)
		*f = (struct fact){.kind = A_CALL,
				   .ts = k->ts,
				   .dur = k->dur,
				   .name = k->func,
				   .pid = small(k->pid),
				   .cpu = small(k->cpu),
				   .number = k->depth < 0	     ? 0
					     : k->depth < MOST_DEPTH ? (int32_t)k->depth
								     : MOST_DEPTH,
				   .flags = flags_of(k->open),
				   .buffer = buffer_of(gather, k->buffer)};
}

static void on_frequency(void *gather, struct event *e, const struct spur_record *r)
{
	struct gather *g = gather;
	const struct events *ev = g->x->trace->events;
	uint64_t cpu, state;
	struct fact *f;

	if (!g->frequency.cpu) {
		g->frequency.cpu = event_field_find(e, "cpu_id");
		g->frequency.state = event_field_find(e, "state");
	}
	if (!g->frequency.cpu || !g->frequency.state ||
	    !field_number(ev, g->frequency.cpu, r, &cpu) ||
	    !field_number(ev, g->frequency.state, r, &state) || cpu > INT32_MAX)
		return;
	f = gather_fact(g);
	if (f)
		*f = (struct fact){.kind = A_FREQUENCY,
				   .ts = r->ts,
				   .dur = state < UINT32_MAX ? (int64_t)state : UINT32_MAX,
				   .cpu = (int32_t)cpu,
				   .buffer = r->buffer};
}

static const struct {
	unsigned int maker;
	const struct table *table;
	void (*row)(void *gather, const void *row);
} takes[] = {
	{MADE_OF_STATES, &states_both_table, on_state},
	{MADE_OF_SPANS, &irqs_table, on_irq},
	{MADE_OF_SPANS, &softirqs_table, on_softirq},
	{MADE_OF_SPANS, &syscalls_table, on_syscall},
	{MADE_OF_CALLS, &calls_table, on_call},
};

int gather_tables(struct gather *g, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(takes) / sizeof(takes[0]); i++) {
		if (takes[i].maker != g->number || !index_has_rows(g->x, takes[i].table))
			continue;
		rc = feed_add(g->feed, takes[i].table, takes[i].row, g, err);
		g->any = true;
	}
	if (rc == 0 && g->number == MADE_OF_SPANS &&
	    index_has_event(g->x, "power", "cpu_frequency")) {
		rc = feed_watch(g->feed, "power:cpu_frequency", on_frequency, g, err);
		g->any = true;
	}
	return rc;
}
