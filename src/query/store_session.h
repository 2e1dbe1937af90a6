/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/query: a store in a session, and its statements. */
#ifndef QUERY_STORE_SESSION_H
#define QUERY_STORE_SESSION_H

#include "store/clickhouse/select.h"
#include "query/parts.h"
#include "query/store.h"
#include "query/store_parts.h"

/* The table in which exports note what events there are. */
#define STORE_TYPES "event_types"

struct store {
	struct query *query;
	struct ch_address at;
	struct ch_server server;
	struct {
		struct store_view {
			char *name, *text;
		} * at;
		size_t n, cap;
	} views;
	struct {
		struct store_type {
			char *table, *system;
		} * at;
		size_t n, cap;
	} types;
	bool types_known;
	struct store_counts counts;
};

void query_store_free(struct store *s);

/* ---- what there is ---- */

/* What the compiler may ask. What the server knows is loaded first. */
int store_schema_load(struct store *s, struct spur_error *err);
struct store_schema store_schema_of(struct store *s);

bool store_is_local(const struct store *s, const char *name);
bool store_is_event(const struct store *s, const struct ch_table_info *t);
bool store_has_events(const struct store *s);
const struct ch_table_info *store_find_table(const struct store *s, const char *name);
/* "": it is not known, NULL: there is none. */
const char *store_system_of(const struct store *s, const char *table);
void store_put_place(const struct store *s, const char *table, struct buf *to);
int store_find(void *store, const char *name, struct arena *arena, struct store_table *out);

/* For schema.c. */
int store_tables(struct store *s, void (*fn)(void *arg, const struct query_table_info *t),
		 void *arg, struct spur_error *err);
int store_columns(struct store *s, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err);
void store_names(struct store *s, void (*fn)(void *arg, const char *name), void *arg);

/* ---- statements ---- */

struct store_stmt;

/* *out is NULL when there is nothing but blanks. */
int store_stmt_new(struct store *s, const char *sql, struct store_stmt **out,
		   struct spur_error *err);
void store_stmt_free(struct store_stmt *s);

const struct store_params *store_stmt_params(const struct store_stmt *s);
int store_stmt_bind(struct store_stmt *s, size_t number, const char *value, struct spur_error *err);
/* Translates it, unless that is done. *local has the columns, NULL: there are none. */
int store_stmt_ready(struct store_stmt *s, sqlite3_stmt **local, struct spur_error *err);
/* As query_step(); *local has the row then. */
int store_stmt_step(struct store_stmt *s, struct spur_error *err);

#endif
