// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Collecting facts: the thread that walks over the trace copies rows of tables into loads, and does
 * little else. Any idle thread adds full loads to their tracks, one at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mutex.h"
#include "base/vec.h"
#include "table/calls.h"
#include "table/sched.h"
#include "table/spans.h"
#include "view/index/collect.h"

#define MOST_LOADS   24	  /* waiting loads; with more, the walking thread does the work itself */
#define HELP_EVERY   2048 /* records between two checks for work that other threads wait for */
#define CHANGE_EVERY 16	  /* loads between two changes of the generation */

/* ---- loads ---- */

static void put_load(struct collector *g, const struct load *l)
{
	builder_begin(g->builder);
	for (uint32_t i = 0; i < l->n; i++)
		collector_take(g, &l->at[i]);
	builder_end(g->builder);
}

static struct load *next_ready(struct collector *g)
{
	struct load *l;

	mutex_hold(&g->lock);
	l = g->ready;
	if (l) {
		g->ready = l->next;
		if (!g->ready)
			g->ready_end = &g->ready;
	}
	return l;
}

static void give_back(struct collector *g, struct load *l)
{
	mutex_hold(&g->lock);
	l->n = 0;
	l->next = g->spare;
	g->spare = l;
}

static bool put_loads(struct collector *g, uint32_t most)
{
	struct load *l;
	uint32_t n = 0;

	while (n < most && (l = next_ready(g)) != NULL) {
		put_load(g, l);
		give_back(g, l);
		n++;
	}
	return n > 0;
}

bool collector_help(struct collector *g)
{
	bool any = false;

	if (!__atomic_load_n(&g->done, __ATOMIC_ACQUIRE) &&
	    pthread_mutex_trylock(&g->putting) == 0) {
		any = put_loads(g, CHANGE_EVERY);
		pthread_mutex_unlock(&g->putting);
		if (any)
			index_changed(g->x);
	}
	return any;
}

static struct load *new_load(struct collector *g)
{
	struct load *l;

	pthread_mutex_lock(&g->lock);
	l = g->spare;
	if (l)
		g->spare = l->next;
	else if (g->nr_loads < MOST_LOADS && (l = malloc(sizeof(*l))) != NULL)
		g->nr_loads++;
	pthread_mutex_unlock(&g->lock);
	if (l)
		l->n = 0;
	return l;
}

static void hand_on(struct collector *g)
{
	struct load *l = g->filling;

	g->filling = NULL;
	if (!l)
		return;
	mutex_hold(&g->lock);
	l->next = NULL;
	*g->ready_end = l;
	g->ready_end = &l->next;
}

/* Gets an empty load: a new one, or one that this thread has added to the tracks itself. */
static bool start_load(struct collector *g)
{
	g->filling = new_load(g);
	if (g->filling)
		return true;
	pthread_mutex_lock(&g->putting);
	put_loads(g, CHANGE_EVERY);
	pthread_mutex_unlock(&g->putting);
	index_changed(g->x);
	/* Another thread may have stored and returned all of them by now. */
	g->filling = new_load(g);
	if (!g->filling)
		index_fail(g->x, -ENOMEM);
	return g->filling != NULL;
}

/* The place of the next fact; NULL without memory. */
static struct fact *next_fact(struct collector *g)
{
	if (g->filling && g->filling->n == LOAD_FACTS)
		hand_on(g);
	if (!g->filling && !start_load(g))
		return NULL;
	return &g->filling->at[g->filling->n++];
}

/* The previous fact, if it is still there. */
static struct fact *last_fact(struct collector *g)
{
	return g->filling && g->filling->n ? &g->filling->at[g->filling->n - 1] : NULL;
}

/* ---- rows of tables become facts ---- */

static uint32_t buffer_of(struct collector *g, const char *name)
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

static enum view_state state_of(const struct state_row *s)
{
	static const enum view_state states[] = {
		[RUN_UNKNOWN] = VIEW_UNKNOWN,	[RUN_RUNNING] = VIEW_RUNNABLE,
		[RUN_RUNNABLE] = VIEW_RUNNABLE, [RUN_SLEEPING] = VIEW_SLEEPING,
		[RUN_BLOCKED] = VIEW_BLOCKED,	[RUN_STOPPED] = VIEW_STOPPED,
		[RUN_DEAD] = VIEW_DEAD,
	};

	return s->reason == state_preempted ? VIEW_PREEMPTED : states[s->state];
}

