// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The text of the tracers that show calls with their durations: function_graph, and
 * function_duration, which some vendors' kernels have.
 */
#include "import/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nanoseconds.h"
#include "base/vec.h"

/* ---- function_graph ------------------------------------------------------------------- */

/*
 * The text of the function_graph tracer:
 *
 *	# CPU  DURATION                  FUNCTION CALLS
 *	 0)               |  do_sys_open() {
 *	 0)   0.123 us    |    getname();
 *	 0)               |    [* sched_waking: comm=…  *]
 *	 0) + 12.34 us    |  } [* do_sys_open *]
 *
 * Depending on options a time stands before the CPU ("  63910.617010 |   0)", "  17 us |   0)"),
 * and the task after it ("  bash-1977  |"). Without times the calls of a CPU are laid end to end,
 * as long as the text says they took. Where a CPU changes to another task there is
 * "0)  bash-1977  =>  sh-4802", which also says whose the calls before were. Other events stand in
 * comments: those of the kernel with their names, markers with nothing but their text.
 */

#define MAX_DEPTH 64
#define MAX_TASKS 20000 /* whose calls are followed at a time */

struct open_call {
	uint64_t func, ts;
	bool open;
};

struct task {
	struct open_call calls[MAX_DEPTH];
};

struct graph_cpu {
	uint64_t clock; /* without times: how far the calls reach */
	int pid;
	bool changed; /* the first change of tasks has been seen */
};

struct text_graph {
	struct import *im;
	struct text_ftrace *ftrace;
	struct map tasks; /* by pid, or by CPU where no task is known */
	struct map cpus;
	bool timeless;
};

struct text_graph *text_graph_new(struct import *im, struct text_ftrace *ftrace)
{
	struct text_graph *g = import_alloc(im, sizeof(*g));

	if (!g)
		return NULL;
	g->im = im;
	g->ftrace = ftrace;
	return g;
}

void text_graph_free(struct text_graph *g)
{
	if (!g)
		return;
	map_free(&g->tasks);
	map_free(&g->cpus);
}

static struct graph_cpu *cpu_of(struct text_graph *g, uint32_t cpu)
{
	return import_get(g->im, &g->cpus, cpu, sizeof(struct graph_cpu));
}

/* What is known about a task, or about a CPU where no task is known; at most MAX_TASKS of them. */
static void *task_get(struct import *im, struct map *tasks, int pid, uint32_t cpu, size_t size)
{
	const uint64_t key = pid ? (uint64_t)(uint32_t)pid : 1ull << 32 | cpu;

	if (tasks->n < MAX_TASKS || map_get(tasks, key))
		return import_get(im, tasks, key, size);
	import_fail(im, -E2BIG);
	return NULL;
}

static struct task *task_of(struct text_graph *g, int pid, uint32_t cpu)
{
	return task_get(g->im, &g->tasks, pid, cpu, sizeof(struct task));
}

/* ---- lines ---------------------------------------------------------------------------- */

struct graph_line {
	bool has_time;
	uint64_t ts;
	uint32_t cpu;
	struct piece comm;
	int pid;
	uint64_t duration;
	struct piece call; /* with its indentation */
	/* "a-1 => b-2": the task is the second, … */
	bool changes;
	struct piece prev_comm; /* … and this the first one */
	int prev_pid;
};

static bool take_abs_time(struct piece *p, uint64_t *ts)
{
	uint64_t whole, part;
	struct piece q = *p;

	skip_blanks(&q);
	if (!take_decimal(&q, &whole) || whole > UINT64_MAX / NS_PER_S - 1)
		return false;
	if (take_text(&q, " us"))
		*ts = whole * 1000;
	else if (take_text(&q, ".") && take_decimal(&q, &part) && part <= 999999)
		*ts = whole * NS_PER_S + part * NS_PER_US;
	else
		return false;
	skip_blanks(&q);
	if (!take_text(&q, "|"))
		return false;
	*p = q;
	return true;
}

