/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text of a script, and what is wrong with it: messages that show the line and point at it.
 *
 * A span is a range of bytes of the text. Imported files and expanded definitions are appended to
 * the same text, so that a span is enough to find everything again.
 */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H

#include <stdarg.h>

#include <spur/error.h>

#include "base/arena.h"
#include "base/buf.h"

struct span {
	uint32_t from, to;
};

enum {
	SOURCE_LIMIT = 16 << 20,
	SOURCE_MAX_ERRORS = 10, /* that are shown; more are only counted */
};

struct source_part {
	const char *name;  /* of the file; "stdin", "-e" */
	uint32_t from;	   /* where its text begins; a NUL follows its end */
	struct span by;	   /* where it was included or used; empty for the script itself */
	const char *macro; /* the definition whose expansion it is, or NULL: it is a file */
	struct span def;   /* where that is defined */
};

struct source {
	struct arena *arena;
	struct buf text;
	struct {
		struct source_part *at;
		size_t n, cap;
	} parts;
	struct buf messages; /* all errors and warnings so far, as they are shown */
	unsigned int errors, warnings;
	bool no_warnings;
	bool untold; /* the last message was not shown; then its hints are not shown either */
};

void source_init(struct source *s, struct arena *arena);
void source_free(struct source *s);

/* Adds a text; false beyond the limit. */
bool source_add(struct source *s, const char *name, const char *text, size_t len, struct span by);

/* Adds the expansion of a definition that was used at `by`. */
bool source_add_expansion(struct source *s, const char *macro, struct span def, const char *text,
			  size_t len, struct span by);

/*
 * FILE:LINE:COL-COL: ERROR: …, the line, and a line of ~~~ under what is meant. A place in an
 * expansion is shown where it was used, with a note of the definition. Returns -EINVAL.
 */
int source_error(struct source *s, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void source_warning(struct source *s, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A line that helps: "HINT: did you mean 'x'?"; belongs to the message before it. */
void source_hint(struct source *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Line and column (from 1) of a byte, and the file's name; of an expansion, of its use. */
void source_place(const struct source *s, uint32_t at, const char **name, uint32_t *line,
		  uint32_t *column);

/* The part that a byte is in; NULL when there is no text at all. */
const struct source_part *source_part_of(const struct source *s, uint32_t at);

/* Where a part's text ends. */
uint32_t source_part_end(const struct source *s, const struct source_part *p);

/* From the beginning of one to the end of the other, where both stand in one part. */
struct span source_join(const struct source *s, struct span a, struct span b);

#endif
