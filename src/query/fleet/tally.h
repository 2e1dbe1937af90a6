/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting equal rows of Parquet while they are read.
 *
 * Every value of a column gets a number; values of a dictionary are looked up only once. The number
 * of a group is found from that of the group by the earlier columns and that of the value. So a row
 * costs a look-up for each column except the first.
 *
 * Private to src/query.
 */
#ifndef QUERY_FLEET_TALLY_H
#define QUERY_FLEET_TALLY_H

#include "query/fleet/private.h"

struct tally;

/* By so many columns. NULL without memory. */
struct tally *tally_new(size_t columns);
void tally_free(struct tally *t);

/* Before a batch's columns: n rows. */
int tally_begin(struct tally *t, uint32_t n);
/* The next column: rows are those of `rows`, n of them. 0, -ENOMEM. */
int tally_column(struct tally *t, const struct parquet_column *c, const struct parquet_values *v,
		 const uint32_t *rows, uint32_t n);
/* After the last one. */
int tally_end(struct tally *t, uint64_t n);

/* Whether there are so many groups that they should be returned. */
bool tally_is_large(const struct tally *t);

/* The number of groups, in the order in which they came; and removing them. */
size_t tally_size(const struct tally *t);
uint64_t tally_count(const struct tally *t, size_t group);
/* The value of a column; the type is SQLite's. Dates are numbers. */
struct fleet_value tally_value(const struct tally *t, size_t group, size_t column);
int tally_reset(struct tally *t);

#endif
