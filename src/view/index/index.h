/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of a trace for drawing: what happened in each row, at every scale.
 *
 * A row is a CPU or a task; its tracks are sequences of intervals that do not overlap, and one of
 * ticks, which are all its records. Tile i of level L is 512 bins of 2^L nanoseconds each from
 * i * 512 * 2^L on. Times are relative to the index's origin.
 *
 * Threads build the index while others read it. Results do not become wrong later, but tiles may
 * not be complete yet. All functions except open and close may be called by several threads at
 * once.
 *
 * Intervals come from the tables (src/table), with two rules for inconsistent traces: an interval
 * begins at the end of the previous one of its track, if that is later; and a record has the time
 * of the previous one on its CPU, if its own is earlier.
 */
#ifndef VIEW_INDEX_INDEX_H
#define VIEW_INDEX_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/vec.h"

#define VIEW_TILE_SHIFT	    9
#define VIEW_TILE_BINS	    (1u << VIEW_TILE_SHIFT)
#define VIEW_MOST_INTERVALS 1024 /* in a tile that is answered with intervals */
#define VIEW_MOST_LEVEL	    53	 /* tiles of higher ones are empty */

struct spur_trace;
struct event;
struct view_index;

/*
 * A task is a pid of a buffer; a pid that is used again has the same row. The idle task has none.
 */
enum view_row_kind { VIEW_CPU_ROW, VIEW_TASK_ROW, VIEW_COUNTER_ROW };

/* The meaning of an interval's value. For numbers of names see view_index_name(). */
enum view_track_kind {
	VIEW_RUNNING, /* of a CPU: the task's row; of a task: the CPU, UINT32_MAX: not known */
	/*
	 * Of a task while it does not run: enum view_state | (waker's row + 1) << 4. Of a CPU:
	 * VIEW_UNKNOWN, while it is unknown. A CPU with neither this nor VIEW_RUNNING is idle.
	 */
	VIEW_STATE,
	VIEW_IRQ,     /* of a CPU, by depth: name */
	VIEW_SOFTIRQ, /* of a CPU: name */
	VIEW_SYSCALL, /* of a task: name */
	VIEW_CALL,    /* of a task, or of a CPU in the idle task, by depth: name of the function */
	VIEW_LOST,    /* of a CPU: how many events were lost, 0: not known */
	VIEW_EVENTS,  /* every record, without duration: index of its type in the registry,
			 UINT32_MAX: the trace does not describe it */
	VIEW_COUNTER, /* of a CPU: its frequency in kHz; of a counter's row: tasks that can run */
};

enum view_state {
	VIEW_RUNNABLE,
	VIEW_PREEMPTED, /* runnable, because it was preempted */
	VIEW_SLEEPING,
	VIEW_BLOCKED,
	VIEW_STOPPED,
	VIEW_DEAD,
	VIEW_UNKNOWN,
};

#define VIEW_STATE_BITS 4 /* the bits above are the waker's row + 1, or 0 */
#define VIEW_NO_NAME	UINT32_MAX

/* The state in a value of VIEW_STATE. */
static inline enum view_state view_state_of(uint32_t value)
{
	const uint32_t state = value & ((1u << VIEW_STATE_BITS) - 1);

	return state < VIEW_UNKNOWN ? (enum view_state)state : VIEW_UNKNOWN;
}

enum view_flags { VIEW_OPEN_START = 1, VIEW_OPEN_END = 2 };

struct view_track {
	enum view_track_kind kind;
	uint32_t depth;
};

struct view_row {
	enum view_row_kind kind;
	uint32_t buffer;
	int64_t number;		  /* CPU or pid */
	int64_t tgid;		  /* the process's number, -1: not known */
	const char *process;	  /* the name of its first thread; NULL: not known */
	const char *name;	  /* of a task: the last one it had; NULL: not known */
	const char *const *older; /* names that it had before, the last ones first */
	uint32_t nr_older;
	uint64_t events;
	uint64_t busy;	      /* nanoseconds it ran, or a task ran on it */
	uint64_t first, last; /* times of its first and last record, first > last: it has none */
	const struct view_track
		*tracks; /* in the order in which they were found; this order does not change */
	uint32_t nr_tracks;
};

