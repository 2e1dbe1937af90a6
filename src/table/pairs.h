/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time between any two events, as a table: what SQL people call a join and the kernel a
 * synthetic event.
 *
 * A `from` waits for the next `to` of the same key, on whatever CPU; the key is made of fields of
 * both. A later `from` of that key replaces one that waits, unless the first is to be kept. A `to`
 * ends the wait. A record that is both first ends a wait and then begins one: an event with itself
 * is its period.
 *
 * When events may have been lost while a `from` waited (on any CPU, or on its own when the key
 * says that both are on one CPU), it is not known if that `to` was the first: the row then has no
 * duration.
 */
#ifndef TABLE_PAIRS_H
#define TABLE_PAIRS_H

#include "table/table.h"

struct pair_row {
	uint64_t ts; /* of `from` */
	int64_t dur; /* ROW_NULL: events were lost meanwhile */
	int64_t from_cpu;
	int64_t to_cpu; /* ROW_NULL while it is open */
	int64_t pid;	/* that `to` was written by; while it is open, `from` */
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

/* NULL with words in err: what is wrong with the options, or not in the trace. */
struct pairs *pairs_new(struct spur_trace *t, const struct pairs_options *opt,
			struct spur_error *err);
void pairs_free(struct pairs *p);

/* Lives as long as the pairs, which the feed it is added to must not outlive. */
const struct table *pairs_table(const struct pairs *p);

/* How many were forgotten because too many waited at a time. */
uint64_t pairs_forgotten(const struct pairs *p);

#endif
