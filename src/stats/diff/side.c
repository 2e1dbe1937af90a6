// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the measures of a trace in two walks, and the worst cases in a third.
 *
 * The first walk counts all records. The second makes tables of those that have to do with tasks,
 * interrupts, calls and so on. The third reads what happened around the worst cases: slices of
 * CPUs, and interrupts.
 */
#include "stats/diff.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "base/vec.h"
#include "stats/renames.h"
#include "table/analysis.h"
#include "table/calls.h"
#include "table/feed.h"
#include "table/overview.h"
#include "table/sched.h"
#include "table/spans.h"

#define MAX_STRETCHES 2000 /* of a case; there is no more to see in a picture */
#define MAX_AMOUNTS   20000
#define DISTS_MEMORY  (16u << 20) /* of a family; what needs more has no quantiles */
#define NAMES_MEMORY  (16u << 20)

/* ---- what was around the worst ones ---- */

struct around {
	struct diff *d;
	struct renames renames;
	unsigned int side;
	uint64_t until; /* nothing is wanted after it */
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

/* Sets begin and end of a case. The latency of a softirq is the time before it ran. */
static void set_span(const struct latency *l, struct diff_case *c)
{
	const uint64_t ts = (uint64_t)row_number(&l->opt.table->columns[0], c->worst->row);
	const uint64_t value = c->value > 0 ? (uint64_t)c->value : 0;

	c->from = c->to = ts;
	if (strcmp(l->opt.kind->name, "softirq") == 0)
		c->from -= value < ts ? value : ts;
	else
		c->to = u64_add(ts, value);
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
		c->cpu = f->whose.cpu ? row_number(f->whose.cpu, row) : ROW_NULL;
		c->pid = f->whose.pid ? row_number(f->whose.pid, row) : ROW_NULL;
		c->comm = f->whose.comm ? row_text(f->whose.comm, row) : NULL;
		c->has_task = l->opt.kind != &latency_of_pairs;
		set_span(l, c);
		a->any = true;
		a->until = u64_add(c->to, a->d->opt.around) > a->until
				   ? u64_add(c->to, a->d->opt.around)
				   : a->until;
	}
	return 0;
}

static void add_ran(struct around *a, struct diff_case *c, enum diff_layer layer, const char *name,
		    int64_t pid, uint64_t time)
{
	if (!time)
		return;
	vec_each (known, &c->ran)
		if (known->layer == layer && known->pid == pid &&
		    (known->name == name || (layer == DIFF_SLICE && pid != ROW_NULL))) {
			known->time += time;
			return;
		}
	if (!vec_add(&c->ran, &((struct diff_ran){name, pid, layer, time})))
		a->rc = -ENOMEM;
}

/* A slice has the name that the task had when it got the CPU; here, when the case began. */
static const char *name_of(const struct around *a, const struct diff_case *c,
			   const struct diff_stretch *s)
{
	const char *name = NULL;

	if (s->layer == DIFF_SLICE && s->pid > 0)
		name = renames_last(&a->renames, s->pid, s->from, c->from);
	name = name ? name : s->name;
	return name ? intern_text(&a->d->names, name, strlen(name)) : NULL;
}

static void add_stretch(struct around *a, struct diff_case *c, struct diff_stretch s)
{
	const uint64_t around = a->d->opt.around;
	const uint64_t from = c->from > around ? c->from - around : 0;

	if (s.to < from || s.from > u64_add(c->to, around))
		return;
	s.name = name_of(a, c, &s);
	if (!s.name)
		s.name = "?";
	if (s.cpu == c->cpu && s.from < c->to && s.to > c->from)
		add_ran(a, c, s.layer, s.name, s.pid,
			(s.to < c->to ? s.to : c->to) - (s.from > c->from ? s.from : c->from));
	if (c->stretches.n >= MAX_STRETCHES) {
		c->more = true;
		return;
	}
	if (!vec_add(&c->stretches, &s))
		a->rc = -ENOMEM;
}

static void add_interval(struct around *a, uint64_t ts, int64_t dur, int64_t cpu, int64_t pid,
			 const char *name, enum diff_layer layer)
{
	const struct diff_stretch s = {ts, row_end_of(ts, dur), cpu, pid, name, layer};

	vec_each (f, &a->d->focus)
		vec_each (c, &(*f)->cases[a->side])
			add_stretch(a, c, s);
}

