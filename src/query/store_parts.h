/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/query: SELECT statements of SQLite as ClickHouse wants them.
 *
 * A statement is compiled into two. The remote one runs on the server, and everything that decides
 * which rows there are is part of it. The local one is SQLite's and makes the columns that are
 * shown of a row of the server's: mostly "?1, ?2, ...", but functions that ClickHouse does not
 * have, or has with another result, can stand there, too.
 *
 * Nothing is remote by chance: every name is looked up in what the server says of its tables,
 * functions and operators are those of a table, and aliases are our own. What is not known is an
 * error here, with words.
 */
#ifndef QUERY_STORE_PARTS_H
#define QUERY_STORE_PARTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/arena.h"
#include "base/buf.h"

/* ---- words ---- */

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_NAME, /* in quotes */
	TOKEN_STRING,
	TOKEN_BLOB,
	TOKEN_INTEGER,
	TOKEN_REAL,
	TOKEN_PARAM,
	TOKEN_SIGN,
};

struct token {
	enum token_kind kind;
	size_t at, len; /* in the text; of a SIGN at most two bytes */
};

struct tokens {
	struct token *at;
	size_t n, cap;
};

/*
 * The words of the first statement; *used is how far it reaches, its semicolon included. -EINVAL,
 * -ENOMEM. The last token is the TOKEN_END.
 */
int store_lex(const char *sql, struct tokens *out, size_t *used, struct spur_error *err);

/* ---- what there is ---- */

enum store_kind { STORE_NULL, STORE_BOOL, STORE_INTEGER, STORE_REAL, STORE_TEXT, STORE_DATE };

struct store_column {
	const char *name; /* for the user */
	const char *ref;  /* what it is called in the source */
	enum store_kind kind;
	bool nullable;
	bool missing; /* files have it, a store does not */
	bool fixed;   /* a FixedString, which functions of texts do not take */
	bool unsaid;  /* "" stands for NULL */
	bool hidden;  /* "*" is without it */
	bool used;
};

/* The kind of a server's type, and whether it may be NULL. */
enum store_kind store_kind_of(const char *type, bool *nullable);

/* A table, as the compiler asks for it. */
struct store_table {
	struct store_column *columns;
	size_t n;
	/*
	 * Writes what stands behind FROM: a name, or for some tables a query that gives the columns
	 * that are used, of rows that `where` is true for (which may be empty). *took_where: it is
	 * part of it.
	 */
	void (*put)(const struct store_table *t, struct buf *to, const char *where,
		    bool *took_where);
	const void *arg;
};

struct store_schema {
	/* 0, -ENOENT, -ENOMEM. Memory comes from the arena. */
	int (*find)(void *arg, const char *name, struct arena *arena, struct store_table *out);
	/* Calls fn for names of tables and views. */
	void (*names)(void *arg, void (*fn)(void *fn_arg, const char *name), void *fn_arg);
	/* The query that a view stands for; NULL: there is none. */
	const char *(*view)(void *arg, const char *name);
	void *arg;
};

/* ---- compiling ---- */

/* Parameters by number, from 1. */
struct store_param {
	char *name;  /* with its first letter */
	char *value; /* NULL: not given */
};

struct store_params {
	struct store_param *at;
	size_t n, cap;
};

struct store_sql {
	struct buf remote, local;
	size_t nr_outputs; /* columns of the remote one, without the mark */
};

/*
 * `db` knows the functions of the local part. The mark is the last column. -EINVAL with words for
 * what cannot be bridged; -ENOMEM.
 */
int store_compile(sqlite3 *db, const char *sql, const struct tokens *tokens, size_t first,
		  const struct store_params *params, const struct store_schema *schema,
		  const char *mark, struct store_sql *out, struct spur_error *err);

void store_sql_init(struct store_sql *s);
void store_sql_free(struct store_sql *s);

/* The parameters of a statement. -ENOMEM. */
int store_params_find(const char *sql, const struct tokens *tokens, struct store_params *out);

/* ---- inside the compiler: sx_..., all of which do nothing after a failure ---- */

