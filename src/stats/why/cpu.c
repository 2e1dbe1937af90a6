// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who had the CPU that a task waited for.
 *
 * A waiting task may be moved between CPUs: first this finds the parts of the wait, each with its
 * CPU, then the slices and interrupts of these CPUs. The shares of all parts add up to the wait:
 * time without a slice is unknown.
 */
#include <errno.h>

#include "table/analysis.h"
#include "table/sched.h"
#include "table/spans.h"
#include "stats/renames.h"
#include "stats/why/reader.h"
#include "base/array.h"
#include "base/order.h"
#include "base/vec.h"

#define FIRST_SPAN 2000000u /* ns */
#define MAX_PIECES 256
#define MAX_SHARES 1000 /* the rest is one */

/* ---- parts of the wait ---- */

struct moves {
	const struct why_reader *r;
	struct event *event; /* the numbers are of */
	struct number pid, cpu, from_cpu;
	bool is_wakeup, moved;
	bool full;
	int rc;
};

static void add_piece(struct moves *m, uint64_t ts, int64_t cpu)
{
	struct why *w = m->r->why;
	struct why_piece *last = w->pieces.n ? &w->pieces.at[w->pieces.n - 1] : NULL, *p;

	if (last && last->cpu == cpu)
		return;
	if (last && last->from == ts) {
		last->cpu = cpu;
		return;
	}
	if (w->pieces.n == MAX_PIECES) {
		m->full = true;
		return;
	}
	p = vec_push(&w->pieces);
	if (p)
		*p = (struct why_piece){ts, w->to, cpu};
	else
		m->rc = -ENOMEM;
	if (p && w->pieces.n > 1)
		w->pieces.at[w->pieces.n - 2].to = ts;
}

static void bind(struct moves *m, struct event *e)
{
	static const char *const cpus[] = {"target_cpu", "dest_cpu", NULL};

	m->event = e;
	m->pid = number_of(e, "pid");
	m->cpu = number_find(e, cpus);
	m->from_cpu = number_of(e, "orig_cpu");
	m->is_wakeup = strcmp(e->name, "sched_migrate_task") != 0;
}

/* Before sched_wakeup the task is in no CPU's queue, so earlier migrations do not count. */
static void take_move(void *arg, struct event *e, const struct spur_record *r)
{
	struct moves *m = arg;
	struct why *w = m->r->why;
	const struct events *ev = m->r->trace->events;

	if (r->buffer != m->r->buffer->index || r->ts < w->from || r->ts > w->to)
		return;
	if (m->event != e)
		bind(m, e);
	if (!w->pieces.n || !number_in(&m->pid, r) || !number_in(&m->cpu, r) ||
	    number_get(ev, &m->pid, r) != w->asked.pid)
		return;
	if (m->is_wakeup) {
		m->moved = true;
		w->pieces.n = 0;
		add_piece(m, w->from, number_get(ev, &m->cpu, r));
	} else if (r->ts < w->to) {
		/* `states` has where it was in the end. */
		if (!m->moved && number_in(&m->from_cpu, r))
			w->pieces.at[0].cpu = number_get(ev, &m->from_cpu, r);
		m->moved = true;
		add_piece(m, r->ts, number_get(ev, &m->cpu, r));
	}
}

static int find_pieces(const struct why_reader *r)
{
	static const char *const events[] = {"sched:sched_wakeup", "sched:sched_wakeup_new",
					     "sched:sched_migrate_task"};
	struct moves m = {.r = r};
	struct feed *f = why_feed(r);
	int rc;

	add_piece(&m, r->why->from, r->why->cpu);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		feed_watch(f, events[i], take_move, &m);
	rc = why_run(r, f, r->why->from, r->why->to, NULL);
	if (m.full)
		why_note(r->why,
			 "it was moved more than %d times; where to after that is not "
			 "followed",
			 MAX_PIECES);
	return rc < 0 ? rc : m.rc;
}

/* ---- slices and interrupts ---- */

struct shares {
	const struct why_reader *r;
	struct renames renames;
	uint64_t known;		/* ns of slices */
	bool early[MAX_PIECES]; /* there was a slice when the piece began */
	bool any;		/* there was one on the CPUs */
	int rc;
};

