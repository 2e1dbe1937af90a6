// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of calls: frames, what they cost, and rows. calls_graph.c and calls_probes.c say where
 * frames begin and end.
 *
 * Calls belong to tasks, which move between CPUs. The time that a task is scheduled out is summed
 * up from sched_switch. A frame stores that sum as it was when the frame began.
 */
#include "table/calls_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/names.h"
#include "base/array.h"

#define TASKS_LIMIT	(32u << 20)
#define CPUS_LIMIT	(1u << 20)
#define FUNCTIONS_LIMIT (16u << 20)
#define NAMES_LIMIT	(16u << 20)
#define MAX_FRAMES	(1 << 18) /* of all tasks */

/* ---- tasks and functions ---- */

static void doubt_frames(const struct frame_nest *n, uint64_t certain)
{
	for (uint32_t i = 0; i < n->n; i++)
		if (!n->at[i].certain)
			n->at[i].certain = certain;
}

/* Whether the CPU has lost events since the task was seen there. */
static bool lost_on(struct calls *a, const struct calling_task *t)
{
	const uint32_t *lost = slots_find(&a->lost, t->cpu);

	return lost && *lost > t->losses;
}

/*
 * Notes that a record is about a task; events of the task may have been lost since it was last
 * seen.
 */
static void see(struct calls *a, struct calling_task *t, const struct spur_record *r)
{
	const bool stayed = t->cpu == r->cpu && !t->is_off && r->ts - t->seen < SHORT_STAY;

	if (losses_since(&a->losses, t->seen, t->losses) && (!stayed || lost_on(a, t))) {
		t->doubts++;
		doubt_frames(&t->graph, t->seen);
		doubt_frames(&t->probes, t->seen);
	}
	t->seen = r->ts;
	t->cpu = r->cpu;
	t->losses = a->losses.n;
}

struct calling_task *calls_task(struct calls *a, int pid, const struct spur_record *r)
{
	struct calling_task *t = slots_get(&a->by_key, task_key(pid, r->cpu));

	if (!t) {
		*a->src->failed = -E2BIG;
		return NULL;
	}
	if (!t->known) {
		t->known = true;
		t->pid = pid;
		t->next = a->tasks;
		a->tasks = t;
	}
	see(a, t, r);
	/* Between the event and the switch itself, the task still calls functions. */
	if (t->is_off)
		t->off_since = r->ts;
	return t;
}

struct calling_task *calls_switched(struct calls *a, int pid, const struct spur_record *r)
{
	struct calling_task *t = slots_find(&a->by_key, task_key(pid, r->cpu));

	if (t)
		see(a, t, r);
	return t;
}

const struct called_function *calls_function(struct calls *a, uint64_t addr)
{
	static const struct called_function none;
	struct called_function *f = slots_get(&a->functions, addr);
	const struct symbol *s;

	if (!f)
		return &none;
	if (f->known)
		return f;
	s = symbols_find(a->events->symbols, addr);
	*f = (struct called_function){s ? s->name : NULL, s ? s->addr : addr, true};
	if (!s) {
		struct buf text;

		buf_init(&text, 32);
		buf_puts(&text, "0x");
		buf_hex(&text, addr);
		f->name = intern_text(&a->names, text.data, text.len);
		buf_free(&text);
	}
	return f;
}

/* ---- rows ---- */

void calls_hand_out(struct calls *a, const struct calling_task *t, struct call_row *row)
{
	row->pid = t->pid;
	row->comm = comm_at(a->comms, t->pid, row->ts);
	row->buffer = a->src->buffer->data->name;
	a->src->row(a->src->arg, row);
}

/* The caller of the n-th frame, or NULL. */
static struct frame *caller_of(const struct frame_nest *n, uint32_t i)
{
	return i > 0 && !n->at[i].orphan ? &n->at[i - 1] : NULL;
}

/* Whether a call of the same function is around the n-th. */
static bool is_recursive(const struct frame_nest *n, uint32_t i)
{
	const char *func = n->at[i].func;

	while (i > 0 && !n->at[i].orphan)
		if (n->at[--i].func == func)
			return true;
	return false;
}

static void describe(const struct frame_nest *n, const struct frame *f, struct call_row *row)
{
	const struct frame *caller = caller_of(n, (uint32_t)(f - n->at));

	row->ts = f->ts;
	row->cpu = f->cpu;
	row->func = f->func;
	row->addr = (int64_t)f->addr;
	row->depth = f->depth;
	row->id = f->id;
	row->parent = caller ? caller->func : f->caller;
	row->parent_id = caller ? caller->id : ROW_NULL;
	row->recursive = is_recursive(n, (uint32_t)(f - n->at));
}

