/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/tracefs: the tree of a query, and what the steps of the compiler share.
 *
 *	parse.c		text to words, words to a tree
 *	check.c		names in the tree to events and fields, with their types
 *	generate.c	the checked tree to lines for tracefs
 *
 * The tree lives in the query's arena. The first mistake ends everything.
 */
#ifndef TRACEFS_SQLHIST_TREE_H
#define TRACEFS_SQLHIST_TREE_H

#include "tracefs/sqlhist/sqlhist.h"

#define SQL_MAX_DEPTH 64 /* of parentheses */

/* ---- words ---- */

enum sql_word {
	WORD_END,
	WORD_BAD, /* the mistake has been noted */
	WORD_NAME,
	WORD_NUMBER,
	WORD_TEXT,
	WORD_SELECT,
	WORD_AS,
	WORD_FROM,
	WORD_JOIN,
	WORD_ON,
	WORD_WHERE,
	WORD_CAST,
	WORD_AND,
	WORD_OR,
	WORD_NOT,
	WORD_EQ,
	WORD_NE,
	WORD_LT,
	WORD_GT,
	WORD_LE,
	WORD_GE,
	WORD_BITS,
	WORD_GLOB,
	WORD_PLUS,
	WORD_MINUS,
	WORD_TIMES,
	WORD_DIVIDE,
	WORD_OPEN,
	WORD_CLOSE,
	WORD_COMMA,
	WORD_SEMICOLON,
};

struct sql_token {
	enum sql_word word;
	size_t pos, len;
	const char *text; /* a name without its backslash, a text without its quotes */
	uint64_t number;
};

struct sql_statement;

/* ---- the tree ---- */

enum sql_side {
	SIDE_FROM,
	SIDE_JOIN,
	NR_SIDES,
};

/* What every event has although its format does not say so. */
enum sql_pseudo {
	PSEUDO_NONE,
	PSEUDO_TIMESTAMP,
	PSEUDO_TIMESTAMP_USECS,
	PSEUDO_STACKTRACE,
	PSEUDO_COMM,
	PSEUDO_CPU,
};

enum sql_type {
	SQL_TYPE_NUMBER,
	SQL_TYPE_TEXT,
	SQL_TYPE_EITHER, /* a pointer to text can be compared with both; so can what is not known */
	SQL_TYPE_STACK,
	SQL_TYPE_ARRAY,
};

struct sql_field {
	const char *name; /* as written */
	size_t pos, len;

	/* Filled when it is checked. */
	enum sql_side side;
	enum sql_pseudo pseudo;
	const struct event_field *field; /* NULL: a pseudo field, or it is not known */
	const char *plain;		 /* without event */
	enum sql_type type;
};

enum sql_expr_kind {
	SQL_EXPR_FIELD,
	SQL_EXPR_NUMBER,
	SQL_EXPR_SUM,	  /* left op right, op is + or - */
	SQL_EXPR_PRODUCT, /* op is * or / */
};

struct sql_expr {
	enum sql_expr_kind kind;
	size_t pos, len;
	char op;
	struct sql_field field;
	uint64_t number;
	struct sql_expr *left, *right;
};

enum sql_cast {
	CAST_NONE,
	CAST_HEX,
	CAST_SYM,
	CAST_SYM_OFFSET,
	CAST_SYSCALL,
	CAST_EXECNAME,
	CAST_LOG,
	CAST_BUCKETS,
	CAST_COUNTER,
};

struct sql_column {
	struct sql_column *next;
	struct sql_expr *expr;
	enum sql_cast cast;
	size_t cast_pos, cast_len;
	uint64_t buckets;
	const char *name; /* as written after AS, or a field's own; NULL: it has none */
	size_t name_pos, name_len;
};

struct sql_event {
	const char *name; /* as written */
	size_t pos, len;
	const char *alias; /* or NULL */
	const char *system, *event;
	struct event *type; /* NULL: it is not known */
};

struct sql_match {
	struct sql_match *next;
	struct sql_field side[NR_SIDES]; /* as written; by side once it is checked */
};

enum sql_cond_kind {
	COND_COMPARE,
	COND_AND,
	COND_OR,
	COND_NOT, /* of left */
};

struct sql_cond {
	enum sql_cond_kind kind;
	struct sql_cond *left, *right;
	struct sql_field field;
	enum sql_word op;
	struct sql_token value;
	bool negative; /* the number is below 0 */
};

struct sql_statement {
	const char *text;
	size_t len;
	size_t at; /* of the lexer */
	struct sql_token token;
	unsigned int depth;

	struct arena arena;
	struct sql_mistake *mistake;
	struct spur_error *err;
	int rc; /* of the first mistake */

	struct sql_event event[NR_SIDES];
	bool joined;
	struct sql_column *columns;
	struct sql_match *matches;
	struct sql_cond *where;
	struct sql_cond *where_of[NR_SIDES]; /* the same, once it is checked, by event */
};

/* Notes a mistake at a place of the query, unless there was one before; -EINVAL. */
int sql_error(struct sql_statement *q, size_t pos, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Memory for the tree; after a NULL q->rc is -ENOMEM. */
void *sql_alloc(struct sql_statement *q, size_t size);
char *sql_copy(struct sql_statement *q, const char *text, size_t len);

/* ---- the steps of the compiler ---- */

int sql_parse(struct sql_statement *q);

int sql_check(struct sql_statement *q, const struct sql_schema *schema);

/* The field of a column, NULL when it is computed. */
const struct sql_field *sql_column_field(const struct sql_column *c);

/* Whether an expression has a field of that side. */
bool sql_expr_has(const struct sql_expr *e, enum sql_side side);

#endif
