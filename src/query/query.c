// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A session: the connection, the schemas of traces, and statements.
 *
 * A statement that groups is prepared in the hope that a table can do it while it reads. Whether
 * the hope was right is known before the first row comes (see plan_reads_too_much(), and
 * groups.c for too many groups); if it was not, the statement is prepared again without.
 */
#include "query/query.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/parts.h"

#define HEAP_LIMIT     (40ll << 20) /* bytes from which on SQLite prefers files to memory */
#define TEXT_LIMIT     (48 << 20)   /* bytes of a value */
#define OPS_PER_LOOK   20000	    /* of SQLite's machine, between two looks at the user */
#define RECORD_BYTES   48	    /* of the ring buffer, as a guess */
#define MAX_IDENTIFIER 64
#define MANY_SCANS     30    /* of a table, in one statement, from which on a remark is due… */
#define MANY_RECORDS   20000 /* …if the trace has so many */

struct query_stmt {
	struct query *query;
	sqlite3_stmt *stmt;
	char *sql;
	struct {
		char **at;
		size_t n, cap;
	} values; /* of parameters, by number */
	bool no_groups, has_rows;
};

/* ---- what statements may do ---- */

static int authorize(void *query, int action, const char *a, const char *b, const char *schema,
		     const char *trigger)
{
	const struct query *q = query;

	if (q->internal)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_VIEW:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT: return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && strcasecmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX: /* what "create index" does behind the scenes */
		return schema && strcmp(schema, "temp") == 0 ? SQLITE_OK : SQLITE_DENY;
	default: return SQLITE_DENY;
	}
}

static int look_at_user(void *query)
{
	const struct query *q = query;

	return q->opt.stop && *q->opt.stop;
}

struct walk_options query_walk_options(const struct query *q)
{
	return (struct walk_options){
		.stop = q->opt.stop, .progress = q->opt.progress, .progress_arg = q->opt.arg};
}

void query_note_scan(const struct query_file *f, const char *table, struct scans *scans)
{
	const struct query_options *o = &f->query->opt;
	char text[400];

	if (scans->statement != f->query->statement)
		*scans = (struct scans){.statement = f->query->statement};
	if (++scans->n != MANY_SCANS || f->records < MANY_RECORDS || !o->note)
		return;
	snprintf(text, sizeof(text),
		 "this reads %s again for each row of another table; with x as materialized "
		 "(select ... from %s) would read it once",
		 table, table);
	o->note(o->arg, text);
}

/* ---- sessions ---- */

/* Runs a statement of our own. */
static int run_internal(struct query *q, const char *sql, struct spur_error *err)
{
	int rc;

	q->internal = true;
	rc = sqlite3_exec(q->db, sql, NULL, NULL, NULL);
	q->internal = false;
	return rc == SQLITE_OK ? 0 : error_set(err, -EINVAL, "%s", sqlite3_errmsg(q->db));
}

static int configure(struct query *q)
{
	sqlite3 *db = q->db;
	int rc = sqlite3_create_module(db, "spur_event", &event_module, q);

	if (rc == SQLITE_OK)
		rc = sqlite3_create_module(db, "spur_derived", &derived_module, q);
	if (rc == SQLITE_OK)
		rc = functions_add(q);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "pragma temp_store = file; pragma main.cache_size = -8000",
				  NULL, NULL, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_LIMIT);
	sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
	sqlite3_soft_heap_limit64(HEAP_LIMIT);
	sqlite3_set_authorizer(db, authorize, q);
	sqlite3_progress_handler(db, OPS_PER_LOOK, look_at_user, q);
	return rc;
}

