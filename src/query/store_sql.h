/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/query: the text of statements for ClickHouse. */
#ifndef QUERY_STORE_SQL_H
#define QUERY_STORE_SQL_H

#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#include "base/buf.h"
#include "base/vec.h"

enum sql_kind {
	SQL_WORD,
	SQL_NUMBER,
	SQL_STRING,
	SQL_NAME,  /* in quotes */
	SQL_PARAM, /* :name */
	SQL_SIGN,  /* one byte */
};

struct store_token {
	enum sql_kind kind;
	size_t at, len;
};

/* A statement: all that is not part of a token is blanks and comments. */
struct store_sql {
	char *text;
	vec_of(struct store_token) tokens;
	struct {
		struct sql_param {
			char *name;  /* with its colon */
			char *value; /* NULL: none was given */
		} * at;
		size_t n, cap;
	} params;
};

/* The length of the first statement of a text, and whether a semicolon ends it. */
size_t store_sql_length(const char *text, bool *complete);
/* Whether a text ends with a complete statement. */
bool store_sql_complete(const char *text);

/* Reads a statement; it has no tokens when there is none. -ENOMEM. store_sql_free() is due. */
int store_sql_read(struct store_sql *s, const char *text);
void store_sql_free(struct store_sql *s);

/* Refuses statements that do not begin like one that only reads. */
int store_sql_check(const struct store_sql *s, struct spur_error *err);

/* Whether it has a join that yields rows without a match. */
bool store_sql_joins_outer(const struct store_sql *s);

/*
 * Writes it with the values of parameters, and with ClickHouse's expressions instead of spur's
 * functions. The result of hist() is a text that begins with the mark, for functions_show_counts().
 */
int store_sql_write(const struct store_sql *s, const char *mark, struct buf *to,
		    struct spur_error *err);

#endif
