/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A query that only reads, and its rows, one by one.
 *
 * A server that fails midway sends an exception instead of the next row. It is recognized by its
 * form, and because it ends the answer. So a row near the end that has the text of an exception
 * counts as one.
 */
#ifndef STORE_CLICKHOUSE_SELECT_H
#define STORE_CLICKHOUSE_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/strings.h"
#include "base/vec.h"
#include "store/clickhouse/server.h"

/*
 * ---- rows of an answer ----
 *
 * TabSeparatedWithNamesAndTypes is the one format with types that servers of all ages know. A line
 * of names, one of types, then rows. All bytes are untrusted.
 */

#define TSV_COLUMNS 4096

enum tsv_kind { TSV_TEXT, TSV_INTEGER, TSV_REAL };

struct tsv_value {
	enum tsv_kind kind; /* a number that does not fit is text */
	bool null;
	int64_t number;
	double real;
	const char *text; /* TSV_TEXT; points into the line; any bytes */
	size_t len;
};

struct tsv {
	size_t lines; /* so far; the first two are the head */
	struct strings names;
	vec_of(enum tsv_kind) kinds;
	vec_of(struct tsv_value) values; /* of the last row, as many as there are columns */
};

void tsv_free(struct tsv *t);

/*
 * Reads a line (without its newline) and changes it. 1 if t->values is a row, 0 if the line belongs
 * to the head, -EBADMSG if it is no line of such a table, -ENOMEM.
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
	size_t at;	  /* position in the body up to which it has been read */
	uint64_t rows;	  /* received so far */
	bool runs;	  /* the server works on it, as far as we know */
	bool connected;	  /* it has been sent */
	uint64_t read_rows, read_bytes, total_rows; /* from the server; 0 if it does not say */
	/* Called with the server's progress; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/* Makes the id. The server must not be used otherwise until ch_select_end(). */
void ch_select_init(struct ch_select *c, struct ch_server *s);

/*
 * Sends the query, and reads names and types of columns; sql must stay valid until the end. Errors
 * are those of server.h, -EINVAL if the query is wrong, and -ENODATA if some rows came but not all.
 */
int ch_select_begin(struct ch_select *c, const char *sql, size_t len, struct spur_error *err);
/* 1: c->tsv.values are a row, 0: there are no more. */
int ch_select_next(struct ch_select *c, struct spur_error *err);
/* Ends it, also on the server if it still runs there. */
void ch_select_end(struct ch_select *c);

#endif