int query_open(const struct query_options *opt, struct query **out, struct spur_error *err)
{
	struct query *q = calloc(1, sizeof(*q));

	*out = NULL;
	if (!q)
		return error_set(err, -ENOMEM, "out of memory");
	q->opt = *opt;
	if (sqlite3_open_v2(":memory:", &q->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
				    SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK ||
	    configure(q) != SQLITE_OK) {
		error_set(err, -ENOMEM, "SQLite: %s", q->db ? sqlite3_errmsg(q->db) : "no memory");
		query_close(q);
		return err ? err->code : -ENOMEM;
	}
	*out = q;
	return 0;
}

static void free_file(struct query_file *f)
{
	vec_each (name, &f->made)
		free(*name);
	vec_free(&f->made);
	free(f->name);
	free(f);
}

void query_close(struct query *q)
{
	if (!q)
		return;
	q->internal = true;
	sqlite3_close(q->db);
	vec_each (f, &q->files)
		free_file(*f);
	vec_free(&q->files);
	free(q);
}

/* ---- traces ---- */

static bool schema_taken(const struct query *q, const char *name)
{
	if (strcasecmp(name, "main") == 0 || strcasecmp(name, "temp") == 0 ||
	    sqlite3_keyword_check(name, (int)strlen(name)))
		return true;
	vec_each (f, &q->files)
		if (strcasecmp((*f)->name, name) == 0)
			return true;
	return false;
}

/* An identifier made of a file's name: "dir/my trace.dat" is my_trace. */
static void schema_name(const struct query *q, const char *path, char *name, size_t cap)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	size_t len = dot && dot != base ? (size_t)(dot - base) : strlen(base), n = 0;
	char first[MAX_IDENTIFIER + 1];

	if (!len || isdigit((unsigned char)*base))
		first[n++] = 't';
	for (size_t i = 0; i < len && n < MAX_IDENTIFIER; i++)
		first[n++] = isalnum((unsigned char)base[i]) ? base[i] : '_';
	first[n] = '\0';
	snprintf(name, cap, "%s", first);
	for (unsigned int i = 2; schema_taken(q, name); i++)
		snprintf(name, cap, "%s_%u", first, i);
}

static uint64_t guess_records(const struct spur_trace *t)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < t->nr_buffers; i++)
		for (uint32_t k = 0; k < t->buffers[i].data->nr_cpus; k++)
			bytes += t->buffers[i].data->cpus[k].size *
				 (t->buffers[i].data->compressed ? 4 : 1);
	return bytes / RECORD_BYTES;
}

static int attach(struct query *q, const char *name, struct spur_error *err)
{
	char *sql = sqlite3_mprintf("attach ':memory:' as \"%w\"", name);
	int rc = sql ? run_internal(q, sql, err) : error_set(err, -ENOMEM, "out of memory");

	sqlite3_free(sql);
	if (rc == -EINVAL && err && strstr(err->text, "too many attached"))
		snprintf(err->text, sizeof(err->text), "no more than %d files can be asked at once",
			 sqlite3_limit(q->db, SQLITE_LIMIT_ATTACHED, -1));
	return rc;
}

static int add_file(struct query *q, struct spur_trace *t, const char *name, bool alias,
		    struct spur_error *err)
{
	struct query_file *f = calloc(1, sizeof(*f)), **slot;
	int rc = 0;

	if (f)
		f->name = strdup(name);
	if (strcmp(name, "main") != 0)
		rc = attach(q, name, err);
	slot = f && f->name && rc == 0 ? vec_push(&q->files) : NULL;
	if (!slot) {
		free(f ? f->name : NULL);
		free(f);
		return rc < 0 ? rc : error_set(err, -ENOMEM, "out of memory");
	}
	f->query = q;
	f->trace = t;
	f->alias = alias;
	f->records = guess_records(t);
	*slot = f;
	return 0;
}

int query_add(struct query *q, struct spur_trace *t, const char *name, struct spur_error *err)
{
	const bool first = !q->files.n;
	char own[MAX_IDENTIFIER + 16];
	int rc = 0;

	if (name && schema_taken(q, name))
		return error_set(err, -EINVAL, "a file cannot be called '%s'%s", name,
				 sqlite3_keyword_check(name, (int)strlen(name))
					 ? ": that is a word of SQL"
					 : ": that name is taken");
	if (first)
		rc = add_file(q, t, "main", false, err);
	/* Beside others the first one can be called by its own name, too. */
	if (rc == 0 && q->files.n == 1 && !first) {
		struct query_file *main = q->files.at[0];

		schema_name(q, main->trace->dat->path, own, sizeof(own));
		if (!name || strcasecmp(own, name) != 0)
			rc = add_file(q, main->trace, own, true, err);
	}
	if (rc < 0 || (first && !name))
		return rc;
	if (!name)
		schema_name(q, t->dat->path, own, sizeof(own));
	return add_file(q, t, name ? name : own, first, err);
}

