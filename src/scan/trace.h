/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace: an opened file together with what is known about its events and its time.
 *
 * Everything above this layer (merging, printing, analysing) sees records on the trace's time line;
 * only this file knows that a buffer's own clock may be shifted, scaled or someone else's.
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
	bool raw_ts;	      /* times as the ring buffer has them */
	bool ignore_date;     /* do not shift to wall time although the file could */
	int64_t ts_offset;    /* added to every time */
	uint64_t ts_hz;	      /* the clock ticks this often a second; 0: it counts nanoseconds */
	const char *kallsyms; /* text of another kallsyms file, or NULL */
	size_t kallsyms_len;
	bool user_plugins;		   /* load users' own libtraceevent plugins */
	const char *const *plugin_options; /* for them, "name=value" up to a NULL; or NULL */
};

/* How a time in a buffer becomes one on the trace's time line. */
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

/* A trace.dat, or what a source (import/sources.h) makes one of. */
int trace_open(const char *path, const struct trace_options *opt, struct spur_trace **out,
	       struct spur_error *err);

/* The same over an open descriptor, which it takes over. */
int trace_open_fd(int fd, const char *name, const struct trace_options *opt,
		  struct spur_trace **out, struct spur_error *err);
void trace_close(struct spur_trace *t);

/* How many CPUs a buffer has as trace-cmd counts them: all of the machine's. */
uint32_t trace_buffer_cpus(const struct trace_buffer *b);

/*
 * Lets the first trace's kvm events name the functions of guests whose traces are among the others.
 * The others must not be closed before it.
 */
int trace_map_guests(struct spur_trace *const *traces, size_t nr);

/*
 * What the file says about a task at a time of the trace: its name, process and parent; NULL when
 * it says nothing. And since when that holds, 0: since before the trace.
 */
const struct dat_task *trace_task_at(const struct spur_trace *t, int pid, uint64_t ts);
uint64_t trace_task_time(const struct spur_trace *t, const struct dat_task *task);

/* The same, and when it holds: from a time on, before another. */
struct task_span {
	const struct dat_task *task;
	uint64_t from, until;
};

struct task_span trace_task_span(const struct spur_trace *t, int pid, uint64_t ts);

/* Shifts all of the trace's times, in addition to what it already does. */
void trace_shift(struct spur_trace *t, int64_t offset);

uint64_t trace_time_slow(const struct trace_time *t, uint64_t raw, uint32_t cpu);

/* A time of the trace's time line for a raw one of that CPU. */
static inline uint64_t trace_time(const struct trace_time *t, uint64_t raw, uint32_t cpu)
{
	if (__builtin_expect(t->shift || t->ts2nsec != 0 || t->mult, 0))
		return trace_time_slow(t, raw, cpu);
	return raw + (uint64_t)t->offset;
}

#endif