static void take_case_slice(void *arg, const void *row)
{
	const struct slice_row *s = row;
	const char *name = s->pid == ROW_NULL ? "unknown" : s->pid ? s->comm : "idle";

	add_interval(arg, s->ts, s->dur, s->cpu, s->pid, name, DIFF_SLICE);
}

static void take_irq(void *arg, const void *row)
{
	const struct irq_row *i = row;

	add_interval(arg, i->ts, i->dur, i->cpu, i->irq, i->name, DIFF_IRQ);
}

static void take_softirq(void *arg, const void *row)
{
	const struct softirq_row *s = row;

	add_interval(arg, s->ts, s->dur, s->cpu, s->vec, s->name, DIFF_SOFTIRQ);
}

static int by_time(const void *a, const void *b)
{
	const struct diff_ran *x = a, *y = b;

	return (x->time < y->time) - (x->time > y->time);
}

static int read_around(struct around *a, struct spur_trace *t, struct spur_error *err)
{
	static const struct feed_table sources[] = {{&slices_table, take_case_slice},
						    {&irqs_table, take_irq},
						    {&softirqs_table, take_softirq}};
	struct walk_options opt = a->d->opt.walk;
	struct feed *feed;
	int rc;

	/* Slices around a case may have begun long before it. */
	opt.cpus = NULL;
	opt.since = 0;
	opt.until = a->until;
	feed = feed_new(t, &opt);
	renames_init(&a->renames, t->events);
	feed_add_possible(feed, sources, ARRAY_SIZE(sources), a);
	renames_watch(&a->renames, feed);
	rc = feed_run(feed, err);
	feed_free(feed);
	if (rc == 0)
		rc = a->renames.rc;
	renames_free(&a->renames);
	return rc == 0 ? a->rc : rc;
}

/* The explanation knows which CPUs the task waited for, and when: its numbers are shown. */
static void take_shares(struct around *a, struct diff_case *c)
{
	static const char *const names[] = {
		[WHY_IDLE] = "idle", [WHY_UNKNOWN_TASK] = "unknown", [WHY_OTHERS] = "others"};

	c->ran.n = 0;
	vec_each (s, &c->why->shares) {
		const char *name = s->of == WHY_TASK ? s->comm : names[s->of];

		add_ran(a, c, DIFF_SLICE, name ? name : "?", s->of == WHY_IDLE ? 0 : s->pid, s->ns);
	}
	vec_each (i, &c->why->interrupts)
		add_ran(a, c, i->soft ? DIFF_SOFTIRQ : DIFF_IRQ, i->name ? i->name : "?", i->number,
			i->ns);
}

static int explain(struct around *a, const struct diff_focus *f, struct diff_case *c,
		   struct spur_error *err)
{
	const struct latency_options *l = &f->latency[a->side].opt;
	const struct column *buffer = latency_column(l->kind, l->table, "buffer", 6);
	const struct why_options opt = {.pid = c->pid,
					.moment = c->from,
					.until = l->kind->contains ? c->to : 0,
					.buffer = buffer ? row_text(buffer, c->worst->row) : NULL,
					.stop = a->d->opt.walk.stop};
	int rc;

	if ((!l->kind->waits && !l->kind->contains) || c->pid == ROW_NULL)
		return 0;
	c->why = calloc(1, sizeof(*c->why));
	if (!c->why)
		return -ENOMEM;
	rc = why_make(c->why, a->d->side[a->side].trace, &opt, err);
	if (rc == 0 && c->why->shares.n)
		take_shares(a, c);
	/* A system call need not have waited. */
	if (opt.until && !c->why->found) {
		why_free(c->why);
		free(c->why);
		c->why = NULL;
	}
	return rc;
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

/*
 * To be called after the tables of a trace were made: reads what happened around the worst cases.
 */
static int diff_cases_read(struct diff *d, enum diff_which which, struct spur_error *err)
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
	rc = rc == 0 ? a.rc : rc;
	vec_each (f, &d->focus)
		vec_each (c, &(*f)->cases[which])
			order_vec(&c->ran, by_time);
	return rc;
}

/* ---- families ---- */

static const char *const of_calls[] = {"cpu", "comm", "pid", "func", NULL};

static const struct latency_kind calls_kind = {
	.name = "function",
	.about = "from the call of a function until its return",
	.table = "calls",
	.value = "dur",
	.by = "func",
	.cpu = "cpu",
	.shown = of_calls,
	.record = "-p function_graph",
};

