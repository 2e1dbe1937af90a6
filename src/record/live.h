/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that is looked at while it runs and written nowhere: `spur stream`, `spur profile`.
 *
 * Everything is set up as for a recording (session.h). Then all CPUs are read a few times a
 * second and their records handed on in the order of their times, as a report of the same events
 * would.
 */
#ifndef RECORD_LIVE_H
#define RECORD_LIVE_H

#include "record/session.h"
#include "report/report.h"

struct live_options {
	struct session_options session; /* what is about files in it does not matter */
	struct trace_options trace;
	const struct emit_ops *emit;
	struct emit_options format; /* but for labels, which are set here */
	uint64_t head;		    /* end after so many records; 0: never */

	/* Takes the output. -EPIPE ends it: the reader is gone. */
	int (*write)(void *arg, const char *data, size_t len);
	int out_fd; /* of the output, to notice when its reader is gone; -1: does not matter */

	/* The trace is known, nothing runs yet; may be NULL. A negative errno ends it. */
	int (*opened)(void *arg, struct spur_trace *t, struct spur_error *err);
	/* Sees every record; may be NULL. */
	void (*watch)(void *arg, const struct spur_trace *t, struct event *e,
		      const struct spur_record *r, struct buf *out);
	/* After the last record, while the trace is still there; may be NULL. */
	int (*finished)(void *arg, struct spur_error *err);
	void *arg; /* of these four */
};

/* 0 also when it was stopped, or its reader has gone. */
int live_run(const struct tracefs *fs, const struct request *r, const struct live_options *opt,
	     struct session_result *res, struct spur_error *err);

#endif
