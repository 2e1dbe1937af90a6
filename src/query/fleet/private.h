/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/query: a fleet, from files in a folder to rows of its tables.
 *
 * Threads share a fleet's files while they examine or scan them. Only one thread writes the data
 * about a file, before the thread that started it continues. Everything else that threads change is
 * protected by the lock.
 */
#ifndef QUERY_FLEET_PRIVATE_H
#define QUERY_FLEET_PRIVATE_H

#include <pthread.h>

#include "base/strings.h"
#include "base/vec.h"
#include "store/parquet/parquet.h"
#include "scan/identity.h"
#include "query/fleet/fleet.h"
#include "query/parts.h"

#define DATE_TEXT 11 /* "2026-11-14" */

enum fleet_state {
	FLEET_NEW,     /* not opened yet */
	FLEET_GOOD,    /* examined: see `about` */
	FLEET_FOREIGN, /* no trace */
	FLEET_BAD,     /* cannot be opened; `about` has the reason */
};

/* What is known about a file after opening it. */
struct fleet_about {
	struct identity id; /* without the clock */
	char clock[32];
	char date[DATE_TEXT];
	uint64_t first, last; /* times of records; first > last: there are none */
	uint64_t records;     /* about how many */
	char system[64];      /* of Parquet: the system of its event, if it has this */
	char why[400];	      /* why it is bad */
};

struct fleet_file {
	char *path;
	char *host;	      /* from the folder's name, or NULL */
	char date[DATE_TEXT]; /* the same, or "" */
	uint64_t midnight;    /* when that day began, ns since 1970 */
	bool parquet;	      /* a Parquet file: it has rows of a table, not records */
	char *table;	      /* of Parquet: the table's name */
	char id[33];	      /* of Parquet: the trace of its rows; "": there may be several */
	enum fleet_state state;
	bool twice;	    /* it has the same trace as another file, which is used */
	bool told;	    /* the user has been told about its error */
	uint64_t statement; /* the last one that has read it */
	struct fleet_about *about;
};

enum fleet_kind { FLEET_EVENTS, FLEET_DERIVED, FLEET_TRACES };

/* Columns that every table has, in front of its own. */
enum fleet_column { FLEET_HOST, FLEET_DATE, FLEET_TRACE_ID, NR_FLEET_COLUMNS };

struct fleet_columns {
	struct fleet_cell {
		char *name;	  /* of the table here */
		char *own;	  /* of the column in a file; NULL: none */
		const char *type; /* "": its values have several types */
		char *about;
		bool coarse; /* it has few different values */
		bool time;   /* the range of times of a file is that of this column */
	} * at;
	size_t n, cap;
};

struct fleet_table {
	char *name;
	enum fleet_kind kind;
	struct fleet_columns columns;
	uint64_t *covered; /* a bit per file: its columns are included */
	uint64_t *needed;  /* a bit per file: the current statement may read it */
	bool fixed;	   /* its columns do not depend on files */
	bool made;	   /* there is a virtual table of it */
	bool guessed;	   /* its columns are */
	bool exists;	   /* some file has it */
	bool ambiguous;	   /* several events of a file have the name */
	struct scans scans;
};

struct fleet {
	struct query *query;
	vec_of(struct fleet_file) files;
	vec_of(struct fleet_table *) tables;
	struct strings names; /* of events, of the first file that could be opened */
	unsigned int threads;
	bool probing; /* a statement is prepared to learn which files it needs */
	bool incomplete;
	uint64_t read;		      /* files, by the statement that runs */
	uint64_t groups, groups_read; /* row groups of Parquet in these */
	bool told_parquet;	      /* the user has been told that some are left out */
	uint64_t noted; /* the statement for which the user has been told what Parquet lacks */
	pthread_mutex_t lock;
};

/* ---- files ---- */

/* Lists the folder's files, by name. */
int fleet_list_files(struct fleet *f, const char *path, struct spur_error *err);
void fleet_free_files(struct fleet *f);

/*
 * The value of a column of every table for the rows of a file. NULL: the file must be opened first,
 * or the rows of a Parquet file differ.
 */
const char *file_value(const struct fleet_file *file, enum fleet_column column);

/* Whether the rows of a file may differ in host, date or trace. */
static inline bool file_is_loose(const struct fleet_file *file)
{
	return file->parquet && !(file->host && *file->date && *file->id);
}

/* A file that is open: one of the two. */
struct fleet_input {
	struct spur_trace *trace;
	struct parquet *parquet;
};

/* A list of files, by number. */
struct file_list {
	uint32_t *at;
	size_t n, cap;
};

/*
 * Opens files by several threads, examines those that are new, and calls fn (which may be NULL) for
 * those that can be opened, in any order. 0, -ENOMEM, -EINTR.
 */
int fleet_visit(struct fleet *f, const struct file_list *list,
		void (*fn)(void *arg, size_t file, struct fleet_input *in), void *arg);

/*
 * Opens one file; false, with the reason in err, if it is no trace or cannot be opened. A new file
 * is examined; afterwards file->state has its type.
 */
bool fleet_open(struct fleet_file *file, struct fleet_input *in, struct spur_error *err);
void fleet_close(struct fleet_input *in);

