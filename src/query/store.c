// SPDX-License-Identifier: GPL-2.0-or-later
/* A store in a session: what becomes of its statements. */
#include "query/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/store_session.h"

#define PATIENCE 600000000000ull /* ns: a question may take its time */

struct store_stmt {
	struct store *store;
	char *sql;
	struct tokens tokens;
	struct store_params params;
	size_t first; /* the token that the query begins with */
	struct store_sql text;
	sqlite3_stmt *local;
	struct ch_select select;
	bool explains, ready, begun, ended;
	bool nothing; /* it has no rows: it was about a view */
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
		rc = store_schema_load(s, err);
	return rc == -EINTR ? error_set(err, rc, "stopped") : rc;
}

static void forget_view(struct store *s, size_t i)
{
	free(s->views.at[i].name);
	free(s->views.at[i].text);
	s->views.at[i] = s->views.at[--s->views.n];
}

void query_store_free(struct store *s)
{
	if (!s)
		return;
	while (s->views.n)
		forget_view(s, 0);
	vec_free(&s->views);
	vec_each (t, &s->types) {
		free(t->table);
		free(t->system);
	}
	vec_free(&s->types);
	ch_server_free(&s->server);
	ch_address_free(&s->at);
	free(s);
}

struct store_counts query_store_counts(const struct query *q)
{
	return q->store ? q->store->counts : (struct store_counts){0};
}

/* ---- views: they live here ---- */

static bool is_word(const struct store_stmt *s, size_t i, const char *word)
{
	const struct token *t = &s->tokens.at[i < s->tokens.n ? i : s->tokens.n - 1];

	return t->kind == TOKEN_WORD && strlen(word) == t->len &&
	       strncasecmp(s->sql + t->at, word, t->len) == 0;
}

static long find_view(const struct store *s, const char *name, size_t len)
{
	for (size_t i = 0; i < s->views.n; i++)
		if (strlen(s->views.at[i].name) == len &&
		    strncasecmp(s->views.at[i].name, name, len) == 0)
			return (long)i;
	return -1;
}

/* CREATE TEMP VIEW name AS query */
static int create_view(struct store_stmt *s, struct spur_error *err)
{
	struct store *st = s->store;
	const struct token *name;
	struct store_view *v;
	size_t i = 3;

	if (is_word(s, i, "if"))
		i += 3;
	name = &s->tokens.at[i < s->tokens.n ? i : s->tokens.n - 1];
	if (name->kind != TOKEN_WORD || !is_word(s, i + 1, "as"))
		return error_set(err, -EINVAL, "syntax error: CREATE TEMP VIEW name AS SELECT ...");
	if (find_view(st, s->sql + name->at, name->len) >= 0)
		return i == 3 ? error_set(err, -EINVAL, "there is a view of that name already") : 0;
	v = vec_push(&st->views);
	if (v) {
		v->name = strndup(s->sql + name->at, name->len);
		v->text = strdup(s->sql + s->tokens.at[i + 1].at + 2);
	}
	return v && v->name && v->text ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int drop_view(struct store_stmt *s, struct spur_error *err)
{
	const size_t i = is_word(s, 2, "if") ? 4 : 2;
	const struct token *name = &s->tokens.at[i < s->tokens.n ? i : s->tokens.n - 1];
	const long view = find_view(s->store, s->sql + name->at, name->len);

	if (view < 0 && i == 2)
		return error_set(err, -EINVAL, "there is no such view of this session");
	if (view >= 0)
		forget_view(s->store, (size_t)view);
	return 0;
}

/* ---- statements ---- */

static int look(struct store_stmt *s, struct spur_error *err)
{
	if (is_word(s, 0, "explain")) {
		s->explains = true;
		s->first = is_word(s, 1, "query") && is_word(s, 2, "plan") ? 3 : 1;
	}
	if (is_word(s, s->first, "select") || is_word(s, s->first, "with"))
		return 0;
	s->nothing = true;
	if (is_word(s, 0, "create") && (is_word(s, 1, "temp") || is_word(s, 1, "temporary")) &&
	    is_word(s, 2, "view"))
		return create_view(s, err);
	if (is_word(s, 0, "drop") && is_word(s, 1, "view"))
		return drop_view(s, err);
	if (s->tokens.at[0].kind == TOKEN_WORD &&
	    sqlite3_keyword_check(s->sql + s->tokens.at[0].at, (int)s->tokens.at[0].len))
		return error_set(err, -EINVAL,
				 "a query can only read: %.*s is not sent to the server (it may "
				 "create temporary views)",
				 (int)s->tokens.at[0].len, s->sql + s->tokens.at[0].at);
	return error_set(err, -EINVAL, "syntax error near '%.*s'", (int)s->tokens.at[0].len,
			 s->sql + s->tokens.at[0].at);
}

int store_stmt_new(struct store *st, const char *sql, struct store_stmt **out,
		   struct spur_error *err)
{
	struct store_stmt *s = calloc(1, sizeof(*s));
	size_t used;
	int rc;

	*out = NULL;
	if (!s || !(s->sql = strdup(sql))) {
		free(s);
		return error_set(err, -ENOMEM, "out of memory");
	}
	s->store = st;
	store_sql_init(&s->text);
	rc = store_lex(s->sql, &s->tokens, &used, err);
	if (rc == 0 && s->tokens.n == 1) {
		store_stmt_free(s);
		return 0;
	}
	if (rc == 0)
		rc = look(s, err);
	if (rc == 0 && store_params_find(s->sql, &s->tokens, &s->params) < 0)
		rc = error_set(err, -ENOMEM, "out of memory");
	/* Without parameters everything is known. */
	if (rc == 0 && !s->params.n) {
		sqlite3_stmt *local;

		rc = store_stmt_ready(s, &local, err);
	}
	if (rc < 0)
		store_stmt_free(s);
	else
		*out = s;
	return rc;
}

void store_stmt_free(struct store_stmt *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->local);
	ch_select_end(&s->select);
	store_sql_free(&s->text);
	vec_each (p, &s->params) {
		free(p->name);
		free(p->value);
	}
	vec_free(&s->params);
	vec_free(&s->tokens);
	free(s->sql);
	free(s);
}

