/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call graph: functions, and who called whom how often and for how long.
 *
 * It is made from rows of `calls` (with counts and times), from records of the function tracer
 * (entries only: counts, but no times) or from stacks (each has a weight, by default one sample:
 * times are numbers of samples, and there are no counts).
 *
 * The time of a function in itself (`self`) is without that of the functions it called; `total` is
 * with it. A call inside a call of the same function, directly or through others, adds nothing to
 * the total of the function, which includes that time already.
 */
#ifndef STATS_CALLGRAPH_H
#define STATS_CALLGRAPH_H

#include <stdbool.h>

#include "table/calls.h"
#include "table/walk.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

struct cg_arc {
	struct cg_function *from, *to;
	uint64_t calls;
	int64_t total, self; /* of `to` when `from` called it */
	struct cg_arc *next_callee, *next_caller;
};

struct cg_function {
	const char *name;
	uint64_t calls;	    /* all of them */
	uint64_t recursive; /* of these, recursive ones */
	uint64_t open;	    /* of these, without a known duration */
	int64_t total, self, off_cpu;
	int64_t min, max; /* of a single call; only valid if the duration of one is known */
	struct cg_arc *callees, *callers;
	uint32_t index; /* in the list, once it has been sorted */
};

struct callgraph {
	vec_of(struct cg_function *) functions;
	bool timed;    /* from calls: there are durations */
	bool sampled;  /* from stacks: times are weights */
	bool has_off;  /* sched events tell when tasks were scheduled out */
	int64_t total; /* of all self times */
	bool full;     /* no memory: the rest is not counted */

	struct arena arena;
	struct intern names;
	struct map by_name, arcs;
};

void callgraph_init(struct callgraph *g);
void callgraph_free(struct callgraph *g);

/* Adds a row of `calls`. With on_cpu, time scheduled out does not count. */
void callgraph_call(struct callgraph *g, const struct call_row *c, bool on_cpu);

/* Adds an entry without a duration. caller may be NULL. */
void callgraph_entry(struct callgraph *g, const char *function, const char *caller);

/* Adds a folded stack, "outer;…;inner". */
void callgraph_stack(struct callgraph *g, const char *stack, int64_t weight);

/* ---- from a trace ---- */

enum callgraph_source {
	CG_FROM_ANY, /* the first of the following that the trace has */
	CG_FROM_CALLS,
	CG_FROM_ENTRIES,
	CG_FROM_SAMPLES,
};

struct callgraph_reader {
	struct spur_trace *trace;
	struct walk_options walk;
	enum callgraph_source source;
	bool on_cpu; /* as of callgraph_call() */
	/* Whether a task counts; NULL: all do. comm may be NULL. */
	bool (*wanted)(void *arg, int64_t pid, const char *comm);
	/* The graph for what a task does on a CPU; NULL: none. */
	struct callgraph *(*graph)(void *arg, int64_t pid, const char *comm, int64_t cpu);
	void *arg;
};

/* 0, -EINTR after a stop (with the data up to then), -ENOMEM. */
int callgraph_read(const struct callgraph_reader *r, struct spur_error *err);

/* ---- order ---- */

enum cg_order { CG_TOTAL, CG_SELF, CG_CALLS, CG_AVERAGE, CG_MIN, CG_MAX, CG_NAME, NR_CG_ORDERS };
extern const char *const cg_orders[NR_CG_ORDERS];

/* Sorts the functions, most first (names: from a), and the callees and callers of each by total. */
void callgraph_sort(struct callgraph *g, enum cg_order order);

/* The callee that took longest, or without times was called most; NULL: it called none. */
const struct cg_arc *callgraph_longest(const struct cg_function *f);

/* ---- as text ---- */

/*
 * As gprof prints it, and for graphviz. The unit of times, which the heads show, is chosen so that
 * the total has at most four digits. In sampled graphs times are numbers of samples; with entries
 * alone there are none.
 */

/* Smaller functions and arcs are left out: limits in percent of the total. */
struct callgraph_limits {
	double function, arc;
};

/* gprof's flat profile: functions by their own time. */
void callgraph_put_flat(struct callgraph *g, struct buf *out);

/*
 * gprof's call graph: a block for every function with its callers above and its callees below, and
 * an index.
 */
void callgraph_put_blocks(struct callgraph *g, struct buf *out);

/* A picture for graphviz, the hotter the redder. */
void callgraph_put_dot(struct callgraph *g, const struct callgraph_limits *limits, struct buf *out);

#endif
