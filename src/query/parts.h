/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/query: the session, and what its virtual tables share. */
#ifndef QUERY_PARTS_H
#define QUERY_PARTS_H

#include <sqlite3.h>

#include "table/cells.h"
#include "table/walk.h"
#include "query/query.h"

#define QUERY_VALUE_BYTES (48 << 20) /* of one value, at most */

struct fleet;
struct store;
struct table;

struct query_file {
	struct query *query;
	struct spur_trace *trace;
	char *name;	  /* the schema's */
	bool alias;	  /* it is `main` under its own name */
	uint64_t records; /* about how many there are */
	uint64_t noted;	  /* by number in tables[]: a bit, the user knows that it is empty */
	struct {
		char **at;
		size_t n, cap;
	} made; /* tables that exist */
};

struct query {
	sqlite3 *db;
	struct query_options opt;
	struct {
		struct query_file **at;
		size_t n, cap;
	} files;
	struct fleet *fleet; /* instead of files: a folder of them, or NULL */
	struct store *store; /* instead of files: a server that has their rows, or NULL */
	bool internal;	     /* what runs is ours: everything is permitted */
	bool no_groups;	    /* grouping is left to SQLite in the statement that is being prepared */
	bool groups;	    /* a plan was offered that groups */
	bool too_many;	    /* a table found too many groups, and wants to be asked without */
	bool has_rows;	    /* the statement that runs has given a row */
	uint64_t statement; /* counts them */
	size_t exact;	    /* bytes that percentiles keep */
	bool counts;	    /* the statement that runs only counts the rows of groups */
	int64_t weight;	    /* how many records the current row stands for */
};

/* ---- what is asked of a table ---- */

#define MAX_GROUP_CELLS 16

/* A set of numbers: a range, or a few of them, sorted. */
struct numbers {
	int64_t low, high;
	bool listed;
	int64_t *at;
	size_t n, cap;
};

enum limit_kind { LIMIT_TS, LIMIT_CPU, LIMIT_PID, LIMIT_SYSTEM, LIMIT_EVENT, NR_LIMITS };

/* What the rows of a scan have in common, and how they are to come. */
struct limits {
	struct {
		struct numbers *at;
		size_t n, cap;
	} numbers[LIMIT_PID + 1]; /* a row is in all of them */
	struct {
		struct names {
			enum limit_kind kind;
			char **at;
			size_t n, cap;
		} * at;
		size_t n, cap;
	} names;		    /* its event is in all of them */
	int group[MAX_GROUP_CELLS]; /* columns by which rows are put together, … */
	int nr_group;
	bool descends[MAX_GROUP_CELLS]; /* … from their largest value down, … */
	bool once;			/* … each of which is wanted once */
	size_t most_groups;
};

/*
 * For xBestIndex: takes what a scan can do better than SQLite. `kinds` says which columns are
 * limits, NR_LIMITS for others; `grouping` whether rows can be grouped.
 */
struct plan_request {
	struct query *query;
	const enum limit_kind *kinds;
	const bool
		*coarse; /* columns whose values are few enough to be counted; NULL: no grouping */
	int nr_columns;
	bool in_order; /* rows come in order of the column that is LIMIT_TS */
	double rows;
};
int plan_make(const struct plan_request *req, sqlite3_index_info *info);
/* The part of it that asks for groups, after the limits. */
void plan_take_order(const struct plan_request *req, sqlite3_index_info *info, struct buf *plan);
/* Columns of the groups in a plan, and which of them descend; 0: it does not group. */
int plan_groups(const char *plan, int *list, bool *descends);

/* For xFilter. SQLITE_OK or SQLITE_NOMEM; limits_free() is due in any case. */
int limits_read(struct limits *l, const char *plan, sqlite3_value **args, int nr);
void limits_free(struct limits *l);
bool limits_have(const struct limits *l, enum limit_kind kind, int64_t number);
bool limits_have_event(const struct limits *l, const struct event *e);

