/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the values of a fleet's column come from in a file of Parquet, and testing them. */
#ifndef QUERY_FLEET_SOURCE_H
#define QUERY_FLEET_SOURCE_H

#include "query/fleet/tests.h"

struct fleet_source {
	enum { FROM_FILE, FROM_TEXT, FROM_NOTHING } from;
	size_t lane;
	const struct parquet_column *column;
	bool date; /* days become texts */
	const char *text;
};

/* A test of a column of the file, and what it says of a dictionary's values. */
struct tested {
	const struct fleet_test *test;
	struct fleet_source source;
	uint64_t dict;
	uint8_t *passes;
	size_t cap;
};

/* Leaves of the n rows those that pass; how many there are, or -ENOMEM. */
int source_keep(struct tested *t, const struct parquet_values *v, uint32_t *rows, uint32_t n,
		struct buf *room);

/* "YYYY-MM-DD" of a number of days, in DATE_TEXT bytes. */
void source_date(int64_t days, char *to);

#endif
