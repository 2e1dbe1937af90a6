/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flame graphs: call stacks merged into a tree. draw/svg.h draws it.
 *
 *	struct flame f;
 *	flame_init(&f, 0);
 *	flame_read(&f, 0, trace, &wanted, &from, &err);	or flame_folded_take()
 *	flame_finish(&f);
 *	flame_svg(&f, &look, &out);			or flame_folded_put()
 *
 * Every frame has two values: of the first side, which is all there is in most pictures, and of the
 * second one, with which the first is compared in a differential picture. A value belongs to the
 * frame in which something happened (self); total is that of a frame and all it called.
 *
 * The number of frames is limited: further ones become frames called "(other)", so totals are still
 * right. Names come from untrusted files; pictures escape them.
 */
#ifndef STATS_FLAME_H
#define STATS_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "table/walk.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/pattern.h"

#define FLAME_SIDES 2
#define FLAME_DEPTH 1024 /* frames of a stack at most; deeper ones are an "(other)" */

/* ---- the tree ---- */

struct flame_node {
	const char *name; /* NULL: the root. Equal names of a tree are one pointer */
	struct flame_node *parent;
	struct flame_node *child;   /* the first one; by name once the tree is finished */
	struct flame_node *sibling; /* the next child of the same parent */
	uint64_t self[FLAME_SIDES];
	uint64_t total[FLAME_SIDES]; /* once the tree is finished */
	uint64_t at;		     /* for pictures: total of what is left of it */
	struct map index;	     /* children by name, when there are many */
	uint32_t nr_children;
};

struct flame_chunk;

/* The stack that was added last: the next one often begins as it did. */
struct flame_last {
	const struct flame_node *base;
	struct buf text;
	struct {
		struct flame_node *node;
		size_t end; /* of its name in the text */
	} path[FLAME_DEPTH];
	size_t depth;
};

struct flame {
	struct flame_node *root;
	struct intern names;
	const char *other;	    /* the name of frames beyond the limit */
	struct flame_chunk *chunks; /* where nodes lie */
	struct flame_node *unused;
	struct flame_last last;
	size_t nr, max;		       /* nodes */
	uint64_t stacks[FLAME_SIDES];  /* how often something was added */
	uint64_t crowded[FLAME_SIDES]; /* value that went to "(other)" */
};

/* max_nodes 0: as many as take some 60 MB. -ENOMEM. */
int flame_init(struct flame *f, size_t max_nodes, struct spur_error *err);
void flame_free(struct flame *f);

/* Finds or makes the child of that name; "(other)" beyond the limit. Never NULL. */
struct flame_node *flame_child(struct flame *f, struct flame_node *parent, const char *name,
			       size_t len);

/* Adds a value to a frame. It must not be one of a finished tree. */
void flame_add(struct flame *f, unsigned int side, struct flame_node *n, uint64_t value);

/* Finds or makes the innermost frame of "outer;…;inner" below base. */
struct flame_node *flame_stack(struct flame *f, struct flame_node *base, const char *stack,
			       size_t len);

/*
 * Makes a frame whose callers are not known yet, NULL beyond the limit; and attaches it to its
 * parent, merging it with an existing frame. Then the node does not belong to the caller any more.
 */
struct flame_node *flame_detached(struct flame *f);
void flame_attach(struct flame *f, struct flame_node *parent, const char *name, size_t len,
		  struct flame_node *detached);
/* Gives everything a detached frame has and has called to another frame. */
void flame_merge(struct flame *f, struct flame_node *detached, struct flame_node *to);

/* Computes the totals and sorts children by name: before anything is shown. */
void flame_finish(struct flame *f);
/* Afterwards: sorts children by their totals of the first side, the largest first. */
void flame_sort_by_total(struct flame *f);

/* The same stacks seen from their ends: callers are above those that they call. Not finished. */
void flame_reverse(const struct flame *from, struct flame *to);

/* The node after n in the order of a walk from callers to callees; NULL after the last one. */
struct flame_node *flame_next(const struct flame_node *n);
/* The same, without what n has called. */
struct flame_node *flame_next_beside(const struct flame_node *n);

/* Its name, "all" for the root. */
const char *flame_name(const struct flame_node *n);

/* ---- folded text: "outer;…;inner 42" ---- */

struct flame_folded {
	struct flame *flame;
	unsigned int side;
	uint64_t lines;	    /* seen so far */
	uint64_t bad;	    /* of these no stacks with a number */
	uint64_t first_bad; /* line */
	struct buf rest;    /* a line that is not complete yet */
};

void flame_folded_begin(struct flame_folded *r, struct flame *f, unsigned int side);
/* Adds the next part of a text, which may end within a line. */
void flame_folded_take(struct flame_folded *r, const char *text, size_t len);
void flame_folded_end(struct flame_folded *r);

/* All stacks of a finished tree; with both sides "stack first second". */
void flame_folded_put(const struct flame *f, bool both, struct buf *out);

/* ---- what to take of a trace ---- */

enum flame_from {
	FLAME_ANY,     /* calls when there are any of function_graph, else samples */
	FLAME_SAMPLES, /* events with the stacks recorded with them */
	FLAME_STACKS,  /* stacks, the kernel's and the user's by themselves */
	FLAME_CALLS,   /* function calls */
};

enum flame_weight {
	FLAME_USUAL, /* the time itself of calls, else how many */
	FLAME_COUNT,
	FLAME_TIME,    /* of calls: time in the function itself */
	FLAME_ON_CPU,  /* … without the time in which the task was scheduled out */
	FLAME_OFF_CPU, /* of sched_switch: time until the task ran again */
	FLAME_FIELD,   /* the value of the event's field */
};

/* By their words: samples, stacks, calls; count, time, oncpu. False for others. */
bool flame_from_named(const char *name, enum flame_from *from);
bool flame_weight_named(const char *name, enum flame_weight *weight);

struct flame_wanted {
	enum flame_from from;
	enum flame_weight weight;
	const char *field;	      /* with FLAME_FIELD */
	const struct pattern *events; /* "system:event" */
	size_t nr_events;	      /* 0: all */
	/* Whether what a task did is wanted; NULL: it always is. comm may be NULL. */
	bool (*task)(const void *arg, int64_t pid, const char *comm);
	const void *task_arg;
	const char *buffer; /* NULL: all; "" the top one */
	bool by_task;	    /* what a task did is below a frame of its name */
	bool by_cpu;
	struct walk_options walk; /* range of time, CPUs, stop */
};

/* Whether a row is one of those that are wanted, by its task and place, and by its time. */
bool flame_wants(const struct flame_wanted *w, int64_t cpu, int64_t pid, const char *comm,
		 const char *buffer);
bool flame_wants_time(const struct flame_wanted *w, uint64_t ts);
/* Whether an event is one of those that are wanted. */
bool flame_wants_event(const struct flame_wanted *w, const char *system, const char *event);

/*
 * Adds the stacks of a trace. *from becomes what was used. 0, -EINTR after a stop, -EINVAL if the
 * options make no sense, or another negative errno. A trace without stacks adds none.
 */
int flame_read(struct flame *f, unsigned int side, struct spur_trace *t,
	       const struct flame_wanted *w, enum flame_from *from, struct spur_error *err);

#endif
