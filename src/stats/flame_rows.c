// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of a trace as a tree of frames: from `samples` and `stacks` with a weight, or from
 * `calls`.
 *
 * Two weights are not in the rows. A field's value is in the event's record, which is seen before
 * the row comes (feed_watch()); the time off the CPU is known when the task runs again, before or
 * after its row. Both are joined by the time of the event, with a few that wait: a row comes at the
 * latest with the next event of its CPU.
 */
#include "stats/flame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/suggest.h"
#include "table/feed.h"
#include "table/analysis.h"
#include "table/calls.h"
#include "table/sched/events.h"
#include "table/stacks.h"
#include "table/walk.h"

#define TASK_BYTES (64u << 20)
#define WAITING	   8 /* of a CPU or a task */
#define SLOT_BYTES (64u << 20)

/* Where a record was written: in a task, a softirq, an interrupt, an NMI. */
#define CONTEXTS 4

/* ---- what is wanted ---- */

bool flame_wants_time(const struct flame_wanted *w, uint64_t ts)
{
	return ts >= w->walk.since && (!w->walk.until || ts <= w->walk.until);
}

bool flame_wants_event(const struct flame_wanted *w, const char *system, const char *event)
{
	char name[PATTERN_MAX];
	int len;

	if (!w->nr_events || !event)
		return !w->nr_events;
	len = snprintf(name, sizeof(name), "%s:%s", system, event);
	for (size_t i = 0; (size_t)len < sizeof(name) && i < w->nr_events; i++)
		if (pattern_match(&w->events[i], name, (size_t)len))
			return true;
	return false;
}

bool flame_wants(const struct flame_wanted *w, int64_t cpu, int64_t pid, const char *comm,
		 const char *buffer)
{
	const struct walk_options *o = &w->walk;

	if (o->cpus && (cpu < 0 || cpu >= o->nr_cpus || !(o->cpus[cpu / 64] >> (cpu % 64) & 1)))
		return false;
	if (w->buffer && strcmp(w->buffer, buffer ? buffer : "") != 0)
		return false;
	return !w->task || w->task(w->task_arg, pid, comm);
}

/* Where the stacks of a task on a CPU begin. */
static struct flame_node *flame_base(struct flame *f, const struct flame_wanted *w, int64_t cpu,
				     int64_t pid, const char *comm)
{
	struct flame_node *n = f->root;
	struct buf name;

	if (w->by_cpu) {
		buf_init(&name, 32);
		buf_puts(&name, "CPU ");
		if (cpu == ROW_NULL)
			buf_putc(&name, '?');
		else
			buf_i64(&name, cpu);
		n = flame_child(f, n, name.data, name.len);
		buf_free(&name);
	}
	if (w->by_task && !comm)
		comm = "<...>";
	return w->by_task ? flame_child(f, n, comm, strlen(comm)) : n;
}

/* ---- time off the CPU ---- */

/*
 * The time from the sched_switch away from a task to the next switch to it, on any CPU. If events
 * were lost meanwhile, the task may have run in between, so the time is unknown. The same is true
 * for tasks whose switches were not all recorded (see sched_all_switches()), and for a task that a
 * record shows on a CPU meanwhile.
 */

/* How long a task was off the CPU, from the sched_switch at ts on. */
struct off_cpu_row {
	uint64_t ts;
	int64_t dur;
	int64_t pid;
	int64_t cpu;
	const char *buffer;
};

