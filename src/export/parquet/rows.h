/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export: where the rows of Parquet tables come from. Records of event types, rows
 * of analyses, and what is known about the trace itself.
 */
#ifndef EXPORT_PARQUET_ROWS_H
#define EXPORT_PARQUET_ROWS_H

#include "table/cells.h"
#include "table/table.h"
#include "export/parquet/table.h"
#include "scan/identity.h"

/* ---- event types ---------------------------------------------------------------------- */

struct pq_events;

/* The columns are added to a new table, and those that every table has. NULL without memory. */
struct pq_events *pq_events_new(struct pq_table *t, struct reader *reader, struct event *e,
				const char *trace_id);
void pq_events_free(struct pq_events *ev);
void pq_events_take(struct pq_events *ev, const struct spur_record *r);

/* ---- rows of analyses ----------------------------------------------------------------- */

struct pq_rows;

struct pq_rows *pq_rows_new(struct pq_table *t, const struct table *like, const char *trace_id);
void pq_rows_free(struct pq_rows *rows);
/* As a pass hands them out: `arg` is a struct pq_rows. */
void pq_rows_take(void *arg, const void *row);

/* ---- about the trace itself ----------------------------------------------------------- */

struct pq_about {
	struct spur_trace *trace;
	const struct identity *id;
	/* Of what was exported. */
	uint64_t events, gaps;
	int64_t lost;
	uint64_t first, last; /* times; first is above last when there is nothing */
};

/* The one row of the table of traces. */
void pq_about_trace(const struct pq_about *a, struct pq_table *t);

/* How the clocks of the trace's buffers became its time line. */
void pq_about_clocks(const struct pq_about *a, struct pq_table *t);

#endif