/* Tells the user, once for each file, what could not be read. */
void fleet_tell(struct fleet *f, struct fleet_file *file, const char *why);

/* ---- limits ---- */

/* Whether the file may have rows within the limits, by what is known about it. */
bool fleet_may_have(const struct fleet_table *t, const struct limit_list *l,
		    const struct fleet_file *file);

/* Chooses those files, in order of their names, without duplicates. Opens files if necessary. */
int fleet_choose(struct fleet *f, const struct fleet_table *t, const struct limit_list *l,
		 struct file_list *out);

/*
 * Excludes, from files with several traces, the traces that have a file of their own in the list.
 * 0 or -ENOMEM.
 */
int fleet_exclude(struct fleet *f, const struct file_list *list, struct limit_list *out);

/* ---- scans ---- */

/* The question to each file: which rows and columns are needed. */
struct fleet_question {
	const struct fleet_table *table;
	struct buf where;		 /* by fleet_put_limits() */
	const struct limit_list *limits; /* the same */
	struct limit_list excluded;	 /* by fleet_exclude(), for Parquet */
	int *columns; /* the wanted ones; those of every table only if rows differ in them */
	size_t nr;
	bool counted; /* equal rows are returned as one, with their number as the first value */
};

struct fleet_scan;

/* Becomes the owner of the list and the question's memory in any case. NULL without memory. */
struct fleet_scan *fleet_scan_new(struct fleet *f, struct file_list *list,
				  struct fleet_question *q);
void fleet_scan_free(struct fleet_scan *s);

/* A value of a row; a text is valid until the next row. */
struct fleet_value {
	int type; /* SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT or SQLITE_NULL */
	int64_t number;
	double real;
	const char *text;
	size_t len;
};

struct fleet_row {
	size_t file;
	int64_t id;		    /* unique */
	uint64_t count;		    /* 1 unless rows are counted */
	struct fleet_value *values; /* as many as columns are wanted, in their order */
};

/* 1, 0 after the last, -EINTR, -ENOMEM. */
int fleet_scan_next(struct fleet_scan *s, struct fleet_row *row);

/* ---- rows of a file ---- */

struct row_out;

/* A row: its number, or how many there are if they are counted; the wanted values; its end. */
void row_put_head(struct row_out *r, int64_t head);
void row_put_number(struct row_out *r, int64_t number);
void row_put_real(struct row_out *r, double number);
void row_put_text(struct row_out *r, const char *text, size_t len);
void row_put_null(struct row_out *r);
/* 0, -ENOMEM, or -EINTR if no more are wanted. */
int row_end(struct row_out *r);

/* A file that is being read by a thread. */
struct fleet_asking {
	struct fleet *fleet;
	const struct fleet_question *q;
	struct fleet_file *file;
	const volatile int *stop;
	struct row_out *out;
	uint64_t groups, groups_read;
};

/* Errors of the file are in err, also after rows have come. */
int fleet_ask_trace(struct fleet_asking *a, struct spur_trace *t, struct spur_error *err);
int fleet_ask_parquet(struct fleet_asking *a, struct parquet *p, struct spur_error *err);

/* Adds the columns of `traces`. */
int fleet_trace_columns(struct fleet_columns *c);

/* Limits as SQL for a trace, with marks for the columns. */
void fleet_put_limits(struct buf *sql, const struct limit_list *l);

/* ---- Parquet ---- */

enum fleet_match {
	FLEET_NO_ROWS,
	FLEET_ROWS,
	FLEET_SEVERAL, /* one of several events of that name */
};

/* Whether the file has rows of the table, by its name. Traces may have rows of all tables. */
enum fleet_match fleet_match(const struct fleet_file *file, const struct fleet_table *t);
/* Whether it has records, which belong to the table of all events, too. */
bool fleet_is_event(const struct fleet_file *file);
/* The event of "system:event". */
const char *fleet_event_name(const char *table);
/* Tells the user about columns or tables that Parquet files lack. */
void fleet_note_parquet(struct fleet *f, const struct file_list *list,
			const struct fleet_question *q, const struct limit_list *l);

/* ---- tables ---- */

extern const sqlite3_module fleet_module;

/* Like names_make_tables(). */
int fleet_make_tables(struct query *q, const char *sql, struct spur_error *err);
struct fleet_table *fleet_table_find(const struct fleet *f, const char *name);
int fleet_declare(sqlite3 *db, const struct fleet_table *t);
void fleet_table_free(struct fleet_table *t);
void fleet_free(struct fleet *f);

/* For schema.c and names.c. */
int fleet_tables(struct query *q, void (*fn)(void *arg, const struct query_table_info *t),
		 void *arg, struct spur_error *err);
int fleet_columns(struct query *q, const char *table,
		  void (*fn)(void *arg, const struct query_column_info *c), void *arg,
		  struct spur_error *err);
void fleet_names(struct query *q, void (*fn)(void *arg, const char *name), void *arg);

#define BIT_WORDS(n) (((n) + 63) / 64)
static inline bool bit_get(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}
static inline void bit_set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

#endif