static uint16_t state_flags(const struct state_row *s)
{
	return flags_of(s->open) | (can_run(s) ? FACT_ACTIVE : 0) |
	       (s->state == RUN_RUNNING ? FACT_RUNNING : 0);
}

/* Adds a fact about a time of a buffer; the caller adds the rest. NULL without memory. */
static struct fact *add_fact(struct collector *g, enum fact_kind kind, uint64_t ts, int64_t dur,
			     const char *buffer)
{
	struct fact *f = next_fact(g);

	if (f)
		*f = (struct fact){
			.kind = kind, .ts = ts, .dur = dur, .buffer = buffer_of(g, buffer)};
	return f;
}

/* Most states begin where another one of the same task has just ended. */
static void on_begin(struct collector *g, const struct state_row *s)
{
	struct fact *f = last_fact(g);

	if (!can_run(s))
		return;
	if (f && f->kind == A_STATE && f->pid == s->pid && f->ts + (uint64_t)f->dur == s->ts &&
	    !(f->flags & FACT_NEXT))
		f->flags |= FACT_NEXT;
	else
		add_fact(g, A_BEGIN, s->ts, 0, s->buffer);
}

static void on_unknown(struct collector *g, const struct state_row *s)
{
	struct fact *f = add_fact(g, AN_UNKNOWN, s->ts, s->dur, s->buffer);

	if (f)
		f->cpu = small(s->cpu);
}

static void on_state(void *collector, const void *row)
{
	const struct state_row *s = row;
	struct fact *f;

	if (s->phase != STATE_ENDS) {
		(s->phase == STATE_BEGINS ? on_begin : on_unknown)(collector, s);
		return;
	}
	f = add_fact(collector, A_STATE, s->ts, s->dur, s->buffer);
	if (!f)
		return;
	f->comm = s->comm;
	f->pid = small(s->pid);
	f->cpu = small(s->cpu);
	f->number = small(s->waker);
	f->state = (uint8_t)state_of(s);
	f->flags = state_flags(s);
}

static void on_irq(void *collector, const void *row)
{
	const struct irq_row *q = row;
	struct fact *f = add_fact(collector, AN_IRQ, q->ts, q->dur, q->buffer);

	if (!f)
		return;
	f->name = q->name;
	f->cpu = small(q->cpu);
	f->number = (int32_t)q->depth;
	f->flags = flags_of(q->open);
}

static void on_softirq(void *collector, const void *row)
{
	const struct softirq_row *s = row;
	struct fact *f = add_fact(collector, A_SOFTIRQ, s->ts, s->dur, s->buffer);

	if (!f)
		return;
	f->name = s->name;
	f->cpu = small(s->cpu);
	f->flags = flags_of(s->open);
}

static void on_syscall(void *collector, const void *row)
{
	const struct syscall_row *s = row;
	struct fact *f = add_fact(collector, A_SYSCALL, s->ts, s->dur, s->buffer);

	if (!f)
		return;
	f->name = s->name;
	f->pid = small(s->pid);
	f->number = small(s->nr);
	f->flags = flags_of(s->open);
}

static void on_call(void *collector, const void *row)
{
	const struct call_row *k = row;
	struct fact *f = add_fact(collector, A_CALL, k->ts, k->dur, k->buffer);

	if (!f)
		return;
	f->name = k->func;
	f->pid = small(k->pid);
	f->cpu = small(k->cpu);
	f->number = k->depth < 0 ? 0 : k->depth < MOST_DEPTH ? (int32_t)k->depth : MOST_DEPTH;
	f->flags = flags_of(k->open);
}

static void on_frequency(void *collector, struct event *e, const struct spur_record *r)
{
	struct collector *g = collector;
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
	f = next_fact(g);
	if (f)
		*f = (struct fact){.kind = A_FREQUENCY,
				   .ts = r->ts,
				   .dur = state < UINT32_MAX ? (int64_t)state : UINT32_MAX,
				   .cpu = (int32_t)cpu,
				   .buffer = r->buffer};
}

static const struct {
	unsigned int builder;
	const struct table *table;
	void (*row)(void *collector, const void *row);
} takes[] = {
	{BUILT_OF_STATES, &states_both_table, on_state},
	{BUILT_OF_SPANS, &irqs_table, on_irq},
	{BUILT_OF_SPANS, &softirqs_table, on_softirq},
	{BUILT_OF_SPANS, &syscalls_table, on_syscall},
	{BUILT_OF_CALLS, &calls_table, on_call},
};

