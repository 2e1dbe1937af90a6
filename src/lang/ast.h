/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The syntax tree of a script. The parser builds it in an arena, the checker writes types and
 * meanings into its nodes; after that it never changes.
 *
 * Lists are linked by `next`. Every node knows its place in the source.
 */
#ifndef LANG_AST_H
#define LANG_AST_H

#include "base/source.h"
#include "code/vtype.h"
#include "probe/probes.h"

enum node_kind {
	/* Expressions. */
	N_INT,	    /* num; is_unsigned when it does not fit an int64 */
	N_STRING,   /* text, len */
	N_BOOL,	    /* num */
	N_NAME,	    /* name: a builtin variable, an enumerator or a constant */
	N_VAR,	    /* $name */
	N_MAP,	    /* @name, list: the keys between the brackets; name is "" for @ itself */
	N_PARAM,    /* $1: num; 0 is $0, the name of the script */
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
	N_BLOCK,    /* { list }: as an expression it has the value of the last one, if is_value */
	N_FUNC,	    /* a call of the function `name`: list declares its parameters, a is the N_BLOCK
		       of its body, b the N_LET of its result; b is NULL: no result */

	/* Statements. */
	N_EXPR,	   /* a; */
	N_ASSIGN,  /* a op= b; op is 0 for a plain assignment */
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
	NODE_OP_SHL = 256,
	NODE_OP_SHR,
	NODE_OP_EQ,
	NODE_OP_NE,
	NODE_OP_LE,
	NODE_OP_GE,
	NODE_OP_AND, /* && */
	NODE_OP_OR,  /* || */
};

/* How closely a binary operator of C binds: higher binds closer; 0: it is none. */
int op_precedence(int op);

/*
 * A type as the script writes it: "struct NAME", "uint8", "string[64]", "int32 *", "(int8,
 * string)".
 */
struct type_name {
	struct span at;
	const char *name; /* without pointers and arrays: "struct task_struct", "uint32", "char" */
	unsigned int pointers;	 /* stars */
	bool is_array;		 /* [N] follows: also the N of string[N] and buffer[N] … */
	struct node *count;	 /* … NULL for [] */
	unsigned int outer;	 /* stars after that: a pointer to the array */
	struct type_name *elems; /* of a tuple, linked by next */
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
	const char *text; /* of a string, with escapes resolved; may contain NULs */
	size_t len;
	int64_t num;
	bool is_unsigned, prefix;
	bool has_keys;	 /* N_MAP: there were brackets */
	bool is_value;	 /* N_EXPR at the end of a block, without a semicolon: its value */
	uint32_t height; /* of the tree below it, at most AST_MAX_HEIGHT: recursion is safe */
	struct type_name *type;
	struct node *a, *b, *c, *list;

	/* ---- set by the checker ---- */
	struct vtype vtype;
	union {
		const struct builtin *builtin; /* N_CALL, N_NAME */
		struct var *var;	       /* N_VAR, N_LET, N_FOR */
		struct map_def *map;	       /* N_MAP */
	};
	struct action *action; /* N_CALL, N_RETURN: the request to user space */
	bool is_const;	       /* num or text is known */
	/* Of a loop: it may exceed the rounds of a program (lower/loop.c), or certainly does. */
	bool is_counted, is_too_long;
};

/* The last node of a list; NULL if it is empty. */
static inline struct node *node_last(struct node *list)
{
	while (list && list->next)
		list = list->next;
	return list;
}

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

enum c_origin {
	C_OF_SCRIPT,
	C_OF_FILE,   /* a header in quotes; what is wrong in it is skipped */
	C_OF_SYSTEM, /* headers in angle brackets; the same */
};

/* What "#pragma pack(…)" of a header becomes in its text: a declaration of this name. */
#define CDEF_PRAGMA_PACK "__spur_pragma_pack"

/*
 * Definitions in C, parsed by cdefs_parse(). The text may have comments, but no directives; names
 * of the preprocessor have been replaced. In the text of headers, lines that begin with '#' name
 * their files: pp_copy_c().
 */
struct c_text {
	struct c_text *next;
	struct span at;
	enum c_origin origin;
};

/* A header that the script includes, for messages. */
struct included {
	struct included *next;
	const char *name; /* <linux/fs.h> or "mine.h" */
	bool absent;	  /* it is not there, but spur knows most of its constants */
};

struct script_ast {
	struct source *source;
	struct arena *arena;
	struct probe_def *probes;
	struct node *unused; /* calls of the functions that no probe calls: an N_EXPR each */
	struct map_decl *maps;
	struct config_item *config;
	struct c_text *c; /* struct, union, enum and typedef definitions, in order */
	struct included *included;
};

/* Appends the tree as indented text, with types if the checker has run. */
void ast_dump(const struct script_ast *ast, struct buf *to);

#endif
