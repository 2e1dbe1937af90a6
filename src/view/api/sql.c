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
#include "base/json.h"
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
static void put_text(struct buf *b, const char *text, size_t len)
{
	if (len > MAX_CELL)
		for (len = MAX_CELL; len > MAX_CELL - 4 && (text[len] & 0xc0) == 0x80; len--)
			;
	buf_json_string(b, text, len);
}

/* Whether it was cut off. A page's numbers are exact up to 2^53; larger ones are texts for it. */
static bool put_cell(struct buf *b, const struct query_stmt *s, size_t column)
{
	const enum query_type type = query_type(s, column);
	size_t len;
	const char *text = query_text(s, column, &len);
	bool plain = false;

	if (type == QUERY_NULL) {
		buf_puts(b, "null");
		return false;
	}
	if (type == QUERY_INTEGER)
		plain = query_int64(s, column) <= EXACT_LIMIT &&
			query_int64(s, column) >= -EXACT_LIMIT;
	else if (type == QUERY_REAL) /* Inf is no number to JSON */
		plain = len && strspn(text, "+-.0123456789e") == len;
	if (plain) {
		buf_put(b, text, len);
		return false;
	}
	put_text(b, text, len);
	return len > MAX_CELL;
}

static void put_columns(struct buf *b, const struct query_stmt *s)
{
	size_t nr = query_nr_columns(s), ts = nr;

	buf_puts(b, "{\"columns\":[");
	for (size_t i = 0; i < nr; i++) {
		const char *name = query_column_name(s, i);

		buf_puts(b, i ? "," : "");
		buf_json_string(b, name, strlen(name));
		if (ts == nr && (strcmp(name, "ts") == 0 || strcmp(name, "start") == 0))
			ts = i;
	}
	buf_puts(b, "],\"ts_column\":");
	if (ts < nr)
		buf_u64(b, ts);
	else
		buf_puts(b, "null");
}

static int put_rows(struct buf *b, struct query_stmt *s, struct spur_error *err)
{
	size_t n = 0, cut = 0;
	int rc;

	put_columns(b, s);
	buf_puts(b, ",\"rows\":[");
	while ((rc = query_step(s, err)) > 0 && n < MAX_ROWS && !buf_full(b)) {
		buf_puts(b, n++ ? ",\n[" : "[");
		for (size_t i = 0; i < query_nr_columns(s); i++) {
			buf_puts(b, i ? "," : "");
			cut += put_cell(b, s, i);
		}
		buf_putc(b, ']');
	}
	buf_printf(b, "],\"truncated\":%s,\"cut\":%zu}", rc > 0 ? "true" : "false", cut);
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
	const char *comma = "";
	size_t file = 0;

	buf_puts(&a->body, "{\"schemas\":[");
	for (size_t i = 0; rc == 0 && i < query_nr_files(session); i++) {
		const char *name = query_file_name(session, i);

		while (name && !view_file(v, file)->trace)
			file++;
		if (!name)
			continue;
		buf_puts(&a->body, comma);
		buf_putc(&a->body, '{');
		api_put_text(&a->body, "name", name);
		api_put_text(&a->body, "path", view_file(v, file++)->path);
		buf_putc(&a->body, '}');
		comma = ",";
	}
	buf_puts(&a->body, "]}");
	query_close(session);
	return rc;
}

static int answer_sql(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	struct query *session = NULL;
	struct buf sql;
	int rc;

	buf_init(&sql, MAX_QUERY);
	if (!api_body_text(q, "query", &sql) || buf_full(&sql))
		rc = error_set(err, -EINVAL, "the question is {\"query\": TEXT}");
	else
		rc = open_session(v, q, &session, err);
	if (rc == 0)
		rc = run_text(session, buf_str(&sql), &a->body, err);
	if (rc == -EINTR)
		error_set(err, rc, "the question took too long, or nobody waited for its answer");
	/* What is wrong with a statement is an answer, not an accident. */
	if (rc < 0 && rc != -ENOMEM)
		a->status = 400;
	query_close(session);
	buf_free(&sql);
	return rc;
}

#endif

const struct api_question api_sql[] = {
	{"sql", true, answer_sql},
	{"schemas", false, answer_schemas},
	{NULL},
};
