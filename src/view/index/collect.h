/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/view/index. A collector: one walk over the trace that feeds tables, whose rows
 * become intervals of tracks.
 *
 * The thread that walks does nothing else: it fills loads with what rows say. Any idle thread adds
 * full loads to the tracks; if too many wait, the walking thread does. Loads are added in order.
 */
#ifndef VIEW_INDEX_COLLECT_H
#define VIEW_INDEX_COLLECT_H

#include "base/vec.h"
#include "table/feed.h"
#include "view/index/internal.h"

#define LOAD_FACTS   1024
#define RECENT	     256  /* tasks that are found at once */
#define MOST_DEPTH   128  /* of calls and interrupts; deeper ones are left out */
#define COUNT_WINDOW 4096 /* changes of the number of tasks that can run */

/* The content of a row of a table. */
enum fact_kind {
	A_STATE,
	A_BEGIN,
	AN_UNKNOWN,
	AN_IRQ,
	A_SOFTIRQ,
	A_SYSCALL,
	A_CALL,
	A_FREQUENCY,
	NR_FACTS
};

struct fact {
	uint64_t ts;
	int64_t dur;	  /* or a frequency */
	const char *name; /* of a handler, system call or function */
	const char *comm; /* of a task, with states */
	int32_t pid, cpu; /* -1: not known */
	int32_t number;	  /* the waker, 0: none; of a system call; how deep others are */
	uint8_t kind;	  /* enum fact_kind */
	uint8_t state;	  /* enum view_state, of one that does not run */
	uint16_t flags;	  /* VIEW_OPEN_…, and of states: */
	uint32_t buffer;
};

/* The task can run in this state; it can in the next one; it runs. */
#define FACT_ACTIVE  0x10
#define FACT_NEXT    0x20
#define FACT_RUNNING 0x40

struct load {
	struct load *next;
	uint32_t n;
	struct fact at[LOAD_FACTS];
};

/* The tracks of nested intervals, by depth. */
struct track_nest {
	struct {
		struct track *track;
		uint64_t start; /* of the last one in it */
	} * at;
	size_t n, cap;
};

/* Tracks of a task, as far as there are any. */
struct task_tracks {
	bool known;
	uint64_t key;
	uint32_t row;
	const char *comm; /* as the table says it */
	struct track *running, *state, *syscalls;
	struct track_nest calls;
};

struct cpu_tracks {
	bool known;
	uint64_t key;
	uint32_t row; /* UINT32_MAX: the CPU has none */
	struct track *running, *unknown, *softirqs, *frequency;
	struct track_nest irqs, calls;
	struct view_interval speed; /* its current frequency, and since when */
	bool has_speed;
};

/* The number of tasks that can run. Changes come nearly in order; a window sorts them. */
struct change {
	uint64_t ts;
	int32_t by;
};

struct runnable {
	struct track *track;
	uint32_t row;
	struct change *at; /* by increasing time, room for twice the window */
	uint32_t first, n;
	/* The current interval, and the last change that was taken from the window. */
	bool any;
	uint64_t since, last;
	int64_t shown, value;
};

struct collector {
	struct view_index *x;
	unsigned int number; /* of its builder */
	struct builder *builder;
	struct feed *feed;
	bool any; /* the feed has tables */

	/* Of the walking thread. */
	struct load *filling;
	const char *buffer_name; /* of the previous row, … */
	uint32_t buffer;	 /* … and its number */
	struct {
		const struct event_field *cpu, *state;
	} frequency;

	/* For the thread that adds loads to tracks. */
	pthread_mutex_t putting;
	struct slots tasks, cpus; /* struct task_tracks, struct cpu_tracks */
	struct slots names;	  /* numbers + 1, by the address of a text of a table */
	struct task_tracks *recent[RECENT];
	struct cpu_tracks *recent_cpus[RECENT];
	vec_of(struct cpu_tracks *) all_cpus;
	struct runnable *runnable; /* by buffer; NULL: there are no states */

	pthread_mutex_t lock; /* guards the lists of loads */
	struct load *ready, **ready_end, *spare;
	uint32_t nr_loads;
	int done; /* through __atomic builtins */
};

/* Adds an interval to a track, which is made for its first interval. */
void collector_put(struct collector *g, struct track **track, uint32_t row,
		   enum view_track_kind kind, struct view_interval i);

/* The same for a nested interval. */
void collector_put_nested(struct collector *g, struct track_nest *n, uint32_t row,
			  enum view_track_kind kind, uint32_t depth, struct view_interval i);

/* ---- facts.c: facts become intervals ---- */

void collector_take(struct collector *g, const struct fact *f);

/* No more facts come: adds what was held back. */
void collector_rest(struct collector *g);

void collector_free_tracks(struct collector *g);

#endif
