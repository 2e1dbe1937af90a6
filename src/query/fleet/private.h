/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/query: a fleet, from files in a folder to rows of its tables.
 *
 * Threads share a fleet's files while they are looked at or scanned. What a thread writes of a file
 * is written by one of them only, before whoever started it goes on; everything else that threads
 * change is changed with the lock held.
 */
#ifndef QUERY_FLEET_PRIVATE_H
#define QUERY_FLEET_PRIVATE_H

#include <pthread.h>

#include "store/parquet/parquet.h"
#include "scan/identity.h"
#include "query/fleet/fleet.h"
#include "query/parts.h"

#define DATE_TEXT 11 /* "2026-11-14" */

enum fleet_state {
	FLEET_NEW,     /* not opened yet */
	FLEET_GOOD,    /* `about` tells what it is */
	FLEET_FOREIGN, /* no trace */
	FLEET_BAD,     /* cannot be opened; `about` has the reason */
};

/* What opening a file has told. */
struct fleet_about {
	struct identity id; /* without the clock */
	char clock[32];
	char date[DATE_TEXT];
	uint64_t first, last; /* times of records; first > last: there are none */
	uint64_t records;     /* about how many */
	char system[64];      /* of Parquet: whose event it is about, if it says so */
	char why[400];	      /* it is bad */
};

struct fleet_file {
	char *path;
	char *host;	      /* as its folder says, or NULL */
	char date[DATE_TEXT]; /* the same, or "" */
	uint64_t midnight;    /* when that day began, ns since 1970 */
	bool parquet;	      /* it has rows of a table, and not records */
	char *table;	      /* of Parquet: which */
	char id[33];	      /* of Parquet: the trace whose rows these are, "": any */
	enum fleet_state state;
	bool twice;	    /* the same trace as another one, which counts */
	bool told;	    /* the user knows what is wrong with it */
	uint64_t statement; /* that has read it last */
	struct fleet_about *about;
};

enum fleet_kind { FLEET_EVENTS, FLEET_DERIVED, FLEET_TRACES };

/* Columns that every table has, in front of its own. */
enum fleet_column { FLEET_HOST, FLEET_DATE, FLEET_TRACE_ID, NR_FLEET_COLUMNS };

struct fleet_columns {
	struct fleet_cell {
		char *name;	  /* of the table here */
		char *own;	  /* of the table in a file; NULL: none */
		const char *type; /* "": that of its values differs */
		char *about;
		bool coarse; /* it has few values */
		bool time;   /* a file's range of times is its */
	} * at;
	size_t n, cap;
};

struct fleet_table {
	char *name;
	enum fleet_kind kind;
	struct fleet_columns columns;
	uint64_t *covered; /* by file, a bit: its columns are among them */
	uint64_t *needed;  /* the same: the statement that is being prepared may read it */
	bool fixed;	   /* its columns do not depend on files */
	bool made;	   /* there is a virtual table of it */
	bool guessed;	   /* its columns are */
	bool exists;	   /* some file has it */
	bool ambiguous;	   /* several events of a file have the name */
	struct scans scans;
};

struct fleet {
	struct query *query;
	struct {
		struct fleet_file *at;
		size_t n, cap;
	} files;
	struct {
		struct fleet_table **at;
		size_t n, cap;
	} tables;
	struct {
		char **at;
		size_t n, cap;
	} names; /* of events, of the first file that could be opened */
	unsigned int threads;
	bool probing; /* a statement is prepared to learn which files it needs */
	bool incomplete;
	uint64_t read;		      /* files, by the statement that runs */
	uint64_t groups, groups_read; /* row groups of Parquet in these */
	bool told_parquet;	      /* the user knows that some are left out */
	uint64_t noted; /* the statement whose user knows what Parquet does not have */
	pthread_mutex_t lock;
};

/* ---- files ---- */

/* Lists the folder's files, by name. */
int fleet_list_files(struct fleet *f, const char *path, struct spur_error *err);
void fleet_free_files(struct fleet *f);

/*
 * What a column of every table has for the rows of a file. NULL: it must be opened first, or rows
 * of Parquet say it themselves.
 */
const char *file_value(const struct fleet_file *file, enum fleet_column column);

/* Whether rows say something of themselves that others have in common with their file. */
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
 * Opens files, several at a time, looks what they are unless that is known, and calls fn (which may
 * be NULL) for those that can be opened, by several threads and in any order. 0, -ENOMEM, -EINTR.
 */
