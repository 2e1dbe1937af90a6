/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/query: lists of the columns of a fleet's tables. Functions return 0 or -ENOMEM. */
#ifndef QUERY_FLEET_COLUMNS_H
#define QUERY_FLEET_COLUMNS_H

#include "query/fleet/private.h"

/* Adds a column that files do not have. */
int fleet_columns_add_own(struct fleet_columns *c, const char *name, const char *type,
			  const char *about, bool coarse);
/* Adds the columns that every table has. */
int fleet_columns_begin(struct fleet_columns *c);
/* Adds the columns of an event type, NULL: of all records; only the common ones, or all. */
int fleet_columns_of_event(struct fleet_columns *c, struct event *e, bool common);
/* Adds the columns of a Parquet file, by its own names. */
int fleet_columns_of_parquet(struct fleet_columns *c, const struct parquet *p);
int fleet_columns_of_table(struct fleet_columns *c, const struct table *t);
/* NULL without memory. */
struct fleet_cell *fleet_columns_add(struct fleet_columns *c, const char *own, const char *about);
void fleet_columns_free(struct fleet_columns *c);

/* The column of a Parquet file for a column of the table, or -1. */
int fleet_parquet_column(const struct parquet *p, const struct fleet_cell *cell);

struct fleet_cell *fleet_columns_find(const struct fleet_columns *c, const char *name);
bool fleet_columns_equal(const struct fleet_columns *a, const struct fleet_columns *b);
/* Adds missing columns; *grown is set if there were any. */
int fleet_columns_merge(struct fleet_columns *to, const struct fleet_columns *from, bool *grown);

#endif
