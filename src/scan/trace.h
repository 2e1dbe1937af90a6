/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace: an open file, its event types and its time line.
 *
 * Everything above this layer (merging, printing, analysing) uses times of the trace's time line.
 * Only this file knows that a buffer's clock may be shifted, scaled, or that of another machine.
 */
#ifndef SCAN_TRACE_H
#define SCAN_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <spur/error.h>

#include "dat/dat.h"
#include "event/event.h"

struct trace_options {
	enum event_compat compat;
	bool raw_ts;	      /* times as in the ring buffer */
	bool ignore_date;     /* do not shift to wall time even if the file has the offset */
	int64_t ts_offset;    /* added to every time */
	uint64_t ts_hz;	      /* ticks of the clock a second; 0: it counts nanoseconds */
	const char *kallsyms; /* text of another kallsyms file, or NULL */
	size_t kallsyms_len;
	bool user_plugins;		   /* load users' own libtraceevent plugins */
	const char *const *plugin_options; /* for them, "name=value" up to a NULL; or NULL */
};

/* How to convert a time in a buffer to the trace's time line. */
struct trace_time {
	const struct dat_time_shift *shift; /* guest to host, or NULL */
	double ts2nsec;			    /* factor, 0: none */
	uint32_t mult, shift_bits;	    /* TSC to nanoseconds, mult 0: none */
	int64_t offset;
};

struct trace_buffer {
	struct spur_trace *trace;
	const struct dat_buffer *data;
	uint32_t index;
	bool nanoseconds; /* the clock counts nanoseconds: times are shown as seconds */
	struct trace_time time;
};

struct spur_trace {
	struct dat *dat;
	struct events *events;
	struct trace_options opt;
	struct trace_buffer *buffers;
	uint32_t nr_buffers;
};

/* Opens a trace.dat, or a file that a source (import/sources.h) converts. */
int trace_open(const char *path, const struct trace_options *opt, struct spur_trace **out,
	       struct spur_error *err);

/* The same for an open descriptor, which it closes later, also after a failure. */
int trace_open_fd(int fd, const char *name, const struct trace_options *opt,
		  struct spur_trace **out, struct spur_error *err);
void trace_close(struct spur_trace *t);

/*
 * Whether no buffer with records has times in nanoseconds: their clocks count something else
 * (counter, x86-tsc, …).
 */
bool trace_counts_ticks(const struct spur_trace *t);

/* The number of CPUs of a buffer as trace-cmd counts them: all of the machine. */
uint32_t trace_buffer_cpus(const struct trace_buffer *b);

/*
 * Lets kvm events of the first trace show the functions of guests whose traces are among the
 * others. Close the first trace before the others.
 */
int trace_map_guests(struct spur_trace *const *traces, size_t nr);

/*
 * What the file says about a task at a time of the trace: its name, process and parent, or NULL.
 * *since is when that became true; 0: before the trace.
 */
const struct dat_task *trace_task_at(const struct spur_trace *t, int pid, uint64_t ts);
uint64_t trace_task_time(const struct spur_trace *t, const struct dat_task *task);

/* The same, with the range of time in which it is true. */
struct task_span {
	const struct dat_task *task;
	uint64_t from, until;
};

struct task_span trace_task_span(const struct spur_trace *t, int pid, uint64_t ts);

/* The last results of looking up tasks, by pid modulo the size; zeroed at first. */
#define TASK_PLACES 64

struct task_places {
	struct {
		int pid; /* 0: none yet */
		struct task_span span;
	} at[TASK_PLACES];
};

/* As trace_task_at(), often faster. NULL also if the file does not say the task's name then. */
const struct dat_task *trace_task_named(const struct spur_trace *t, struct task_places *places,
					int pid, uint64_t ts);

/* Shifts all times of the trace, in addition to earlier shifts. */
void trace_shift(struct spur_trace *t, int64_t offset);

uint64_t trace_time_slow(const struct trace_time *t, uint64_t raw, uint32_t cpu);

/* Converts a raw time of a CPU to the trace's time line. */
static inline uint64_t trace_time(const struct trace_time *t, uint64_t raw, uint32_t cpu)
{
	if (__builtin_expect(t->shift || t->ts2nsec != 0 || t->mult, 0))
		return trace_time_slow(t, raw, cpu);
	return raw + (uint64_t)t->offset;
}

#endif