struct left_cpu {
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

static int off_cpu_begin(void *analysis, const struct table_source *src)
{
	struct off_cpu *o = analysis;

	o->src = src;
	slots_init(&o->tasks, sizeof(struct left_cpu), TASK_BYTES);
	return 0;
}

static void leaves(struct off_cpu *o, int64_t pid, const struct spur_record *r)
{
	struct left_cpu *w = pid > 0 ? slots_get(&o->tasks, (uint64_t)pid) : NULL;

	if (w)
		*w = (struct left_cpu){r->ts, o->losses.n, r->cpu,
				       sched_all_switches(o->src, (int32_t)pid)};
}

static void comes(struct off_cpu *o, int64_t pid, const struct spur_record *r)
{
	struct left_cpu *w = pid > 0 ? slots_find(&o->tasks, (uint64_t)pid) : NULL;
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

static void off_cpu_record(void *analysis, struct event *e, const struct spur_record *r)
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

static void off_cpu_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	losses_add(&((struct off_cpu *)analysis)->losses, to);
}

static void off_cpu_evidence(void *analysis, const struct walk_evidence *e)
{
	struct off_cpu *o = analysis;
	struct left_cpu *w = e->pid > 0 && !e->gone && !e->silent
				     ? slots_find(&o->tasks, (uint64_t)e->pid)
				     : NULL;

	if (w)
		w->waits = false;
}

static void off_cpu_free(void *analysis)
{
	slots_free(&((struct off_cpu *)analysis)->tasks);
}

#define COLUMN(kind, member, about) ROW_COLUMN(off_cpu_row, kind, member, about)

static const struct column columns[] = {
	COLUMN(TIME, ts, "when it left the CPU"),
	COLUMN(DURATION, dur, "until it ran again"),
	COLUMN(NUMBER, pid, "the task"),
	COLUMN(NUMBER, cpu, "it left"),
};

static const char *const events[] = {"sched:sched_switch", NULL};

/* A task that has not come back has no time yet, so nothing happens at the end. */
static const struct table off_cpu_table = {
	.name = "off_cpu",
	.about = "times in which tasks were off the CPU",
	.columns = columns,
	.nr_columns = ARRAY_SIZE(columns),
	.row_size = sizeof(struct off_cpu_row),
	.events = events,
	.needs = events,
	.starts_anywhere = true,
	.analysis_size = sizeof(struct off_cpu),
	.begin = off_cpu_begin,
	.record = off_cpu_record,
	.losing = off_cpu_losing,
	.evidence = off_cpu_evidence,
	.free = off_cpu_free,
};

/* ---- calls ---- */

/*
 * Rows come when calls end, so callees come before their callers. The callees of a call are a
 * detached tree until the call itself comes; then they become part of its caller's tree. There are
 * at most as many detached trees as open calls.
 *
 * All calls are read, even if few were selected: their callers may not be selected. Calls that are
 * not selected count nothing, and are left out if no call below them counts.
 */

struct call_tree {
	struct flame *flame;
	unsigned int side;
	const struct flame_wanted *wanted;
	struct map waiting; /* by call: what it has called */
};

static uint64_t value_of(const struct call_tree *t, const struct call_row *r)
{
	const struct flame_wanted *w = t->wanted;
	int64_t self = r->self;

	if (!flame_wants_time(w, r->ts) || !flame_wants(w, r->cpu, r->pid, r->comm, r->buffer))
		return 0;
	if (w->weight == FLAME_COUNT)
		return 1;
	if (w->weight == FLAME_ON_CPU && self > 0 && r->self_off_cpu > 0)
		self -= r->self_off_cpu;
	return self > 0 ? (uint64_t)self : 0;
}

/* Where a call belongs: below its caller, which may still have to come. */
static struct flame_node *place_of(struct call_tree *t, const struct call_row *r)
{
	const uint64_t key = (uint64_t)r->parent_id;
	struct flame_node *n;

