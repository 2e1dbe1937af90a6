/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/lang: the preprocessor, as far as scripts need it: definitions with and without
 * parameters, conditions, files in quotes. A second lexer reads headers in angle brackets
 * (headers.c): the script uses the numbers that they define, and lang/cdef parses their C.
 *
 * Each use of a definition becomes a new part of the source, in which everything is replaced
 * already.
 */
#ifndef LANG_PARSE_PREPROCESS_H
#define LANG_PARSE_PREPROCESS_H

#include "base/map.h"
#include "base/source.h"
#include "lang/ast.h"

struct lexer;
struct lex_input;

enum {
	PP_MAX_CONDS = 512, /* each header is one */
	PP_MAX_PARAMS = 16,
	PP_MAX_DEPTH = 32,	      /* definitions that use others */
	PP_MAX_USES = 100000,	      /* in a whole script */
	PP_MAX_HEADER_USES = 1000000, /* in all headers; <net/sock.h> has 60000 */
	PP_MAX_WORK = 64 << 20,	      /* bytes that are scanned for them */
	PP_MAX_EXPANSION = 1 << 20,   /* bytes of one */
	PP_MAX_FILES = 256,
};

struct define {
	const char *name;
	size_t name_len;
	struct span at;	    /* its name; empty: it is built in */
	unsigned int order; /* how many definitions there were before it */
	const char *body;
	size_t body_len;
	const char *params[PP_MAX_PARAMS];
	unsigned int nr_params;
	bool is_function;
	bool is_variadic; /* the last parameter is all further arguments */
	bool gone;	  /* removed by #undef */
	bool active;	  /* being replaced: it is not replaced in its own result */
};

struct pp_cond {
	struct span at;
	bool taken; /* one of its groups was read */
	bool had_else;
};

/* A file that has been read; it is not read again. */
struct pp_file {
	struct pp_file *next;
	const char *path;
};

struct pp {
	struct map defines; /* by the hash of the name */
	struct pp_cond conds[PP_MAX_CONDS];
	unsigned int nr_conds;
	unsigned int uses, nr_files, nr_defines;
	size_t work;
	struct pp_file *files;
	struct included *included;  /* for messages */
	struct pp_headers *headers; /* of the script, in angle brackets: include.c */
};

void pp_init(struct lexer *l);
void pp_free(struct lexer *l);

/* Executes the directive at the position of the input and skips it. */
void pp_directive(struct lexer *l, struct lex_input *in);

/* Defines a name without parameters; neither text is copied. */
void pp_define(struct lexer *l, const char *name, const char *body);

/* Reports conditions that a file leaves open. */
void pp_end_of_file(struct lexer *l, unsigned int conds);

/* If the name at the input's position is defined, its replacement is read next. */
bool pp_expand(struct lexer *l, struct lex_input *in);

struct define *pp_lookup(const struct pp *pp, const char *name, size_t len);

/* Searches included headers, too. */
struct define *pp_find(struct lexer *l, const char *name, size_t len);
bool pp_is_defined(struct lexer *l, const char *name, size_t len);

/* Appends a text with everything replaced. False, with an error: it could not be replaced. */
bool pp_expand_text(struct lexer *l, struct span at, const char *text, size_t len, struct buf *out);

/*
 * Appends the rest of the inputs from number `first` (from 1) on, and removes them. The text is C:
 * it has no comments and no directives, and everything is replaced. A line "# PATH", or "## PATH"
 * for the kernel's own headers, is where a file begins or continues.
 */
void pp_copy_c(struct lexer *l, unsigned int first, struct buf *out);

/* Whether the condition of an #if holds; a wrong one is reported and does not hold. */
bool pp_condition(struct lexer *l, struct span at, const char *text, size_t len);

/* ---- files in quotes ---- */

/*
 * Adds the text of a file to the source. The file is searched next to the part that `by` is in,
 * then in the directories of the options. 1: added, 0: it has been read before; negative: an error
 * that was reported, or -ENOENT.
 */
int pp_add_file(struct lexer *l, const char *name, struct span by, struct span *text);

/* ---- headers in angle brackets ---- */

/* Adds a header that is to be read. It is an error if it is found nowhere. */
void pp_add_header(struct lexer *l, const char *name, size_t len, bool quoted, struct span at);
void pp_free_headers(struct lexer *l);

/*
 * Reads a file next that is included in quotes, by the script or by a header of it. One that does
 * not exist is a header, as in angle brackets.
 */
void pp_include_file(struct lexer *l, const char *name, struct span at, bool by_header);

/*
 * The C of all headers that have been added since the last call; NULL if there is none. The caller
 * empties the buffer.
 */
struct buf *pp_header_text(struct lexer *l);

/* The definition of a name in the headers, if it is a number; or NULL. */
const char *pp_header_value(struct lexer *l, const char *name, size_t len);

/* Any definition of the headers or of the compiler; or NULL. */
struct define *pp_header_define(struct lexer *l, const char *name, size_t len);

/*
 * ---- what headers of C define ----
 *
 * Each header is read once, with those that it includes. Errors in headers are not reported: the
 * script cannot do anything about them.
 */

struct headers;

/* How headers are read. */
struct header_files {
	/*
	 * Appends the path and the text of a header; false: there is none. `by` is the path of the
	 * header that includes it in quotes, NULL for angle brackets.
	 */
	bool (*read)(const struct header_files *f, const char *name, const char *by,
		     struct buf *path, struct buf *text);
	/* Whether a path is one of the kernel's own headers; may be NULL. */
	bool (*is_kernel)(const struct header_files *f, const char *path);
};

/*
 * `files` must outlive it, as must the definitions of the script (may be NULL). NULL without
 * memory.
 */
struct headers *headers_new(const struct header_files *files, const struct pp *script);
void headers_free(struct headers *h);

/* Defines a name before headers are read. */
void headers_define(struct headers *h, const char *name, const char *body);

/*
 * Reads a header and everything it includes. It knows the first `order` definitions of the script.
 * False: there is no such header.
 */
bool headers_include(struct headers *h, const char *name, unsigned int order);

/* The C of what has been read. The caller may empty it. */
struct buf *headers_text(struct headers *h);

/* A definition, with or without parameters; or NULL. */
struct define *headers_define_of(const struct headers *h, const char *name, size_t len);

/*
 * Appends the definition of a name if it is a number: a text of numbers, operators and names in
 * capital letters that no header defines. Definitions of the script come first.
 */
bool headers_number(struct headers *h, const char *name, size_t len, struct buf *to);

/* For the preprocessor, when its lexer reads headers: */

/* Reads a header next: the current input includes it. */
void headers_push(struct headers *h, const char *name, size_t len, bool quoted);

/* The definition of the script that a name has in headers: before their own, and after them. */
struct define *headers_script_first(const struct headers *h, const char *name, size_t len);
struct define *headers_script_last(const struct headers *h, const char *name, size_t len);

/* Whether a path is one of the kernel's own headers. */
bool headers_is_kernel(const struct headers *h, const char *path);

/* ---- constants that scripts would have from headers: AF_INET, O_CREAT, TASK_RUNNING ---- */

bool constant_find(const char *name, int64_t *value, bool *is_signed);

/* Whether these constants are those of a header, or the types of it need none. */
bool constant_header(const char *name);

#endif
