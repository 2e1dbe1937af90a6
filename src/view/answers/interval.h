/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interval of a row, and the data about it. Times are those of the file's index.
 */
#ifndef VIEW_ANSWERS_INTERVAL_H
#define VIEW_ANSWERS_INTERVAL_H

#include "stats/why.h"
#include "view/answers/answers.h"

/* From a value of VIEW_STATE: the row of the task that ended the state, -1: not known. */
#define ENDER_OF(value) ((int64_t)((value) >> VIEW_STATE_BITS) - 1)

/* "sleeping" and the like. */
const char *interval_state(uint32_t value);

/* A row of a file, with the data for reading its intervals. */
struct interval_row {
	struct view *view;
	struct view_index *index;
	uint32_t file;
	uint32_t row; /* of the index */
	struct view_row info;
	int64_t running, state; /* tracks, -1: none */
};

bool interval_row(struct view *v, uint32_t file, uint32_t row, struct interval_row *out);

/* The interval of a track that covers a time; the last one that ends at a time. -1 is no track. */
bool interval_at(const struct interval_row *r, int64_t track, uint64_t ts,
		 struct view_interval *out);
bool interval_before(const struct interval_row *r, int64_t track, uint64_t ts,
		     struct view_interval *out);

/* Whether a state is one that another task ends. */
bool interval_is_sleep(const struct view_interval *i);

/* "comm-pid", or "CPU 3". */
void interval_name(const struct interval_row *r, struct buf *out);

/* A time of the index on the trace's time line, and relative to the view's origin. */
uint64_t interval_absolute(const struct interval_row *r, uint64_t ts);
int64_t interval_relative(const struct interval_row *r, uint64_t ts);

/* The task that woke another one. */
struct interval_waker {
	uint64_t ts;
	int64_t row;  /* of the view, -1: not known */
	int64_t task; /* of the index, -1 */
	uint32_t cpu;
	bool has_record; /* cpu and in_interrupt are known; else they are 0 */
	bool in_interrupt;
};

/* The task that ended a sleep; false: it is not known. */
bool interval_waker(const struct interval_row *r, const struct view_interval *sleep,
		    const volatile int *stop, struct interval_waker *out);

/*
 * The task that woke a task which waits for a CPU, if its earlier state is unknown: it may be woken
 * before its first record. False if that is unknown.
 */
bool interval_first_waker(const struct interval_row *r, const struct view_interval *wait,
			  const volatile int *stop, struct interval_waker *out);

/* The name of the interrupt or softirq that runs on a CPU at a time, or NULL. */
const char *interval_interrupt(const struct interval_row *r, uint32_t cpu, uint64_t ts);

/* The row of a view by its number; *ts, relative to the view's origin, becomes one of the index. */
int interval_place(struct view *v, uint64_t number, uint64_t *ts, struct interval_row *out,
		   struct spur_error *err);
/* The same, but for a CPU the row becomes that of the task that runs there. */
int interval_task(struct view *v, uint64_t number, uint64_t *ts, struct interval_row *out,
		  struct spur_error *err);

/* ---- an interval with all that belongs to it ---- */

struct view_slice {
	int64_t start; /* this and other times are relative to the view's origin */
	uint64_t dur;
	uint32_t flags; /* enum view_flags */
	enum view_track_kind kind;
	int64_t value;	       /* with the view's numbers of rows, names and types */
	struct view_text name; /* its name */
	int64_t task;	       /* row of the view, -1 if it belongs to no task */
	const char *state;     /* of VIEW_STATE, else NULL */
	struct {
		struct view_detail {
			const char *label;
			struct view_text text;
		} * at;
		size_t n, cap;
	} details;	/* labels and texts */
	uint64_t event; /* number of the record it begins with, … */
	bool has_event; /* … if there is one */
	struct view_waker {
		struct interval_waker who;
		int64_t ts;
		uint64_t latency;      /* how long the task waited then, … */
		bool has_latency;      /* … if that is known */
		const char *interrupt; /* in which it happened, or NULL */
	} waker;		       /* who ended the sleep before it, … */
	bool has_waker;		       /* … if that is known */
	struct {
		struct view_woken {
			int64_t row, ts, pid;
			bool in_interrupt;
		} * at;
		size_t n, cap;
	} woke; /* the tasks it woke */
	struct view_neighbour {
		bool is_there;
		int64_t start;
		uint64_t dur;
		int64_t row, track;
	} previous, next; /* of the same task or track */
	struct buf texts; /* see view_text() */
	bool failed;	  /* without memory */
};

/*
 * The interval of a track at a time of the index, of VIEW_EVENTS the first record from there on.
 * -ENOENT if there is none. Call view_slice_free() in any case.
 */
int view_slice_read(const struct interval_row *row, uint32_t track, uint64_t ts,
		    const volatile int *stop, struct view_slice *out, struct spur_error *err);
void view_slice_free(struct view_slice *s);

/* ---- why it took so long ---- */

/* The critical path back from a moment of a task, over what it waited for. */
struct view_chain {
	struct {
		struct view_step {
			int64_t row;
			int64_t start, end; /* relative to the view's origin */
			const char *state;
			struct view_text why; /* empty: not known */
		} * at;
		size_t n, cap;
	} steps;
	struct buf texts;
	bool failed; /* without memory */
};

/* 0 or -ENOMEM. view_chain_free() is due in any case. */
int view_chain_read(const struct interval_row *task, uint64_t ts, const volatile int *stop,
		    struct view_chain *out);
void view_chain_free(struct view_chain *c);

/* Why a task waited at a time. -ENOENT: that is not known. why_free() is due in any case. */
int view_why(const struct interval_row *task, uint64_t ts, const volatile int *stop,
	     struct why *out, struct spur_error *err);

#endif
