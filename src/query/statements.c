// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statements and their values.
 *
 * A statement that groups is first prepared so that a table groups while it reads. Whether that
 * works is known before the first row is returned (see plan_reads_too_much(), and groups.c for too
 * many groups). If not, the statement is prepared again, and SQLite groups.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strings.h"
#include "base/vec.h"
#include "query/parts.h"
#include "query/store_session.h"
#include "query/store_sql.h"

struct query_stmt {
	struct query *query;
	sqlite3_stmt *stmt;
	struct store_stmt *remote; /* of a store: instead of stmt */
	char *sql;
	struct strings values; /* of parameters, by number; NULL: none was given */
	bool no_groups, has_rows;
	bool counts;	/* as in struct query, while it runs */
	int64_t weight; /* the same, for the last row that SQLite has read */
};

static int fail(struct query *q, int rc, const char *sql, struct spur_error *err)
{
	const char *message = sqlite3_errmsg(q->db);

	switch (rc & 0xff) {
	case SQLITE_INTERRUPT: return error_set(err, -EINTR, "stopped");
	case SQLITE_NOMEM: return error_set(err, -ENOMEM, "out of memory");
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return error_set(err, -EIO, "the query needs temporary files: %s", message);
	case SQLITE_TOOBIG:
		return error_set(err, -EINVAL, "a value becomes larger than %d MB",
				 QUERY_VALUE_BYTES >> 20);
	case SQLITE_AUTH:
		return error_set(err, -EINVAL,
				 "a query can only read (%s); it may create "
				 "temporary tables and views",
				 message);
	default: return names_explain(q, sql, message, err);
	}
}

static int prepare(struct query_stmt *s, struct spur_error *err)
{
	struct query *q = s->query;
	int rc, reads;

	q->no_groups = s->no_groups;
	q->groups = false;
	rc = sqlite3_prepare_v2(q->db, s->sql, -1, &s->stmt, NULL);
	if (rc != SQLITE_OK)
		return fail(q, rc, s->sql, err);
	if (!q->groups || !s->stmt || sqlite3_stmt_isexplain(s->stmt))
		return 0;
	reads = plan_reads_too_much(q->db, s->sql, (int)strlen(s->sql));
	if (!reads) {
		s->counts = plan_only_counts(q->db, s->sql, (int)strlen(s->sql));
		return 0;
	}
	sqlite3_finalize(s->stmt);
	s->stmt = NULL;
	s->no_groups = true;
	return prepare(s, err);
}

static int bind_all(struct query_stmt *s, struct spur_error *err)
{
	for (size_t i = 0; i < s->values.n; i++) {
		const char *text = s->values.at[i];
		char *end = NULL;
		long long number;
		double real;
		int rc;

		if (!text)
			continue;
		errno = 0;
		number = strtoll(text, &end, 0);
		if (*text && !*end && errno == 0) {
			rc = sqlite3_bind_int64(s->stmt, (int)i + 1, number);
		} else {
			real = strtod(text, &end);
			rc = *text && !*end ? sqlite3_bind_double(s->stmt, (int)i + 1, real)
					    : sqlite3_bind_text(s->stmt, (int)i + 1, text, -1,
								SQLITE_STATIC);
		}
		if (rc != SQLITE_OK)
			return fail(s->query, rc, s->sql, err);
	}
	return 0;
}

int query_prepare(struct query *q, const char *sql, struct query_stmt **out, size_t *used,
		  struct spur_error *err)
{
	struct query_stmt *s = calloc(1, sizeof(*s));
	bool complete;
	int rc;