static void pop(struct calls *a, struct frame_nest *n)
{
	n->n--;
	a->nr_frames--;
	/* The frame around an orphan has made calls that are not known. */
	if (n->n && n->at[n->n].orphan)
		n->at[n->n - 1].inner_unknown = true;
}

void calls_end_frame(struct calls *a, struct calling_task *t, struct frame_nest *n,
		     const struct call_end *end)
{
	struct frame *f = nest_top(n), *caller = caller_of(n, n->n - 1);
	const int64_t dur = end->dur != ROW_NULL ? end->dur : ns_span(f->ts, end->ts);
	const bool whole = f->born == t->doubts;
	const bool scheduled = whole && a->switches && f->gaps == t->off_gaps;
	const int64_t off = scheduled ? (int64_t)(t->off - f->off) : ROW_NULL;
	const bool inner = whole && !f->inner_unknown;
	struct call_row row = {
		.dur = dur,
		.self = inner ? (dur > f->inner ? dur - f->inner : 0) : ROW_NULL,
		.off_cpu = off,
		.self_off_cpu = scheduled && inner && f->inner_off != ROW_NULL
					? (off > f->inner_off ? off - f->inner_off : 0)
					: ROW_NULL,
		.retval = end->retval,
		.phase = CALL_ENDS,
	};

	describe(n, f, &row);
	calls_hand_out(a, t, &row);
	if (caller) {
		caller->inner = ns_add(caller->inner, dur);
		if (off == ROW_NULL)
			caller->inner_off = ROW_NULL;
		else if (caller->inner_off != ROW_NULL)
			caller->inner_off = ns_add(caller->inner_off, off);
	}
	pop(a, n);
}

void calls_leave_open(struct calls *a, struct calling_task *t, struct frame_nest *n, uint64_t ts)
{
	struct frame *f = nest_top(n), *caller = caller_of(n, n->n - 1);
	struct call_row row = {.self = ROW_NULL,
			       .off_cpu = ROW_NULL,
			       .self_off_cpu = ROW_NULL,
			       .retval = ROW_NULL,
			       .open = ROW_OPEN_END,
			       .phase = CALL_ENDS};

	row.dur = ns_span(f->ts, f->certain ? f->certain : ts);
	describe(n, f, &row);
	calls_hand_out(a, t, &row);
	if (caller)
		caller->inner_unknown = true;
	pop(a, n);
}

void calls_only_end(struct calls *a, struct calling_task *t, struct frame_nest *n,
		    struct call_row *row)
{
	struct frame *around = nest_top(n);

	row->self = row->off_cpu = row->self_off_cpu = row->parent_id = row->cpu = ROW_NULL;
	row->id = a->next_id++;
	if (around)
		around->inner_unknown = true;
	calls_hand_out(a, t, row);
}

static void tell_begin(struct calls *a, const struct calling_task *t, const struct frame_nest *n)
{
	struct call_row row = {.dur = ROW_NULL,
			       .self = ROW_NULL,
			       .off_cpu = ROW_NULL,
			       .self_off_cpu = ROW_NULL,
			       .retval = ROW_NULL,
			       .phase = CALL_BEGINS};

	describe(n, nest_top(n), &row);
	calls_hand_out(a, t, &row);
}

struct frame *calls_begin_frame(struct calls *a, struct calling_task *t, struct frame_nest *n,
				const struct spur_record *r, uint64_t addr, const char *func,
				int64_t depth)
{
	struct frame *f;

	if (n->n == CALLS_DEPTH || a->nr_frames == MAX_FRAMES)
		return NULL;
	if (n->n == n->cap) {
		const uint32_t cap = n->cap ? n->cap * 2 : 8;
		struct frame *more = reallocarray(n->at, cap, sizeof(*more));

		if (!more)
			return NULL;
		n->at = more;
		n->cap = cap;
	}
	f = &n->at[n->n++];
	a->nr_frames++;
	*f = (struct frame){.ts = r->ts,
			    .id = a->next_id++,
			    .addr = addr,
			    .func = func,
			    .depth = depth,
			    .off = t->off,
			    .gaps = t->off_gaps,
			    .born = t->doubts,
			    .gen = t->doubts,
			    .cpu = r->cpu};
	f->orphan = n->n > 1 && n->at[n->n - 2].gen != t->doubts;
	if (a->both)
		tell_begin(a, t, n);
	return f;
}

/* ---- records ---- */

