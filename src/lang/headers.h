/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers that headers of C define. Only directives are read: definitions, conditions, and
 * further headers, each once. What lies between them is passed over, and what is odd in them is
 * not told: a header that nobody can change is no mistake of the script.
 */
#ifndef LANG_HEADERS_H
#define LANG_HEADERS_H

#include <stdbool.h>

#include "base/buf.h"

struct headers;
struct lexer;
struct pp;

/* Where the texts come from. */
struct header_files {
	/*
	 * Appends the path and the text of a header; false: there is none. `by` is the path of the
	 * header that names it in quotes, and NULL for one in angle brackets.
	 */
	bool (*read)(const struct header_files *f, const char *name, const char *by,
		     struct buf *path, struct buf *text);
};

/* The files must stay. NULL without memory. */
struct headers *headers_new(const struct header_files *files);
void headers_free(struct headers *h);

/* Defines a name before headers are read. */
void headers_define(struct headers *h, const char *name, const char *body);

/* Reads a header and all that it includes. False: there is none of this name. */
bool headers_include(struct headers *h, const char *name);

/*
 * Appends what a name stands for if that is a number: a text of numbers, operators and names in
 * capital letters that no header defines. Definitions of the script (may be NULL) come first.
 */
bool headers_number(struct headers *h, const struct pp *script, const char *name, size_t len,
		    struct buf *to);

/* ---- for the preprocessor: a lexer that has headers reads these ---- */

/* Reads a header next that the one on top of the lexer includes. */
void headers_push(struct headers *h, const char *name, size_t len, bool quoted);

/* The script's definitions while a number is looked for, or NULL. */
const struct pp *headers_script(const struct headers *h);

#endif
