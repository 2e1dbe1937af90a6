/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report's worker: everything one thread needs to read, select and emit records.
 */
#ifndef REPORT_WORKER_H
#define REPORT_WORKER_H

#include "report/report.h"

struct worker {
	const struct report *rep;
	struct merge merge;
	struct emitter emitter;
	const struct emit_source **source_of; /* by lane */
	struct select_stack *stacks;	      /* by lane */
	struct lane_filter *lane_filters;     /* by trace; wanted is NULL where there is none */
	struct buf out;
	uint64_t emitted;
};

int worker_init(struct worker *w, const struct report *rep);
void worker_done(struct worker *w);

/* Adds the lanes of all sources of a report to a merge, in order. */
int worker_add_lanes(const void *report, struct merge *m);

/* Moves all lanes to the first page that can have records the report selects. */
void worker_seek(struct worker *w, uint64_t since);

/* Whether the report's user has asked it to end. */
static inline bool worker_stopped(const struct worker *w)
{
	return w->rep->stop && *w->rep->stop;
}

/* Looks at the record a lane stands on, which comes before those to be emitted. */
void worker_prime(struct worker *w, const struct lane *l);

/* Selects and emits one record that merge_next() returned. */
void worker_record(struct worker *w, const struct spur_record *r);

#define WORKER_FLUSH	(128u << 10) /* text that is worth writing */
#define WORKER_PROGRESS 65536	     /* records between two looks at how far the report is */

/* Writes what has been emitted; 0 or the negative errno of the report's write(). */
int worker_flush(struct worker *w);

/* Tells the report's progress(), if there is one, how far the lanes are. */
void worker_progress(const struct worker *w);

#endif
