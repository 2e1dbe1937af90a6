/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time between any two events, as a table: a join in SQL, a synthetic event in the kernel.
 *
 * A `from` waits for the next `to` of the same key, on any CPU; the key consists of fields of both.
 * A later `from` of that key replaces one that waits, unless `first` is set. A `to` ends the wait.
 * A record that is both ends a wait, then begins one: so an event paired with itself gives its
 * period.
 *
 * If events may have been lost while a `from` waited (on any CPU, or on its own if the CPU is part
 * of the key), that `to` may not have been the first. Then the row has no duration.
 */
#ifndef TABLE_PAIRS_H
#define TABLE_PAIRS_H

#include "table/table.h"

struct pair_row {
	uint64_t ts; /* of `from` */
	int64_t dur; /* ROW_NULL: events were lost meanwhile */
	int64_t from_cpu;
	int64_t to_cpu; /* ROW_NULL while it is open */
	int64_t pid;	/* of the task that wrote `to`; while it is open, of `from` */
	const char *comm;
	const char *key; /* values, with commas between; NULL: there is none */
	enum row_open open;
	const char *buffer;
};

struct pairs_options {
	const char *from; /* [system:]event[/filter/] */
	const char *to;	  /* NULL: the same, the next one */
	/* Fields with commas between, each "field" or "fromfield=tofield"; NULL: none. */
	const char *match;
	bool first; /* of several `from` the first counts, not the last */
};

struct pairs;

/*
 * NULL with a message in err if the options are wrong, or name events that the trace does not have.
 */
struct pairs *pairs_new(struct spur_trace *t, const struct pairs_options *opt,
			struct spur_error *err);
void pairs_free(struct pairs *p);

/* Valid as long as the pairs; free the feed before them. */
const struct table *pairs_table(const struct pairs *p);

/* How many were forgotten because too many waited at a time. */
uint64_t pairs_forgotten(const struct pairs *p);

#endif