const struct diff_family diff_amounts[DIFF_AMOUNTS] = {
	{"rate", "event", "events", DIFF_RATE, NULL, NULL},
	{"running", "task", "having a CPU", DIFF_PART, NULL, NULL},
	{"runnable", "task", "waiting for a CPU", DIFF_PART, NULL, NULL},
	{"unknown", "task", "doing what the trace does not show", DIFF_PART, NULL, NULL},
	{"switches", "task", "getting a CPU", DIFF_RATE, NULL, NULL},
	{"migrations", "task", "getting another CPU than before", DIFF_RATE, NULL, NULL},
	{"wakeups", "task", "being woken", DIFF_RATE, NULL, NULL},
};

enum { RATE, RUNNING, RUNNABLE, UNKNOWN, SWITCHES, MIGRATIONS, WAKEUPS };

/* Tasks are distinguished by name alone: their numbers differ in the other trace. */
static void add_kind(struct diff *d, const struct latency_kind *k)
{
	const bool task = k->by && strcmp(k->by, "task") == 0;

	d->dists[d->nr_dists++] = (struct diff_family){.name = k->name,
						       .key = k->by,
						       .about = k->about,
						       .unit = DIFF_TIME,
						       .kind = k,
						       .by = task ? "comm" : k->by};
}

void diff_init(struct diff *d, const struct diff_options *opt)
{
	*d = (struct diff){.opt = *opt, .seed = hash_seed_new()};
	intern_init(&d->names, NAMES_MEMORY);
	for (const struct latency_kind *k = latency_kinds; k->name && d->nr_dists < DIFF_PAIRS - 1;
	     k++)
		add_kind(d, k);
	add_kind(d, &calls_kind);
	if (!opt->pairs)
		return;
	/* Pairs of events always have the same index. */
	while (d->nr_dists < DIFF_PAIRS)
		d->nr_dists++;
	add_kind(d, &latency_of_pairs);
	d->dists[DIFF_PAIRS].name = opt->pairs_name;
	d->dists[DIFF_PAIRS].about = opt->pairs_about;
}

const struct diff_family *diff_family_find(const struct diff *d, const char *name, size_t len)
{
	for (unsigned int i = 0; i < d->nr_dists; i++)
		if (d->dists[i].name && strlen(d->dists[i].name) == len &&
		    memcmp(d->dists[i].name, name, len) == 0)
			return &d->dists[i];
	for (unsigned int i = 0; i < DIFF_AMOUNTS; i++)
		if (strlen(diff_amounts[i].name) == len &&
		    memcmp(diff_amounts[i].name, name, len) == 0)
			return &diff_amounts[i];
	return NULL;
}

/* ---- amounts ---- */

struct reader {
	struct diff *d;
	struct diff_side *s;
	struct comm_times *comms;
	struct slots last_cpus; /* of tasks, to tell migrations */
	struct diff_amount **by_event, *all_events;
	int rc;
};

uint64_t diff_hash(const struct diff *d, const struct diff_family *f, const char *key)
{
	const uint64_t hash = hash_add(&d->seed, 0, (uint64_t)(uintptr_t)f);

	return key ? hash_add(&d->seed, hash, hash_bytes(&d->seed, key, strlen(key))) : hash;
}

