/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report's worker: everything one thread needs to read, select and emit records.
 *
 * Private to src/report.
 */
#ifndef REPORT_WORKER_H
#define REPORT_WORKER_H

#include "report/report.h"

struct worker {
	const struct report *rep;
	struct scan scan;
	struct emitter emitter;
	const struct emit_source **source_of; /* by lane */
	struct select_stack *stacks;	      /* by lane */
	struct lane_filter *lane_filters;     /* by trace; wanted is NULL where there is none */
	struct buf out;
	uint64_t emitted;
};

int worker_init(struct worker *w, const struct report *rep);
void worker_done(struct worker *w);

/* Adds the lanes of all sources of a report to a scan, in order. */
int worker_add_lanes(const void *report, struct scan *m);

/* Learns from a lane's current record, which is before those to be emitted. */
void worker_prime(struct worker *w, const struct lane *l);

/* Selects and emits one record that scan_next() returned. */
void worker_record(struct worker *w, const struct spur_record *r);

#define WORKER_FLUSH (128u << 10) /* text that is worth writing */

/* Writes what has been emitted; 0 or the negative errno of the report's write(). */
int worker_flush(struct worker *w);

/*
 * A report by several threads, each with workers for slices of time (parallel.c). The output is the
 * same as that of one thread; returns as report_run() does.
 */
int crew_run(const struct report *rep, unsigned int threads);

#endif