#define STORE_DEPTH   40 /* of what is within something */
#define STORE_SOURCES 16 /* tables of one SELECT */

struct expr {
	const char *remote; /* NULL: only here */
	const char *local;  /* NULL: not yet, see sx_to_local() */
	enum store_kind kind;
	bool nullable, constant;
	bool fixed; /* as in struct store_column */
	/* Of a constant. */
	int64_t number;
	double real;
	const char *text; /* of any constant, as SQLite shows it */
	size_t len;
};

struct item {
	const char *name; /* of the column */
	bool alias;	  /* it was given */
	size_t from, to;  /* tokens */
	/* A column of "*", in place of tokens. */
	size_t source, column;
	bool star;
};

struct items {
	struct item *at;
	size_t n, cap;
};

struct conjunct {
	size_t from, to;
	bool taken;
};

struct conjuncts {
	struct conjunct *at;
	size_t n, cap;
};

struct source {
	const char *alias;
	struct store_table table;
	bool left; /* LEFT JOIN */
	struct conjuncts on;
	struct {
		const char **at;
		size_t n, cap;
	} using;
};

struct scope {
	struct scope *outer;
	struct source at[STORE_SOURCES];
	size_t n;
	struct items items;
	uint32_t seen;	 /* sources whose columns were named, a bit each */
	bool subqueries; /* a subquery is part of an expression */
};

struct cte {
	const char *name;
	size_t from, to; /* tokens of its query */
	const char *columns[32];
	size_t nr_columns;
	size_t visible; /* those before it */
};

struct compiler {
	sqlite3 *db;
	const char *sql;
	const struct tokens *tokens;
	size_t pos, end; /* the next token, and where the clause ends */
	const struct store_params *params;
	const struct store_schema *schema;
	struct arena arena;
	struct {
		struct cte *at;
		size_t n, cap;
	} ctes;
	struct scope *scope;
	struct {
		const char **at;
		size_t n, cap;
	} outputs;     /* of the outermost SELECT */
	bool here;     /* what is compiled is shown: parts of it may be done here */
	bool distinct; /* the outermost SELECT is */
	bool in_aggregate;
	unsigned int depth;
	unsigned int base; /* of the numbers of SELECTs, which are those of their tokens */
	int rc;		   /* the first thing that went wrong */
	struct spur_error *err;
};

struct select {
	const char *text;  /* without brackets */
	const char *local; /* of the outermost: what is made of its columns */
	struct store_column *columns;
	size_t n;
};

/* Reports a mistake, once. */
__attribute__((format(printf, 2, 3))) void sx_fail(struct compiler *c, const char *fmt, ...);
void sx_no_memory(struct compiler *c);
/* What has no counterpart there, and what only columns that are shown may have. */
void sx_cannot(struct compiler *c, const char *what);
void sx_only_shown(struct compiler *c, const char *what);
/* Text in the arena; "" after a failure. */
__attribute__((format(printf, 2, 3))) const char *sx_text(struct compiler *c, const char *fmt, ...);
bool sx_deeper(struct compiler *c);

/* Tokens. */
const struct token *sx_peek(const struct compiler *c, size_t ahead);
bool sx_at_word(const struct compiler *c, size_t ahead, const char *word);
bool sx_at_sign(const struct compiler *c, size_t ahead, const char *sign);
bool sx_accept_word(struct compiler *c, const char *word);
bool sx_accept_sign(struct compiler *c, const char *sign);
void sx_expect_sign(struct compiler *c, const char *sign);
/* Reports what stands next as a mistake. */
void sx_unexpected(struct compiler *c);
/* A name, unquoted; "" after a failure. */
const char *sx_take_name(struct compiler *c);
bool sx_is_name(const struct compiler *c, size_t ahead);
/* The text of tokens, as it was written. */
const char *sx_tokens_text(struct compiler *c, size_t from, size_t to);
/* The first of these tokens within a range that is not in brackets; `to` when there is none. */
size_t sx_find_word(const struct compiler *c, size_t from, size_t to, const char *const *words);
/* The bracket that closes the one before `from`; `to` when there is none. */
size_t sx_find_close(const struct compiler *c, size_t from, size_t to);

