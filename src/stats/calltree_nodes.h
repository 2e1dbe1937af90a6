/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes of trees of calls. Private to src/stats.
 *
 * Every task has a list of roots, which are outermost calls (and the events between them), and a
 * chain of open calls. Nodes are appended to the innermost open call, so lists are in order of
 * time. A call whose begin is not in the trace gets the nodes inside of it as children. When a root
 * has ended, all roots are printed and freed.
 *
 * tree_put() may also be called earlier: then everything except the open calls is printed and
 * freed, and the begins of the open calls are marked as shown.
 */
#ifndef STATS_CALLTREE_NODES_H
#define STATS_CALLTREE_NODES_H

#include "base/vec.h"
#include "table/calls.h"
#include "stats/calltree.h"
#include "table/analysis.h"

enum call_node_kind {
	NODE_CALL,
	NODE_EVENT,
	NODE_OFF, /* the task is scheduled out */
	NODE_LOST,
	NODE_HIDDEN, /* calls that are too short to be shown */
};

struct call_node;

struct node_list {
	struct call_node *first, *last;
};

struct call_node {
	enum call_node_kind kind;
	struct call_node *parent, *prev, *next;
	struct node_list inner;
	uint64_t ts, end;
	int64_t dur;	  /* ROW_NULL: not known; of hidden calls the sum */
	int64_t id;	  /* of a call; else a number: of hidden calls, of lost events (-1: some) */
	int64_t retval;	  /* ROW_NULL: none */
	int64_t depth;	  /* as recorded */
	const char *name; /* of a call's function */
	const char *caller; /* if it was recorded although there is no call around it */
	char *text;	    /* of an event; owned */
	uint32_t cpu, end_cpu;
	uint32_t step;	       /* levels below its parent, or of a root below the margin */
	uint32_t level;	       /* of a call that has begun: calls around it */
	bool open;	       /* has not ended yet */
	bool only_end;	       /* its beginning is not in the trace */
	enum row_open missing; /* which end of the call */
	bool in_irq;
	bool begun;	/* its beginning has been printed */
	bool irq_shown; /* the current lines in it are between the marks of an interrupt */
};

struct tree_task {
	bool known;
	int64_t pid;
	const char *comm; /* "": the trace does not have it */
	const struct trace_buffer *buffer;
	uint32_t cpu; /* of an idle task */
	size_t order; /* in calltree.tasks */
	struct node_list roots;
	struct call_node *inmost; /* innermost open call, or NULL */
	struct call_node *off; /* the current time scheduled out, if the node still has this id */
	int64_t off_id;
	uint32_t off_losses; /* losses when that began */
	bool irq_shown;	     /* as of a node, among its roots */
	bool titled;	     /* its title has been written */
	struct buf text;     /* printed and not yet written */
	size_t counted;	     /* bytes of it that calltree.kept counts */
};

/* The state of a CPU of a buffer. */
struct tree_cpu {
	struct tree_task *last; /* the last task on it; NULL: one that is not shown */
	struct select_stack stack;
};

struct calltree {
	struct spur_trace *trace;
	const struct calltree_options *opt;
	struct calltree_result *result;
	struct event_printer printer;
	struct intern names;		  /* of tasks; they are used by several passes */
	struct slots by_key;		  /* struct tree_task */
	vec_of(struct tree_task *) tasks; /* in order of their first calls */
	size_t first;			  /* the current task; those before it are done */
	size_t cut;			  /* this task and those after it wait for another pass */
	size_t kept;			  /* bytes of text of tasks that are not the first */
	const struct tree_task *titled;	  /* by time: whose lines were written last */
	bool any;			  /* something has been written */

	struct call_node *nodes, *free; /* free ones are linked by next */
	size_t used, max_nodes;		/* used: how many were allocated from the array */
	size_t nr_open;
	size_t text, max_text; /* bytes of events' texts */

	struct event *graph[3]; /* funcgraph_entry and its like: never shown as events */
	struct event *sched_switch;
	struct number prev_pid, next_pid;
	uint64_t irq_from, irq_to; /* addresses of the kernel's entry code of interrupts */
	uint32_t losses;
	int64_t next_off;
	struct slots cpus; /* struct tree_cpu */

	struct event *event; /* of the record being read; NULL: none */
	struct spur_record record;
	unsigned int flags;   /* of it */
	struct tree_cpu *cpu; /* of it; NULL: beyond the limit */
	bool told;	      /* the record has made a row */

	/* While printing: the last printed line. */
	uint64_t shown_ts;
	uint32_t shown_cpu;
	int rc;
};

/* ---- calltree.c ---- */

/* Whether a task is printed in this pass. */
static inline bool tree_active(const struct calltree *ct, const struct tree_task *t)
{
	return t->order >= ct->first && t->order < ct->cut;
}

/* Writes a task's text, or stores it until it is the task's turn. */
void tree_deliver(struct calltree *ct, struct tree_task *t);

/* Whether the tree may start at this function. */
bool tree_function(const struct calltree *ct, const char *name);

/* Frees a node and everything inside it. It must not be in a list. */
void tree_release(struct calltree *ct, struct call_node *n);

void tree_unlink(struct tree_task *t, struct call_node *n);

/* ---- calltree_print.c ---- */

/* Prints and frees a task's nodes, except open calls. */
void tree_put(struct calltree *ct, struct tree_task *t);

/* "worker-100" on a line of its own. */
void tree_put_title(const struct calltree *ct, const struct tree_task *t, bool first,
		    struct buf *out);

#endif
