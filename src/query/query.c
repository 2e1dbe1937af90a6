// SPDX-License-Identifier: GPL-2.0-or-later
/* A session: the connection, what statements may do, and the schemas of traces. */
#include "query/query.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "query/fleet/private.h"
#include "query/store_session.h"

#define HEAP_LIMIT     (40ll << 20) /* above so many bytes SQLite uses files instead of memory */
#define OPS_PER_LOOK   20000	    /* opcodes of SQLite between two checks for a stop */
#define RECORD_BYTES   48	    /* of the ring buffer, as a guess */
#define MAX_IDENTIFIER 64
#define MANY_SCANS     30 /* so many scans of a table in one statement are reported to the user */
#define NOTE_MAX       16384

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
	return (struct walk_options){.stop = q->opt.stop,
				     .threads = q->opt.threads,
				     .progress = q->opt.progress,
				     .progress_arg = q->opt.arg};
}

void query_tell(const struct query *q, const char *fmt, ...)
{
	struct buf text;
	va_list ap;

	if (!q->opt.note)
		return;
	buf_init(&text, NOTE_MAX);
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	q->opt.note(q->opt.arg, buf_str(&text));
	buf_free(&text);
}

void query_note_scan(const struct query *q, const char *table, struct scans *scans)
{
	if (scans->statement != q->statement)
		*scans = (struct scans){.statement = q->statement};
	if (++scans->n == MANY_SCANS)
		query_tell(q,
			   "this reads %s again for each row of another table; with x as "
			   "materialized (select ... from %s) would read it once",
			   table, table);
}

bool query_tells_missing(const struct query *q)
{
	return q->opt.note || q->opt.missing;
}

bool query_has_record(const struct query_file *f, bool (*wanted)(const void *arg, struct event *e),
		      const void *arg)
{
	struct walk_options opt = query_walk_options(f->query);
	const struct events *ev = f->trace->events;
	struct spur_error err = {0};
	struct walk w;
	bool found = true;

	opt.progress = NULL;
	if (walk_open(&w, f->trace, &opt, &err) == 0) {
		for (size_t i = 0; i < ev->nr; i++)
			if (wanted(arg, ev->list[i]))
				walk_want(&w, ev->list[i]);
		found = false;
		for (const struct spur_record *r; !found && (r = walk_next(&w)) != NULL;) {
			struct event *e = events_of_record(ev, r);

			found = e && wanted(arg, e);
		}
		found |= w.stopped;
	}
	walk_close(&w);
	return found;
}

static bool named(const void *pattern, struct event *e)
{
	return event_named(e, pattern);
}

bool query_has_event(struct query *q, const char *pattern)
{
	char any[256];

	if (!q->files.n)
		return false;
	snprintf(any, sizeof(any), "%s%s", strchr(pattern, ':') ? "" : "*:", pattern);
	return query_has_record(q->files.at[0], named, any);
}

/* ---- sessions ---- */

int query_run(struct query *q, char *sql, struct spur_error *err)
{
	int rc;

	if (!sql)
		return error_set(err, -ENOMEM, "out of memory");
	q->internal = true;
	rc = sqlite3_exec(q->db, sql, NULL, NULL, NULL);
	q->internal = false;
	sqlite3_free(sql);
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
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, QUERY_VALUE_BYTES);
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
	q->weight = 1;
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
	strings_free(&f->made);
	free(f->name);
	free(f);
}

void query_close(struct query *q)
{
	if (!q)
		return;
	q->internal = true;
	sqlite3_close(q->db);
	fleet_free(q->fleet);
	query_store_free(q->store);
	vec_each (f, &q->files)
		free_file(*f);
	vec_free(&q->files);
	free(q);
}

/* ---- traces ---- */

static bool schema_exists(const struct query *q, const char *name)
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
	const char *base = file_name_of(path), *dot = strrchr(base, '.');
	size_t len = dot && dot != base ? (size_t)(dot - base) : strlen(base), n = 0;
	char first[MAX_IDENTIFIER + 1];

	if (!len || isdigit((unsigned char)*base))
		first[n++] = 't';
	for (size_t i = 0; i < len && n < MAX_IDENTIFIER; i++)
		first[n++] = isalnum((unsigned char)base[i]) ? base[i] : '_';
	first[n] = '\0';
	snprintf(name, cap, "%s", first);
	for (unsigned int i = 2; schema_exists(q, name); i++)
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
	int rc = query_run(q, sqlite3_mprintf("attach ':memory:' as \"%w\"", name), err);

	if (rc == -EINVAL && err && strstr(err->text, "too many attached"))
		snprintf(err->text, sizeof(err->text), "no more than %d files can be asked at once",
			 sqlite3_limit(q->db, SQLITE_LIMIT_ATTACHED, -1));
	return rc;
}

static int add_file(struct query *q, struct spur_trace *t, const char *name, bool alias,
		    struct spur_error *err)
{
	struct query_file *f = calloc(1, sizeof(*f));
	int rc = 0;

	if (f)
		f->name = strdup(name);
	if (strcmp(name, "main") != 0)
		rc = attach(q, name, err);
	if (!f || !f->name || rc < 0 || !vec_add(&q->files, &f)) {
		free(f ? f->name : NULL);
		free(f);
		return rc < 0 ? rc : error_set(err, -ENOMEM, "out of memory");
	}
	f->query = q;
	f->trace = t;
	f->alias = alias;
	f->records = guess_records(t);
	return 0;
}

int query_add(struct query *q, struct spur_trace *t, const char *name, struct spur_error *err)
{
	const bool first = !q->files.n;
	char own[MAX_IDENTIFIER + 16];
	int rc = 0;

	if (name && schema_exists(q, name))
		return error_set(err, -EINVAL, "a file cannot be called '%s'%s", name,
				 sqlite3_keyword_check(name, (int)strlen(name))
					 ? ": that is a word of SQL"
					 : ": that name is taken");
	if (first)
		rc = add_file(q, t, "main", false, err);
	/* With several traces, the first one also has a schema with its own name. */
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
	return q->fleet || q->store ? 1 : q->files.n;
}

const char *query_file_name(const struct query *q, size_t file)
{
	if (q->fleet || q->store)
		return "main";
	return q->files.at[file]->alias ? NULL : q->files.at[file]->name;
}

/* ---- what virtual tables share ---- */

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
