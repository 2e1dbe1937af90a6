/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/query: a store in a session, and its statements. */
#ifndef QUERY_STORE_SESSION_H
#define QUERY_STORE_SESSION_H

#include "query/parts.h"
#include "query/store.h"
#include "store/clickhouse/select.h"

struct store_session {
	struct query *query;
	struct ch_address at;
	struct ch_server server;
	struct store_counts counts;
};

void query_store_free(struct store_session *s);

/* ---- what there is; for schema.c ---- */

int store_tables(struct store_session *s, void (*fn)(void *arg, const struct query_table_info *t),
		 void *arg, struct spur_error *err);
int store_columns(struct store_session *s, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err);
void store_names(const struct store_session *s, void (*fn)(void *arg, const char *name), void *arg);

/* ---- statements ---- */

struct store_stmt;

/* *out is NULL when there is nothing but blanks. */
int store_stmt_new(struct store_session *s, const char *sql, struct store_stmt **out,
		   struct spur_error *err);
void store_stmt_free(struct store_stmt *s);

/* As query_nr_params(), query_param() and query_bind(). */
size_t store_stmt_nr_params(const struct store_stmt *s);
const char *store_stmt_param(const struct store_stmt *s, size_t number);
int store_stmt_bind(struct store_stmt *s, size_t number, const char *value, struct spur_error *err);

/* As query_step(). */
int store_stmt_step(struct store_stmt *s, struct spur_error *err);
/* Has the columns and the row; NULL when the server has refused, which the first step says. */
sqlite3_stmt *store_stmt_row(struct store_stmt *s);

#endif