/* Adds the tables of its builder to the feed. */
static void add_tables(struct collector *g)
{
	for (size_t i = 0; i < ARRAY_SIZE(takes); i++) {
		if (takes[i].builder != g->number || !index_has_rows(g->x, takes[i].table))
			continue;
		feed_add(g->feed, takes[i].table, takes[i].row, g);
		g->any = true;
	}
	if (g->number == BUILT_OF_SPANS && index_has_event(g->x, "power", "cpu_frequency")) {
		feed_watch(g->feed, "power:cpu_frequency", on_frequency, g);
		g->any = true;
	}
}

/* ---- tracks ---- */

static void put(struct collector *g, struct track **track, uint32_t row, enum view_track_kind kind,
		uint32_t depth, struct view_interval i)
{
	if (!*track)
		*track = row_new_track(&g->x->rows, g->builder, row, kind, depth);
	if (!*track || !track_add(*track, &g->x->store, i))
		index_fail(g->x, -ENOMEM);
}

void collector_put(struct collector *g, struct track **track, uint32_t row,
		   enum view_track_kind kind, struct view_interval i)
{
	put(g, track, row, kind, 0, i);
}

/*
 * An interval that begins before the last one of its depth is too late for the track of that depth.
 * It is added to the first deeper track for which it is not.
 */
void collector_put_nested(struct collector *g, struct track_nest *n, uint32_t row,
			  enum view_track_kind kind, uint32_t depth, struct view_interval i)
{
	while (depth < n->n && n->at[depth].start > i.start)
		depth++;
	if (depth >= MOST_DEPTH)
		return;
	while (n->n <= depth)
		if (!vec_push(n)) {
			index_fail(g->x, -ENOMEM);
			return;
		}
	put(g, &n->at[depth].track, row, kind, depth, i);
	n->at[depth].start = i.start;
}

/* ---- running ---- */

static void tell_progress(void *collector, uint64_t done, uint64_t total)
{
	const struct collector *g = collector;

	index_progress(g->x, g->number, done, total);
}

struct collector *collector_new(struct view_index *x, unsigned int number)
{
	struct collector *g = calloc(1, sizeof(*g));
	const struct walk_options walk = {
		.stop = &x->stop, .brief = true, .progress = tell_progress, .progress_arg = g};

	if (!g)
		return NULL;
	g->x = x;
	g->number = number;
	g->builder = &x->builders[number];
	g->ready_end = &g->ready;
	slots_init(&g->tasks, sizeof(struct task_tracks), ROWS_LIMIT);
	slots_init(&g->cpus, sizeof(struct cpu_tracks), ROWS_LIMIT);
	slots_init(&g->names, sizeof(uint32_t), ROWS_LIMIT);
	pthread_mutex_init(&g->putting, NULL);
	pthread_mutex_init(&g->lock, NULL);
	g->feed = feed_new(x->trace, &walk);
	add_tables(g);
	if (feed_error(g->feed, NULL) < 0) {
		collector_free(g);
		return NULL;
	}
	return g;
}

static void free_loads(struct load *l)
{
	while (l) {
		struct load *next = l->next;

		free(l);
		l = next;
	}
}

void collector_free(struct collector *g)
{
	if (!g)
		return;
	collector_free_tracks(g);
	feed_free(g->feed);
	free(g->filling);
	free_loads(g->ready);
	free_loads(g->spare);
	slots_free(&g->tasks);
	slots_free(&g->cpus);
	slots_free(&g->names);
	pthread_mutex_destroy(&g->putting);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void collector_run(struct collector *g)
{
	uint64_t n = 0;
	int rc;

	while (g->any && feed_step(g->feed))
		if (++n % HELP_EVERY == 0)
			index_help(g->x, g);
	rc = feed_error(g->feed, NULL);
	if (rc < 0 && rc != -EINTR)
		index_fail(g->x, rc);
	hand_on(g);
	pthread_mutex_lock(&g->putting);
	put_loads(g, UINT32_MAX);
	builder_begin(g->builder);
	collector_rest(g);
	builder_end(g->builder);
	__atomic_store_n(&g->done, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&g->putting);
	if (!index_stopped(g->x) && !builder_finish(g->builder, &g->x->store))
		index_fail(g->x, -ENOMEM);
	index_progress(g->x, g->number, 1, 1);
}
