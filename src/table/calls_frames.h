/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of the table of calls share. Private to src/table; others use calls.h.
 *
 *	frame	a call that is open
 *	nest	the frames of a task, the outermost first; one of the tracer's, one of probes'
 *	ended	a call of which only the exit was recorded; it waits for those of its callers
 *
 * A task that may have been on a CPU while the CPU lost events is in doubt: its frames may have
 * ended, or other calls of the same functions begun, among the lost events. Doubts are counted. A
 * frame from before the last doubt is trusted again if the duration in its exit fits, and so are
 * all frames around it.
 */
#ifndef TABLE_CALLS_FRAMES_H
#define TABLE_CALLS_FRAMES_H

#include "table/calls.h"
#include "table/analysis.h"

#define CALLS_DEPTH 1000 /* of one task; the kernel's own limit is far below */

struct called_function {
	const char *name;
	uint64_t start; /* of the symbol; the address itself when there is none */
	bool known;
};

struct frame {
	uint64_t ts;
	int64_t id;
	uint64_t addr;
	const char *func;
	const char *caller; /* from the event, if there is no frame around this one */
	int64_t depth;
	int64_t inner, inner_off; /* time of the calls it made, and their time scheduled out */
	uint64_t off;		  /* the task's time scheduled out when it began */
	uint64_t certain;	  /* when it was last known to be open, once in doubt */
	uint32_t born, gen; /* the number of doubts at its begin, and when it was trusted last */
	uint32_t gaps;	    /* times the task's time scheduled out was in doubt */
	uint32_t cpu;
	bool orphan;	    /* the frame around it is not its caller */
	bool inner_unknown; /* not all calls it made are known */
};

struct frame_nest {
	struct frame *at;
	uint32_t n, cap;
};

struct waiting_calls {
	struct ended *at;
	size_t n, cap;
};

struct calling_task {
	int pid;
	struct frame_nest graph, probes;
	struct waiting_calls ended;
	uint64_t off;	    /* time it was scheduled out so far */
	uint64_t off_since; /* valid while is_off */
	bool is_off, known;
	uint32_t off_gaps;
	uint64_t seen;	 /* when it was last, … */
	uint32_t cpu;	 /* … where, … */
	uint32_t losses; /* … and how many losses there had been */
	uint32_t doubts;
	uint32_t probed; /* losses, plus one, when a probe of the task was seen last */
	struct calling_task *next;
};

struct probes;

struct calls {
	const struct table_source *src;
	struct events *events;
	struct comm_times *comms;
	struct intern names;
	struct slots functions; /* struct called_function by address */
	struct slots by_key;	/* struct calling_task */
	struct calling_task *tasks;
	size_t nr_frames, nr_waiting;
	int64_t next_id;
	uint64_t start; /* of the trace */
	bool switches;	/* sched_switch has been seen */
	bool both;	/* a row is also wanted when a call begins */
	struct losses losses;
	struct slots lost;   /* uint32_t by CPU: losses when its own last one began */
	uint64_t lost_since; /* begin of the last loss */
	struct graph *graph;
	struct probes *probes;
};

/* The content of an exit. */
struct call_end {
	uint64_t ts;
	int64_t dur; /* ROW_NULL: from the entry to ts */
	int64_t retval;
};

/* ---- calls.c ---- */

/* The task of a record; NULL beyond the limit. */
struct calling_task *calls_task(struct calls *a, int pid, const struct spur_record *r);
/* The same for a task that is switched from or to, if it has made calls. */
struct calling_task *calls_switched(struct calls *a, int pid, const struct spur_record *r);
const struct called_function *calls_function(struct calls *a, uint64_t addr);

static inline struct frame *nest_top(const struct frame_nest *n)
{
	return n->n ? &n->at[n->n - 1] : NULL;
}

/* Begins a call inside the open ones; NULL if it is not stored. */
struct frame *calls_begin_frame(struct calls *a, struct calling_task *t, struct frame_nest *n,
				const struct spur_record *r, uint64_t addr, const char *func,
				int64_t depth);

/* Ends the innermost call and returns its row. */
void calls_end_frame(struct calls *a, struct calling_task *t, struct frame_nest *n,
		     const struct call_end *end);

/*
 * The same for a call whose end is unknown: it was still open at that time, or when events were
 * lost.
 */
void calls_leave_open(struct calls *a, struct calling_task *t, struct frame_nest *n, uint64_t ts);

/* Fills in the task's part of a row and returns it. */
void calls_hand_out(struct calls *a, const struct calling_task *t, struct call_row *row);

/* A call of which only the exit was recorded. */
void calls_only_end(struct calls *a, struct calling_task *t, struct frame_nest *n,
		    struct call_row *row);

/* ---- calls_graph.c: the function_graph tracer ---- */

#define CALLS_SLACK 5000 /* ns between what the kernel measured and the events' times, at most */

struct graph *graph_new(struct calls *a);
void graph_free(struct graph *g);
/* Whether the record is an event of the tracer. */
bool graph_record(struct calls *a, struct event *e, const struct spur_record *r);

/* Where the tracer recorded exits only: */

/* Returns the rows that wait for callers whose exits will not come. */
void exits_hand_out(struct calls *a, struct calling_task *t);

/* ---- calls_probes.c: pairs of probes ---- */

/* NULL without memory. */
struct probes *probes_new(struct calls *a);
void probes_free(struct probes *p);
void probes_record(struct calls *a, struct event *e, const struct spur_record *r);
/* Whether the event is that of a probe at the entry or the return of a function. */
bool probes_want(const struct event *e);

#endif
