/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A question that only reads, and its rows as they come.
 *
 * A server that fails midway says so where the next row would be. Such an exception is told from
 * rows by its form, and by being the last of the answer: a row that has the text of an exception,
 * and little more after it, is taken for one.
 */
#ifndef STORE_CLICKHOUSE_SELECT_H
#define STORE_CLICKHOUSE_SELECT_H

#include "store/clickhouse/server.h"
#include "store/clickhouse/tsv.h"

#define CH_LINE_LIMIT (64u << 20) /* bytes of a row */

struct ch_select {
	struct ch_server *server;
	struct http_answer answer;
	struct tsv tsv;
	char id[17];	  /* of the question; random, so that no server knows it beforehand */
	bool joins_outer; /* it has a LEFT, RIGHT or FULL JOIN; the caller says so */
	size_t at;	  /* in the body: what follows has not been read */
	uint64_t rows;	  /* that have come */
	bool runs;	  /* the server works on it, as far as we know */
	bool connected;	  /* it was asked */
	uint64_t read_rows, read_bytes, total_rows; /* as the server tells, 0: it does not */
	/* Is told how far the server is; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/* Makes the id. The server must not be used otherwise until ch_select_end(). */
void ch_select_init(struct ch_select *c, struct ch_server *s);

/*
 * Asks, and reads names and types of columns; sql must stay until the end. Errors are those of
 * server.h, and -EINVAL when the question is at fault, -ENODATA when there were rows but not all.
 */
int ch_select_begin(struct ch_select *c, const char *sql, size_t len, struct spur_error *err);
/* 1: c->tsv.values are a row, 0: there are no more. */
int ch_select_next(struct ch_select *c, struct spur_error *err);
/* Ends it on the server, too, when it still runs. */
void ch_select_end(struct ch_select *c);

#endif
