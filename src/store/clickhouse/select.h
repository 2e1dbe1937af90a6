/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question that only reads, and its rows as they come.
 *
 * The last column of the question must be the mark (ch_select_mark()), a text that the server
 * cannot know beforehand: a line without it is not a row, but what the server says when it fails
 * midway.
 */
#ifndef STORE_CLICKHOUSE_SELECT_H
#define STORE_CLICKHOUSE_SELECT_H

#include "store/clickhouse/server.h"
#include "store/clickhouse/tsv.h"

#define CH_LINE_LIMIT (64u << 20) /* bytes of a row */

struct ch_select {
	struct ch_server *server;
	struct answer answer;
	struct tsv tsv;
	char mark[17], id[40];
	size_t at;	/* in the body: what is behind has not been taken */
	uint64_t rows;	/* that have come */
	bool runs;	/* the server works on it, as far as we know */
	bool connected; /* it was asked */
	uint64_t read_rows, read_bytes, total_rows; /* as the server tells, 0: it does not */
	/* Is told how far the server is; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/* Makes the mark. The server is used by nobody else until ch_select_end(). */
void ch_select_init(struct ch_select *c, struct ch_server *s);

/*
 * As in server.h, and -EINVAL when the question is at fault, -ENODATA when there were rows but not
 * all of them.
 */
int ch_select_begin(struct ch_select *c, const char *sql, size_t len, struct spur_error *err);
/* 1: c->tsv.values are a row (and the mark), 0: there are no more. */
int ch_select_next(struct ch_select *c, struct spur_error *err);
/* Ends it on the server, too, when it still runs. */
void ch_select_end(struct ch_select *c);

#endif
