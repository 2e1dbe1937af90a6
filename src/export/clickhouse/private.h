/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export, for ClickHouse: rows become blocks, and blocks are delivered or kept in a
 * spool.
 *
 * Every row arrives exactly once, whatever fails. A block is a part of one table of one trace, and
 * the same export of the same trace always makes the same blocks. Each row contains its block
 * (host, trace_id, spur_block), so the server can be queried for what it has. That is done before a
 * trace's first block of a table, and whenever the result of an insert is unknown. So no local
 * notes are needed, which could be lost.
 *
 * Functions return the errors of store/clickhouse/server.h.
 */
#ifndef EXPORT_CLICKHOUSE_PRIVATE_H
#define EXPORT_CLICKHOUSE_PRIVATE_H

#include <pthread.h>

#include "base/buf.h"
#include "base/vec.h"
#include "store/clickhouse/server.h"
#include "export/export.h"
#include "scan/identity.h"

/* Names of columns that every table has, before its own. */
#define CH_BLOCK_COLUMN "spur_block"
#define CH_TRACES	"traces"      /* the table of traces: the one with a plan */
#define CH_TYPES	"event_types" /* which tables are of which events */

/* ---- settings ---- */

struct ch_options {
	struct ch_address at;
	const char *shards;
	const char *machine; /* the host of the traces; NULL: from the traces */
	char *spool;	     /* the folder for this server */
	uint64_t spool_max;  /* bytes */
	bool deliver;
};

/* ---- columns ---- */

/* A column's type is one of these pointers. */
extern const char ch_date[], ch_string[], ch_id[], ch_u8[], ch_u32[], ch_u64[], ch_i32[];
extern const char ch_number[], ch_text[]; /* nullable */

struct ch_column {
	char *name;
	const char *type;
};

struct ch_columns {
	struct ch_column *at;
	size_t n, cap;
};

/* -ENOMEM. A field with the name of one of the first columns becomes args_NAME. */
int ch_columns_add(struct ch_columns *c, const char *name, const char *type);
int ch_columns_begin(struct ch_columns *c); /* date, host, trace_id, spur_block */
void ch_columns_free(struct ch_columns *c);

/*
 * The type with that name, or NULL. LowCardinality is ignored, because the data have the same form.
 */
const char *ch_type_find(const char *text);

/* ---- blocks ---- */

struct ch_block {
	char host[IDENTITY_NAME];
	char trace_id[33];
	bool has_wall;
	uint16_t date;	   /* days since 1970 */
	const char *table; /* name and columns are someone else's */
	const struct ch_columns *columns;
	const char *plan; /* of CH_TRACES: what was chosen of the trace; else NULL */
	uint32_t number;
	uint64_t rows;
	struct buf data; /* RowBinary; owned */
	bool waited;	 /* it comes from the spool: another process may have tried before */
};

void ch_block_free(struct ch_block *b);

/* A number of the trace, the same in every run. */
uint64_t ch_trace_hash(const char *host, const char *trace_id);

/* ---- tables on a server ---- */

/* Loads the list of tables, and makes the database. */
int ch_schema_load(struct ch_server *s, struct spur_error *err);

/*
 * Makes the table, or its missing columns. 1 if the table is new and empty; -EREMOTEIO if a column
 * has another type.
 */
int ch_schema_ensure(struct ch_server *s, const char *table, const struct ch_columns *columns,
		     struct spur_error *err);

/* Makes on `to` all tables that another shard has. */
int ch_schema_level(struct ch_server *to, const struct ch_server *from, struct spur_error *err);

/* Appends the name of the table that has rows: in a cluster NAME_local. */
void ch_put_table(const struct ch_server *s, const char *table, struct buf *to);

/* ---- all servers ---- */

struct ch_known;

struct ch_store {
	const struct ch_options *opt;
	struct ch_server front;	  /* the server of the address */
	struct ch_server *shards; /* in a cluster; else NULL and it is the front */
	uint64_t *weights;
	size_t nr_shards;
	uint64_t weight; /* of all */
	bool ready;
	char hashed[IDENTITY_NAME]; /* the last host whose shard was looked up, … */
	size_t hashed_to;	    /* … and its shard */
	vec_of(struct ch_known) tables;
	uint64_t rows_new; /* delivered, and not there before */
};

int ch_store_init(struct ch_store *s, const struct ch_options *opt, struct spur_error *err);
void ch_store_free(struct ch_store *s);

/* Delivers a block, if it is not there already. */
int ch_store_deliver(struct ch_store *s, const struct ch_block *b, struct spur_error *err);

/* Tries unreachable servers again. */
void ch_store_again(struct ch_store *s);

/* Checks that the server has every delivered row of a trace exactly once. */
int ch_store_verify(struct ch_store *s, const char *host, const char *trace_id,
		    struct spur_error *err);

/* For deliver.c: the shard a host's rows go to. */
int ch_store_shard(struct ch_store *s, const char *host, struct ch_server **out,
		   struct spur_error *err);
/* As ch_schema_ensure(), on all shards that can be reached; `own` must be one of these. */
int ch_store_ensure(struct ch_store *s, struct ch_server *own, const char *table,
		    const struct ch_columns *columns, struct spur_error *err);

/* ---- the spool ---- */

struct ch_spool {
	const struct ch_options *opt;
	int lock;
	uint64_t next, bytes;
	uint64_t blocks, rows; /* put into it by this run */
};

int ch_spool_open(struct ch_spool *s, const struct ch_options *opt, struct spur_error *err);
void ch_spool_close(struct ch_spool *s);

/* Locks the trace against other processes of this machine. -EBUSY if it is locked. */
int ch_spool_hold(struct ch_spool *s, uint64_t trace_hash);
void ch_spool_let_go(struct ch_spool *s, uint64_t trace_hash);

int ch_spool_add(struct ch_spool *s, const struct ch_block *b, struct spur_error *err);

struct ch_spool_report {
	uint64_t delivered, left, damaged; /* files */
	struct spur_error why;		   /* the first one was left */
};

/*
 * Delivers as much of it as possible. 0 also if blocks are left because a server is unreachable.
 */
int ch_spool_deliver(struct ch_spool *s, struct ch_store *store, struct ch_spool_report *report,
		     struct spur_error *err);

/* ---- the courier: a thread that delivers blocks while others are being made ---- */

#define CH_QUEUE 2

struct ch_courier {
	struct ch_store *store;
	struct ch_spool *spool;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct ch_block queue[CH_QUEUE];
	size_t first, nr; /* of the queue */
	bool started, ends;
	bool away;	       /* further blocks go to the spool */
	struct spur_error why; /* the reason */
	int rc;		       /* the error that has ended it */
	struct spur_error err;
};

int ch_courier_start(struct ch_courier *c, struct ch_store *store, struct ch_spool *spool,
		     struct spur_error *err);
/* Becomes the owner of the block's data in any case. Waits while the queue is full. */
int ch_courier_give(struct ch_courier *c, struct ch_block *b, struct spur_error *err);
/* Waits until everything is delivered, or with `drop` discards the rest. */
int ch_courier_finish(struct ch_courier *c, bool drop, struct spur_error *err);

#endif