static bool same_key(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

double diff_unknown(const struct diff *d, const struct diff_side *s, const struct diff_amount *a)
{
	const bool running = a->family == &diff_amounts[RUNNING];
	uint64_t hash = diff_hash(d, &diff_amounts[UNKNOWN], a->key);
	const struct diff_amount *unknown;

	if (!running && a->family != &diff_amounts[RUNNABLE])
		return 0;
	if (running && !a->key)
		return s->unknown;
	for (; (unknown = map_get(&s->index, hash)) != NULL; hash++)
		if (unknown->family == &diff_amounts[UNKNOWN] && same_key(unknown->key, a->key))
			return running ? fmin(unknown->total, s->unknown) : unknown->total;
	return 0;
}

/* NULL beyond the limit. */
static struct diff_amount *amount(struct reader *r, unsigned int family, const char *key)
{
	const struct diff_family *f = &diff_amounts[family];
	uint64_t hash = diff_hash(r->d, f, key);
	struct diff_amount *a;

	for (; (a = map_get(&r->s->index, hash)) != NULL; hash++)
		if (a->family == f && same_key(a->key, key))
			return a;
	a = r->s->amounts.n < MAX_AMOUNTS ? calloc(1, sizeof(*a)) : NULL;
	if (a) {
		a->family = f;
		a->key = key ? intern_text(&r->d->names, key, strlen(key)) : NULL;
	}
	if (!a || (key && !a->key) || !vec_add(&r->s->amounts, &a)) {
		free(a);
		r->s->full = true;
		return NULL;
	}
	if (!map_set(&r->s->index, hash, a))
		r->rc = -ENOMEM;
	return a;
}

static void count_once(const struct diff_side *s, struct diff_amount *a, uint64_t ts)
{
	if (!a)
		return;
	a->count++;
	a->total++;
	diff_series_add(&a->series, ts > s->first ? ts - s->first : 0, 1);
}

/* Counts something that happened to a task, for the task and in total. */
static void count(struct reader *r, unsigned int family, const char *comm, uint64_t ts)
{
	if (comm)
		count_once(r->s, amount(r, family, comm), ts);
	count_once(r->s, amount(r, family, NULL), ts);
}

/* Cuts a row to the time that counts: from *ts to *to. False if nothing is left. */
static bool cut_row(const struct diff_side *s, uint64_t *ts, int64_t dur, uint64_t *to)
{
	if (dur <= 0 || __builtin_add_overflow(*ts, (uint64_t)dur, to))
		return false;
	*ts = *ts > s->first ? *ts : s->first;
	*to = *to < s->last ? *to : s->last;
	return *to > *ts;
}

static void spend(struct reader *r, unsigned int family, const char *comm, uint64_t ts, int64_t dur)
{
	uint64_t to;

	if (!cut_row(r->s, &ts, dur, &to))
		return;
	for (int all = 0; all < 2; all++) {
		struct diff_amount *a = all || comm ? amount(r, family, all ? NULL : comm) : NULL;

		if (!a)
			continue;
		a->count++;
		a->total += (double)(to - ts);
		diff_series_spread(&a->series, ts - r->s->first, to - r->s->first);
	}
}

static bool wanted(const struct reader *r, int64_t cpu, int64_t pid, const char *comm)
{
	const struct diff_options *o = &r->d->opt;

	return !o->wanted || o->wanted(o->arg, cpu, pid, comm);
}

static void take_slice(void *arg, const void *row)
{
	const struct slice_row *s = row;
	struct reader *r = arg;
	uint64_t ts = s->ts, to;
	int64_t *last;

	if (s->pid == ROW_NULL && walk_asks_cpu(&r->d->opt.walk, (uint32_t)s->cpu) &&
	    cut_row(r->s, &ts, s->dur, &to))
		r->s->unknown += (double)(to - ts);
	if (!s->pid || s->pid == ROW_NULL || !wanted(r, s->cpu, s->pid, s->comm))
		return;
	spend(r, RUNNING, s->comm, s->ts, s->dur);
	if (slice_is_switched_to(s))
		count(r, SWITCHES, s->comm, s->ts);
	last = slots_get(&r->last_cpus, (uint64_t)s->pid);
	/* 0 means that it has had no CPU yet. */
	if (last && *last && *last != s->cpu + 1)
		count(r, MIGRATIONS, s->comm, s->ts);
	if (last)
		*last = s->cpu + 1;
}

static void take_state(void *arg, const void *row)
{
	const struct state_row *s = row;
	struct reader *r = arg;
	const bool runnable = s->state == RUN_RUNNABLE;
	const bool unknown = s->state == RUN_UNKNOWN;

	if (s->pid && (runnable || unknown) && wanted(r, s->cpu, s->pid, s->comm))
		spend(r, runnable ? RUNNABLE : UNKNOWN, s->comm, s->ts, s->dur);
}

static void take_wakeup(void *arg, const void *row)
{
	const struct wakeup_row *w = row;
	struct reader *r = arg;

	if (wanted(r, w->run_cpu, w->pid, w->comm))
		count(r, WAKEUPS, w->comm, w->ts);
}

/* ---- all records ---- */

static void count_record(struct reader *r, struct event *e, const struct spur_record *rec)
{
	if (r->d->opt.wanted) {
		const int pid = events_record_pid(r->s->trace->events, rec);

		if (!wanted(r, rec->cpu, pid, comm_at(r->comms, pid, rec->ts)))
			return;
	}
	r->s->events++;
	if (!r->all_events)
		r->all_events = amount(r, RATE, NULL);
	count_once(r->s, r->all_events, rec->ts);
	if (!e)
		return;
	if (!r->by_event[e->index])
		r->by_event[e->index] = amount(r, RATE, e->name);
	count_once(r->s, r->by_event[e->index], rec->ts);
}

static void note_loss(struct diff_side *s, const struct spur_record *r)
{
	if (!r->lost)
		return;
	s->gaps++;
	if (r->lost > 0)
		s->lost += (uint64_t)r->lost;
}

/* Counts what is missing at the end of a cut recording. */
static void note_cut(void *reader, const void *row)
{
	const struct lost_row *l = row;
	const struct walk_options *o = &((struct reader *)reader)->d->opt.walk;
	struct diff_side *s = ((struct reader *)reader)->s;

	if (l->ts < o->since || (o->until && l->ts > o->until) || !walk_asks_cpu(o, l->cpu))
		return;
	s->gaps++;
	if (l->events > 0)
		s->lost += (uint64_t)l->events;
}

/* Whether the range begins after the trace's start: then the time counts from there. */
static bool begins_before(const struct spur_trace *t, uint64_t since)
{
	bool before = false;

	for (uint32_t i = 0; since && i < t->nr_buffers; i++)
		before |= buffer_start(&t->buffers[i]) <= since;
	return before;
}

static int count_all(struct reader *r, const struct walk_options *opt, struct spur_error *err)
{
	struct diff_side *s = r->s;
	const struct spur_record *rec;
	struct walk w;
	int rc = walk_open(&w, s->trace, opt, err);
	bool any = begins_before(s->trace, opt->since);

	if (rc < 0)
		return rc;
	s->first = s->last = any ? opt->since : 0;
	walk_want_all(&w);
	while (r->rc == 0 && (rec = walk_next(&w)) != NULL) {
		if (!any)
			s->first = rec->ts;
		any = true;
		s->last = rec->ts > s->last ? rec->ts : s->last;
		note_loss(s, rec);
		count_record(r, events_of_record(s->trace->events, rec), rec);
	}
	for (uint32_t i = 0; i < s->trace->nr_buffers; i++)
		lost_by_cut(s->trace, i, note_cut, r);
	rc = w.stopped ? -EINTR : r->rc;
	walk_close(&w);
	return rc;
}

static uint32_t cpus_of(const struct spur_trace *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		uint32_t here = 0;

		for (uint32_t k = 0; k < t->buffers[i].data->nr_cpus; k++)
			here += t->buffers[i].data->cpus[k].size > 0;
		n = here > n ? here : n;
	}
	return n;
}

