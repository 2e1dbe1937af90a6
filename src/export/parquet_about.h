/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the Parquet writer: the tables about the trace itself. */
#ifndef EXPORT_PARQUET_ABOUT_H
#define EXPORT_PARQUET_ABOUT_H

#include "scan/identity.h"
#include "export/parquet_table.h"

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
