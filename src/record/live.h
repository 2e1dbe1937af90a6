/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is shown while it runs, without a file: `spur stream`, `spur profile`.
 *
 * Everything is set up as for a recording (session.h). Then all CPUs are read a few times a second,
 * and their records are emitted in order of time, as in a report.
 */
#ifndef RECORD_LIVE_H
#define RECORD_LIVE_H

#include "record/session.h"
#include "report/report.h"

struct live_options {
	struct session_options session; /* its members about files are ignored */
	struct trace_options trace;
	const struct emit_ops *emit;
	struct emit_options format; /* except labels, which are set here */
	uint64_t head;		    /* end after so many records; 0: never */

	/* Writes the output. -EPIPE means that the reader has closed it, and ends the recording. */
	int (*write)(void *arg, const char *data, size_t len);
	int out_fd; /* of the output, to notice that its reader has closed it; -1: not checked */

	/*
	 * Called when the trace is known and before tracing starts; may be NULL. A negative errno
	 * ends it.
	 */
	int (*opened)(void *arg, struct spur_trace *t, struct spur_error *err);
	/* Called for every record; may be NULL. */
	void (*watch)(void *arg, const struct spur_trace *t, struct event *e,
		      const struct spur_record *r, struct buf *out);
	/* Called after the last record, while the trace still exists; may be NULL. */
	int (*finished)(void *arg, struct spur_error *err);
	void *arg; /* of these four */
};

/* 0 also if it was stopped, or its reader has closed the output. */
int live_run(const struct tracefs *fs, const struct request *r, const struct live_options *opt,
	     struct session_result *res, struct spur_error *err);

#endif
