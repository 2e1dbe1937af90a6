/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/lang: from characters to tokens. The tokens have no comments and no directives,
 * and names that the preprocessor defines have been replaced.
 *
 * The input is a stack: the script, files that it includes, and on top of them at most one
 * expansion, in which nothing is replaced any more. Between two tokens the parser may also read
 * characters: attach points have a syntax of their own.
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
	T_BAD,	  /* an error has been reported */
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

enum { LEX_MAX_INPUTS = 202 }; /* the kernel's headers are nested deeply */

struct lex_input {
	uint32_t pos, end;
	bool line_start; /* only blanks on this line so far */
	bool expansion;
	bool is_c;	    /* a header that a script includes: it has no probes */
	unsigned int conds; /* conditions that were open at its beginning */
};

struct lexer {
	struct source *source;
	struct arena *arena;
	const struct parse_options *opt;
	struct pp pp;
	struct lex_input in[LEX_MAX_INPUTS];
	unsigned int nr_in;
	struct headers *headers; /* the lexer reads these and reports no errors; NULL: a script */
	struct buf *copy;	 /* where pp_copy_c() copies to; NULL: it does not run */
	bool in_c;		 /* what is being replaced is C: all of the headers' names count */
	bool stop;		 /* no memory, or too many errors: T_END from here on */
};

void lex_init(struct lexer *l, struct source *source, const struct parse_options *opt);
void lex_free(struct lexer *l);

/*
 * Reads a part of the source next, then continues. False, with an error: it is nested too deeply.
 */
bool lex_push(struct lexer *l, struct span text, bool expansion, struct span by);

/* The next token. At the end, and after `stop`, T_END. */
void lex_next(struct lexer *l, struct token *t);

/* Skips blanks, comments and directives and returns the next character; -1 at the end. */
int lex_char(struct lexer *l);

/* The current input; valid after lex_char() returned a character. */
static inline struct lex_input *lex_top(struct lexer *l)
{
	return &l->in[l->nr_in - 1];
}

/* The keyword at the current position, or W_NONE. */
enum word lex_peek_word(struct lexer *l);

/* Reports an error; sets `stop` after the last one that is shown. */
void lex_error(struct lexer *l, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void lex_verror(struct lexer *l, struct span at, const char *fmt, va_list ap);
void lex_no_memory(struct lexer *l);
/* Memory of the arena; NULL, with an error, if there is none. */
void *lex_alloc(struct lexer *l, size_t size);

enum word lex_word(const char *s, size_t len);

/* The length of an operator of several characters, or of '='; sets kind and op. 0: it is none. */
uint32_t lex_operator(const char *text, size_t left, struct token *t);

static inline bool lex_is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool lex_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool lex_is_name(char c)
{
	return lex_is_name_start(c) || lex_is_digit(c);
}

/* Literals at the position of the input, which is moved. */
void lex_number(struct lexer *l, struct lex_input *in, struct token *t);
/* The factor of a number's suffix: "ms", "ull", ""; false if there is no such suffix. */
bool lex_suffix(const char *s, size_t len, uint64_t *factor);
void lex_string(struct lexer *l, struct lex_input *in, struct token *t);

/*
 * The end of the comment or string that begins at `at`; `at` itself if there is none. Never beyond
 * `end`. A string that is not closed ends with its line.
 */
uint32_t lex_skip(const char *text, uint32_t at, uint32_t end);

#endif