/* The range of time, for a walk; false when there is nothing in it. */
bool limits_range(const struct limits *l, struct walk_options *opt);

/*
 * Whether the plan of a statement, as EXPLAIN tells it, reads columns of groups that are not part
 * of them. -1 without memory.
 */
int plan_reads_too_much(sqlite3 *db, const char *sql, int len);

/*
 * The same way: whether it does nothing with the rows of its groups but to count them, and to find
 * the least or largest. Then a group can be one row that stands for all of its rows.
 */
bool plan_only_counts(sqlite3 *db, const char *sql, int len);

/* ---- grouping ---- */

struct groups;

struct groups *groups_new(const struct cell *cells, const struct limits *l);
void groups_free(struct groups *g);

enum groups_result { GROUPS_OK, GROUPS_FULL, GROUPS_NO_MEMORY };
enum groups_result groups_add(struct groups *g, struct reader *rd, struct event *e,
			      const struct spur_record *r);

/* Groups of a part of the records, and adding them to those of the whole. */
struct groups *groups_part(const struct groups *whole);
enum groups_result groups_join(struct groups *g, const struct groups *part);

/* Forgets them all. */
void groups_clear(struct groups *g);

/* After the last record: puts them in order. */
void groups_sort(struct groups *g);
/* Another pass is needed for what did not fit: groups_again() begins it. */
bool groups_more(const struct groups *g);
void groups_again(struct groups *g);
/* When it is full: lets go of half of what may come in this pass. False when that is no help. */
bool groups_shrink(struct groups *g);
/* The next row; false after the last one. `once`: a group is one row; how often it occurred. */
bool groups_next(struct groups *g, bool once);
int64_t groups_count(const struct groups *g);
/* A value of the row, by the column's number; false when it is no part of it. */
bool groups_value(const struct groups *g, int column, struct value *v);

/* ---- modules and functions ---- */

extern const sqlite3_module event_module, derived_module;
int functions_add(struct query *q);

/* What ns() makes of a text; false, with the words for it, when that is no time. */
bool functions_parse_ns(const char *text, double *ns);
#define FUNCTIONS_NO_TIME "ns('%s'): a time is a number and s, ms, us, ns, min or h"

/* The bars of hist() from counts that a server has made: "([0,1,2],[7,0,9])", any other text. */
void functions_show_counts(const char *text, struct buf *out);

/* The walk's options that come from the session. */
struct walk_options query_walk_options(const struct query *q);

/*
 * A table is being scanned from its start, once more: tells the user when that happens for each row
 * of another one.
 */
struct scans {
	uint64_t statement; /* in which they were made */
	unsigned int n;
};
void query_note_scan(const struct query_file *f, const char *table, struct scans *scans);

/* Whether there is a record of one of the types that `wanted` wants. */
bool query_has_record(const struct query_file *f, bool (*wanted)(const void *arg, struct event *e),
		      const void *arg);
/* Whether what was not recorded is told to anyone. */
bool query_tells_missing(const struct query *q);

void vtab_error(sqlite3_vtab *t, const char *text);

/* Appends an SQL identifier in quotes. */
void put_identifier(struct buf *b, const char *name);

/* ---- names ---- */

/* Makes the tables that a statement names and that do not exist yet. */
int names_make_tables(struct query *q, const char *sql, struct spur_error *err);

/* The length of the first statement of a text, its semicolon included. */
size_t names_statement(const char *sql);

/* What follows `start` in a text that begins so; NULL: it does not. */
const char *names_after(const char *text, const char *start);

/* Words for what SQLite objects to: err gets one line. Returns its code. */
int names_explain(struct query *q, const char *sql, const char *message, struct spur_error *err);

/* The event a table of that name is about. *ambiguous: the name is that of several. */
struct event *names_event(const struct query_file *f, const char *name, bool *ambiguous);

#endif