static void calls_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct calls *a = analysis;

	if (!graph_record(a, e, r))
		probes_record(a, e, r);
}

static void calls_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct calls *a = analysis;
	uint32_t *lost;

	losses_add(&a->losses, to);
	lost = slots_get(&a->lost, cpu);
	if (lost)
		*lost = a->losses.n;
	if (from)
		a->lost_since = from;
}

static void calls_end(void *analysis, uint64_t ts)
{
	struct calls *a = analysis;

	for (struct calling_task *t = a->tasks; t; t = t->next) {
		while (t->graph.n)
			calls_leave_open(a, t, &t->graph, ts);
		while (t->probes.n)
			calls_leave_open(a, t, &t->probes, ts);
		exits_hand_out(a, t);
	}
}

/* ---- making ---- */

static void calls_free(void *analysis)
{
	struct calls *a = analysis;

	for (struct calling_task *t = a->tasks; t; t = t->next) {
		free(t->graph.at);
		free(t->probes.at);
		free(t->ended.at);
	}
	graph_free(a->graph);
	probes_free(a->probes);
	slots_free(&a->lost);
	slots_free(&a->by_key);
	slots_free(&a->functions);
	intern_free(&a->names);
	comm_times_free(a->comms);
}

static int calls_begin(void *analysis, const struct table_source *src)
{
	struct calls *a = analysis;

	a->src = src;
	a->events = src->trace->events;
	a->next_id = ((int64_t)src->buffer->index << CALL_ID_BITS) + 1;
	intern_init(&a->names, NAMES_LIMIT);
	slots_init(&a->functions, sizeof(struct called_function), FUNCTIONS_LIMIT);
	slots_init(&a->lost, sizeof(uint32_t), CPUS_LIMIT);
	slots_init(&a->by_key, sizeof(struct calling_task), TASKS_LIMIT);
	a->start = buffer_start(src->buffer);
	a->graph = graph_new(a);
	a->probes = probes_new(a);
	return a->graph && a->probes ? comm_times_for(src, &a->comms) : -ENOMEM;
}

static int calls_begin_both(void *analysis, const struct table_source *src)
{
	((struct calls *)analysis)->both = true;
	return calls_begin(analysis, src);
}

#define COLUMN(kind, member, about) ROW_COLUMN(call_row, kind, member, about)

static const struct column columns[] = {
	COLUMN(TIME, ts, "when it began"),
	COLUMN(DURATION, dur, "until it returned"),
	COLUMN(DURATION, self, "without the calls it made"),
	COLUMN(DURATION, off_cpu, "of dur: while the task was scheduled out"),
	COLUMN(DURATION, self_off_cpu, "of self: the same"),
	COLUMN(NUMBER, cpu, "it began on"),
	COLUMN(NUMBER, pid, "the task"),
	COLUMN(TEXT, comm, "the task's name"),
	COLUMN(TEXT, func, "the function"),
	COLUMN(NUMBER, addr, "its address"),
	COLUMN(NUMBER, depth, "calls around it"),
	COLUMN(TEXT, parent, "the function that called it"),
	COLUMN(NUMBER, id, "counts calls in order of their beginning"),
	COLUMN(NUMBER, parent_id, "id of the call around it"),
	COLUMN(NUMBER, retval, "what it returned, where that was recorded"),
	COLUMN(NUMBER, recursive, "1: within another call of the same function"),
	ROW_NAMES(call_row, open, row_open_names, "the end that is not known: start, end"),
	COLUMN(TEXT, buffer, "it was recorded in"),
};

static const char *const events[] = {
	"ftrace:funcgraph_entry",
	"ftrace:fgraph_retaddr_entry",
	"ftrace:funcgraph_exit",
	"sched:sched_switch",
	NULL,
};
static const char *const needs[] = {"ftrace:funcgraph_exit", NULL};

/* Not starts_anywhere: calls are numbered from the trace's start. */
#define CALLS_TABLE(begin_with)                                                                    \
	{                                                                                          \
		.name = "calls",                                                                   \
		.about = "function calls, from the function_graph tracer or pairs of probes",      \
		.columns = columns, .nr_columns = ARRAY_SIZE(columns),                             \
		.row_size = sizeof(struct call_row), .events = events, .needs = needs,             \
		.wants = probes_want, .analysis_size = sizeof(struct calls),                       \
		.begin = (begin_with), .record = calls_record, .losing = calls_losing,             \
		.end = calls_end, .free = calls_free,                                              \
	}

const struct table calls_table = CALLS_TABLE(calls_begin);
const struct table calls_both_table = CALLS_TABLE(calls_begin_both);
