/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emitters turn records into bytes: text lines, JSON objects, CSV rows. A new output form is one
 * more table of functions.
 *
 * An emitter belongs to one thread. Its output for a record depends on the record, the options and
 * the emitter's own state (names of tasks learned, call stacks) and on nothing else, so that
 * several threads can emit slices of a trace.
 */
#ifndef REPORT_EMIT_H
#define REPORT_EMIT_H

#include "base/buf.h"
#include "scan/scan.h"

struct emit_columns; /* --fields, columns.h */
struct pretty;

struct emit_options {
	enum event_compat compat;
	bool latency;  /* -l: the narrow form with latency flags */
	bool raw;      /* -R */
	bool nanosec;  /* -t: nine digits of time instead of six */
	bool ts_diff;  /* --ts-diff */
	bool boundary; /* --boundary: show where pages begin */
	bool debug;    /* --debug: and entries between records */
	bool colour;
	bool pretty;		      /* --pretty: system calls with names */
	bool no_plugins;	      /* -N: builtin printers off */
	struct event_options plugins; /* -O */
	const struct emit_columns *columns;
	bool labelled; /* lines begin with their source's label */
	int label_width;
};

/* One (trace, buffer) pair in the order in which they are merged. */
struct emit_source {
	const struct trace_buffer *buffer;
	const char *label;  /* shown in front of its lines; NULL or "" for none */
	uint32_t first_cpu; /* the number under which its CPU 0 is selected */
};

struct emitter;

struct emit_ops {
	/* What comes before the first record; may be NULL. */
	void (*begin)(const struct emit_options *opt, struct buf *out);
	void (*record)(struct emitter *em, const struct spur_record *r, struct event *e,
		       struct buf *out);
};

extern const struct emit_ops emit_text, emit_json, emit_csv, emit_table;

/* An emitter's state for one trace: a printer, and the prepared text of each event's name. */
struct emit_trace {
	const struct spur_trace *trace;
	struct event_printer printer;
	struct emit_name {
		char *text; /* " name: " and padding, NULL until needed */
		uint32_t len;
	} * names; /* by event index */
	struct pretty *pretty;
	struct task_places told; /* for columns */
};

/*
 * "            task-pid   [cpu]" as it was last printed for a CPU. Many consecutive events of a
 * CPU are of the same task.
 */
struct emit_task {
	const struct spur_trace *trace; /* NULL: nothing is stored */
	int pid;
	uint32_t cpu;
	uint32_t len;
	char text[52];
};

#define EMIT_TASKS 64 /* CPUs share the entries */

struct emitter {
	const struct emit_ops *ops;
	const struct emit_options *opt;
	struct scan *scan; /* where the records come from */
	struct emit_trace *traces;
	size_t nr_traces;
	struct emit_trace *now; /* of the record being emitted */
	const struct trace_buffer *buffer;
	const struct emit_source *source;
	uint64_t last_ts; /* --ts-diff */
	bool have_last;
	size_t cleaned; /* offset in the line up to which control characters have been replaced */
	struct emit_task tasks[EMIT_TASKS];
	struct {
		uint64_t second; /* + 1; 0: nothing is stored */
		uint32_t len;
		char text[32]; /* "%5llu." of it */
	} clock;
	struct buf scratch;
};

/* emitter_done() undoes it, also after a failure. */
int emitter_init(struct emitter *em, const struct emit_ops *ops, const struct emit_options *opt,
		 struct scan *scan, struct spur_trace *const *traces, size_t nr_traces);
void emitter_done(struct emitter *em);

/* Forgets the state of earlier records: names may have to be learned again. */
void emitter_forget(struct emitter *em);

/* Sets the source of the next record; call it before record(). */
void emitter_enter(struct emitter *em, const struct emit_source *source);

/* The task's name as this emitter knows it. */
const char *emitter_comm(struct emitter *em, int pid, size_t *len);

/* Appends a time as the options say, without blanks around it. */
void emit_time(const struct emit_options *opt, const struct trace_buffer *b, uint64_t ts,
	       struct buf *out);

#endif
