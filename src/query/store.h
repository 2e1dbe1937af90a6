/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL over a ClickHouse store that `spur export` has filled: the statements of a query session are
 * ClickHouse's own and sent there (see store_sql.h), and rows of the result come back.
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

/* Whether a fleet is such an address, and no folder. */
bool query_is_store(const char *fleet);

/* Makes a session without traces one over the store. */
int query_add_store(struct query *q, const struct store_options *opt, struct spur_error *err);

/* What the server read for the last statement, as it says; 0: it did not. */
struct store_counts {
	uint64_t rows, bytes;
};
struct store_counts query_store_counts(const struct query *q);

#endif
