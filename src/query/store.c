// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A store in a session. A statement goes to the server when its columns or its first row are
 * wanted. Its rows pass through a SQLite statement of parameters ("select ?1, ?2"), so that values
 * have the types and texts that they have in all other sessions.
 */
#include "query/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/store_session.h"
#include "query/store_sql.h"

#define PATIENCE   600000000000ull /* ns: a question may take its time */
#define SQL_LIMIT  (4u << 20)
#define HIST_LIMIT (1u << 16)

struct store_stmt {
	struct store *store;
	struct store_sql sql;
	struct buf text; /* that is sent */
	struct ch_select select;
	sqlite3_stmt *row;
	bool begun, ended;
	struct spur_error failed; /* why it could not begin */
};

/* ---- the session ---- */

bool query_is_store(const char *fleet)
{
	return ch_address_is(fleet);
}

/* Somebody waits for the answer: a server that is away is away. */
static const char *setting(const void *options, const char *name)
{
	const struct store_options *o = options;
	const char *value = o->setting(o->arg, name);

	return !value && strcmp(name, "retries") == 0 ? "0" : value;
}

int query_add_store(struct query *q, const struct store_options *opt, struct spur_error *err)
{
	const struct ch_settings settings = {.get = setting, .arg = opt, .stop = q->opt.stop};
	struct store *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->query = q;
	q->store = s;
	rc = ch_address_read(&s->at, opt->address, &settings, err);
	if (rc == 0)
		rc = ch_server_init(&s->server, &s->at, s->at.host, strlen(s->at.host), s->at.port,
				    strlen(s->at.port), err);
	if (rc == 0 && !opt->setting(opt->arg, "timeout"))
		s->server.http.patience = PATIENCE;
	if (rc == 0 && ch_address_exposes(&s->at) && q->opt.note)
		q->opt.note(q->opt.arg, "the password goes over the network as it is: "
					"clickhouses:// encrypts it");
	if (rc == 0)
		rc = ch_tables_load(&s->server, err);
	if (rc == 0 && !s->server.tables.n)
		return error_set(err, -ENOENT, "%s:%s: there is no table in the database '%s'",
				 s->server.host, s->server.port, s->at.database);
	return rc == -EINTR ? error_set(err, rc, "stopped") : rc;
}

void query_store_free(struct store *s)
{
	if (!s)
		return;
	ch_server_free(&s->server);
	ch_address_free(&s->at);
	free(s);
}

struct store_counts query_store_counts(const struct query *q)
{
	return q->store ? q->store->counts : (struct store_counts){0};
}

/* ---- statements ---- */

int store_stmt_new(struct store *st, const char *sql, struct store_stmt **out,
		   struct spur_error *err)
{
	struct store_stmt *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return error_set(err, -ENOMEM, "out of memory");
	s->store = st;
	buf_init(&s->text, SQL_LIMIT);
	rc = store_sql_read(&s->sql, sql);
	if (rc < 0)
		error_set(err, rc, "out of memory");
	else if (s->sql.tokens.n)
		rc = store_sql_check(&s->sql, err);
	if (rc < 0 || !s->sql.tokens.n) {
		store_stmt_free(s);
		return rc;
	}
	ch_select_init(&s->select, &st->server);
	s->select.joins_outer = store_sql_joins_outer(&s->sql);
	s->select.progress = st->query->opt.progress;
	s->select.arg = st->query->opt.arg;
	*out = s;
	return 0;
}

void store_stmt_free(struct store_stmt *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->row);
	ch_select_end(&s->select);
	store_sql_free(&s->sql);
	buf_free(&s->text);
	free(s);
}

size_t store_stmt_nr_params(const struct store_stmt *s)
{
	return s->sql.params.n;
}

const char *store_stmt_param(const struct store_stmt *s, size_t number)
{
	return s->sql.params.at[number - 1].name;
}

int store_stmt_bind(struct store_stmt *s, size_t number, const char *value, struct spur_error *err)
{
	struct sql_param *p = &s->sql.params.at[number - 1];

	free(p->value);
	p->value = strdup(value);
	return p->value ? 0 : error_set(err, -ENOMEM, "out of memory");
}