	if (r->parent_id == ROW_NULL)
		return flame_base(t->flame, t->wanted, r->cpu, r->pid, r->comm);
	n = map_get(&t->waiting, key);
	if (n)
		return n;
	n = flame_detached(t->flame);
	if (n && map_set(&t->waiting, key, n))
		return n;
	/* Without memory it becomes an outermost call. */
	return t->flame->root;
}

static void take_call(void *arg, const void *row)
{
	struct call_tree *t = arg;
	const struct call_row *r = row;
	struct flame_node *called = map_remove(&t->waiting, (uint64_t)r->id);
	const char *func = r->func ? r->func : "[unknown]";
	struct flame_node *place = place_of(t, r);
	const uint64_t value = value_of(t, r);

	if (called) {
		if (value)
			flame_add(t->flame, t->side, called, value);
		flame_attach(t->flame, place, func, strlen(func), called);
	} else if (value) {
		flame_add(t->flame, t->side, flame_child(t->flame, place, func, strlen(func)),
			  value);
	}
}

/* Calls whose callers never came, as those before a loss of events. */
static void place_rest(struct call_tree *t)
{
	for (size_t i = 0; i < t->waiting.cap; i++)
		if (t->waiting.slots[i].value)
			flame_merge(t->flame, t->waiting.slots[i].value, t->flame->root);
}

static int flame_read_calls(struct flame *f, unsigned int side, struct spur_trace *t,
			    const struct flame_wanted *w, struct spur_error *err)
{
	struct call_tree tree = {.flame = f, .side = side, .wanted = w};
	const struct walk_options everything = {.stop = w->walk.stop,
						.threads = w->walk.threads,
						.take = w->walk.take,
						.take_arg = w->walk.take_arg,
						.progress = w->walk.progress,
						.progress_arg = w->walk.progress_arg};
	struct feed *feed = feed_new(t, &everything);
	int rc;

	feed_add(feed, &calls_table, take_call, &tree);
	rc = feed_run(feed, err);
	place_rest(&tree);
	map_free(&tree.waiting);
	feed_free(feed);
	return rc;
}

/* ---- rows ---- */

/* Data from one side of a pair that waits for the other side. */
struct waiting {
	uint64_t ts;
	uint64_t value;
	struct flame_node *node; /* NULL: it is the value that is known */
	const char *event;
	bool used;
};

struct ring {
	struct waiting at[WAITING];
	unsigned int next;
};

static unsigned int context_of(unsigned int flags)
{
	return flags & 0x40 ? 3 : flags & 0x08 ? 2 : flags & 0x10 ? 1 : 0;
}

struct stack_reading {
	struct flame *flame;
	unsigned int side;
	const struct flame_wanted *wanted;
	struct spur_trace *trace;
	const struct event_field **fields; /* by the event's index */
	struct slots rings;		   /* by CPU or task */
};

/* A task of a buffer, or a context of a CPU. */
static struct ring *ring_of(struct stack_reading *r, const char *buffer, int64_t number)
{
	uint64_t index = 0;

	while (index < r->trace->nr_buffers && r->trace->buffers[index].data->name != buffer)
		index++;
	return slots_get(&r->rings, index << 32 | (uint32_t)number);
}

static struct ring *context_ring(struct stack_reading *r, const char *buffer, int64_t cpu,
				 unsigned int context)
{
	return ring_of(r, buffer, cpu * CONTEXTS + context);
}

static struct waiting *find_waiting(struct ring *ring, uint64_t ts, bool node, const char *event)
{
	for (size_t i = 0; ring && i < WAITING; i++) {
		struct waiting *w = &ring->at[i];

		if (w->used && w->ts == ts && (w->node != NULL) == node &&
		    (!event || (w->event && strcmp(w->event, event) == 0)))
			return w;
	}
	return NULL;
}

/* Takes a free place, or that of the next one in turn. */
static void wait_for(struct ring *ring, struct waiting w)
{
	unsigned int i = 0;

	if (!ring)
		return;
	while (i < WAITING && ring->at[(ring->next + i) % WAITING].used)
		i++;
	i = (ring->next + i) % WAITING;
	w.used = true;
	ring->at[i] = w;
	ring->next = (i + 1) % WAITING;
}

static void add(struct stack_reading *r, struct flame_node *n, uint64_t value)
{
	if (value)
		flame_add(r->flame, r->side, n, value);
}

/* An event's stack may come after many of interrupts, but those have another context. */
static void take_by_field(struct stack_reading *r, const struct sample_row *s, struct flame_node *n)
{
	for (unsigned int i = 0; i < CONTEXTS; i++) {
		struct ring *ring = context_ring(r, s->buffer, s->cpu, i);
		struct waiting *known = find_waiting(ring, s->ts, false, s->event);

		if (!known)
			continue;
		add(r, n, known->value);
		known->used = false;
		return;
	}
}

static void take_by_off_cpu(struct stack_reading *r, const struct sample_row *s,
			    struct flame_node *n)
{
	struct ring *ring = ring_of(r, s->buffer, s->pid);
	struct waiting *known = find_waiting(ring, s->ts, false, NULL);

