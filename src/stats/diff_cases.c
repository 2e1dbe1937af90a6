// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was around the worst ones: who had which CPU, and which interrupts there were. One more walk
 * over a trace finds that for all of them. Of those that waited for a CPU why.h tells the rest.
 */
#include <errno.h>
#include <string.h>

#include "stats/diff_parts.h"
#include "table/feed.h"
#include "table/sched.h"
#include "table/spans.h"
#include "base/error.h"
#include "base/vec.h"

#define MAX_STRETCHES 2000 /* of a case; there is no more to see in a picture */

struct around {
	struct diff *d;
	unsigned int side;
	uint64_t until; /* nothing is wanted behind it */
	bool any;
	int rc;
};

void diff_cases_free(struct diff_focus *f)
{
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		vec_each (c, &f->cases[i]) {
			vec_free(&c->stretches);
			vec_free(&c->ran);
			free(c->text);
			if (c->why)
				why_free(c->why);
			free(c->why);
		}
		vec_free(&f->cases[i]);
	}
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* When one began and ended. A softirq's latency is what was before it ran. */
static void set_span(const struct latency *l, struct diff_case *c)
{
	const uint64_t ts = (uint64_t)row_number(&l->opt.table->columns[0], c->worst->row);
	const uint64_t value = c->value > 0 ? (uint64_t)c->value : 0;

	c->from = c->to = ts;
	if (strcmp(l->opt.kind->name, "softirq") == 0)
		c->from -= value < ts ? value : ts;
	else
		c->to = plus(ts, value);
}

static int make_cases(struct around *a, struct diff_focus *f)
{
	const struct latency *l = &f->latency[a->side];

	for (size_t i = 0; i < l->worst.n; i++) {
		struct diff_case *c = vec_push(&f->cases[a->side]);
		const void *row = l->worst.at[i].row;

		if (!c)
			return -ENOMEM;
		c->worst = &l->worst.at[i];
		c->value = c->worst->value;
		c->cpu = f->cpu ? row_number(f->cpu, row) : ROW_NULL;
		c->pid = f->pid ? row_number(f->pid, row) : ROW_NULL;
		c->comm = f->comm ? row_text(f->comm, row) : NULL;
		c->has_task = l->opt.kind != &latency_of_pairs;
		set_span(l, c);
		a->any = true;
		a->until = plus(c->to, a->d->opt.around) > a->until ? plus(c->to, a->d->opt.around)
								    : a->until;
	}
	return 0;
}

static void add_ran(struct around *a, struct diff_case *c, const struct diff_stretch *s)
{
	const uint64_t from = s->from > c->from ? s->from : c->from;
	const uint64_t to = s->to < c->to ? s->to : c->to;
	struct diff_ran *r;

	if (s->cpu != c->cpu || from >= to)
		return;
	vec_each (known, &c->ran)
		if (known->layer == s->layer && known->pid == s->pid && known->name == s->name) {
			known->time += to - from;
			return;
		}
	r = vec_push(&c->ran);
	if (!r) {
		a->rc = -ENOMEM;
		return;
	}
	*r = (struct diff_ran){s->name, s->pid, s->layer, to - from};
}

static void add_stretch(struct around *a, struct diff_case *c, struct diff_stretch s)
{
	const uint64_t around = a->d->opt.around;
	const uint64_t from = c->from > around ? c->from - around : 0;
	struct diff_stretch *slot;

	if (s.to < from || s.from > plus(c->to, around))
		return;
	s.name = s.name ? intern_text(&a->d->names, s.name, strlen(s.name)) : NULL;
	if (!s.name)
		s.name = "?";
	add_ran(a, c, &s);
	if (c->stretches.n >= MAX_STRETCHES) {
		c->more = true;
		return;
	}
	slot = vec_push(&c->stretches);
	if (slot)
		*slot = s;
	else
		a->rc = -ENOMEM;
}

