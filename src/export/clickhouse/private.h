/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/export, for ClickHouse: rows become blocks, and blocks are delivered or kept in a
 * spool.
 *
 * Every row arrives once, whatever happens in between. A block is a piece of one table of one
 * trace, and the same export of the same trace always makes the same blocks. Each row says which
 * block it came in (host, trace_id, spur_block), so the server itself can always be asked what it
 * has: that is done before a trace's first block of a table, and whenever the outcome of an insert
 * is not known. Nothing depends on notes that could be lost between an insert and the noting of it.
 *
 * What functions return: as in store/clickhouse/server.h.
 */
#ifndef EXPORT_CLICKHOUSE_PRIVATE_H
#define EXPORT_CLICKHOUSE_PRIVATE_H

#include <pthread.h>

#include "base/buf.h"
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
	const char *machine; /* whose the traces are, NULL: they say so themselves */
	char *spool;	     /* the folder of this server's */
	uint64_t spool_max;  /* bytes */
	bool deliver;
};

/* ---- columns ---- */

/* Types are one of these and no others. */
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

/* -ENOMEM. A field that is called as one of the first columns becomes args_NAME. */
int ch_columns_add(struct ch_columns *c, const char *name, const char *type);
int ch_columns_begin(struct ch_columns *c); /* date, host, trace_id, spur_block */
void ch_columns_free(struct ch_columns *c);

/* The type of that text, NULL: none of ours. LowCardinality does not matter to what is sent. */
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

/* Learns what tables there are, and makes the database. */
int ch_schema_load(struct ch_server *s, struct spur_error *err);

/*
 * Makes the table, or the columns that it lacks. 1: the table is new, and nothing is in it.
 * -EREMOTEIO: a column is of another type.
 */
int ch_schema_ensure(struct ch_server *s, const char *table, const struct ch_columns *columns,
		     struct spur_error *err);

/* Makes on `to` all tables that another shard has. */
int ch_schema_level(struct ch_server *to, const struct ch_server *from, struct spur_error *err);

/* The table that holds rows: in a cluster the other one only knows where they are. */
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
	char hashed[IDENTITY_NAME]; /* the host whose shard was asked for last, … */
	size_t hashed_to;	    /* … and which it is */
	struct {
		struct ch_known *at;
		size_t n, cap;
	} tables;
	uint64_t rows_new; /* delivered, and not there before */
};

int ch_store_init(struct ch_store *s, const struct ch_options *opt, struct spur_error *err);
void ch_store_free(struct ch_store *s);

/* Delivers a block, if it is not there already. */
int ch_store_deliver(struct ch_store *s, const struct ch_block *b, struct spur_error *err);

/* Servers that were away are tried again. */
void ch_store_again(struct ch_store *s);

/* Whether the server has all that was delivered of a trace, and nothing twice. */
int ch_store_verify(struct ch_store *s, const char *host, const char *trace_id,
		    struct spur_error *err);

/* For deliver.c: the shard a host's rows go to. */
int ch_store_shard(struct ch_store *s, const char *host, struct ch_server **out,
		   struct spur_error *err);
int ch_store_prepare(struct ch_store *s, struct spur_error *err);
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

/* No other process of this machine touches the trace until it is let go. -EBUSY: one does. */
int ch_spool_hold(struct ch_spool *s, uint64_t trace_hash);
void ch_spool_let_go(struct ch_spool *s, uint64_t trace_hash);

int ch_spool_add(struct ch_spool *s, const struct ch_block *b, struct spur_error *err);

struct ch_spool_report {
	uint64_t delivered, left, damaged; /* files */
	struct spur_error why;		   /* the first one was left */
};

/* Delivers all of it that can be. 0 even when something is left, unless it is for another reason
 * than that a server is away. */
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
	bool away;	       /* what comes goes to the spool */
	struct spur_error why; /* that is so */
	int rc;		       /* it has given up */
	struct spur_error err;
};

int ch_courier_start(struct ch_courier *c, struct ch_store *store, struct ch_spool *spool,
		     struct spur_error *err);
/* Takes over the block's data in any case. Waits while there are too many. */
int ch_courier_give(struct ch_courier *c, struct ch_block *b, struct spur_error *err);
/* Waits for everything, or with `drop` throws away what has not been delivered yet. */
int ch_courier_finish(struct ch_courier *c, bool drop, struct spur_error *err);

#endif
