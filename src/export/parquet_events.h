/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the Parquet writer: tables of event types, and of analyses' rows. */
#ifndef EXPORT_PARQUET_EVENTS_H
#define EXPORT_PARQUET_EVENTS_H

#include "table/cells.h"
#include "table/table.h"
#include "export/parquet_table.h"

/* ---- event types ---- */

struct pq_events;

/* The columns are added to a new table, and those that every table has. NULL without memory. */
struct pq_events *pq_events_new(struct pq_table *t, struct reader *reader, struct event *e,
				const char *trace_id);
void pq_events_free(struct pq_events *ev);
void pq_events_take(struct pq_events *ev, const struct spur_record *r);

/* ---- rows of analyses ---- */

struct pq_rows;

struct pq_rows *pq_rows_new(struct pq_table *t, const struct table *like, const char *trace_id);
void pq_rows_free(struct pq_rows *rows);
/* As a pass hands them out: `arg` is a struct pq_rows. */
void pq_rows_take(void *arg, const void *row);

#endif