/* ---- distributions ---- */

static bool row_wanted(void *arg, const void *row)
{
	const struct diff_whose *w = arg;
	const struct diff_options *o = &w->diff->opt;

	return !o->wanted || o->wanted(o->arg, w->cpu ? row_number(w->cpu, row) : ROW_NULL,
				       w->pid ? row_number(w->pid, row) : ROW_NULL,
				       w->comm ? row_text(w->comm, row) : NULL);
}

static bool focus_wanted(void *arg, const void *row)
{
	struct diff_focus *f = arg;
	const char *name;

	if (!row_wanted(&f->whose, row))
		return false;
	if (!f->key)
		return true;
	name = f->by ? row_text(f->by, row) : NULL;
	if (!name)
		return false;
	return f->pattern.kind != PATTERN_NONE ? pattern_match(&f->pattern, name, strlen(name))
					       : strcmp(f->key, name) == 0;
}

static const struct table *table_of(const struct diff_family *f, struct pairs *pairs)
{
	return f->kind == &latency_of_pairs ? pairs ? pairs_table(pairs) : NULL
					    : table_find(f->kind->table);
}

static int add_latency(struct latency *l, const struct latency_options *opt,
		       struct diff_whose *whose, struct feed *feed, struct spur_error *err)
{
	int rc = latency_init(l, opt, err);

	whose->pid = latency_column(opt->kind, opt->table, "pid", 3);
	whose->comm = latency_column(opt->kind, opt->table, "comm", 4);
	whose->cpu = latency_column(opt->kind, opt->table, "cpu", 3);
	if (rc == 0)
		feed_add(feed, opt->table, latency_row, l);
	return rc;
}

static int add_dist(struct reader *r, unsigned int i, const struct table *t,
		    struct diff_whose *whose, struct feed *feed, struct spur_error *err)
{
	const struct diff_family *f = &r->d->dists[i];
	const struct latency_options opt = {.kind = f->kind,
					    .table = t,
					    .by = f->by,
					    .memory = DISTS_MEMORY,
					    .wanted = row_wanted,
					    .arg = whose};

