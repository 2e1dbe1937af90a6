// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A store in a session: its statements, and what tables there are. A statement is sent to the
 * server when its columns or its first row are needed. Its rows pass through a SQLite statement of
 * parameters ("select ?1, ?2"), so that types and texts of values are the same as in other
 * sessions.
 */
#include "query/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "query/store_session.h"
#include "query/store_sql.h"
#include "table/table.h"

#define PATIENCE   600000000000ull /* ns: a statement may take long */
#define SQL_LIMIT  (4u << 20)
#define HIST_LIMIT (1u << 16)

#define LOCAL  "_local"
#define TRACES "traces"
#define TYPES  "event_types" /* in which exports store the types of events */

/* Those of every table come first, in this order. */
static const char *const first_columns[] = {"host", "date", "trace_id"};
#define NR_FIRST ARRAY_SIZE(first_columns)

struct store_stmt {
	struct store_session *store;
	struct store_sql sql;
	struct buf text; /* the text that is sent */
	struct ch_select select;
	sqlite3_stmt *row;
	bool begun, ended;
	struct spur_error failed; /* the error if it could not begin */
};

/* ---- the session ---- */

bool query_is_store(const char *fleet)
{
	return ch_address_is(fleet);
}

/* A user waits for the answer, so a request to an unreachable server is not repeated. */
static const char *setting(const void *options, const char *name)
{
	const struct store_options *o = options;
	const char *value = o->setting(o->arg, name);

	return !value && strcmp(name, "retries") == 0 ? "0" : value;
}