/* A slice has the name that the task had when it got the CPU; here, when the wait began. */
static const char *name_of(const struct shares *s, const struct slice_row *row)
{
	const char *name = renames_last(&s->renames, row->pid, row->ts, s->r->why->from);

	return why_keep(s->r->why, name ? name : row->comm);
}

static struct why_share *find_share(struct shares *s, enum why_share_of of,
				    const struct slice_row *row)
{
	struct why *w = s->r->why;
	const char *comm = of == WHY_TASK ? name_of(s, row) : NULL;
	const struct why_share new = {.of = of,
				      .cpu = row->cpu,
				      .pid = of == WHY_TASK ? row->pid : ROW_NULL,
				      .prio = of == WHY_TASK ? row->prio : ROW_NULL,
				      .comm = comm};

	vec_each (known, &w->shares)
		if (known->of == of && known->cpu == new.cpu && known->pid == new.pid &&
		    known->prio == new.prio && known->comm == comm)
			return known;
	if (w->shares.n >= MAX_SHARES && of == WHY_TASK)
		return find_share(s, WHY_OTHERS, row);
	if (vec_add(&w->shares, &new))
		return &w->shares.at[w->shares.n - 1];
	s->rc = -ENOMEM;
	return NULL;
}

static void take_slice(void *arg, const void *row)
{
	const struct slice_row *s = row;
	struct shares *to = arg;
	const struct why *w = to->r->why;
	const enum why_share_of of = s->pid == ROW_NULL ? WHY_UNKNOWN_TASK
				     : s->pid		? WHY_TASK
							: WHY_IDLE;
	uint64_t ns = 0;
	struct why_share *share;

	if (!why_is_here(to->r, s->buffer))
		return;
	for (size_t i = 0; i < w->pieces.n; i++) {
		const struct why_piece *p = &w->pieces.at[i];

		if (p->cpu != s->cpu)
			continue;
		ns += why_overlap(s->ts, s->dur, p->from, p->to);
		to->early[i] |= s->ts <= p->from;
		to->any = true;
	}
	if (!ns)
		return;
	share = find_share(to, of, s);
	if (!share)
		return;
	/* The switch that took the CPU away from the task gave it to this one. */
	if (s->ts == w->from && s->cpu == w->pieces.at[0].cpu && of == WHY_TASK) {
		to->r->why->by = s->pid;
		to->r->why->by_comm = share->comm;
	}
	share->ns += ns;
	share->times++;
	to->known += ns;
}

static void add_interrupt(struct shares *s, uint64_t ts, int64_t dur, int64_t cpu,
			  const struct why_interrupt *kind)
{
	struct why *w = s->r->why;
	const char *name = why_keep(w, kind->name);
	struct why_interrupt *at = NULL;
	uint64_t ns = 0;
	bool inside = false;

	vec_each (p, &w->pieces) {
		if (p->cpu != cpu)
			continue;
		ns += why_overlap(ts, dur, p->from, p->to);
		inside |= ts < p->to && row_end_of(ts, dur) > p->from;
	}
	if (!inside)
		return;
	vec_each (known, &w->interrupts)
		if (known->soft == kind->soft && known->number == kind->number &&
		    known->name == name)
			at = known;
	if (!at && w->interrupts.n < MAX_SHARES) {
		at = vec_push(&w->interrupts);
		if (at)
			*at = (struct why_interrupt){
				.soft = kind->soft, .number = kind->number, .name = name};
		else
			s->rc = -ENOMEM;
	}
	if (!at)
		return;
	at->ns += ns;
	at->times++;
}

static void take_irq(void *arg, const void *row)
{
	const struct irq_row *i = row;
	struct shares *s = arg;

	if (why_is_here(s->r, i->buffer))
		add_interrupt(s, i->ts, i->dur, i->cpu,
			      &(struct why_interrupt){.number = i->irq, .name = i->name});
}

static void take_softirq(void *arg, const void *row)
{
	const struct softirq_row *i = row;
	struct shares *s = arg;

	if (why_is_here(s->r, i->buffer))
		add_interrupt(
			s, i->ts, i->dur, i->cpu,
			&(struct why_interrupt){.soft = true, .number = i->vec, .name = i->name});
}

static void take_loss(void *arg, const void *row)
{
	const struct why_loss *l = row;
	const struct shares *s = arg;

	if (!why_is_here(s->r, l->buffer))
		return;
	vec_each (p, &s->r->why->pieces)
		if (p->cpu == l->cpu && why_overlap(l->ts, l->dur, p->from, p->to))
			why_note(s->r->why, "events of CPU %lld were lost meanwhile",
				 (long long)l->cpu);
}