/* "a-1 => b-2" */
static bool split_change(struct piece p, struct graph_line *l)
{
	const char *arrow = memmem(p.at, p.len, "=>", 2);
	struct piece prev = {p.at, arrow ? (size_t)(arrow - p.at) : 0};
	struct piece next = {p.at + prev.len + 2, p.len - prev.len - 2};

	l->changes = arrow && text_is_task(text_trim(prev), &l->prev_comm, &l->prev_pid) &&
		     text_is_task(text_trim(next), &l->comm, &l->pid);
	return l->changes;
}

static bool split_line(struct piece line, struct graph_line *l)
{
	struct piece cell, p = line;
	uint64_t cpu;

	*l = (struct graph_line){0};
	l->has_time = take_abs_time(&p, &l->ts);
	skip_blanks(&p);
	if (!take_decimal(&p, &cpu) || cpu >= IMPORT_MAX_CPUS || !take_text(&p, ")"))
		return false;
	l->cpu = (uint32_t)cpu;
	if (!memchr(p.at, '|', p.len))
		return split_change(p, l);
	if (!text_take_cell(&p, &cell))
		return false;
	if (text_is_task(cell, &l->comm, &l->pid) && !text_take_cell(&p, &cell))
		return false;
	/* Flags, when they are shown. */
	if (!text_read_duration(cell, &l->duration) &&
	    (!text_take_cell(&p, &cell) || !text_read_duration(cell, &l->duration)))
		return false;
	l->call = p;
	return true;
}

bool text_graph_is(struct piece line)
{
	struct graph_line l;

	return split_line(line, &l) && !l.changes;
}

/* ---- calls ---------------------------------------------------------------------------- */

/* "name(…) {", "name();", "}" */
struct call_text {
	int depth;
	struct piece name; /* may be empty at an end */
	bool begins, ends;
};

static bool read_call(struct piece p, struct call_text *c)
{
	const char *before = p.at, *open, *tail;

	skip_blanks(&p);
	while (p.len && p.at[p.len - 1] == ' ')
		p.len--;
	*c = (struct call_text){.depth = (int)(p.at - before) / 2 - 1};
	if (c->depth < 0)
		c->depth = 0;
	if (c->depth >= MAX_DEPTH || !p.len)
		return false;
	if (take_text(&p, "}")) {
		c->ends = true;
		if (take_text(&p, " /* "))
			for (; c->name.len < p.len && p.at[c->name.len] != ' '; c->name.len++)
				c->name.at = p.at;
		return true;
	}
	open = memchr(p.at, '(', p.len);
	if (!open || open == p.at || *p.at == '/')
		return false;
	c->name = (struct piece){p.at, (size_t)(open - p.at)};
	c->begins = true;
	tail = memmem(open, (size_t)(p.at + p.len - open), ") {", 3);
	c->ends = !tail;
	return true;
}

static void begin_call(struct text_graph *g, struct import_context *x, struct task *t,
		       const struct call_text *c)
{
	const uint64_t func = text_symbol(g->im, c->name);

	text_call(g->ftrace, x, func, c->depth);
	t->calls[c->depth] = (struct open_call){func, x->ts, true};
}

static void end_call(struct text_graph *g, struct import_context *x, struct task *t,
		     const struct call_text *c, uint64_t duration)
{
	struct open_call *call = &t->calls[c->depth];
	const uint64_t called = x->ts > duration ? x->ts - duration : 0;
	uint64_t func = call->open ? call->func : c->name.len ? text_symbol(g->im, c->name) : 0;

	/* Which function ends that began before the text is not known. */
	if (func)
		text_return(g->ftrace, x, func, c->depth, call->open ? call->ts : called);
	call->open = false;
}

/* Whose the line is, and when; false without memory. */
static bool find_context(struct text_graph *g, const struct graph_line *l, struct graph_cpu **cpu,
			 struct import_context *x)
{
	*cpu = cpu_of(g, l->cpu);
	if (!*cpu)
		return false;
	*x = (struct import_context){.cpu = l->cpu,
				     .pid = l->pid ? l->pid : (*cpu)->pid,
				     .ts = l->has_time ? l->ts : (*cpu)->clock};
	return true;
}

