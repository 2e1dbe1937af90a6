/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Running a scan on several threads, for sinks whose results of two slices can be joined.
 *
 * Each thread reads slices of time into results of its own, which are joined in order of time. A
 * slice is begun before it is known where the previous one ends, and is read again if it should
 * have begun elsewhere. So the result does not depend on the number of threads.
 */
#ifndef SCAN_RUN_H
#define SCAN_RUN_H

#include "scan/scan.h"

struct scan_sink {
	/* An empty result; NULL without memory. */
	void *(*begin)(void *arg);
	/* Adds the record that a lane stands on. 0, or a negative errno, which ends the scan. */
	int (*record)(void *part, const struct lane *l);
	/*
	 * Adds the result of a slice to the whole, in order of time, one thread at a time. Returns
	 * the same.
	 */
	int (*join)(void *arg, const void *part);
	void (*free)(void *part);
};

struct scan_run {
	const struct spur_trace *trace;
	struct scan_options opt;
	const struct scan_sink *sink;
	void *arg; /* of begin() and join() */
	unsigned int threads;
};

/* 0, -EINTR after a stop, -ENOMEM, or what a function of the sink returned. */
int scan_run(const struct scan_run *run);

/*
 * How many threads to use: the given number; one for 0; for SCAN_ALL_CPUS one per CPU if the trace
 * is large.
 */
#define SCAN_ALL_CPUS UINT32_MAX

unsigned int scan_threads(const struct spur_trace *t, unsigned int wanted);

#endif