	*out = NULL;
	*used = q->store ? store_sql_length(sql, &complete) : names_statement(sql);
	if (s)
		s->sql = strndup(sql, *used);
	if (!s || !s->sql) {
		free(s);
		return error_set(err, -ENOMEM, "out of memory");
	}
	s->query = q;
	s->weight = 1;
	q->statement++;
	if (q->store) {
		rc = store_stmt_new(q->store, s->sql, &s->remote, err);
		if (rc == 0 && s->remote)
			*out = s;
		else
			query_stmt_free(s);
		return rc;
	}
	rc = names_make_tables(q, s->sql, err);
	if (rc == 0)
		rc = prepare(s, err);
	if (rc < 0 || !s->stmt) {
		query_stmt_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

void query_stmt_free(struct query_stmt *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->stmt);
	store_stmt_free(s->remote);
	strings_free(&s->values);
	free(s->sql);
	free(s);
}

bool query_complete(const struct query *q, const char *sql)
{
	return q->store ? store_sql_complete(sql) : sqlite3_complete(sql);
}

size_t query_nr_params(const struct query_stmt *s)
{
	if (s->remote)
		return store_stmt_nr_params(s->remote);
	return (size_t)sqlite3_bind_parameter_count(s->stmt);
}

const char *query_param(const struct query_stmt *s, size_t number)
{
	if (s->remote)
		return store_stmt_param(s->remote, number);
	return sqlite3_bind_parameter_name(s->stmt, (int)number);
}

int query_bind(struct query_stmt *s, size_t number, const char *value, struct spur_error *err)
{
	if (s->remote)
		return store_stmt_bind(s->remote, number, value, err);
	while (s->values.n < number)
		if (!vec_push(&s->values))
			return error_set(err, -ENOMEM, "out of memory");
	free(s->values.at[number - 1]);
	s->values.at[number - 1] = strdup(value);
	if (!s->values.at[number - 1])
		return error_set(err, -ENOMEM, "out of memory");
	return bind_all(s, err);
}

/* Before a step, because SQLite may have read a row that it counts in the next step. */
static int step(struct query_stmt *s)
{
	struct query *q = s->query;
	int rc;

	q->counts = s->counts;
	q->weight = s->weight;
	rc = sqlite3_step(s->stmt);
	s->weight = q->weight;
	q->counts = false;
	q->weight = 1;
	return rc;
}

int query_step(struct query_stmt *s, struct spur_error *err)
{
	struct query *q = s->query;
	int rc;

	if (s->remote)
		return store_stmt_step(s->remote, err);
	q->has_rows = s->has_rows;
	q->too_many = false;
	rc = step(s);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE && q->too_many && !s->has_rows) {
		sqlite3_finalize(s->stmt);
		s->stmt = NULL;
		s->no_groups = true;
		s->counts = false;
		s->weight = 1;
		if (prepare(s, err) < 0 || bind_all(s, err) < 0)
			return err ? err->code : -EINVAL;
		rc = step(s);
	}
	if (rc == SQLITE_ROW) {
		s->has_rows = true;
		return 1;
	}
	return rc == SQLITE_DONE ? 0 : fail(q, rc, s->sql, err);
}

/* ---- values ---- */

/* Has the row. NULL for what is wrong, which the first step says. */
static sqlite3_stmt *row_of(const struct query_stmt *s)
{
	return s->remote ? store_stmt_row(s->remote) : s->stmt;
}

size_t query_nr_columns(const struct query_stmt *s)
{
	return (size_t)sqlite3_column_count(row_of(s));
}

const char *query_column_name(const struct query_stmt *s, size_t column)
{
	const char *name = sqlite3_column_name(row_of(s), (int)column);

	return name ? name : "";
}

enum query_type query_type(const struct query_stmt *s, size_t column)
{
	switch (sqlite3_column_type(row_of(s), (int)column)) {
	case SQLITE_INTEGER: return QUERY_INTEGER;
	case SQLITE_FLOAT: return QUERY_REAL;
	case SQLITE_TEXT: return QUERY_TEXT;
	case SQLITE_BLOB: return QUERY_BLOB;
	default: return QUERY_NULL;
	}
}

int64_t query_int64(const struct query_stmt *s, size_t column)
{
	return sqlite3_column_int64(row_of(s), (int)column);
}

const char *query_text(const struct query_stmt *s, size_t column, size_t *len)
{
	const char *text = (const char *)sqlite3_column_text(row_of(s), (int)column);

	*len = text ? (size_t)sqlite3_column_bytes(row_of(s), (int)column) : 0;
	return text ? text : "";
}