	if (!known) {
		wait_for(ring, (struct waiting){.ts = s->ts, .node = n});
		return;
	}
	add(r, n, known->value);
	known->used = false;
}

static void add_stack(struct stack_reading *r, const struct sample_row *s)
{
	const struct flame_wanted *w = r->wanted;
	struct flame_node *n;

	if (!flame_wants(w, s->cpu, s->pid, s->comm, s->buffer) ||
	    !flame_wants_event(w, s->system, s->event))
		return;
	n = flame_base(r->flame, w, s->cpu, s->pid, s->comm);
	if (s->stack)
		n = flame_stack(r->flame, n, s->stack, strlen(s->stack));
	if (w->weight == FLAME_FIELD)
		take_by_field(r, s, n);
	else if (w->weight == FLAME_OFF_CPU)
		take_by_off_cpu(r, s, n);
	else
		add(r, n, 1);
}

static void take_sample(void *arg, const void *row)
{
	add_stack(arg, row);
}

static void take_stack(void *arg, const void *row)
{
	const struct stack_row *s = row;
	const struct sample_row same = {.ts = s->ts,
					.cpu = s->cpu,
					.pid = s->pid,
					.comm = s->comm,
					.event = s->event,
					.system = s->system,
					.stack = s->stack,
					.buffer = s->buffer};

	add_stack(arg, &same);
}

static void take_off_cpu(void *arg, const void *row)
{
	struct stack_reading *r = arg;
	const struct off_cpu_row *o = row;
	struct ring *ring = ring_of(r, o->buffer, o->pid);
	struct waiting *sample = find_waiting(ring, o->ts, true, NULL);

	if (sample) {
		add(r, sample->node, (uint64_t)o->dur);
		sample->used = false;
	} else {
		wait_for(ring, (struct waiting){.ts = o->ts, .value = (uint64_t)o->dur});
	}
}

static void take_record(void *arg, struct event *e, const struct spur_record *rec)
{
	struct stack_reading *r = arg;
	const struct event_field *f = r->fields[e->index];
	uint64_t value;

	if (!f || !field_number(r->trace->events, f, rec, &value))
		return;
	/*
	 * Frames cannot have a negative width: a negative value means that nothing was allocated.
	 */
	if (f->flags & FIELD_SIGNED && (int64_t)value < 0)
		value = 0;
	wait_for(context_ring(r, r->trace->buffers[rec->buffer].data->name, rec->cpu,
			      context_of(events_record_flags(r->trace->events, rec))),
		 (struct waiting){.ts = rec->ts, .value = value, .event = e->name});
}

/* ---- the weight of a field ---- */

static int no_field(const struct stack_reading *r, struct spur_error *err)
{
	const char *field = r->wanted->field, *best;
	struct suggest near = suggest_for(field, strlen(field));
	const struct events *ev = r->trace->events;
	bool any = false;

	for (size_t i = 0; i < ev->nr; i++) {
		struct event *e = ev->list[i];

		if (!flame_wants_event(r->wanted, e->system, e->name))
			continue;
		any = true;
		/* Parsing the formats of all events for a hint would take its time. */
		for (uint32_t k = e->nr_common; r->wanted->nr_events && k < e->nr_fields; k++)
			suggest_try(&near, e->fields[k].name);
	}
	if (!any)
		return error_set(err, -EINVAL, "the trace knows no such event");
	best = suggest_best(&near);
	if (best && strcmp(best, field) == 0)
		return error_set(err, -EINVAL, "'%s' is no number", field);
	return error_set(err, -EINVAL, "no event has a number '%s'%s", field, suggest_hint(&near));
}

static int watch_fields(struct stack_reading *r, struct feed *feed, struct spur_error *err)
{
	const struct events *ev = r->trace->events;
	bool any = false;

	r->fields = calloc(ev->nr + 1, sizeof(*r->fields));
	if (!r->fields)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < ev->nr; i++) {
		struct event *e = ev->list[i];
		const struct event_field *f;
		struct buf name;

		if (!flame_wants_event(r->wanted, e->system, e->name))
			continue;
		f = event_field_find(e, r->wanted->field);
		if (!f || f->flags & (FIELD_ARRAY | FIELD_DYNAMIC | FIELD_RELATIVE))
			continue;
		r->fields[e->index] = f;
		any = true;
		buf_init(&name, PATTERN_MAX);
		buf_printf(&name, "%s:%s", e->system, e->name);
		feed_watch(feed, buf_str(&name), take_record, r);
		buf_free(&name);
	}
	return any ? 0 : no_field(r, err);
}

/* ---- reading ---- */

static int feed_stacks(struct stack_reading *r, struct feed *feed, enum flame_from from,
		       struct spur_error *err)
{
	int rc = 0;