/* select ?1 as "name", ?2 as "other" */
static int prepare_row(struct store_stmt *s, struct spur_error *err)
{
	sqlite3 *db = s->store->query->db;
	struct buf text;
	size_t n = 0;
	int rc = 0;

	buf_init(&text, SQL_LIMIT);
	vec_each (name, &s->select.tsv.names) {
		buf_printf(&text, "%s?%zu as ", n ? ", " : "select ", n + 1);
		put_identifier(&text, *name);
		n++;
	}
	if (buf_full(&text))
		rc = error_set(err, -E2BIG, "the names of the columns are too long");
	else if (sqlite3_prepare_v2(db, buf_str(&text), -1, &s->row, NULL) != SQLITE_OK)
		rc = error_set(err, -EINVAL, "%s", sqlite3_errmsg(db));
	buf_free(&text);
	return rc;
}

static void count(struct store_stmt *s)
{
	s->store->counts = (struct store_counts){s->select.read_rows, s->select.read_bytes};
}

static int begin(struct store_stmt *s, struct spur_error *err)
{
	int rc;

	s->begun = true;
	rc = store_sql_write(&s->sql, s->select.id, &s->text, err);
	if (rc == 0)
		rc = ch_select_begin(&s->select, s->text.data, s->text.len, err);
	if (rc == 0)
		rc = prepare_row(s, err);
	count(s);
	return rc;
}

sqlite3_stmt *store_stmt_row(struct store_stmt *s)
{
	if (!s->begun && begin(s, &s->failed) < 0)
		s->ended = true;
	return s->row;
}

/* hist() has been counted on the server. */
static int bind_hist(struct store_stmt *s, int n, const struct tsv_value *v)
{
	char *counts = strndup(v->text + strlen(s->select.id), v->len - strlen(s->select.id));
	struct buf bars;
	int rc;

	if (!counts)
		return SQLITE_NOMEM;
	buf_init(&bars, HIST_LIMIT);
	functions_show_counts(counts, &bars);
	rc = bars.len ? sqlite3_bind_text64(s->row, n, bars.data, bars.len, SQLITE_TRANSIENT,
					    SQLITE_UTF8)
		      : sqlite3_bind_null(s->row, n);
	buf_free(&bars);
	free(counts);
	return rc;
}

static int bind_value(struct store_stmt *s, int n, const struct tsv_value *v)
{
	const size_t mark = strlen(s->select.id);

	if (v->null)
		return sqlite3_bind_null(s->row, n);
	if (v->kind == TSV_INTEGER)
		return sqlite3_bind_int64(s->row, n, v->number);
	if (v->kind == TSV_REAL)
		return sqlite3_bind_double(s->row, n, v->real);
	if (v->len >= mark && memcmp(v->text, s->select.id, mark) == 0)
		return bind_hist(s, n, v);
	return sqlite3_bind_text64(s->row, n, v->text, v->len, SQLITE_STATIC, SQLITE_UTF8);
}

static int bind_row(struct store_stmt *s, struct spur_error *err)
{
	const struct tsv *t = &s->select.tsv;
	int rc = SQLITE_OK;

	sqlite3_reset(s->row);
	for (size_t i = 0; i < t->values.n && rc == SQLITE_OK; i++)
		rc = bind_value(s, (int)i + 1, &t->values.at[i]);
	if (rc != SQLITE_OK)
		return error_set(err, rc == SQLITE_TOOBIG ? -EINVAL : -ENOMEM, "%s",
				 sqlite3_errstr(rc));
	rc = sqlite3_step(s->row);
	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_INTERRUPT
		       ? error_set(err, -EINTR, "stopped")
		       : error_set(err, -EINVAL, "%s", sqlite3_errmsg(s->store->query->db));
}

int store_stmt_step(struct store_stmt *s, struct spur_error *err)
{
	int rc;

	store_stmt_row(s);
	if (s->failed.code)
		return error_set(err, s->failed.code, "%s", s->failed.text);
	if (s->ended)
		return 0;
	rc = ch_select_next(&s->select, err);
	count(s);
	if (rc == 1)
		return bind_row(s, err);
	s->ended = true;
	return rc;
}