/* Expressions. How much operators bind, from the least on. */
enum {
	PREC_LOWEST,
	PREC_OR,
	PREC_AND,
	PREC_NOT,
	PREC_EQUAL,
	PREC_LESS,
	PREC_BITS,
	PREC_ADD,
	PREC_MULTIPLY,
	PREC_CONCAT,
	PREC_PREFIX,
};

/* After a failure. */
extern const struct expr sx_nothing;

struct binary {
	const char *sign;
	int precedence;
	struct expr (*make)(struct compiler *c, const char *op, struct expr l, struct expr r);
};

struct expr sx_parse(struct compiler *c, int precedence);
/* That of a range of tokens: all of it. */
struct expr sx_range(struct compiler *c, size_t from, size_t to);
/* The same, all of it remote. */
struct expr sx_remote(struct compiler *c, size_t from, size_t to);
struct expr sx_call(struct compiler *c, const char *name);
struct expr sx_make(struct compiler *c, enum store_kind kind, bool nullable, const char *remote);
/* What SQLite makes of it. */
struct expr sx_constant(struct compiler *c, const char *local);
/* Only done here; `what` is for words where that is not possible. */
struct expr sx_here(struct compiler *c, const char *local, const char *what);
void sx_to_local(struct compiler *c, struct expr *e);
/* As text, as a condition, both remote; "" when that is not possible, after a failure. */
const char *sx_as_text(struct compiler *c, const struct expr *e, const char *what);
const char *sx_condition(struct compiler *c, const struct expr *e);
bool sx_is_number(const struct expr *e);
/* Values that become one column: both as numbers, or both as text. */
enum store_kind sx_common(const struct expr *list, size_t n);
const char *sx_as(struct compiler *c, const struct expr *e, enum store_kind kind, const char *what);
struct expr sx_case(struct compiler *c);
struct expr sx_compare(struct compiler *c, const char *op, struct expr l, struct expr r);
struct expr sx_column(struct compiler *c);
struct expr sx_null(void);
bool sx_may_be_null(const struct expr *l, const struct expr *r);
/* The operator that stands next, NULL: none; and what it makes. */
const struct binary *sx_binary(const struct compiler *c);
struct expr sx_apply(struct compiler *c, const struct binary *op, struct expr l, struct expr r);
struct expr sx_operator_here(struct compiler *c, const char *op, struct expr l, struct expr r);
struct expr sx_logic(struct compiler *c, const char *op, struct expr l, struct expr r);
struct expr sx_concatenate(struct compiler *c, struct expr l, struct expr r);
struct expr sx_negate(struct compiler *c, struct expr e);
/* "like" or "glob" */
struct expr sx_match(struct compiler *c, const char *op, struct expr l, struct expr r);
/* Makes two values things that can be compared; false: they cannot be. */
bool sx_level(struct compiler *c, struct expr *l, struct expr *r);
/* A word behind a value, of the precedence of "="; false: there is none. */
bool sx_parse_behind(struct compiler *c, struct expr *e);
struct expr sx_of_column(struct compiler *c, size_t source, size_t column);
const char *sx_quote_remote(struct compiler *c, const char *text, size_t len);
const char *sx_quote_local(struct compiler *c, const char *text, size_t len);

/* Queries, from c->pos to c->end; the outermost one ends with the mark. */
void sx_select_parse(struct compiler *c, struct select *out);
void sx_select_parse_top(struct compiler *c, const char *mark, struct select *out);
/* One in brackets, of which the first is behind us; and whether one comes. */
void sx_parse_query(struct compiler *c, struct select *out);
bool sx_at_query(const struct compiler *c);
/* What stands between FROM and `to`; then what it becomes, with `where` of the conjuncts. */
void sx_from_parse(struct compiler *c, size_t from, size_t to);
void sx_from_put(struct compiler *c, struct buf *to, struct conjuncts *where, const char **rest);
/* Splits a condition at its ANDs. */
void sx_conjuncts_split(struct compiler *c, size_t from, size_t to, struct conjuncts *out);

#endif