static void take_call(struct text_graph *g, const struct graph_line *l, const struct call_text *c,
		      struct import_context *x)
{
	struct graph_cpu *cpu;
	struct task *t = find_context(g, l, &cpu, x) ? task_of(g, x->pid, l->cpu) : NULL;

	if (!t)
		return;
	if (c->begins)
		begin_call(g, x, t, c);
	if (!c->ends)
		return;
	if (c->begins) {
		x->ts += l->duration;
	} else if (!l->has_time) {
		const struct open_call *call = &t->calls[c->depth];
		const uint64_t end = (call->open ? call->ts : 0) + l->duration;

		x->ts = end > x->ts ? end : x->ts;
	}
	end_call(g, x, t, c, l->duration);
	cpu->clock = x->ts;
}

void text_graph_learn(struct text_graph *g, struct piece line, struct piece *event)
{
	struct graph_line l;
	struct graph_cpu *cpu;

	event->at = NULL;
	if (!split_line(line, &l))
		return;
	if (!l.changes) {
		text_is_comment(l.call, event);
		return;
	}
	cpu = cpu_of(g, l.cpu);
	if (cpu && !cpu->changed)
		cpu->pid = l.prev_pid;
	if (cpu)
		cpu->changed = true;
	text_comm(g->im, l.prev_pid, l.prev_comm);
}

bool text_graph_line(struct text_graph *g, struct piece line, struct import_context *x,
		     struct piece *event)
{
	struct graph_line l;
	struct graph_cpu *cpu;
	struct call_text c;

	event->at = NULL;
	if (!split_line(line, &l))
		return false;
	if (l.comm.len)
		text_comm(g->im, l.pid, l.comm);
	if (l.changes) {
		cpu = cpu_of(g, l.cpu);
		if (cpu)
			cpu->pid = l.pid;
		return true;
	}
	if (!l.has_time && !g->timeless) {
		g->timeless = true;
		import_remark(g->im, 0, "the text has no times: calls are laid end to end");
	}
	if (text_is_comment(l.call, event))
		return find_context(g, &l, &cpu, x);
	if (!read_call(l.call, &c))
		return false;
	take_call(g, &l, &c, x);
	return true;
}

/* ---- function_duration ---------------------------------------------------------------- */

/*
 * The text of the function_duration tracer, which some vendors' kernels have:
 *
 *	# CPU  TASK/PID        CALLTIME          DURATION                 FUNCTION CALLS
 *	 0)     ls-585     |   706.541604750 |  + 13.834 us   |      kmem_cache_alloc
 *	 0)     ls-585     |   706.541590250 |  + 42.500 us   |    getname
 *
 * A time may stand before the CPU ("  582.159156 |  0)"), and the CPU and the task may be missing.
 * The tracer records a call when it ends. A line becomes an entry at CALLTIME and an exit, as with
 * function_graph. Where the text names no tasks, those of a CPU mix, and calls of one may be around
 * calls of another: such a line becomes an exit alone, as with tracing_thresh; the calls table
 * needs no more to find callers.
 *
 * A clock may be so coarse that calls have equal times. So records are added in the order in which
 * they happened: a caller's entry before those of what it calls, its exit after theirs. The
 * kernel's text is in the order of the exits; there, calls wait until their outermost caller has
 * ended. People sort it by CALLTIME, and then a call waits until what it called has ended. The
 * kernel prints long durations without nanoseconds: a caller never ends before what it called.
 */

#define ROUNDED	  1000 /* ns, by which a duration may be too short */
#define MICROS	  6
#define NANOS	  9
#define MAX_ENDED (1u << 16) /* calls that wait for their callers */

