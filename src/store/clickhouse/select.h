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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "store/clickhouse/server.h"

/*
 * ---- rows of an answer ----
 *
 * TabSeparatedWithNamesAndTypes is the one format with types that servers of all ages know. A line
 * of names, one of types, then rows. Every byte is a stranger's.
 */

#define TSV_COLUMNS 4096

enum tsv_kind { TSV_TEXT, TSV_INTEGER, TSV_REAL };

struct tsv_value {
	enum tsv_kind kind; /* a number that does not fit is text */
	bool null;
	int64_t number;
	double real;
	const char *text; /* TSV_TEXT; in the line that was taken, any bytes */
	size_t len;
};

struct tsv {
	size_t lines; /* that have been taken: two are the head */
	struct {
		char **at;
		size_t n, cap;
	} names;
	struct {
		enum tsv_kind *at;
		size_t n, cap;
	} kinds;
	struct {
		struct tsv_value *at;
		size_t n, cap;
	} values; /* of the last row, as many as there are columns */
};

void tsv_free(struct tsv *t);

/*
 * Takes a line without its end, which is changed. 1: t->values is a row, 0: it was of the head.
 * -EBADMSG: this is no line of such a table; -ENOMEM.
 */
int tsv_take(struct tsv *t, char *line, size_t len);

/* What values of a type are; Nullable(...) and LowCardinality(...) do not matter. */
enum tsv_kind tsv_kind_of(const char *type, size_t len);

/* ---- the question ---- */

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