/* Whether the slices that were read cover the whole wait. */
static bool is_covered(const struct shares *s)
{
	const struct why *w = s->r->why;

	if (s->known >= w->to - w->from)
		return true;
	for (size_t i = 0; i < w->pieces.n; i++)
		if (!s->early[i])
			return false;
	return true;
}

static int read_shares(struct shares *s, uint64_t since)
{
	static const struct feed_table sources[] = {{&slices_table, take_slice},
						    {&irqs_table, take_irq},
						    {&softirqs_table, take_softirq},
						    {&why_losses_table, take_loss}};
	struct feed *f = why_feed(s->r);

	feed_add_possible(f, sources, ARRAY_SIZE(sources), s);
	renames_watch(&s->renames, f);
	/* Records of a little later may show who ran by then. */
	return why_run(s->r, f, since, u64_add(s->r->why->to, WALK_REACH), NULL);
}

/* Interrupts may be in another buffer. */
static int find_interrupts(const struct why_reader *r)
{
	static const struct feed_table sources[] = {{&irqs_table, take_irq},
						    {&softirqs_table, take_softirq}};
	struct why *w = r->why;
	struct why_reader other;
	bool is;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && !w->interrupts.n && i < r->trace->nr_buffers; i++) {
		struct shares s = {.r = &other};
		struct feed *f;

		rc = why_other(r, i, w->to, &other, &is);
		if (rc < 0 || !is)
			continue;
		f = why_feed(r);
		feed_add_possible(f, sources, ARRAY_SIZE(sources), &s);
		rc = why_run(r, f, why_window(r, w->from, FIRST_SPAN, 0).since, w->to, NULL);
		rc = rc < 0 ? rc : s.rc;
	}
	return rc;
}

/* Notes why a share is unknown; losses have been noted already. */
static void note_unknown(const struct shares *s)
{
	struct why *w = s->r->why;
	const struct why_share *unknown = NULL;

	vec_each (share, &w->shares)
		if (share->of == WHY_UNKNOWN_TASK)
			unknown = share;
	if (!unknown)
		return;
	if (!s->any)
		why_note(w, "who ran meanwhile is not known: no sched_switch was recorded there");
	else if (s->r->trace->dat->followed.is)
		why_note(w, "only the events of some tasks were recorded");
	else if (!w->notes.n)
		why_note(w, "a sched_switch of CPU %lld was not recorded", (long long)unknown->cpu);
}

static int add_unknown(struct shares *s)
{
	const struct why *w = s->r->why;
	const uint64_t all = w->to - w->from;
	struct why_share *rest;

	if (s->known >= all)
		return 0;
	rest = find_share(s, WHY_UNKNOWN_TASK,
			  &(struct slice_row){.cpu = w->pieces.n ? w->pieces.at[0].cpu : ROW_NULL});
	if (!rest)
		return -ENOMEM;
	rest->ns += all - s->known;
	rest->times++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct why_share *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int by_time_too(const void *a, const void *b)
{
	const struct why_interrupt *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->soft != y->soft)
		return x->soft - y->soft;
	return (x->number > y->number) - (x->number < y->number);
}

int why_cpus(const struct why_reader *r)
{
	struct why *w = r->why;
	struct why_window window = why_window(r, w->from, FIRST_SPAN, 0);
	struct shares s;
	int rc = find_pieces(r);

	do {
		w->shares.n = w->interrupts.n = 0;
		s = (struct shares){.r = r};
		renames_init(&s.renames, r->trace->events);
		if (rc == 0)
			rc = read_shares(&s, window.since);
		if (rc == 0)
			rc = s.rc ? s.rc : s.renames.rc;
		renames_free(&s.renames);
	} while (rc == 0 && !is_covered(&s) && why_window_grow(r, &window));
	if (rc == 0)
		rc = find_interrupts(r);
	if (rc == 0)
		rc = add_unknown(&s);
	if (rc == 0)
		note_unknown(&s);
	if (rc == 0)
		order_vec(&w->shares, by_time);
	if (rc == 0)
		order_vec(&w->interrupts, by_time_too);
	return rc;
}
