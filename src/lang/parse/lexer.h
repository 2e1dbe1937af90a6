/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From characters to tokens. Comments and directives of the preprocessor are gone here, and names
 * that it defines have been replaced.
 *
 * What is read is a stack of inputs: the script, a file that it includes, and on top of them at
 * most one expansion, in which nothing is replaced any more. Between two tokens a parser may as
 * well look at characters: attach points have a syntax of their own.
 */
#ifndef LANG_PARSE_LEXER_H
#define LANG_PARSE_LEXER_H

#include "lang/ast.h"
#include "lang/parse.h"
#include "lang/parse/preprocess.h"

/* Single characters stand for themselves, operators of two for their enum node_op. */
enum token_kind {
	T_END,
	T_WORD = 300, /* text; word says whether it is a keyword */
	T_VAR,	      /* $text */
	T_MAP,	      /* @text, may be "" */
	T_PARAM,      /* $num */
	T_NPARAMS,    /* $# */
	T_INT,	      /* num, is_unsigned */
	T_STRING,     /* text, len */
	T_ARROW,
	T_INC,
	T_DEC,
	T_RANGE,
	T_ASSIGN, /* op: 0, or that of a compound assignment */
	T_BAD,	  /* has been complained about */
};

enum word {
	W_NONE, /* not a keyword */
	W_BREAK,
	W_COMPTIME,
	W_CONFIG,
	W_CONTINUE,
	W_ELSE,
	W_ENUM,
	W_FALSE,
	W_FN,
	W_FOR,
	W_IF,
	W_IMPORT,
	W_LET,
	W_MACRO,
	W_OFFSETOF,
	W_RETURN,
	W_SIZEOF,
	W_STRUCT,
	W_TRUE,
	W_TYPEDEF,
	W_TYPEINFO,
	W_TYPEOF,
	W_UNION,
	W_UNROLL,
	W_WHILE,
};

struct token {
	int kind;
	int op;
	enum word word;
	bool is_unsigned;
	struct span at;
	const char *text;
	size_t len;
	int64_t num;
};

enum { LEX_MAX_INPUTS = 202 }; /* headers of the kernel go deep */

struct lex_input {
	uint32_t pos, end;
	bool line_start; /* nothing but blanks on this line so far */
	bool expansion;
	unsigned int conds; /* conditions that were open when it began */
};

struct lexer {
	struct source *source;
	struct arena *arena;
	const struct parse_options *opt;
	struct pp pp;
	struct lex_input in[LEX_MAX_INPUTS];
	unsigned int nr_in;
	struct headers *headers; /* whose texts these are: nothing is told; NULL: a script */
	bool stop; /* there is no memory, or too much is wrong: all that follows is T_END */
};

void lex_init(struct lexer *l, struct source *source, const struct parse_options *opt);
void lex_free(struct lexer *l);

/* Reads a part of the source next, then goes on where it was. False, and told: it is too deep. */
bool lex_push(struct lexer *l, struct span text, bool expansion, struct span by);

/* The next token. At the end, and after `stop`, T_END. */
void lex_next(struct lexer *l, struct token *t);

/* Passes blanks, comments and directives, and returns the character that follows; -1 at the end. */
int lex_char(struct lexer *l);

/* The input that characters are read from; valid after lex_char() did not return -1. */
static inline struct lex_input *lex_top(struct lexer *l)
{
	return &l->in[l->nr_in - 1];
}

/* The keyword that the characters after lex_char() are, or W_NONE. */
enum word lex_peek_word(struct lexer *l);

/* Tells what is wrong; stops reading when it is the last message that is shown. */
void lex_error(struct lexer *l, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void lex_no_memory(struct lexer *l);

enum word lex_word(const char *s, size_t len);

static inline bool lex_is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool lex_is_name(char c)
{
	return lex_is_name_start(c) || lex_is_digit(c);
}

/* Literals (lexer.c): read at the input's position, which they move. */
void lex_number(struct lexer *l, struct lex_input *in, struct token *t);
/* What a suffix of a number multiplies it by: "ms", "ull", ""; false when there is no such one. */
bool lex_suffix(const char *s, size_t len, uint64_t *factor);
void lex_string(struct lexer *l, struct lex_input *in, struct token *t);

/*
 * The end of a comment or of a string that begins at `at`, or `at` when none does; not beyond end.
 * A string that is not closed ends with its line.
 */
uint32_t lex_skip(const char *text, uint32_t at, uint32_t end);

#endif