	if (from == FLAME_STACKS)
		feed_add(feed, &stacks_table, take_stack, r);
	else
		feed_add(feed, &samples_table, take_sample, r);
	if (r->wanted->weight == FLAME_FIELD)
		rc = watch_fields(r, feed, err);
	if (r->wanted->weight == FLAME_OFF_CPU)
		feed_add(feed, &off_cpu_table, take_off_cpu, r);
	return rc < 0 ? rc : feed_run(feed, err);
}

static int read_stacks(struct flame *f, unsigned int side, struct spur_trace *t,
		       const struct flame_wanted *w, enum flame_from from, struct spur_error *err)
{
	struct stack_reading r = {.flame = f, .side = side, .wanted = w, .trace = t};
	struct walk_options walk = w->walk;
	struct feed *feed;
	int rc;

	/* A task may run again on any CPU. */
	if (w->weight == FLAME_OFF_CPU)
		walk.cpus = NULL;
	feed = feed_new(t, &walk);
	slots_init(&r.rings, sizeof(struct ring), SLOT_BYTES);
	rc = feed_stacks(&r, feed, from, err);
	feed_free(feed);
	slots_free(&r.rings);
	free(r.fields);
	return rc;
}

/* Whether function_graph was recorded, if only exits (see calls_graph.c). A negative errno. */
static int has_calls(struct spur_trace *t, const struct flame_wanted *w, struct spur_error *err)
{
	const struct walk_options o = {.stop = w->walk.stop};
	struct walk walk;
	int found = walk_open(&walk, t, &o, err);

	for (size_t i = 0; found == 0 && i < t->events->nr; i++)
		if (event_named(t->events->list[i], "ftrace:funcgraph_*") ||
		    event_named(t->events->list[i], "ftrace:fgraph_*"))
			walk_want(&walk, t->events->list[i]);
	if (found == 0 && walk_next(&walk))
		found = 1;
	if (walk.stopped)
		found = error_set(err, -EINTR, "stopped");
	walk_close(&walk);
	return found;
}

static int choose(struct spur_trace *t, const struct flame_wanted *w, enum flame_from *from,
		  struct spur_error *err)
{
	int calls = 0;

	*from = w->from;
	if (w->from != FLAME_ANY)
		return 0;
	/* An event's name and its field ask for stacks of events. */
	if (!w->nr_events && w->weight != FLAME_FIELD && w->weight != FLAME_OFF_CPU)
		calls = has_calls(t, w, err);
	*from = calls > 0 ? FLAME_CALLS : FLAME_SAMPLES;
	return calls < 0 ? calls : 0;
}

int flame_read(struct flame *f, unsigned int side, struct spur_trace *t,
	       const struct flame_wanted *w, enum flame_from *from, struct spur_error *err)
{
	int rc = choose(t, w, from, err);

	if (rc < 0)
		return rc;
	if (*from == FLAME_CALLS) {
		if (w->weight == FLAME_FIELD || w->weight == FLAME_OFF_CPU || w->nr_events)
			return error_set(err, -EINVAL,
					 "events, their fields and times off the CPU go with "
					 "samples and stacks, not with calls");
		return flame_read_calls(f, side, t, w, err);
	}
	if (w->weight == FLAME_TIME || w->weight == FLAME_ON_CPU)
		return error_set(err, -EINVAL,
				 "a stack has no time of its own; calls of function_graph have");
	return read_stacks(f, side, t, w, *from, err);
}

/* ---- words ---- */

/* The index of a word; 0, which has none, if it is not there. */
static unsigned int word_index(const char *const *words, size_t n, const char *name)
{
	while (--n && strcmp(words[n], name) != 0)
		;
	return (unsigned int)n;
}

bool flame_from_named(const char *name, enum flame_from *from)
{
	static const char *const words[] = {
		[FLAME_SAMPLES] = "samples", [FLAME_STACKS] = "stacks", [FLAME_CALLS] = "calls"};
	const unsigned int i = word_index(words, ARRAY_SIZE(words), name);

	*from = i ? (enum flame_from)i : *from;
	return i;
}

bool flame_weight_named(const char *name, enum flame_weight *weight)
{
	static const char *const words[] = {
		[FLAME_COUNT] = "count", [FLAME_TIME] = "time", [FLAME_ON_CPU] = "oncpu"};
	const unsigned int i = word_index(words, ARRAY_SIZE(words), name);

	*weight = i ? (enum flame_weight)i : *weight;
	return i;
}
