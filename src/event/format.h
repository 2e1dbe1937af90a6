/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files that parse formats share. Others use event.h. */
#ifndef EVENT_FORMAT_H
#define EVENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "event/event.h"

/* ---- words ---- */

/*
 * Formats are half prose, half C, and are read by the rules libtraceevent reads them by: an
 * apostrophe in the wrong place must spoil the same events for both. Tokens are slices of the
 * text; only strings that were written in several pieces ("a" "b") are joined, in the arena.
 * Any byte that is not printable ASCII ends the text.
 */
enum format_token_kind {
	TOKEN_END,
	TOKEN_NEWLINE,
	TOKEN_OP,     /* an operator or any other mark: -> << == ; : { … */
	TOKEN_DELIM,  /* ( ) or , */
	TOKEN_WORD,   /* letters, digits and _: names and numbers */
	TOKEN_STRING, /* "…", without the quotes, escapes as they stand */
	TOKEN_CHAR,   /* '…', likewise */
};

struct format_token {
	enum format_token_kind kind;
	const char *text; /* never NULL */
	size_t len;
};

struct format_lexer {
	const char *pos;
	const char *end;
	struct arena *arena; /* NULL: strings in pieces end the text */
};

/* The next token; line ends are tokens. */
struct format_token lexer_next(struct format_lexer *l);

/* The next token that is not a line end. */
struct format_token lexer_next_item(struct format_lexer *l);

static inline bool token_is(const struct format_token *t, enum format_token_kind kind,
			    const char *text)
{
	return t->kind == kind && t->len == strlen(text) && !memcmp(t->text, text, t->len);
}

static inline bool token_is_op(const struct format_token *t, const char *text)
{
	return token_is(t, TOKEN_OP, text);
}

static inline bool token_is_delim(const struct format_token *t, char c)
{
	return t->kind == TOKEN_DELIM && t->text[0] == c;
}

static inline bool token_is_word(const struct format_token *t, const char *text)
{
	return token_is(t, TOKEN_WORD, text);
}

/* A word or anything quoted: what can stand for a value on its own. */
static inline bool token_is_item(const struct format_token *t)
{
	return t->kind == TOKEN_WORD || t->kind == TOKEN_STRING || t->kind == TOKEN_CHAR;
}

/* ---- formats ---- */

#define FORMAT_MAX_SIZE	  (1024 * 1024)
#define FORMAT_MAX_FIELDS 2000

/* The name and the id at the head of a format file; false when they are not there. */
bool format_head(struct format_lexer *l, struct format_token *name, int *id);

/*
 * Reads the fields and nothing else, once; false when they cannot be read. Needs the lock, like
 * everything below that changes an event.
 */
bool format_read_fields(struct event *e);

/* Fields by name while the format is still being parsed: any, only common ones, any but those. */
const struct event_field *event_field_named(const struct event *e, const char *name);
const struct event_field *event_common_named(const struct event *e, const char *name);
const struct event_field *event_own_field_named(const struct event *e, const char *name);

#endif
