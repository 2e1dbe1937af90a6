// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Questions in SQL: one session for each question, over all files. Nothing is left of it, and it
 * can only read; see query.h.
 *
 *	GET schemas		the names of the files' schemas
 *	POST sql {"query": TEXT}
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "view/api/api.h"

#define MAX_ROWS    10000
#define MAX_QUERY   (256u << 10)
#define MAX_CELL    4096 /* bytes of a text that are shown */
#define EXACT_LIMIT (1ll << 53)

#ifndef HAVE_SQLITE

static int answer_sql(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	a->status = 501;
	return error_set(err, -ENOSYS, "this program was built without SQLite");
}

#define answer_schemas answer_sql

#else

#include "query/query.h"

static int open_session(const struct view *v, const struct api_request *q, struct query **out,
			struct spur_error *err)
{
	const struct query_options opt = {.stop = q->stop};
	int rc = query_open(&opt, out, err);

	for (size_t i = 0; i < view_nr_files(v) && rc == 0; i++)
		if (view_file(v, i)->trace)
			rc = query_add(*out, view_file(v, i)->trace, NULL, err);
	if (rc == 0 && !query_nr_files(*out))
		rc = error_set(err, -ENOENT, "there is no trace to ask");
	return rc;
}

/* Not more of it than is shown, and not a part of a character. */
static void put_text(struct json_writer *w, const char *text, size_t len)
{
	if (len > MAX_CELL)
		for (len = MAX_CELL; len > MAX_CELL - 4 && (text[len] & 0xc0) == 0x80; len--)
			;
	json_put_bytes(w, text, len);
}

/* Whether it was cut off. A page's numbers are exact up to 2^53; larger ones are texts for it. */
static bool put_cell(struct json_writer *w, const struct query_stmt *s, size_t column)
{
	const enum query_type type = query_type(s, column);
	size_t len;
	const char *text = query_text(s, column, &len);
	bool plain = false;

	if (type == QUERY_NULL) {
		json_put_null(w);
		return false;
	}
	if (type == QUERY_INTEGER)
		plain = query_int64(s, column) <= EXACT_LIMIT &&
			query_int64(s, column) >= -EXACT_LIMIT;
	else if (type == QUERY_REAL) /* Inf is no number to JSON */
		plain = len && strspn(text, "+-.0123456789e") == len;
	if (plain) {
		json_put_raw(w, text);
		return false;
	}
	put_text(w, text, len);
	return len > MAX_CELL;
}

static void put_columns(struct json_writer *w, const struct query_stmt *s)
{
	size_t nr = query_nr_columns(s), ts = nr;

	json_array(json_key(w, "columns"));
	for (size_t i = 0; i < nr; i++) {
		const char *name = query_column_name(s, i);

		json_put_text(w, name);
		if (ts == nr && (strcmp(name, "ts") == 0 || strcmp(name, "start") == 0))
			ts = i;
	}
	json_end_array(w);
	json_put_i64_or_null(json_key(w, "ts_column"), (int64_t)ts, (int64_t)nr);
}

static int put_rows(struct buf *b, struct query_stmt *s, struct spur_error *err)
{
	struct json_writer w = {b};
	size_t n = 0, cut = 0;
	int rc;

	json_object(&w);
	put_columns(&w, s);
	json_array(json_key(&w, "rows"));
	while ((rc = query_step(s, err)) > 0 && n < MAX_ROWS && !buf_full(b)) {
		if (n++)
			json_newline(&w);
		json_array(&w);
		for (size_t i = 0; i < query_nr_columns(s); i++)
			cut += put_cell(&w, s, i);
		json_end_array(&w);
	}
	json_end_array(&w);
	json_put_bool(json_key(&w, "truncated"), rc > 0);
	json_put_u64(json_key(&w, "cut"), cut);
	json_end_object(&w);
	return rc < 0 ? rc : 0;
}

/* All statements of the text; the answer is the last one's that has columns. */
static int run_text(struct query *session, const char *sql, struct buf *b, struct spur_error *err)
{
	bool any = false;
	int rc = 0;

	while (rc == 0 && *sql) {
		struct query_stmt *s = NULL;
		size_t used = 0;

		rc = query_prepare(session, sql, &s, &used, err);
		if (rc == 0 && s && query_nr_params(s))
			rc = error_set(err, -EINVAL, "parameters have no value here");
		if (rc == 0 && s) {
			buf_reset(b);
			any = true;
			rc = put_rows(b, s, err);
		}
		query_stmt_free(s);
		sql += used;
		if (!s)
			break;
	}
	return rc == 0 && !any ? error_set(err, -EINVAL, "there is no statement") : rc;
}

/* Under which names the files are: the first one's tables need none. */
static int answer_schemas(struct view *v, const struct api_request *q, struct api_answer *a,
			  struct spur_error *err)
{
	struct query *session = NULL;
	int rc = open_session(v, q, &session, err);
	struct json_writer w = {&a->body};
	size_t file = 0;

	json_object(&w);
	json_array(json_key(&w, "schemas"));
	for (size_t i = 0; rc == 0 && i < query_nr_files(session); i++) {
		const char *name = query_file_name(session, i);

		while (name && !view_file(v, file)->trace)
			file++;
		if (!name)
			continue;
		json_object(&w);
		json_put_text(json_key(&w, "name"), name);
		json_put_text(json_key(&w, "path"), view_file(v, file++)->path);
		json_end_object(&w);
	}
	json_end_array(&w);
	json_end_object(&w);
	query_close(session);
	return rc;
}

static int answer_sql(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	struct query *session = NULL;
	scoped_buf sql = buf_new(MAX_QUERY);
	int rc;

	if (!api_body_text(q, "query", &sql) || buf_full(&sql))
		rc = error_set(err, -EINVAL, "the question is {\"query\": TEXT}");
	else
		rc = open_session(v, q, &session, err);
	if (rc == 0)
		rc = run_text(session, buf_str(&sql), &a->body, err);
	if (rc == -EINTR)
		error_set(err, rc, "the question took too long, or nobody waited for its answer");
	/* A wrong statement is an answer like any other. */
	if (rc < 0 && rc != -ENOMEM)
		a->status = 400;
	query_close(session);
	return rc;
}

#endif

const struct api_question api_sql[] = {
	{"sql", true, answer_sql},
	{"schemas", false, answer_schemas},
	{NULL},
};
