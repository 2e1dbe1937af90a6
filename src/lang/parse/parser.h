/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/lang: the parser. After an error it sees the end of the script (`wrong`), so that
 * all functions return soon; what they return is not used. The list of statements or probes clears
 * `wrong` and continues at the next place that is likely to be right.
 */
#ifndef LANG_PARSE_PARSER_H
#define LANG_PARSE_PARSER_H

#include "lang/parse/lexer.h"

enum {
	PARSE_MAX_DEPTH = 600,
	PARSE_MAX_NAMES = 500, /* macros: searches are linear */
	PARSE_AHEAD = 32,      /* tokens of lookahead; a power of two */
};

struct macro_param {
	enum node_kind kind; /* N_VAR, N_MAP, or N_NAME: any expression */
	const char *name;
	struct type_name *type; /* of a function */
};

enum { MACRO_MAX_PARAMS = 16 };

/*
 * macro name($a, b, @c) { … }, or fn name($a : type) : type { … }. A function is expanded as a
 * macro is, but its parameters are variables of its own.
 */
struct macro_def {
	struct macro_def *next;
	const char *name;
	struct span at;	     /* its name */
	struct span body_at; /* of a macro, with the braces */
	struct macro_param params[MACRO_MAX_PARAMS];
	unsigned int nr_params;
	struct node *body;
	bool active; /* being expanded */
	bool used;
	bool is_function;
	struct type_name *returns; /* of a function; NULL: nothing */
};

/* A file that is read after the item that imports it. */
struct import_file {
	struct import_file *next;
	unsigned int depth; /* open inputs at the import */
	struct span text, by;
};

struct parser {
	struct lexer lex;
	struct source *source;
	struct script_ast *ast;
	struct token ahead[PARSE_AHEAD];
	unsigned int first, nr_ahead;
	struct span last; /* the token before the current one */
	bool wrong; /* an error was reported; no other is, and no token read until this is false */
	unsigned int depth;
	bool in_predicate;    /* a '/' before a '{' ends it … */
	unsigned int nesting; /* … unless brackets are open */
	struct macro_def *macros;
	struct macro_def *macro; /* the one whose body is being read, or NULL */
	struct import_file *imports;
	struct node spare; /* what is returned without memory */
	struct type_name spare_type;
	struct map types;  /* names of the script's and of headers' typedefs, by their hash */
	bool reported_end; /* the error that the script ends too early */

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

/* Reads a token of that kind, or reports that `what` was expected. */
bool parse_expect(struct parser *p, int kind, const char *what);
void parse_unexpected(struct parser *p, const char *expected);

/* Reports an error, unless there was one already. */
void parse_fail(struct parser *p, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* After an error: skips to the '{' of a body, if there is one before the next '}'. */
void parse_skip_to_body(struct parser *p);

/* Enters one level, unless that is too deep. depth-- leaves it. */
void parse_enter(struct parser *p);

/* ---- nodes ---- */

/* NULL, with an error, without memory. */
void *parse_alloc(struct parser *p, size_t size);

/* A node that covers the text from `from` to the last token. */
struct node *parse_node(struct parser *p, enum node_kind kind, struct span from);

/* Sets the height of a node after its children, and returns it; reports one that is too high. */
struct node *parse_finish(struct parser *p, struct node *n);

/* The same for a node that was made before its text was read, which ends with the last token. */
struct node *parse_close(struct parser *p, struct node *n, struct span from);

/* A finished node with one or two parts (b may be NULL), which ends with the last token. */
struct node *parse_join(struct parser *p, enum node_kind kind, struct span from, int op,
			struct node *a, struct node *b);

/* ---- grammar ---- */

struct node *parse_expr(struct parser *p);
struct node *parse_unary(struct parser *p);
struct node *parse_primary(struct parser *p);  /* a value, without operators */
struct node *parse_if_value(struct parser *p); /* `if` as an expression */
struct node *parse_block_value(struct parser *p);
struct node *parse_block(struct parser *p, bool value); /* its statements */
struct type_name *parse_type(struct parser *p);
bool parse_is_type(struct parser *p); /* whether a type follows, in sizeof() and the like */
bool parse_is_cast(struct parser *p); /* whether "type) expression" follows */
void parse_probe(struct parser *p);
bool parse_has_paths(const char *kind, size_t len); /* kinds of probes that name files */
void parse_macro(struct parser *p);
void parse_function(struct parser *p);
void parse_import(struct parser *p);
void parse_definition(struct parser *p, bool is_typedef); /* of C */
void parse_header(struct parser *p);			  /* the file that the lexer has come to */
void parse_system_headers(struct parser *p); /* those that were included since the last call */

/* Reads the keyword of a definition and the name after it; NULL without memory. */
struct macro_def *macro_begin(struct parser *p, const char *expected);
/* Adds a macro or function; reports one of the same name. */
void macro_add(struct parser *p, struct macro_def *m);
/* Replaces uses of macros and functions in all probes. */
void macro_expand(struct parser *p);

#endif
