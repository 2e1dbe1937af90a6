// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text of the function_duration tracer, which some vendors' kernels have:
 *
 *	# CPU  TASK/PID        CALLTIME          DURATION                 FUNCTION CALLS
 *	 0)     ls-585     |   706.541604750 |  + 13.834 us   |      kmem_cache_alloc
 *	 0)     ls-585     |   706.541590250 |  + 42.500 us   |    getname
 *
 * A time may stand before the CPU ("  582.159156 |  0)"), and the CPU and the task may be missing.
 * The tracer records a call when it ends, so that a line becomes the exit of a call, as with
 * function_graph and tracing_thresh; the calls table needs no more to find out who called whom.
 *
 * Exits must come in their order: what was called before its caller. The kernel's text is in that
 * order. People sort it by CALLTIME, and then a call waits here until what it called has ended. The
 * kernel prints long durations without nanoseconds: a caller never ends before what it called.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/text_parts.h"

#define MAX_DEPTH 64
#define MAX_TASKS 20000 /* whose calls wait at a time */
#define ROUNDED	  1000	/* ns, by which a duration may be too short */
#define MICROS	  6
#define NANOS	  9

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

struct waiting {
	struct import_context at;
	uint64_t func, called;
	int depth;
};

/* A task, or a CPU where the text names no tasks. */
struct runner {
	struct waiting calls[MAX_DEPTH]; /* each made in the one before */
	int nr;
	uint64_t last; /* when the last call ended that was recorded */
	uint64_t seen; /* first reading: when the call of the last line ended */
};

struct text_duration {
	struct import *im;
	struct text_ftrace *ftrace;
	bool by_call; /* the lines are sorted by the time of the call */
	struct map runners;
	struct {
		struct runner **at;
		size_t n, cap;
	} all;
};

struct text_duration *text_duration_new(struct import *im, struct text_ftrace *ftrace)
{
	struct text_duration *d = calloc(1, sizeof(*d));

	if (!d) {
		import_fail(im, -ENOMEM);
		return NULL;
	}
	d->im = im;
	d->ftrace = ftrace;
	return d;
}

void text_duration_free(struct text_duration *d)
{
	if (!d)
		return;
	vec_each (it, &d->all)
		free(*it);
	vec_free(&d->all);
	map_free(&d->runners);
	free(d);
}

static struct runner *runner_of(struct text_duration *d, const struct duration_line *l)
{
	const uint64_t key = l->pid ? (uint64_t)(uint32_t)l->pid : 1ull << 32 | l->cpu;
	struct runner *r = map_get(&d->runners, key), **slot;

	if (r)
		return r;
	r = d->all.n < MAX_TASKS ? calloc(1, sizeof(*r)) : NULL;
	slot = r ? vec_push(&d->all) : NULL;
	if (!slot || !map_set(&d->runners, key, r)) {
		if (slot)
			d->all.n--;
		free(r);
		import_fail(d->im, d->all.n < MAX_TASKS ? -ENOMEM : -E2BIG);
		return NULL;
	}
	*slot = r;
	return r;
}

/* ---- lines ---- */

/* "706.541604750", with so many digits after the point. */
static bool take_seconds(struct piece *p, size_t digits, uint64_t *ns)
{
	uint64_t whole, part;
	struct piece q = *p;
	size_t before;

	skip_blanks(&q);
	if (!take_decimal(&q, &whole) || whole > UINT64_MAX / 1000000000 / 2 || !take_text(&q, "."))
		return false;
	before = q.len;
	if (!q.len || !isdigit((unsigned char)*q.at) || !take_decimal(&q, &part) ||
	    before - q.len != digits)
		return false;
	*ns = whole * 1000000000 + part * (digits == NANOS ? 1 : 1000);
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

static bool split_line(struct piece line, struct duration_line *l)
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

	return split_line(line, &l);
}

/* ---- calls ---- */

static void put_call(struct text_duration *d, struct runner *r, struct waiting *w)
{
	if (w->at.ts < r->last && r->last - w->at.ts <= ROUNDED)
		w->at.ts = r->last;
	r->last = w->at.ts;
	text_return(d->ftrace, &w->at, w->func, w->depth, w->called);
}

/* The calls that cannot have made one of this depth are through, the innermost first. */
static void put_waiting(struct text_duration *d, struct runner *r, int depth)
{
	while (r->nr && r->calls[r->nr - 1].depth >= depth) {
		struct waiting *w = &r->calls[r->nr - 1];

		put_call(d, r, w);
		r->nr--;
	}
}

static void take_call(struct text_duration *d, const struct duration_line *l)
{
	struct runner *r = runner_of(d, l);
	struct waiting w = {.at = {.cpu = l->cpu, .pid = l->pid, .ts = l->returned},
			    .called = l->called,
			    .depth = l->depth};

	if (!r)
		return;
	w.func = text_symbol(d->im, l->name);
	if (!d->by_call) {
		put_call(d, r, &w);
		return;
	}
	put_waiting(d, r, l->depth);
	/* Depths rise from call to call, so that there is a place. */
	r->calls[r->nr++] = w;
}

void text_duration_learn(struct text_duration *d, struct piece line, struct piece *event)
{
	struct duration_line l;
	struct runner *r;

	event->at = NULL;
	if (!split_line(line, &l)) {
		if (split_other(line, &l))
			*event = l.comment;
		return;
	}
	if (l.comm.len)
		import_comm(d->im, l.pid, l.comm.at, l.comm.len);
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
	if (split_line(line, &l)) {
		take_call(d, &l);
		return true;
	}
	if (!split_other(line, &l))
		return is_decoration(line);
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
	vec_each (it, &d->all)
		put_waiting(d, *it, 0);
}