static void take(struct around *a, uint64_t ts, int64_t dur, int64_t cpu, int64_t pid,
		 const char *name, enum diff_layer layer)
{
	const struct diff_stretch s = {ts,   dur > 0 ? plus(ts, (uint64_t)dur) : ts, cpu, pid, name,
				       layer};

	vec_each (f, &a->d->focus)
		vec_each (c, &(*f)->cases[a->side])
			add_stretch(a, c, s);
}

static void take_slice(void *arg, const void *row)
{
	const struct slice_row *s = row;
	const char *name = s->pid == ROW_NULL ? "unknown" : s->pid ? s->comm : "idle";

	take(arg, s->ts, s->dur, s->cpu, s->pid, name, DIFF_SLICE);
}

static void take_irq(void *arg, const void *row)
{
	const struct irq_row *i = row;

	take(arg, i->ts, i->dur, i->cpu, i->irq, i->name, DIFF_IRQ);
}

static void take_softirq(void *arg, const void *row)
{
	const struct softirq_row *s = row;

	take(arg, s->ts, s->dur, s->cpu, s->vec, s->name, DIFF_SOFTIRQ);
}

static int by_time(const void *a, const void *b)
{
	const struct diff_ran *x = a, *y = b;

	return (x->time < y->time) - (x->time > y->time);
}

static int read_around(struct around *a, struct spur_trace *t, struct spur_error *err)
{
	static const struct {
		const struct table *table;
		void (*take)(void *arg, const void *row);
	} sources[] = {{&slices_table, take_slice},
		       {&irqs_table, take_irq},
		       {&softirqs_table, take_softirq}};
	struct walk_options opt = a->d->opt.walk;
	struct feed *feed;
	int rc = 0;

	/* What a case is in may have begun long before it. */
	opt.cpus = NULL;
	opt.since = 0;
	opt.until = a->until;
	feed = feed_new(t, &opt, err);
	if (!feed)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]); i++)
		if (table_possible(sources[i].table, t))
			rc = feed_add(feed, sources[i].table, sources[i].take, a, err);
	if (rc == 0)
		rc = feed_run(feed, err);
	feed_free(feed);
	return rc == 0 ? a->rc : rc;
}

static int explain(struct around *a, const struct diff_focus *f, struct diff_case *c,
		   struct spur_error *err)
{
	const struct latency_options *l = &f->latency[a->side].opt;
	const struct column *buffer = latency_column(l->kind, l->table, "buffer", 6);
	const struct why_options opt = {.pid = c->pid,
					.moment = c->from,
					.buffer = buffer ? row_text(buffer, c->worst->row) : NULL,
					.stop = a->d->opt.walk.stop};

	if (!l->kind->waits || c->pid == ROW_NULL)
		return 0;
	c->why = calloc(1, sizeof(*c->why));
	return c->why ? why_make(c->why, a->d->side[a->side].trace, &opt, err) : -ENOMEM;
}

static int explain_all(struct around *a, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < a->d->focus.n; i++) {
		struct diff_focus *f = a->d->focus.at[i];

		for (size_t k = 0; rc == 0 && k < f->cases[a->side].n; k++)
			rc = explain(a, f, &f->cases[a->side].at[k], err);
	}
	return rc;
}

int diff_cases_read(struct diff *d, enum diff_which which, struct spur_error *err)
{
	struct around a = {.d = d, .side = which};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < d->focus.n; i++)
		if (d->focus.at[i]->ready[which])
			rc = make_cases(&a, d->focus.at[i]);
	if (rc == 0 && a.any)
		rc = read_around(&a, d->side[which].trace, err);
	if (rc == 0)
		rc = explain_all(&a, err);
	vec_each (f, &d->focus)
		vec_each (c, &(*f)->cases[which])
			if (c->ran.n)
				qsort(c->ran.at, c->ran.n, sizeof(*c->ran.at), by_time);
	return rc;
}
