/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the parser share. Functions that return a node return NULL when something is
 * wrong, and it has been told; who called them returns NULL in turn, up to the list of statements
 * or of probes, which goes on behind the next place that is likely to be right.
 */
#ifndef LANG_PARSE_PARSER_H
#define LANG_PARSE_PARSER_H

#include "lang/parse/lexer.h"

enum {
	PARSE_MAX_DEPTH = 600,
	PARSE_MAX_NAMES = 500, /* macros, and types of the script: they are searched one by one */
	PARSE_AHEAD = 32,      /* tokens that can be looked at; a power of two */
};

struct macro_param {
	enum node_kind kind; /* N_VAR, N_MAP, or N_NAME: any expression */
	const char *name;
	struct type_name *type; /* of a function's */
};

enum { MACRO_MAX_PARAMS = 16 };

/*
 * macro name($a, b, @c) { … }, or fn name($a : type) : type { … }: a function is used as a macro
 * is, but its parameters are variables of its own.
 */
struct macro_def {
	struct macro_def *next;
	const char *name;
	struct span at;	     /* its name */
	struct span body_at; /* with the braces; of a macro */
	struct macro_param params[MACRO_MAX_PARAMS];
	unsigned int nr_params;
	struct node *body;
	bool active; /* being expanded */
	bool used;
	bool is_function;
	struct type_name *returns; /* of a function; NULL: nothing */
};

/* A file that is read when its importer's current item is done. */
struct import {
	struct import *next;
	unsigned int depth; /* inputs that were open */
	struct span text, by;
};

/* A name that the script has given to a type. */
struct own_type {
	struct own_type *next;
	const char *name;
};

struct parser {
	struct lexer lex;
	struct source *source;
	struct script_ast *ast;
	struct token ahead[PARSE_AHEAD];
	unsigned int first, nr_ahead;
	struct span last; /* of the token before the current one */
	unsigned int depth;
	bool in_predicate;    /* a '/' in front of a '{' ends it … */
	unsigned int nesting; /* … unless brackets are open */
	struct macro_def *macros;
	struct macro_def *macro; /* whose body is being read, or NULL */
	struct import *imports;
	struct own_type *types;
	unsigned int nr_types;
	bool reported_end; /* that the script ends too early */

	struct probe_def **probes_end;
	struct map_decl **maps_end;
	struct config_item **config_end;
	struct c_text **c_end;
};

/* ---- tokens ---- */

const struct token *parse_peek(struct parser *p, unsigned int ahead);
struct token parse_next(struct parser *p);

static inline const struct token *parse_tok(struct parser *p)
{
	return parse_peek(p, 0);
}

static inline bool parse_at(struct parser *p, int kind)
{
	return parse_peek(p, 0)->kind == kind;
}

static inline bool parse_at_word(struct parser *p, enum word w)
{
	const struct token *t = parse_peek(p, 0);

	return t->kind == T_WORD && t->word == w;
}

bool parse_accept(struct parser *p, int kind);

/* Takes a token of that kind, or says that `what` was expected and what is there instead. */
bool parse_expect(struct parser *p, int kind, const char *what);
void parse_unexpected(struct parser *p, const char *expected);

/* Enters one level; false, and told, when it is too deep. Left by depth--. */
bool parse_enter(struct parser *p);

/* ---- nodes ---- */

void *parse_alloc(struct parser *p, size_t size);

/* A node that goes from `from` to the last token. */
struct node *parse_node(struct parser *p, enum node_kind kind, struct span from);

/* Sets the height of a node that has its children; NULL, and told, when it is too high. */
struct node *parse_finish(struct parser *p, struct node *n);

/* ---- grammar ---- */

struct node *parse_expr(struct parser *p);
struct node *parse_unary(struct parser *p);
struct node *parse_primary(struct parser *p);  /* a value, without operators: expression.c */
struct node *parse_if_value(struct parser *p); /* `if` as an expression */
struct node *parse_block_value(struct parser *p);
bool parse_block(struct parser *p, struct node **list, bool value);
struct type_name *parse_type(struct parser *p);
bool parse_is_type(struct parser *p); /* whether a type follows, in sizeof() and its like */
bool parse_is_cast(struct parser *p); /* whether "type) expression" follows */
void parse_probe(struct parser *p);
bool parse_has_paths(const char *kind, size_t len); /* probes of a kind whose names have a / */
void parse_macro(struct parser *p);
void parse_function(struct parser *p);
void parse_import(struct parser *p);

/* Reads the word of a definition and the name after it; NULL without memory (macro.c). */
struct macro_def *macro_begin(struct parser *p, const char *expected);
/* Adds a macro or function, unless there is one like it already. */
void macro_add(struct parser *p, struct macro_def *m);
/* Replaces uses of macros and functions in all probes. */
void macro_expand(struct parser *p);

#endif