int fleet_visit(struct fleet *f, const struct file_list *list,
		void (*fn)(void *arg, size_t file, struct fleet_input *in), void *arg);

/*
 * Opens one, by a thread; false when it is none or cannot be, and err says why. A file that is new
 * is looked at, and file->state says afterwards what it is.
 */
bool fleet_open(struct fleet_file *file, struct fleet_input *in, struct spur_error *err);
void fleet_close(struct fleet_input *in);

/* Tells the user about what could not be read. */
void fleet_tell(struct fleet *f, struct fleet_file *file, const char *why);

/* ---- limits ---- */

/* A limit of a scan. Its values are as SQL has them. */
struct fleet_limit {
	int column;
	unsigned char op; /* SQLITE_INDEX_CONSTRAINT_… */
	struct {
		sqlite3_value **at; /* several: one of them */
		size_t n, cap;
	} values;
	bool list;
};

struct fleet_limits {
	struct fleet_limit *at;
	size_t n, cap;
};

void fleet_limits_free(struct fleet_limits *l);

/* The SQL of an operator, NULL: it is not taken over. */
const char *fleet_operator(unsigned char op);

/* Whether rows of the file may be within the limits, by what is known of it. */
bool fleet_may_have(struct fleet *f, const struct fleet_table *t, const struct fleet_limits *l,
		    const struct fleet_file *file);

/* Those files in the order of their names, opened if need be and once if they are the same. */
int fleet_choose(struct fleet *f, const struct fleet_table *t, const struct fleet_limits *l,
		 struct file_list *out);

/* ---- limits as Parquet is tested by them, parquet_tests.c ---- */

struct fleet_test;

struct fleet_tests {
	struct fleet_test *at;
	size_t n, cap;
};

/* Also one that lets no trace pass which another file of the list has. -ENOMEM, -E2BIG. */
int fleet_tests_make(struct fleet *f, const struct fleet_limits *l, const struct file_list *list,
		     struct fleet_tests *out);
void fleet_tests_free(struct fleet_tests *t);

/* ---- scans ---- */

/* What is asked of each file. */
struct fleet_question {
	const struct fleet_table *table;
	struct buf where;	  /* by fleet_put_limits() */
	struct fleet_tests tests; /* the same for Parquet */
	int *columns; /* wanted, by number; those of every table if rows must say them */
	size_t nr;
	bool counted; /* equal rows come as one, with their number as the first value */
};

struct fleet_scan;

/* Takes over the list and the question's memory in any case. NULL without memory. */
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
	int64_t id;		    /* tells it from others */
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
/* 0, -ENOMEM, -EINTR: no more are wanted. */
int row_end(struct row_out *r);

/* A file that is being asked, by a thread. */
struct fleet_asking {
	struct fleet *fleet;
	const struct fleet_question *q;
	struct fleet_file *file;
	const volatile int *stop;
	struct row_out *out;
	uint64_t groups, groups_read;
};

/* What is wrong with the file is in err, also when rows have come. */
int fleet_ask_trace(struct fleet_asking *a, struct spur_trace *t, struct spur_error *err);
int fleet_ask_parquet(struct fleet_asking *a, struct parquet *p, struct spur_error *err);

/* Adds the columns of `traces`. */
int fleet_trace_columns(struct fleet_columns *c);

/* Limits as SQL for a trace, with marks where columns stand. */
void fleet_put_limits(struct buf *sql, const struct fleet_limits *l);

/* ---- Parquet ---- */

enum fleet_match {
	FLEET_NO_ROWS,
	FLEET_ROWS,
	FLEET_SEVERAL, /* one of several events of that name */
};

/* Whether the file has rows of the table, by its name. Traces have those of all. */
enum fleet_match fleet_match(const struct fleet_file *file, const struct fleet_table *t);
/* Whether it has records, as the table of all events has. */
bool fleet_is_event(const struct fleet_file *file);
/* The event of "system:event". */
const char *fleet_event_name(const char *table);
/* Tells the user what tables of Parquet do not have. */
void fleet_note_parquet(struct fleet *f, const struct file_list *list,
			const struct fleet_question *q, const struct fleet_limits *l);

/* ---- tables ---- */

extern const sqlite3_module fleet_module;

/* As names_make_tables(). */
int fleet_make_tables(struct query *q, const char *sql, struct spur_error *err);
struct fleet_table *fleet_table_find(const struct fleet *f, const char *name);
int fleet_declare(sqlite3 *db, const struct fleet_table *t);
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
