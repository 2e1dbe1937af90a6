/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in the kernel's buffers now, into a file: `spur extract`. */
#ifndef RECORD_EXTRACT_H
#define RECORD_EXTRACT_H

#include "record/session.h"

struct extract_options {
	const char *output;
	struct dat_out_options file;	/* version and compression */
	bool top;			/* the top-level buffer, … */
	struct request_names instances; /* … and these */
	bool snapshot;			/* the buffers' snapshots instead of themselves */
	bool date;			/* with what is needed to show the time of day */
	const char *tracer; /* one whose result is a text: that instead of events; or NULL */
	struct request_names options; /* how the text is to look; for the time of reading it */
};

/*
 * Buffers that record are stopped for the time it takes; nothing else is changed. What has been
 * extracted is no longer in the buffers. -ENODATA when the file is good but something is missing.
 */
int extract_run(const struct tracefs *fs, const struct extract_options *opt,
		struct session_result *res, struct spur_error *err);

#endif
