/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of why.h share: reading around a moment, texts. Private to src/stats. */
#ifndef STATS_WHY_READER_H
#define STATS_WHY_READER_H

#include <string.h>

#include "table/feed.h"
#include "stats/why.h"

struct why_reader {
	struct spur_trace *trace;
	const struct trace_buffer *buffer;
	const volatile int *stop;
	uint64_t start; /* of the trace */
	uint64_t from;	/* the moment that was asked for */
	struct why *why;
	struct spur_error *err;
};

/* ---- reading ranges of time ---- */

/* A range that ends at a time and is made longer until it shows what is wanted. */
struct why_window {
	uint64_t at;	 /* what is wanted was found, or is earlier */
	uint64_t lowest; /* it need not begin before that */
	uint64_t span;
	uint64_t since; /* 0: it has all of the trace */
	bool whole;	/* it cannot become longer */
};

struct why_window why_window(const struct why_reader *r, uint64_t at, uint64_t span,
			     uint64_t lowest);
/* False: it cannot become longer. */
bool why_window_grow(const struct why_reader *r, struct why_window *w);

/* A feed of the trace; tables and watchers are added to it. */
struct feed *why_feed(const struct why_reader *r);

/* Reads from `since` until after `until`, or until *done; frees the feed. */
int why_run(const struct why_reader *r, struct feed *f, uint64_t since, uint64_t until,
	    const bool *done);

/* The same of one table. */
int why_run_table(const struct why_reader *r, const struct table *t,
		  void (*take)(void *arg, const void *row), void *arg, uint64_t since,
		  uint64_t until, const bool *done);

/* Whether the reader's buffer has a record of one of these types (up to a NULL) in a range. */
int why_has_records(const struct why_reader *r, const char *const *events, uint64_t since,
		    uint64_t until, bool *has);

/* Whether records of two buffers may be compared. */
static inline bool why_same_clock(const struct trace_buffer *a, const struct trace_buffer *b)
{
	return !a->data->text && !b->data->text && strcmp(a->data->clock, b->data->clock) == 0;
}

/*
 * A reader of the i-th buffer, if that is not the reader's own, but has the same clock and was
 * recorded at a time; *is says whether.
 */
int why_other(const struct why_reader *r, uint32_t i, uint64_t ts, struct why_reader *other,
	      bool *is);

/* Whether a row is of the reader's buffer. */
static inline bool why_is_here(const struct why_reader *r, const char *buffer)
{
	return buffer == r->buffer->data->name;
}

/* How much of a row lies between two times. */
static inline uint64_t why_overlap(uint64_t ts, int64_t dur, uint64_t from, uint64_t to)
{
	const uint64_t end = row_end_of(ts, dur);

	ts = ts > from ? ts : from;
	to = end < to ? end : to;
	return to > ts ? to - ts : 0;
}

static inline bool why_is_sleep(enum run_state s)
{
	return s == RUN_SLEEPING || s == RUN_BLOCKED || s == RUN_STOPPED;
}

/* Where events of a CPU were lost: a table that others do not have. */
struct why_loss {
	uint64_t ts;
	int64_t dur;
	int64_t cpu;
	const char *buffer;
};

extern const struct table why_losses_table;

/* ---- texts ---- */

/* A copy that lives as long as the answer; NULL of NULL. */
const char *why_keep(struct why *w, const char *text);
void why_note(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The frames of "outer;…;inner" from the inside out; *left is its length at first, 0 at the end. */
const char *why_frame(const char *stack, size_t *left, size_t *len);

/* What the file calls a task at a time; NULL: it does not say. */
const char *why_name(const struct why_reader *r, int64_t pid, uint64_t ts);
/* The name that task_rename or sched_process_exec gives to a task; NULL: the record gives none. */
const char *why_new_name(const struct why_reader *r, struct event *e, const struct spur_record *rec,
			 int64_t *pid);
/* Whether the file says that a task is a thread of the kernel's. */
bool why_is_kthread(const struct why_reader *r, int64_t pid, uint64_t ts);

/* ---- the parts of an answer ---- */

/* Who had the CPUs, of a task that was runnable (cpu.c). */
int why_cpus(const struct why_reader *r);

/* What woke a task at a time, and from where (sleep.c). */
int why_wake_at(const struct why_reader *r, int64_t pid, uint64_t ts, struct why_wake *to);

/* The system call that a task was in at a time, when it fell asleep or woke another (calls.c). */
int why_call_at(const struct why_reader *r, int64_t pid, uint64_t ts, bool waker,
		struct why_call *to);

/* The system call, lock and stack that the task slept in (sleep.c). */
int why_slept_in(const struct why_reader *r);

/* Who had to run before the task could be woken (sleep.c). */
int why_chain(const struct why_reader *r);

#endif
