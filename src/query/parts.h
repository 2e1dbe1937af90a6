/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/query: the session, and what its virtual tables share. */
#ifndef QUERY_PARTS_H
#define QUERY_PARTS_H

#include <sqlite3.h>

#include "base/strings.h"
#include "base/vec.h"
#include "table/cells.h"
#include "table/walk.h"
#include "query/limit.h"
#include "query/query.h"

#define QUERY_VALUE_BYTES (48 << 20) /* of one value, at most */

struct fleet;
struct store_session;
struct table;

struct query_file {
	struct query *query;
	struct spur_trace *trace;
	char *name;	  /* the schema's */
	bool alias;	  /* another name of `main` */
	uint64_t records; /* an estimate of their number */
	uint64_t noted;	  /* a bit for each of tables[]: the user has been told that it is empty */
	struct strings made; /* tables that exist */
};

struct query {
	sqlite3 *db;
	struct query_options opt;
	vec_of(struct query_file *) files;
	struct fleet *fleet;	     /* instead of files: a folder with files, or NULL */
	struct store_session *store; /* instead of files: a server with their rows, or NULL */
	bool internal;		     /* the statement is our own: everything is permitted */
	bool no_groups;		     /* SQLite groups in the statement that is being prepared */
	bool groups;		     /* a table has offered to group rows */
	bool too_many;		     /* a table found too many groups; SQLite has to group */
	bool has_rows;		     /* the statement that runs has given a row */
	uint64_t statement;	     /* number of the current statement */
	size_t exact;		     /* bytes of exact values in percentiles */
	bool counts;		     /* the statement that runs only counts the rows of groups */
	int64_t weight;		     /* how many records the current row stands for */
};

/* ---- what is asked of a table ---- */

#define MAX_GROUP_CELLS 16

enum limit_kind { LIMIT_TS, LIMIT_CPU, LIMIT_PID, LIMIT_SYSTEM, LIMIT_EVENT, NR_LIMITS };

/* The limits of a scan's rows, and the order in which they are returned. */
struct limits {
	struct limit_list numbers[LIMIT_PID + 1]; /* a row must match all */
	struct limit_list names;    /* its event must match all; the column is a limit_kind */
	int group[MAX_GROUP_CELLS]; /* columns by which rows are grouped, … */
	int nr_group;
	int nr_key; /* for a derived table: columns of the group; the others are gathered */
	bool descends[MAX_GROUP_CELLS]; /* … from their largest value down, … */
	bool once;			/* … each group is returned once */
	size_t most_groups;
};

/*
 * For xBestIndex: chooses what the scan does instead of SQLite. `kinds` has the kind of limit of
 * each column, NR_LIMITS for others; `coarse` says whether rows can be grouped.
 */
struct plan_request {
	struct query *query;
	const enum limit_kind *kinds;
	/* Columns by which rows can be grouped; NULL: none. */
	const bool *coarse;
	bool gathers; /* groups have all of their rows, so any other columns can be returned */
	int nr_columns;
	bool in_order; /* rows are in order of the column that is LIMIT_TS */
	double rows;
};
int plan_make(const struct plan_request *req, sqlite3_index_info *info);
/* The part of it about groups, after the limits. */
void plan_take_order(const struct plan_request *req, sqlite3_index_info *info, struct buf *plan);
/* Columns of the groups in a plan, and which of them descend; 0: it does not group. */
int plan_groups(const char *plan, int *list, bool *descends);

/* For xFilter. SQLITE_OK or an error of SQLite; call limits_free() in any case. */
int limits_read(struct limits *l, const char *plan, sqlite3_value **args, int nr);
void limits_free(struct limits *l);
bool limits_have(const struct limits *l, enum limit_kind kind, int64_t number);
bool limits_have_event(const struct limits *l, const struct event *e);

/* The range of time, for a walk; false if it is empty. */
bool limits_range(const struct limits *l, struct walk_options *opt);

/*
 * Whether a statement, by its EXPLAIN, reads columns of grouped rows that are not part of the
 * groups. -1 without memory.
 */
int plan_reads_too_much(sqlite3 *db, const char *sql, int len);

/*
 * Whether a statement, by its EXPLAIN, only counts the rows of its groups and finds the least or
 * largest. Then one row can represent a group.
 */
