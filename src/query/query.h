/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL over traces: SQLite with virtual tables; nothing is imported.
 *
 * A query session has one connection in memory. Every trace is a schema of it: the first one
 * `main`, so that its tables need no prefix, others under a name of their own. A trace's tables are
 * its event types, `events` (all records) and those of src/table; a table is created when a
 * statement first names it, because a trace describes thousands of types and a statement names two.
 *
 * Statements only read, except that they may create temporary tables and views.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/buf.h"
#include "scan/trace.h"

struct query;
struct query_stmt;

/* A table that was read to its end is empty because its events were not recorded. */
struct query_missing {
	const char *table;
	const char *needs;  /* "block:block_rq_issue": without it there is no row */
	const char *record; /* options of `spur record`: "-e block:block_rq_issue" */
};

struct query_options {
	const volatile int *stop; /* a statement ends when it becomes non-zero; may be NULL */
	unsigned int threads;	  /* that read a trace: as in scan_threads() */

	/* Called now and then with how much of a trace has been read; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	/*
	 * Called with one line that the user should know about the current statement; may be NULL.
	 */
	void (*note)(void *arg, const char *text);
	/* Called once for each table whose events were not recorded; if NULL, note() is called. */
	void (*missing)(void *arg, const struct query_missing *m);
	void *arg;
};

int query_open(const struct query_options *opt, struct query **out, struct spur_error *err);
/* All statements must have been freed; the traces still belong to the caller. NULL is fine. */
void query_close(struct query *q);

/*
 * Adds a trace under a schema's name, NULL: `main` for the first one, otherwise one made of the
 * file's name. The trace must stay until query_close().
 */
int query_add(struct query *q, struct spur_trace *t, const char *name, struct spur_error *err);

/* Whether the first trace has a record of this type: "system:event" or "event", with globs. */
bool query_has_event(struct query *q, const char *pattern);

size_t query_nr_files(const struct query *q);
/* The name of a file's schema; NULL if it is another name of the first one. */
const char *query_file_name(const struct query *q, size_t file);

/* ---- statements ---- */

/*
 * Prepares the first statement of a text; *used is its length. *out is NULL if there are only
 * blanks and comments. -EINVAL for wrong SQL, with a message that suggests names.
 */
int query_prepare(struct query *q, const char *sql, struct query_stmt **out, size_t *used,
		  struct spur_error *err);
void query_stmt_free(struct query_stmt *s);

/* Whether the text ends with a complete statement. */
bool query_complete(const struct query *q, const char *sql);

/* Parameters by number, from 1: their name with its first letter, or NULL; and setting one. */
size_t query_nr_params(const struct query_stmt *s);
const char *query_param(const struct query_stmt *s, size_t number);
int query_bind(struct query_stmt *s, size_t number, const char *value, struct spur_error *err);

/* 1 if there is a row, 0 at the end, -EINTR after a stop, or another negative errno. */
int query_step(struct query_stmt *s, struct spur_error *err);

enum query_type { QUERY_NULL, QUERY_INTEGER, QUERY_REAL, QUERY_TEXT, QUERY_BLOB };

size_t query_nr_columns(const struct query_stmt *s);
const char *query_column_name(const struct query_stmt *s, size_t column);
enum query_type query_type(const struct query_stmt *s, size_t column);
int64_t query_int64(const struct query_stmt *s, size_t column);
/* Any value as text, "" for NULL; valid until the next step. */
const char *query_text(const struct query_stmt *s, size_t column, size_t *len);

/* ---- what there is ---- */

struct query_table_info {
	const char *schema;
	const char *name;   /* the name to use in a statement, without quotes */
	const char *system; /* NULL: no event type */
	const char *about;
	uint64_t rows; /* of an event type: number of records */
};

/*
 * Calls fn for all derived tables and for those event types that occur (of which counting is a walk
 * over the file), by name. 0, -ENOMEM, -EINTR.
 */
int query_tables(struct query *q, size_t file,
		 void (*fn)(void *arg, const struct query_table_info *t), void *arg,
		 struct spur_error *err);

/* The same for every name that a table could have, without counting: for completion. */
void query_names(struct query *q, size_t file, void (*fn)(void *arg, const char *name), void *arg);

struct query_column_info {
	const char *name;
	const char *type;  /* INTEGER, TEXT */
	const char *about; /* what it holds, or the type the format gives the field */
};

/* Calls fn for the columns of a table, "TABLE" or "SCHEMA.TABLE". -EINVAL when there is none. */
int query_columns(struct query *q, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err);

/* The functions that are added to SQLite's own: name, arguments, what it does; up to a NULL. */
struct query_function_info {
	const char *name, *arguments, *about;
};
extern const struct query_function_info query_functions[];

/*
 * Calls fn for every word of a text that could name a table. So callers know what a statement needs
 * before there is a trace.
 */
void query_words(const char *sql, void (*fn)(void *arg, const char *word), void *arg);

#endif
