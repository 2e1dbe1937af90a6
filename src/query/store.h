/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL over a ClickHouse store that `spur export` has filled: statements are in ClickHouse's SQL and
 * sent to the server (see store_sql.h), which returns the rows.
 */
#ifndef QUERY_STORE_H
#define QUERY_STORE_H

#include "query/query.h"

struct store_options {
	const char *address; /* clickhouse://HOST:PORT/DATABASE */
	/* Settings of the connection by name, NULL: not given; see store/clickhouse/server.h. */
	const char *(*setting)(const void *arg, const char *name);
	const void *arg;
};

/* Whether the argument of --fleet is such an address, not a folder. */
bool query_is_store(const char *fleet);

/* Makes a session without traces one over the store. */
int query_add_store(struct query *q, const struct store_options *opt, struct spur_error *err);

/* What the server has read for the last statement, by its own account; 0 if it does not say. */
struct store_counts {
	uint64_t rows, bytes;
};
struct store_counts query_store_counts(const struct query *q);

#endif