/* The number of a track of this kind and depth, -1: the row has none. */
int64_t view_row_track(const struct view_row *r, enum view_track_kind kind, uint32_t depth);

struct view_interval {
	uint64_t start, dur;
	uint32_t value;
	uint32_t flags; /* enum view_flags */
};

struct view_bin {
	uint32_t bin;  /* in the tile */
	uint32_t n;    /* that start in it */
	uint64_t busy; /* nanoseconds that are covered */
	uint32_t top;  /* the value that covers most, the smallest of several; 0: none covers any */
	uint32_t mask; /* of VIEW_EVENTS: a bit for every class of events, see view_class() */
};

struct view_tile {
	bool complete;				/* it will not change */
	vec_of(struct view_interval) intervals; /* all that overlap the tile; or … */
	vec_of(struct view_bin) bins;		/* … those that are not empty */
	bool has_bins;
};

struct view_index_options {
	const char *cache; /* a folder for finished indexes; NULL: none is kept */
	uint32_t threads;  /* 0: as many as there are CPUs, at most 8 */
	/*
	 * Bytes of intervals and bins in memory, 0: 32 MB. More go into a temporary file in
	 * `cache`, or in the folder $SQLITE_TMPDIR; without both they stay in memory.
	 */
	uint64_t memory;
};

/*
 * Starts building (or reads a stored index) and returns at once. The trace must stay open; its path
 * is only for messages. Only files in the two folders are opened.
 */
struct view_index *view_index_open(const char *path, struct spur_trace *t,
				   const struct view_index_options *opt, struct spur_error *err);
void view_index_close(struct view_index *x); /* stops the threads; NULL is fine */

double view_index_progress(const struct view_index *x);	    /* 1: finished */
uint64_t view_index_generation(const struct view_index *x); /* grows with every change */
/* Waits until the generation differs from this, for at most so many milliseconds. */
void view_index_wait(struct view_index *x, uint64_t generation, int ms);
/* The error that has ended building; the existing data can still be read. */
int view_index_error(struct view_index *x, struct spur_error *err);

uint64_t view_index_origin(const struct view_index *x);	  /* UINT64_MAX: there are no records */
uint64_t view_index_duration(const struct view_index *x); /* until the last record */
uint64_t view_index_records(const struct view_index *x);  /* so far */
/* So far, of a type by its index in the registry; one after the last: of types not described. */
uint64_t view_index_count(const struct view_index *x, uint32_t event);

uint32_t view_index_rows(const struct view_index *x);
bool view_index_row(const struct view_index *x, uint32_t row, struct view_row *out);
/* The row of a task, -1: there is none. */
int64_t view_index_find_task(const struct view_index *x, uint32_t buffer, int64_t pid);
uint32_t view_index_names(const struct view_index *x);
const char *view_index_name(const struct view_index *x, uint32_t name); /* NULL: no such */

/* 0, -ENOENT: no such row or track, -ENOMEM. Tiles are reused from call to call. */
int view_index_tile(struct view_index *x, uint32_t row, uint32_t track, uint32_t level,
		    uint64_t tile, struct view_tile *out);
void view_tile_free(struct view_tile *t);

/*
 * The interval of a track that covers or follows (dir 1), covers or precedes (dir -1) a time;
 * false: none.
 */
bool view_index_interval(struct view_index *x, uint32_t row, uint32_t track, uint64_t ts, int dir,
			 struct view_interval *out);

/*
 * All intervals of a track that overlap a range (until is not in it), one after the other. take()
 * returns false to stop.
 */
int view_index_each(struct view_index *x, uint32_t row, uint32_t track, uint64_t since,
		    uint64_t until, bool (*take)(void *arg, const struct view_interval *i),
		    void *arg);

/*
 * Records by their number in the merged order. seek(): a time, and the number of the first record
 * at or after it, which is at most n, and not far from it. ordinal(): the number of the first
 * record at or after a time. -EAGAIN: not indexed yet, -ENOENT: there is no such record.
 */
int view_index_seek(struct view_index *x, uint64_t n, uint64_t *first, uint64_t *ts);
int view_index_ordinal(struct view_index *x, uint64_t ts, uint64_t *n);

/* Classes of events, up to a NULL, at most 32; the one of an event type, NULL: not described. */
extern const char *const view_classes[];
unsigned int view_class(const struct event *e);

#endif
