/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the formatter share: pieces of a script, and the line that is made of them. */
#ifndef LANG_FMT_PARTS_H
#define LANG_FMT_PARTS_H

#include <stdbool.h>
#include <string.h>

#include "lang/fmt.h"

enum piece_kind {
	P_END,
	P_WORD,
	P_VALUE, /* number, string, $x, @x */
	P_OP,
	P_EDGE, /* the '/' before and behind a predicate */
	P_POINT,
	P_C,	   /* a definition */
	P_COMMENT, /* to the end of the line, or from / * to * / */
	P_DIRECTIVE,
};

struct piece {
	enum piece_kind kind;
	const char *text;
	size_t len;
	unsigned int lines; /* line ends before it */
};

struct pieces {
	struct piece *at;
	size_t n, cap;
};

/* -EINVAL: something has no end; -ENOMEM. The last one is P_END. */
int fmt_scan(const char *text, size_t len, struct pieces *to);

static inline bool piece_is(const struct piece *p, enum piece_kind kind, const char *text)
{
	return p->kind == kind && p->len == strlen(text) && memcmp(p->text, text, p->len) == 0;
}

static inline bool piece_is_op(const struct piece *p, const char *text)
{
	return piece_is(p, P_OP, text);
}

static inline bool piece_is_word(const struct piece *p, const char *text)
{
	return piece_is(p, P_WORD, text);
}

/* What the last piece of a line was, for the next one. */
enum role {
	ROLE_START,
	ROLE_OPERAND, /* a value, or its end: what follows is an operator */
	ROLE_WORD,    /* the same, and a '(' makes it a call */
	ROLE_STAR,    /* of a type */
	ROLE_KEYWORD,
	ROLE_BINARY, /* blanks on both sides */
	ROLE_TIGHT,  /* none behind: brackets that open, unary operators, casts, '.' */
};

struct bracket {
	size_t piece;
	bool is_call;
	size_t column; /* offset in the line behind it */
};

struct line_break {
	size_t at; /* offset in the line of the blank that can become a line end */
	unsigned int depth;
	size_t align; /* offset below which the next line begins; SIZE_MAX: none */
};

struct fmt {
	struct pieces pieces;
	size_t next; /* piece */
	struct buf *to;
	unsigned int indent;
	bool failed; /* no memory, or nested too deeply */

	/* The line that is being made. */
	struct buf line;
	enum role role;
	size_t hang; /* column at which a line outside of blocks goes on */
	bool in_let, breakable, after_comment, continued;
	struct {
		struct bracket *at;
		size_t n, cap;
	} brackets;
	struct {
		struct line_break *at;
		size_t n, cap;
	} breaks;
};

static inline const struct piece *fmt_peek(const struct fmt *f, size_t ahead)
{
	const size_t i = f->next + ahead;

	return &f->pieces.at[i < f->pieces.n ? i : f->pieces.n - 1];
}

/* Adds the next piece to the line, with a blank before it if there should be one. */
void line_add(struct fmt *f);
/* The same of a text that is no piece. */
void line_puts(struct fmt *f, const char *text, bool blank);
/* Ends the line; cuts it in several if it is too long. */
void line_end(struct fmt *f);

#endif