struct duration_line {
	uint32_t cpu;
	struct piece comm;
	int pid;
	bool has_time;
	uint64_t time; /* when it was recorded, in microseconds, if the text has that */
	uint64_t called, returned;
	int depth;
	struct piece name, comment; /* one of them */
};

struct call {
	struct import_context at; /* where and when it ended */
	uint64_t func, called;
	int depth;
	bool entered; /* it has an entry */
	/* Of those that wait for callers, numbers in their list: */
	size_t first;  /* of all calls in it, or itself */
	size_t begins; /* the outermost call of which this is the first one, plus 1 … */
	size_t next;   /* … and the next one of these */
};

/* A task, or a CPU where the text names no tasks. */
struct runner {
	struct call calls[MAX_DEPTH]; /* sorted by call: open ones, each made in the one before */
	int nr;
	/* Kernel's order: ended calls. Sorted by call: those that began last, at one time. */
	vec_of(struct call) some;
	bool waits;    /* in the list of those with ended calls */
	uint64_t last; /* when the last call ended that was recorded */
	uint64_t seen; /* first reading: when the call of the last line ended */
};

struct text_duration {
	struct import *im;
	struct text_ftrace *ftrace;
	bool by_call; /* the lines are sorted by the time of the call */
	struct map runners;
	vec_of(struct runner *) all;   /* in the order in which they came */
	vec_of(struct runner *) ended; /* some of which have ended calls that wait */
	size_t nr_ended;	       /* calls that wait */
};

struct text_duration *text_duration_new(struct import *im, struct text_ftrace *ftrace)
{
	struct text_duration *d = import_alloc(im, sizeof(*d));

	if (!d)
		return NULL;
	d->im = im;
	d->ftrace = ftrace;
	return d;
}

void text_duration_free(struct text_duration *d)
{
	if (!d)
		return;
	vec_each (r, &d->all)
		vec_free(&(*r)->some);
	vec_free(&d->all);
	vec_free(&d->ended);
	map_free(&d->runners);
}

static struct runner *runner_of(struct text_duration *d, const struct duration_line *l)
{
	const size_t before = d->runners.n;
	struct runner *r = task_get(d->im, &d->runners, l->pid, l->cpu, sizeof(*r));

	if (!r || d->runners.n == before || vec_add(&d->all, &r))
		return r;
	import_fail(d->im, -ENOMEM);
	return NULL;
}

/* ---- lines ---------------------------------------------------------------------------- */

/* "706.541604750", with so many digits after the point. */
static bool take_seconds(struct piece *p, size_t digits, uint64_t *ns)
{
	uint64_t whole, part;
	struct piece q = *p;
	size_t before;

	skip_blanks(&q);
	if (!take_decimal(&q, &whole) || whole > UINT64_MAX / NS_PER_S / 2 || !take_text(&q, "."))
		return false;
	before = q.len;
	if (!q.len || !isdigit((unsigned char)*q.at) || !take_decimal(&q, &part) ||
	    before - q.len != digits)
		return false;
	*ns = whole * NS_PER_S + part * (digits == NANOS ? 1 : NS_PER_US);
	*p = q;
	return true;
}

/* What stands before the time of the call. */
static void take_prologue(struct piece *p, struct duration_line *l)
{
	struct piece q = *p, cell;
	uint64_t cpu;

	if (take_seconds(&q, MICROS, &l->time) && text_take_cell(&q, &cell) && !cell.len) {
		l->has_time = true;
		*p = q;
	}
	q = *p;
	skip_blanks(&q);
	if (take_decimal(&q, &cpu) && cpu < IMPORT_MAX_CPUS && take_text(&q, ")")) {
		l->cpu = (uint32_t)cpu;
		*p = q;
	}
	q = *p;
	if (text_take_cell(&q, &cell) && text_is_task(cell, &l->comm, &l->pid))
		*p = q;
}

