/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The syntax tree of a script, the same for all dialects. A parser builds it in an arena, the
 * checker writes types and meanings into its nodes, and nobody changes it after that.
 *
 * Lists are chained by `next`. Every node knows the place in the source it comes from.
 */
#ifndef LANG_AST_H
#define LANG_AST_H

#include "base/source.h"
#include "code/vtype.h"
#include "probe/attach_point.h"

enum node_kind {
	/* Expressions. */
	N_INT,	    /* num; is_unsigned when it does not fit an int64 */
	N_STRING,   /* text, len */
	N_BOOL,	    /* num */
	N_NAME,	    /* name: a builtin variable, an enumerator, a constant */
	N_VAR,	    /* $name */
	N_MAP,	    /* @name, list: the keys as written between the brackets; "" for @ itself */
	N_PARAM,    /* $1: num; 0 is $0, the script's name */
	N_NPARAMS,  /* $# */
	N_CALL,	    /* name(list) */
	N_UNARY,    /* op a; also & and * */
	N_STEP,	    /* ++a, --a (prefix) and a++, a--: op is '+' or '-' */
	N_BINARY,   /* a op b */
	N_TERNARY,  /* a ? b : c; b NULL: a ?: c */
	N_CAST,	    /* (type) a */
	N_FIELD,    /* a.name; of a tuple: num is the element, name NULL */
	N_ARROW,    /* a->name */
	N_INDEX,    /* a[b] */
	N_TUPLE,    /* (list) */
	N_RECORD,   /* (name=…, …): list of N_ITEM */
	N_ITEM,	    /* name = a: in records */
	N_SIZEOF,   /* type, or a */
	N_OFFSETOF, /* type or a; name: the path of the field, "a.b[1].c" */
	N_TYPEOF,   /* type: as an argument of a call */
	N_RANGE,    /* a..b: of a for */
	N_BLOCK,    /* { list }: as an expression its value is that of the last one, if is_value */
	N_FUNC,	    /* a call of the function `name`: list declares its parameters, a is the N_BLOCK
		       of its body, b the N_LET of what it returns, NULL: nothing */

	/* Statements. */
	N_EXPR,	   /* a; */
	N_ASSIGN,  /* a op= b; op is 0 for a plain one */
	N_LET,	   /* let $name[: type] [= b] ; a is the N_VAR */
	N_DISCARD, /* _ = a */
	N_IF,	   /* if a: list b, else list c (NULL: none) */
	N_WHILE,   /* while a: list b */
	N_UNROLL,  /* unroll (a): list b */
	N_FOR,	   /* for (a : c): a is the N_VAR, c an N_MAP or an N_RANGE; list b */
	N_BREAK,
	N_CONTINUE,
	N_RETURN, /* a or NULL */
	N_KINDS
};

/* Operators: single characters stand for themselves ('+', '<', '!', '~', '&', …). */
enum node_op {
	OP_SHL = 256,
	OP_SHR,
	OP_EQ,
	OP_NE,
	OP_LE,
	OP_GE,
	OP_AND, /* && */
	OP_OR,	/* || */
};

/* A type as it was written: "struct NAME", "uint8", "string[64]", "int32 *", "(int8, string)". */
struct type_name {
	struct span at;
	const char *name; /* without pointers and arrays: "struct task_struct", "uint32", "char" */
	unsigned int pointers;	 /* stars */
	bool is_array;		 /* [N] behind it: also the N of string[N] and buffer[N] … */
	struct node *count;	 /* … NULL for [] */
	unsigned int outer;	 /* stars behind that: a pointer to the array */
	struct type_name *elems; /* of a tuple, chained by next */
	struct type_name *next;
	struct node *of; /* typeof(EXPRESSION), then name is NULL */
};

enum { AST_MAX_HEIGHT = 1000 };

struct node {
	enum node_kind kind;
	int op;
	struct span at;
	struct node *next;

	const char *name;
	const char *text; /* of a string, with escapes resolved; may hold NULs */
	size_t len;
	int64_t num;
	bool is_unsigned, prefix;
	bool has_keys;	 /* N_MAP: there were brackets */
	bool is_value;	 /* N_EXPR at the end of a block, without a semicolon: the block's value */
	uint32_t height; /* of the tree below it, never more than AST_MAX_HEIGHT: one may recurse */
	struct type_name *type;
	struct node *a, *b, *c, *list;

	/* ---- from here on the checker's ---- */
	struct vtype vtype;
	union {
		const struct builtin *builtin; /* N_CALL, N_NAME */
		struct var *var;	       /* N_VAR, N_LET, N_FOR */
		struct map_def *map;	       /* N_MAP */
	};
	struct action *action; /* N_CALL: what user space is asked to do */
	bool is_const;	       /* num, or text, is known */
	/* Of a loop: it may have more rounds than a program is given (lower/loop.c), or must. */
	bool is_counted, is_too_long;
};

struct probe_def {
	struct probe_def *next;
	struct span at;
	struct attach_point *points;
	struct node *predicate; /* or NULL */
	struct node *body;	/* list of statements */
};

/* let @name = hash(1024); */
struct map_decl {
	struct map_decl *next;
	struct span at;
	const char *name;
	const char *type; /* "hash", "lruhash", "percpuhash", … */
	int64_t entries;
};

struct config_item {
	struct config_item *next;
	struct span at;
	const char *name;
	const char *text; /* of the value: word, number or string */
};

/*
 * Definitions in C between the directives and the probes: parsed by cdefs_parse(). The text may have
 * comments, but no directives, and names of the preprocessor have been replaced.
 */
struct c_text {
	struct c_text *next;
	struct span at;
};

struct script_ast {
	struct source *source;
	struct arena *arena;
	struct probe_def *probes;
	struct map_decl *maps;
	struct config_item *config;
	struct c_text *c; /* struct, union, enum and typedef definitions, in order */
};

/* Appends an indented picture of the tree, with types where the checker has been. */
void ast_dump(const struct script_ast *ast, struct buf *to);

#endif
