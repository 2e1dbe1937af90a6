/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the Parquet writer: tables of event types, and of analyses' rows. */
#ifndef EXPORT_PARQUET_EVENTS_H
#define EXPORT_PARQUET_EVENTS_H

#include "analyze/cells.h"
#include "analyze/table.h"
#include "export/parquet_table.h"

/* Numbers of texts by a key, which are forgotten when the column's texts get new ones. */
#define PQ_MEMO 256

struct pq_memo {
	uint32_t epoch;
	struct {
		uint64_t key;
		uint32_t id; /* plus 1; 0: nothing is here */
	} at[PQ_MEMO];
};

/* The place for a key, where it is if it has been kept. */
static inline uint32_t pq_memo_slot(struct pq_memo *m, const struct pq_column *c, uint64_t key)
{
	if (__builtin_expect(m->epoch != c->epoch, 0)) {
		memset(m->at, 0, sizeof(m->at));
		m->epoch = c->epoch;
	}
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 56);
}

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