/* "    kmem_cache_alloc", "    e1000_xmit [e1000]"; some versions have "();" after it. */
static bool read_function(struct piece p, struct duration_line *l)
{
	const char *before = p.at, *open;

	p = text_trim(p);
	open = p.len ? memchr(p.at, '(', p.len) : NULL;
	l->depth = (int)(p.at - before) / 2 - 1;
	if (l->depth < 0)
		l->depth = 0;
	l->name = (struct piece){p.at, open ? (size_t)(open - p.at) : p.len};
	return l->name.len && l->depth < MAX_DEPTH &&
	       (isalpha((unsigned char)*p.at) || *p.at == '_' || *p.at == '.');
}

/* A comment has no time of a call, and something else for the duration. */
static bool read_comment(struct piece p, struct duration_line *l)
{
	struct piece cell;

	for (int i = 0; i < 3; i++)
		if (text_is_comment(p, &l->comment))
			return i > 0;
		else if (!text_take_cell(&p, &cell))
			return false;
	return text_is_comment(p, &l->comment);
}

static bool split_duration(struct piece line, struct duration_line *l)
{
	struct piece p = line, cell;
	uint64_t duration;

	*l = (struct duration_line){0};
	take_prologue(&p, l);
	if (!take_seconds(&p, NANOS, &l->called))
		return false;
	if (!text_take_cell(&p, &cell) || cell.len || !text_take_cell(&p, &cell) || !cell.len ||
	    !text_read_duration(cell, &duration) || !read_function(p, l))
		return false;
	l->returned = l->called + duration;
	return true;
}

/* A line of this tracer that is no call. */
static bool split_other(struct piece line, struct duration_line *l)
{
	struct piece p = line;

	*l = (struct duration_line){0};
	take_prologue(&p, l);
	return p.at != line.at && read_comment(p, l);
}

/* "==========> |" around interrupts, " (Overruns: 0)". */
static bool is_decoration(struct piece line)
{
	struct piece p = line;

	skip_blanks(&p);
	return take_text(&p, "(Overruns: ") || memmem(line.at, line.len, "==========>", 11) ||
	       memmem(line.at, line.len, "<==========", 11);
}

bool text_duration_is(struct piece line)
{
	struct duration_line l;

	return split_duration(line, &l);
}

/* ---- calls ---------------------------------------------------------------------------- */

static void put_entry(struct text_duration *d, const struct call *c, uint32_t cpu)
{
	const struct import_context x = {.cpu = cpu, .pid = c->at.pid, .ts = c->called};

	if (c->entered)
		text_call(d->ftrace, &x, c->func, c->depth);
}

static void put_exit(struct text_duration *d, const struct call *c)
{
	text_return(d->ftrace, &c->at, c->func, c->depth, c->called);
}

static void end_duration(struct runner *r, struct call *c)
{
	if (c->at.ts < r->last && r->last - c->at.ts <= ROUNDED)
		c->at.ts = r->last;
	r->last = c->at.ts;
}

/* ---- in the kernel's order ---- */

/*
 * Adds the records of ended calls. A task may have moved to another CPU during a call. It was seen
 * first where the first call in that one ended.
 */
static void put_ended(struct text_duration *d, struct runner *r)
{
	struct call *all = r->some.at;

	for (size_t i = 0; i < r->some.n; i++) {
		struct call *first = &all[all[i].first];

		all[i].next = first->begins;
		first->begins = i + 1;
	}
	vec_each (c, &r->some) {
		for (size_t i = c->begins; i; i = all[i - 1].next)
			put_entry(d, &all[i - 1],
				  c->called >= all[i - 1].called ? c->at.cpu : all[i - 1].at.cpu);
		put_exit(d, c);
	}
	d->nr_ended -= r->some.n;
	r->some.n = 0;
}

void text_duration_settle(struct text_duration *d)
{
	vec_each (r, &d->ended) {
		put_ended(d, *r);
		(*r)->waits = false;
	}
	d->ended.n = 0;
}

