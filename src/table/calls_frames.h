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

struct function {
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

struct nest {
	struct frame *at;
	uint32_t n, cap;
};

struct waiting_calls {
	struct ended *at;
	size_t n, cap;
};

struct task {
	int pid;
	struct nest graph, probes;
	struct waiting_calls ended;
	uint64_t off;	    /* time it was scheduled out so far */
	uint64_t off_since; /* valid while is_off */
	bool is_off, known;
	uint32_t off_gaps;
	uint64_t seen;	 /* when it was last, … */
	uint32_t cpu;	 /* … where, … */
	uint32_t losses; /* … and how many losses there had been */
	uint32_t doubts;
	uint32_t probed; /* losses, plus one, when a probe of it was seen last */
	struct task *next;
};

struct probes;

struct calls {
	const struct table_source *src;
	struct events *events;
	struct comm_times *comms;
	struct intern names;
	struct slots functions; /* struct function by address */
	struct slots by_key;	/* struct task */
	struct task *tasks;
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

/* The task a record is of; NULL: beyond the limit. */
struct task *calls_task(struct calls *a, int pid, const struct spur_record *r);
/* The same of a task that is switched from or to, if it has made calls. */
struct task *calls_switched(struct calls *a, int pid, const struct spur_record *r);
const struct function *calls_function(struct calls *a, uint64_t addr);

static inline struct frame *nest_top(const struct nest *n)
{
	return n->n ? &n->at[n->n - 1] : NULL;
}

/* The duration, limited to INT64_MAX; 0 if it would be negative. */
int64_t calls_span(uint64_t from, uint64_t to);

/* Begins a call inside of what is open; NULL: it is not kept. */
struct frame *calls_begin_frame(struct calls *a, struct task *t, struct nest *n,
				const struct spur_record *r, uint64_t addr, const char *func,
				int64_t depth);

/* Ends the innermost call: its row is handed out. */
void calls_end_frame(struct calls *a, struct task *t, struct nest *n, const struct call_end *end);

/* The same of one whose end is not known: it was still open then, or when events were lost. */
void calls_leave_open(struct calls *a, struct task *t, struct nest *n, uint64_t ts);

/* Fills in the task's part of a row and hands it out. */
void calls_hand_out(struct calls *a, const struct task *t, struct call_row *row);

/* A call of which only the end was recorded. */
void calls_only_end(struct calls *a, struct task *t, struct nest *n, struct call_row *row);

/* ---- calls_graph.c: the function_graph tracer ---- */

#define CALLS_SLACK 5000 /* ns between what the kernel measured and the events' times, at most */

struct graph *graph_new(struct calls *a);
void graph_free(struct graph *g);
/* Whether the record is an event of the tracer. */
bool graph_record(struct calls *a, struct event *e, const struct spur_record *r);

/* Where the tracer recorded exits only: */

/* Whether the buffer has no entries at all. */
bool exits_alone(const struct calls *a);
/* Takes a call; its row comes when that of the outermost one around it does. */
void exits_add(struct calls *a, struct task *t, struct call_row *row);
/* Hands out what waits for callers that do not come any more. */
void exits_hand_out(struct calls *a, struct task *t);

/* ---- calls_probes.c: pairs of probes ---- */

/* NULL without memory. */
struct probes *probes_new(struct calls *a);
void probes_free(struct probes *p);
void probes_record(struct calls *a, struct event *e, const struct spur_record *r);
/* Whether the event is that of a probe at the entry or the return of a function. */
bool probes_want(const struct event *e);

#endif