bool plan_only_counts(sqlite3 *db, const char *sql, int len);

/* ---- grouping ---- */

struct groups;

struct groups *groups_new(const struct cell *cells, const struct limits *l);
void groups_free(struct groups *g);

enum groups_result { GROUPS_OK, GROUPS_FULL, GROUPS_NO_MEMORY };
enum groups_result groups_add(struct groups *g, struct reader *rd, struct event *e,
			      const struct spur_record *r);

/* Groups of a part of the records, and adding them to the others. */
struct groups *groups_part(const struct groups *whole);
enum groups_result groups_join(struct groups *g, const struct groups *part);

/* Removes all groups. */
void groups_clear(struct groups *g);

/* After the last record: sorts the groups. */
void groups_sort(struct groups *g);
/* Whether some groups did not fit, so that another pass is needed: groups_again() begins it. */
bool groups_more(const struct groups *g);
void groups_again(struct groups *g);
/* If it is full: drops half of the hash values of this pass. False if that does not help. */
bool groups_shrink(struct groups *g);
/* The next row; false after the last one. `once`: each group is one row, with its count. */
bool groups_next(struct groups *g, bool once);
int64_t groups_count(const struct groups *g);
/* A value of the row, by the column's number; false if the group does not have it. */
bool groups_value(const struct groups *g, int column, struct cell_value *v);

/* ---- gathering: the rows of a derived table, group after group ---- */

struct gather;

struct gather *gather_new(const struct table *t, const struct limits *l, size_t memory);
void gather_free(struct gather *g);
/* False if there is not enough memory. */
bool gather_add(struct gather *g, const void *row);
/* After the last row: sorts the groups. False without memory. */
bool gather_sort(struct gather *g);
/* The next row; false after the last one. */
bool gather_next(struct gather *g);
/* A value of the row: *text for a column of texts, else *number. False if it was not gathered. */
bool gather_value(const struct gather *g, int column, int64_t *number, const char **text);

/* ---- modules and functions ---- */

extern const sqlite3_module event_module, derived_module;
int functions_add(struct query *q);

/* Parses the argument of ns(); false, with a message, if it is no time. */
bool functions_parse_ns(const char *text, double *ns);
#define FUNCTIONS_NO_TIME "ns('%s'): a time is a number and s, ms, us, ns, min or h"

/* The bars of hist() from counts that a server has made: "([0,1,2],[7,0,9])", any other text. */
void functions_show_counts(const char *text, struct buf *out);

/* The walk's options that come from the session. */
struct walk_options query_walk_options(const struct query *q);

/* Runs a statement of our own, which sqlite3_mprintf() has made; it is freed. */
int query_run(struct query *q, char *sql, struct spur_error *err);

/* Tells the user something about the current statement. */
void query_tell(const struct query *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Counts scans of a table, and tells the user when it is scanned for each row of another table. */
struct scans {
	uint64_t statement; /* in which they were made */
	unsigned int n;
};
#define MANY_RECORDS 20000 /* of a trace: scans of fewer are not worth a note */
void query_note_scan(const struct query *q, const char *table, struct scans *scans);

/* Whether there is a record of a type for which wanted() is true. */
bool query_has_record(const struct query_file *f, bool (*wanted)(const void *arg, struct event *e),
		      const void *arg);
/* Whether anything would show that events were not recorded. */
bool query_tells_missing(const struct query *q);

void vtab_error(sqlite3_vtab *t, const char *text);

/* Appends an SQL identifier in quotes. */
void put_identifier(struct buf *b, const char *name);

/* ---- names ---- */

/* Makes the tables that a statement names and that do not exist yet. */
int names_make_tables(struct query *q, const char *sql, struct spur_error *err);

/* The length of the first statement of a text, its semicolon included. */
size_t names_statement(const char *sql);

/* The text after the prefix `start`, or NULL if it does not begin so. */
const char *names_after(const char *text, const char *start);

/* Explains an error of SQLite in one line of err. Returns its code. */
int names_explain(struct query *q, const char *sql, const char *message, struct spur_error *err);

/* The event of a table of that name. *ambiguous: several events have the name. */
struct event *names_event(const struct query_file *f, const char *name, bool *ambiguous);

#endif
