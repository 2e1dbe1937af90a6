/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arguments of a print format as trees.
 *
 *	"%s %lx", __print_symbolic(REC->vec, { 0, "HI" }), (unsigned long)REC->args[1]
 *
 * Trees are grown exactly as libtraceevent grows them, mistakes included: "a - b - c" is
 * a - (b - c), and in "a * (b + c)" the parentheses are lost. What a report prints depends on it.
 * Nodes live in the registry's arena and never change once a format has been parsed.
 *
 * Private to src/event.
 */
#ifndef EVENT_EXPR_H
#define EVENT_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "event/format.h"
#include "event/handler.h"

#define EXPR_MAX_DEPTH 200   /* formats of real kernels stay below 20 */
#define EXPR_MAX_NODES 20000 /* in one format */

/* The numbers are libtraceevent's: it prints them in messages about arguments that it refuses. */
enum expr_kind {
	EXPR_NULL = 0, /* the missing left side of a unary operator */
	EXPR_ATOM = 1, /* words, a number, a string */
	EXPR_FIELD = 2,
	EXPR_FLAGS = 3,
	EXPR_SYMBOL = 4,
	EXPR_HEX = 5,
	EXPR_ARRAY = 6,
	EXPR_CAST = 7,
	EXPR_STRING = 8,
	EXPR_DYNAMIC = 10,
	EXPR_OP = 11,
	EXPR_CALL = 12,
	EXPR_BITMASK = 13,
	EXPR_DYNAMIC_LEN = 14,
	EXPR_HEX_STR = 15,
	EXPR_CPUMASK = 16,
};

enum expr_op {
	OP_INDEX,
	OP_COND, /* left ? (right->left : right->right) */
	OP_ELSE,
	OP_INVERT,
	OP_NOT,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_ADD,
	OP_SUB,
	OP_SHL,
	OP_SHR,
	OP_LT,
	OP_GT,
	OP_LE,
	OP_GE,
	OP_EQ,
	OP_NE,
	OP_AND,
	OP_XOR,
	OP_OR,
	OP_BOTH,
	OP_EITHER,
	NR_OPS,
};

/* One { value, "text" } of __print_flags() or __print_symbolic(). */
struct expr_name {
	int64_t value;
	const char *text;
	size_t len;
};

struct expr {
	uint8_t kind; /* enum expr_kind */
	uint8_t op;   /* EXPR_OP: enum expr_op */
	int8_t prio;  /* EXPR_OP: an operator binds the weaker the higher; 0 for a closed one */
	bool word;    /* EXPR_ATOM: starts with a letter, so it might name a function */
	union {
		struct { /* EXPR_ATOM */
			const char *text;
			size_t len;
			uint64_t value;
		} atom;
		struct { /* EXPR_FIELD, _STRING, _BITMASK, _CPUMASK, _DYNAMIC, _DYNAMIC_LEN */
			const char *name;
			const struct event_field *at; /* NULL: there is no such field */
		} field;
		struct { /* EXPR_CAST: which bits of the item remain… */
			struct expr *item;
			uint64_t mask;
			uint64_t element_mask; /* …and of an array's element it is applied to */
		} cast;
		struct { /* EXPR_OP */
			struct expr *left, *right;
		};
		struct { /* EXPR_FLAGS, EXPR_SYMBOL */
			struct expr *value;
			const char *delim; /* NULL: none */
			struct expr_name *list;
			size_t nr;
		} names;
		struct { /* EXPR_HEX, EXPR_HEX_STR, EXPR_ARRAY */
			struct expr *data, *count, *size;
		} bytes;
		struct { /* EXPR_CALL */
			const struct print_func *func;
			struct expr *args[PRINT_FUNC_MAX_ARGS];
		} call;
	};
};

/* What is cast, whatever it is cast to. */
static inline const struct expr *expr_uncast(const struct expr *e)
{
	while (e->kind == EXPR_CAST)
		e = e->cast.item;
	return e;
}

/* What is being parsed: a print format from its first argument on. */
struct expr_parser {
	struct events *events;
	struct event *event;
	struct format_lexer lex;
	struct format_token tok; /* the one after what was read last */
	unsigned int depth;
	unsigned int nodes;
	uint32_t mark;	   /* a flag for the next field that is named */
	bool bare_record;  /* "REC" was followed by ")" */
	bool plugin_func;  /* a function of a plugin was called */
	bool unknown_func; /* …or one that is unknown here */
	const char *why;   /* what went wrong, NULL while nothing did */
};

/* Parsers return false after a mistake; this is how they say so. */
bool parser_fail(struct expr_parser *p, const char *why);

struct expr *expr_new(struct expr_parser *p, enum expr_kind kind);

/* Read the next token into p->tok; an item is not a line end. */
void parser_next(struct expr_parser *p);
void parser_next_item(struct expr_parser *p);

/* A value without the operators after it, into e: from the next token on, and from p->tok on. */
bool parse_operand(struct expr_parser *p, struct expr *e);

/* p->tok is an operator after e: grows e by it and by what follows. */
bool parse_operator(struct expr_parser *p, struct expr *e);

/* p->tok is the "(" after a function's name. */
bool parse_call(struct expr_parser *p, const struct format_token *name, struct expr *e);

/* Replaces operations on two atoms by their result. */
void expr_fold(struct expr_parser *p, struct expr *e);

/* A number by the operator's rules; all arithmetic is unsigned, as in libtraceevent. */
uint64_t expr_apply(enum expr_op op, uint64_t left, uint64_t right);

#endif