	whose->diff = r->d;
	r->s->has[i] = true;
	return add_latency(&r->s->latency[i], &opt, whose, feed, err);
}

static int add_focus(struct reader *r, struct diff_focus *f, const struct table *t,
		     struct feed *feed, struct spur_error *err)
{
	const unsigned int side = r->s == &r->d->side[DIFF_B];
	const struct latency_options opt = {.kind = f->family->kind,
					    .table = t,
					    .worst = r->d->opt.worst,
					    .wanted = focus_wanted,
					    .arg = f};

	f->by = f->family->by ? latency_column(opt.kind, t, f->family->by, strlen(f->family->by))
			      : NULL;
	f->ready[side] = true;
	return add_latency(&f->latency[side], &opt, &f->whose, feed, err);
}

static int add_tables(struct reader *r, struct diff_whose *whose, struct pairs *pairs,
		      struct feed *feed, struct spur_error *err)
{
	static const struct feed_table sums[] = {{&slices_table, take_slice},
						 {&states_table, take_state},
						 {&wakeups_table, take_wakeup}};
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < r->d->nr_dists; i++) {
		const struct table *t =
			r->d->dists[i].kind ? table_of(&r->d->dists[i], pairs) : NULL;

		if (t && (i == DIFF_PAIRS || table_possible(t, r->s->trace)))
			rc = add_dist(r, i, t, &whose[i], feed, err);
	}
	for (size_t i = 0; rc == 0 && i < r->d->focus.n; i++) {
		const struct table *t = table_of(r->d->focus.at[i]->family, pairs);

		if (t)
			rc = add_focus(r, r->d->focus.at[i], t, feed, err);
	}
	feed_add_possible(feed, sums, ARRAY_SIZE(sums), r);
	return rc;
}

static int finish_dists(struct reader *r, struct spur_error *err)
{
	const unsigned int side = r->s == &r->d->side[DIFF_B];
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < DIFF_DISTS; i++)
		if (r->s->has[i])
			rc = latency_finish(&r->s->latency[i], LATENCY_BY_NAME, err);
	for (size_t i = 0; rc == 0 && i < r->d->focus.n; i++)
		if (r->d->focus.at[i]->ready[side])
			rc = latency_finish(&r->d->focus.at[i]->latency[side], LATENCY_BY_NAME,
					    err);
	return rc;
}

static int make_tables(struct reader *r, struct pairs *pairs, struct spur_error *err)
{
	struct diff_whose whose[DIFF_DISTS];
	struct walk_options opt = r->d->opt.walk;
	struct feed *feed;
	int rc, done;

	/* What begins on a wanted CPU may end on another one, so rows are selected, not records. */
	opt.cpus = NULL;
	feed = feed_new(r->s->trace, &opt);
	rc = add_tables(r, whose, pairs, feed, err);
	if (rc == 0)
		rc = feed_run(feed, err);
	if (rc == 0 || rc == -EINTR) {
		done = finish_dists(r, err);
		rc = done < 0 ? done : rc;
	}
	feed_free(feed);
	return rc == 0 ? r->rc : rc;
}

int diff_read(struct diff *d, enum diff_which which, struct spur_trace *t, struct spur_error *err)
{
	struct diff_side *s = &d->side[which];
	struct reader r = {.d = d, .s = s};
	int rc = 0;

	s->trace = t;
	s->cpus = cpus_of(t);
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		s->ticks |= !t->buffers[i].nanoseconds;
	slots_init(&r.last_cpus, sizeof(int64_t), NAMES_MEMORY);
	r.comms = comm_times_new(t, d->opt.walk.stop);
	r.by_event = calloc(t->events->nr + 1, sizeof(*r.by_event));
	if (!r.comms || !r.by_event)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (rc == 0 && d->opt.pairs) {
		s->pairs = pairs_new(t, d->opt.pairs, err);
		rc = s->pairs ? 0 : err->code;
	}
	if (rc == 0)
		rc = count_all(&r, &d->opt.walk, err);
	if (rc == 0)
		rc = make_tables(&r, s->pairs, err);
	if (rc == 0)
		rc = diff_cases_read(d, which, err);
	free(r.by_event);
	comm_times_free(r.comms);
	slots_free(&r.last_cpus);
	return rc < 0 ? error_set(err, rc, "%s", rc == -EINTR ? "stopped" : "out of memory") : 0;
}
