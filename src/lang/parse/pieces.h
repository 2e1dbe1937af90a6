/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/lang: the pieces of a script, for the formatter. */
#ifndef LANG_PARSE_PIECES_H
#define LANG_PARSE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum piece_kind {
	P_END,
	P_WORD,
	P_VALUE, /* number, string, $x, @x */
	P_OP,
	P_EDGE, /* the '/' before and after a predicate */
	P_POINT,
	P_C,	   /* a definition in C */
	P_COMMENT, /* to the end of the line, or from / * to * / */
	P_DIRECTIVE,
};

struct script_piece {
	enum piece_kind kind;
	const char *text;
	size_t len;
	unsigned int lines; /* line ends before it */
};

struct pieces {
	struct script_piece *at;
	size_t n, cap;
};

/* -EINVAL: something is not closed; -ENOMEM. The last piece is P_END. */
int pieces_scan(const char *text, size_t len, struct pieces *to);

static inline bool script_piece_is(const struct script_piece *p, enum piece_kind kind,
				   const char *text)
{
	return p->kind == kind && p->len == strlen(text) && memcmp(p->text, text, p->len) == 0;
}

static inline bool piece_is_op(const struct script_piece *p, const char *text)
{
	return script_piece_is(p, P_OP, text);
}

static inline bool piece_is_word(const struct script_piece *p, const char *text)
{
	return script_piece_is(p, P_WORD, text);
}

#endif
