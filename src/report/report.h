/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports: the records of one or more traces, merged by time, selected, and emitted in order.
 *
 * With several threads the trace is cut into slices of time, which are emitted in parallel and
 * written in order. The output does not depend on the number of threads.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/emit.h"
#include "scan/select.h"

struct report {
	struct spur_trace *const *traces;
	size_t nr_traces;
	const struct emit_source *sources; /* in merge order */
	size_t nr_sources;
	const struct emit_ops *emit;
	struct emit_options options;
	struct selection select;
	uint64_t head; /* stop after so many records; 0: show all */
	unsigned int threads;
	size_t slice_bytes;	  /* ring buffer data in a slice; 0: as much as is good */
	const volatile int *stop; /* when it becomes non-zero the report ends early; may be NULL */

	/* Writes the output, in order. A negative errno ends the report. */
	int (*write)(void *arg, const char *data, size_t len);
	void *arg;

	/* If set, called for every emitted record before its line ends; needs a single thread. */
	void (*watch)(void *arg, const struct spur_trace *t, struct event *e,
		      const struct spur_record *r, struct buf *out);
	void *watch_arg;

	/* If set, called now and then with how much has been read, by any thread. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

/* Writes the head: the names of columns. */
int report_begin(const struct report *rep);

/* Runs the report. 0, the negative errno of write(), -ENOMEM, or -EINTR after a stop. */
int report_run(const struct report *rep, struct spur_error *err);

/*
 * The same for the last n records that the report selects, without reading what comes before them.
 * `head` and `progress` have no effect.
 */
int report_tail(const struct report *rep, uint64_t n, struct spur_error *err);

#endif