size_t query_nr_files(const struct query *q)
{
	return q->files.n;
}

const char *query_file_name(const struct query *q, size_t file)
{
	return q->files.at[file]->alias ? NULL : q->files.at[file]->name;
}

struct spur_trace *query_file_trace(const struct query *q, size_t file)
{
	return q->files.at[file]->trace;
}

/* ---- statements ---- */

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
				 TEXT_LIMIT >> 20);
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
	if (!reads)
		return 0;
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
	int rc;

	*out = NULL;
	*used = names_statement(sql);
	if (s)
		s->sql = strndup(sql, *used);
	if (!s || !s->sql) {
		free(s);
		return error_set(err, -ENOMEM, "out of memory");
	}
	s->query = q;
	q->statement++;
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
	vec_each (value, &s->values)
		free(*value);
	vec_free(&s->values);
	free(s->sql);
	free(s);
}

bool query_complete(const char *sql)
{
	return sqlite3_complete(sql);
}

size_t query_nr_params(const struct query_stmt *s)
{
	return (size_t)sqlite3_bind_parameter_count(s->stmt);
}

const char *query_param(const struct query_stmt *s, size_t number)
{
	return sqlite3_bind_parameter_name(s->stmt, (int)number);
}

int query_bind(struct query_stmt *s, size_t number, const char *value, struct spur_error *err)
{
	while (s->values.n < number)
		if (!vec_push(&s->values))
			return error_set(err, -ENOMEM, "out of memory");
	free(s->values.at[number - 1]);
	s->values.at[number - 1] = strdup(value);
	if (!s->values.at[number - 1])
		return error_set(err, -ENOMEM, "out of memory");
	return bind_all(s, err);
}

int query_step(struct query_stmt *s, struct spur_error *err)
{
	struct query *q = s->query;
	int rc;

	q->has_rows = s->has_rows;
	q->too_many = false;
	rc = sqlite3_step(s->stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE && q->too_many && !s->has_rows) {
		sqlite3_finalize(s->stmt);
		s->stmt = NULL;
		s->no_groups = true;
		if (prepare(s, err) < 0 || bind_all(s, err) < 0)
			return err ? err->code : -EINVAL;
		rc = sqlite3_step(s->stmt);
	}
	if (rc == SQLITE_ROW) {
		s->has_rows = true;
		return 1;
	}
	return rc == SQLITE_DONE ? 0 : fail(q, rc, s->sql, err);
}

/* ---- values ---- */

size_t query_nr_columns(const struct query_stmt *s)
{
	return (size_t)sqlite3_column_count(s->stmt);
}

const char *query_column_name(const struct query_stmt *s, size_t column)
{
	const char *name = sqlite3_column_name(s->stmt, (int)column);

	return name ? name : "";
}

enum query_type query_type(const struct query_stmt *s, size_t column)
{
	switch (sqlite3_column_type(s->stmt, (int)column)) {
	case SQLITE_INTEGER: return QUERY_INTEGER;
	case SQLITE_FLOAT: return QUERY_REAL;
	case SQLITE_TEXT: return QUERY_TEXT;
	case SQLITE_BLOB: return QUERY_BLOB;
	default: return QUERY_NULL;
	}
}

int64_t query_int64(const struct query_stmt *s, size_t column)
{
	return sqlite3_column_int64(s->stmt, (int)column);
}

const char *query_text(const struct query_stmt *s, size_t column, size_t *len)
{
	const char *text = (const char *)sqlite3_column_text(s->stmt, (int)column);

	*len = text ? (size_t)sqlite3_column_bytes(s->stmt, (int)column) : 0;
	return text ? text : "";
}

void vtab_error(sqlite3_vtab *t, const char *text)
{
	sqlite3_free(t->zErrMsg);
	t->zErrMsg = sqlite3_mprintf("%s", text);
}

void put_identifier(struct buf *b, const char *name)
{
	buf_putc(b, '"');
	for (; *name; name++) {
		if (*name == '"')
			buf_putc(b, '"');
		buf_putc(b, *name);
	}
	buf_putc(b, '"');
}