const struct store_params *store_stmt_params(const struct store_stmt *s)
{
	return &s->params;
}

int store_stmt_bind(struct store_stmt *s, size_t number, const char *value, struct spur_error *err)
{
	struct store_param *p = &s->params.at[number - 1];

	free(p->value);
	p->value = strdup(value);
	s->ready = false;
	return p->value ? 0 : error_set(err, -ENOMEM, "out of memory");
}

/* What is sent, instead of sending it. */
static int make_explanation(struct store_stmt *s, struct spur_error *err)
{
	char *sql = sqlite3_mprintf("select %Q as clickhouse", buf_str(&s->text.remote));
	int rc = sql ? sqlite3_prepare_v2(s->store->query->db, sql, -1, &s->local, NULL)
		     : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc == SQLITE_OK ? 0
			       : error_set(err, -ENOMEM, "%s", sqlite3_errmsg(s->store->query->db));
}

static int prepare_local(struct store_stmt *s, struct spur_error *err)
{
	sqlite3 *db = s->store->query->db;

	if (s->explains)
		return make_explanation(s, err);
	if (sqlite3_prepare_v2(db, buf_str(&s->text.local), -1, &s->local, NULL) == SQLITE_OK)
		return 0;
	return error_set(err, -EINVAL, "%s", sqlite3_errmsg(db));
}

int store_stmt_ready(struct store_stmt *s, sqlite3_stmt **local, struct spur_error *err)
{
	int rc = 0;

	if (!s->ready && !s->nothing) {
		const struct store_schema schema = store_schema_of(s->store);

		sqlite3_finalize(s->local);
		s->local = NULL;
		if (!s->select.server) {
			ch_select_init(&s->select, &s->store->server);
			s->select.progress = s->store->query->opt.progress;
			s->select.arg = s->store->query->opt.arg;
		}
		rc = store_compile(s->store->query->db, s->sql, &s->tokens, s->first, &s->params,
				   &schema, s->explains ? "..." : s->select.mark, &s->text, err);
		if (rc == 0)
			rc = prepare_local(s, err);
		s->ready = rc == 0;
	}
	*local = s->local;
	return rc;
}

static int bind_row(struct store_stmt *s, struct spur_error *err)
{
	const struct tsv *t = &s->select.tsv;
	int rc = SQLITE_OK;

	if (t->values.n != s->text.nr_outputs + 1)
		return ch_nonsense(&s->store->server, err);
	for (size_t i = 0; i < s->text.nr_outputs && rc == SQLITE_OK; i++) {
		const struct tsv_value *v = &t->values.at[i];
		const int n = (int)i + 1;

		if (v->null)
			rc = sqlite3_bind_null(s->local, n);
		else if (v->kind == TSV_INTEGER)
			rc = sqlite3_bind_int64(s->local, n, v->number);
		else if (v->kind == TSV_REAL)
			rc = sqlite3_bind_double(s->local, n, v->real);
		else
			rc = sqlite3_bind_text64(s->local, n, v->text, v->len, SQLITE_STATIC,
						 SQLITE_UTF8);
	}
	return rc == SQLITE_OK ? 0
			       : error_set(err, rc == SQLITE_TOOBIG ? -EINVAL : -ENOMEM, "%s",
					   sqlite3_errstr(rc));
}

static int remote_row(struct store_stmt *s, struct spur_error *err)
{
	int rc = 0;

	if (!s->begun)
		rc = ch_select_begin(&s->select, s->text.remote.data, s->text.remote.len, err);
	s->begun = true;
	if (rc == 0)
		rc = ch_select_next(&s->select, err);
	s->store->counts = (struct store_counts){s->select.read_rows, s->select.read_bytes};
	return rc;
}

int store_stmt_step(struct store_stmt *s, struct spur_error *err)
{
	sqlite3_stmt *local;
	int rc = store_stmt_ready(s, &local, err);

	if (rc < 0 || s->nothing || s->ended)
		return rc;
	sqlite3_reset(local);
	if (s->explains)
		s->ended = true;
	rc = s->explains ? 1 : remote_row(s, err);
	if (rc <= 0) {
		s->ended = true;
		return rc;
	}
	if (!s->explains)
		rc = bind_row(s, err);
	if (rc < 0)
		return rc;
	rc = sqlite3_step(local);
	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_INTERRUPT
		       ? error_set(err, -EINTR, "stopped")
		       : error_set(err, -EINVAL, "%s", sqlite3_errmsg(s->store->query->db));
}