static void add_ended(struct text_duration *d, struct runner *r, struct call *c)
{
	const struct call *all = r->some.at;

	c->first = r->some.n;
	while (c->first && all[c->first - 1].depth > c->depth)
		c->first = all[c->first - 1].first;
	if ((!r->waits && !vec_add(&d->ended, &r)) || !vec_add(&r->some, c)) {
		import_fail(d->im, -ENOMEM);
		return;
	}
	r->waits = true;
	d->nr_ended++;
	if (d->nr_ended >= MAX_ENDED)
		text_duration_settle(d);
	else if (c->depth == 0)
		put_ended(d, r);
}

/* ---- sorted by the time of the call ---- */

/* Ends the calls that cannot be the caller of one of this depth, the innermost first. */
static void put_waiting(struct text_duration *d, struct runner *r, int depth)
{
	while (r->nr && r->calls[r->nr - 1].depth >= depth) {
		struct call *c = &r->calls[r->nr - 1];

		end_duration(r, c);
		put_exit(d, c);
		r->nr--;
	}
}

/* Begins the calls of one time. */
static void begin_calls(struct text_duration *d, struct runner *r)
{
	vec_each (c, &r->some) {
		put_waiting(d, r, c->depth);
		put_entry(d, c, c->at.cpu);
		/* Depths increase from call to call, so there is a place. */
		r->calls[r->nr++] = *c;
	}
	r->some.n = 0;
}

/* Callers first, if they begin at one time. */
static void add_begun(struct text_duration *d, struct runner *r, const struct call *c)
{
	size_t i;

	if (r->some.n && (r->some.at[0].called != c->called || r->some.n >= MAX_DEPTH))
		begin_calls(d, r);
	if (!vec_add(&r->some, c)) {
		import_fail(d->im, -ENOMEM);
		return;
	}
	for (i = r->some.n - 1; i > 0 && r->some.at[i - 1].depth > c->depth; i--)
		r->some.at[i] = r->some.at[i - 1];
	r->some.at[i] = *c;
}

/* ---- the text ---- */

static void read_duration_call(struct text_duration *d, const struct duration_line *l)
{
	struct runner *r = runner_of(d, l);
	struct call c = {.at = {.cpu = l->cpu, .pid = l->pid, .ts = l->returned},
			 .called = l->called,
			 .depth = l->depth,
			 .entered = l->comm.len > 0};

	if (!r)
		return;
	c.func = text_symbol(d->im, l->name);
	if (d->by_call) {
		add_begun(d, r, &c);
		return;
	}
	end_duration(r, &c);
	if (c.entered)
		add_ended(d, r, &c);
	else
		put_exit(d, &c);
}

void text_duration_learn(struct text_duration *d, struct piece line, struct piece *event)
{
	struct duration_line l;
	struct runner *r;

	event->at = NULL;
	if (!split_duration(line, &l)) {
		if (split_other(line, &l))
			*event = l.comment;
		return;
	}
	if (l.comm.len)
		text_comm(d->im, l.pid, l.comm);
	r = runner_of(d, &l);
	if (!r)
		return;
	if (l.returned < r->seen && r->seen - l.returned > ROUNDED)
		d->by_call = true;
	r->seen = l.returned;
}

bool text_duration_line(struct text_duration *d, struct piece line, struct import_context *x,
			struct piece *event)
{
	struct duration_line l;
	struct runner *r;

	event->at = NULL;
	if (split_duration(line, &l)) {
		*x = (struct import_context){.cpu = l.cpu,
					     .ts = d->by_call ? l.called : l.returned};
		read_duration_call(d, &l);
		return true;
	}
	if (!split_other(line, &l))
		return is_decoration(line);
	text_duration_settle(d);
	r = runner_of(d, &l);
	if (r) {
		*x = (struct import_context){
			.cpu = l.cpu, .pid = l.pid, .ts = l.has_time ? l.time : r->last};
		*event = l.comment;
	}
	return true;
}

void text_duration_end(struct text_duration *d)
{
	text_duration_settle(d);
	vec_each (it, &d->all) {
		begin_calls(d, *it);
		put_waiting(d, *it, 0);
	}
}