int query_add_store(struct query *q, const struct store_options *opt, struct spur_error *err)
{
	const struct ch_settings settings = {.get = setting, .arg = opt, .stop = q->opt.stop};
	struct store_session *s = calloc(1, sizeof(*s));
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

void query_store_free(struct store_session *s)
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

int store_stmt_new(struct store_session *st, const char *sql, struct store_stmt **out,
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

/* The server has counted the buckets of hist(). */
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

/* ---- what there is ---- */

/* In a cluster, NAME_local has the rows of a shard; statements use NAME. */
static bool is_local(const struct store_session *s, const char *name)
{
	const size_t len = strlen(name), tail = strlen(LOCAL);
	char base[256];

	if (len <= tail || len >= sizeof(base) || strcmp(name + len - tail, LOCAL) != 0)
		return false;
	memcpy(base, name, len - tail);
	base[len - tail] = '\0';
	return ch_table_find(&s->server, base) != NULL;
}

void store_names(const struct store_session *s, void (*fn)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < s->server.tables.n; i++)
		if (!is_local(s, s->server.tables.at[i].name))
			fn(arg, s->server.tables.at[i].name);
}

struct listed {
	char *name;
	char *system; /* NULL: it is no event */
	uint64_t rows;
};

struct listing {
	struct listed *at;
	size_t n, cap;
};

static void put_table(const struct store_session *s, const char *table, struct buf *to)
{
	ch_put_name(to, s->at.database);
	buf_putc(to, '.');
	ch_put_name(to, table);
}

static int count_rows(struct store_session *s, struct listing *list, struct spur_error *err)
{
	struct ch_server *sv = &s->server;
	bool any = false;
	char *at, *line;
	int rc;

	buf_reset(&sv->sql);
	for (size_t i = 0; i < sv->tables.n; i++) {
		const char *name = sv->tables.at[i].name;

		if (is_local(s, name))
			continue;
		buf_puts(&sv->sql, any ? " UNION ALL SELECT " : "SELECT * FROM (SELECT ");
		ch_put_string(&sv->sql, name);
		buf_puts(&sv->sql, " AS name, count() AS rows FROM ");
		put_table(s, name, &sv->sql);
		any = true;
	}
	buf_puts(&sv->sql, ") ORDER BY name FORMAT TabSeparated");
	/* The server may be reachable again. */
	sv->away = false;
	rc = ch_ask(sv, err);
	if (rc < 0)
		return rc;
	at = sv->answer.body.data;
	while ((line = ch_line(&at))) {
		const char *name = ch_field(&line);
		struct listed *l = vec_push(list);

		if (!l || !(l->name = strdup(name)))
			return error_set(err, -ENOMEM, "out of memory");
		if (!ch_read_number(ch_field(&line), &l->rows))
			return ch_nonsense(sv, err);
	}
	return 0;
}

/* Of which system events are. */
static int load_systems(struct store_session *s, struct listing *list, struct spur_error *err)
{
	struct ch_server *sv = &s->server;
	char *at, *line;
	int rc;

	if (!ch_table_find(sv, TYPES))
		return 0;
	buf_reset(&sv->sql);
	buf_puts(&sv->sql, "SELECT `table`, min(system) FROM ");
	put_table(s, TYPES, &sv->sql);
	buf_puts(&sv->sql, " GROUP BY `table` FORMAT TabSeparated");
	rc = ch_ask(sv, err);
	if (rc < 0)
		return rc;
	at = sv->answer.body.data;
	while ((line = ch_line(&at))) {
		const char *table = ch_field(&line), *system = ch_field(&line);

		if (!system || line)
			return ch_nonsense(sv, err);
		vec_each (l, list)
			if (!l->system && strcmp(l->name, table) == 0 &&
			    !(l->system = strdup(system)))
				return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* The traces, then derived tables, then all others. */
static int rank(const char *name)
{
	return strcmp(name, TRACES) == 0 ? 0 : table_find(name) ? 1 : 2;
}

static int by_rank(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	const int order = rank(x->name) - rank(y->name);

	return order ? order : strcmp(x->name, y->name);
}

static void show_table(const struct listed *l,
		       void (*fn)(void *arg, const struct query_table_info *t), void *arg)
{
	const struct table *derived = table_find(l->name);

	fn(arg, &(struct query_table_info){
			.schema = "main",
			.name = l->name,
			.system = l->system,
			.about = strcmp(l->name, TRACES) == 0  ? "the traces, a row each"
				 : derived		       ? derived->about
				 : strcmp(l->name, TYPES) == 0 ? "types of events"
							       : "",
			.rows = l->rows,
		});
}

int store_tables(struct store_session *s, void (*fn)(void *arg, const struct query_table_info *t),
		 void *arg, struct spur_error *err)
{
	struct listing list = {0};
	int rc = count_rows(s, &list, err);

	if (rc == 0)
		rc = load_systems(s, &list, err);
	if (rc == 0)
		order_vec(&list, by_rank);
	vec_each (l, &list) {
		if (rc == 0)
			show_table(l, fn, arg);
		free(l->name);
		free(l->system);
	}
	vec_free(&list);
	return rc;
}

/* What a column of a derived table holds. */
static const char *about(const char *table, const char *column)
{
	const struct table *t = table_find(table);

	for (uint32_t i = 0; t && i < t->nr_columns; i++)
		if (strcmp(t->columns[i].name, column) == 0)
			return t->columns[i].about;
	return NULL;
}

static void show_column(const char *table, const struct ch_info_column *c,
			void (*fn)(void *arg, const struct query_column_info *c), void *arg)
{
	static const char *const types[] = {
		[TSV_TEXT] = "TEXT", [TSV_INTEGER] = "INTEGER", [TSV_REAL] = "REAL"};
	const char *words = about(table, c->name);

	fn(arg, &(struct query_column_info){c->name, types[tsv_kind_of(c->type, strlen(c->type))],
					    words ? words : c->type});
}

/* Whether a column is only for exports. */
static bool is_hidden(const char *column)
{
	return strcmp(column, "spur_block") == 0 || strcmp(column, "plan") == 0;
}

int store_columns(struct store_session *s, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err)
{
	const char *name = strncmp(table, "main.", 5) == 0 ? table + 5 : table;
	const struct ch_table_info *t = ch_table_find(&s->server, name);
	const struct ch_info_column *first[NR_FIRST];

	if (!t) {
		struct suggest near = suggest_for(name, strlen(name));

		store_names(s, (void (*)(void *, const char *))suggest_try, &near);
		return error_set(err, -EINVAL, "there is no table '%s' in the store%s", name,
				 suggest_hint(&near));
	}
	for (size_t i = 0; i < NR_FIRST; i++) {
		first[i] = ch_column_find(t, first_columns[i]);
		if (first[i])
			show_column(name, first[i], fn, arg);
	}
	for (size_t i = 0; i < t->n; i++) {
		bool shown = is_hidden(t->at[i].name);

		for (size_t k = 0; k < NR_FIRST; k++)
			shown |= first[k] == &t->at[i];
		if (!shown)
			show_column(name, &t->at[i], fn, arg);
	}
	return 0;
}
