/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The preprocessor, as far as scripts need it: definitions with and without parameters, conditions,
 * files in quotes. Of headers in angle brackets only names of numbers are used, since types come
 * from BTF; these headers go through it, too, with a lexer of their own (headers.c).
 *
 * A use of a definition becomes a part of the source of its own, in which everything has been
 * replaced already.
 */
#ifndef LANG_PARSE_PREPROCESS_H
#define LANG_PARSE_PREPROCESS_H

#include "base/map.h"
#include "base/source.h"

struct lexer;
struct lex_input;

enum {
	PP_MAX_CONDS = 512, /* headers are a condition each */
	PP_MAX_PARAMS = 16,
	PP_MAX_DEPTH = 32,	    /* definitions that use others */
	PP_MAX_USES = 100000,	    /* in all of a script */
	PP_MAX_WORK = 64 << 20,	    /* bytes looked at for them */
	PP_MAX_EXPANSION = 1 << 20, /* bytes of one */
	PP_MAX_FILES = 256,
};

struct define {
	const char *name;
	size_t name_len;
	struct span at; /* its name; empty when it is built in */
	const char *body;
	size_t body_len;
	const char *params[PP_MAX_PARAMS];
	unsigned int nr_params;
	bool is_function;
	bool is_variadic; /* its last parameter stands for all further arguments */
	bool gone;	  /* by #undef */
	bool active;	  /* being replaced: not again in what it becomes */
};

struct pp_cond {
	struct span at;
	bool taken; /* one of its groups has been read */
	bool had_else;
};

/* A file that has been read, so that it is not read again. */
struct pp_file {
	struct pp_file *next;
	const char *path;
};

struct pp {
	struct map defines; /* by the hash of the name */
	struct pp_cond conds[PP_MAX_CONDS];
	unsigned int nr_conds;
	unsigned int uses, nr_files;
	size_t work;
	struct pp_file *files;
	struct pp_headers *headers; /* in angle brackets: headers.c */
};

void pp_init(struct lexer *l);
void pp_free(struct lexer *l);

/* Does what a line that begins with '#' says, and passes it. */
void pp_directive(struct lexer *l, struct lex_input *in);

/* Does what all directives of the inputs say, and passes everything else. */
void pp_directives_only(struct lexer *l);

/* Defines a name without parameters; neither text is copied. */
void pp_define(struct lexer *l, const char *name, const char *body);

/* Complains about conditions that a file leaves open. */
void pp_end_of_file(struct lexer *l, unsigned int conds);

/* Replaces the name at the input's position if it is defined: then what it becomes is read next. */
bool pp_expand(struct lexer *l, struct lex_input *in);

struct define *pp_lookup(const struct pp *pp, const char *name, size_t len);

/* The same, also in headers that are included. */
struct define *pp_find(struct lexer *l, const char *name, size_t len);

/* Appends a text with everything replaced. False, and told: a part of it could not be. */
bool pp_expand_text(struct lexer *l, struct span at, const char *text, size_t len, struct buf *out);

/* Whether the condition of an #if holds; what cannot be understood is told and does not. */
bool pp_condition(struct lexer *l, struct span at, const char *text, size_t len);

/* ---- files (directives.c) ---- */

/*
 * Adds the text of a file that is named in the part `by` is in, searched next to it and in the
 * directories of the options. 1: added, 0: it has been before, negative: told, or -ENOENT.
 */
int pp_add_file(struct lexer *l, const char *name, struct span by, struct span *text);

/* ---- headers in angle brackets (headers.c) ---- */

void pp_add_header(struct lexer *l, const char *name, size_t len);
void pp_free_headers(struct lexer *l);

/* What a header defines a name as, if that is a number; NULL: none does. */
const char *pp_header_value(struct lexer *l, const char *name, size_t len);

/*
 * ---- the numbers that headers of C define ----
 *
 * Only directives are read: definitions, conditions and further headers, each once. Everything else
 * is skipped. Errors in headers are not reported: the script cannot do anything about them.
 */

struct headers;

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

/* ---- constants that scripts would have from headers: AF_INET, O_CREAT, TASK_RUNNING ---- */

bool constant_find(const char *name, int64_t *value, bool *is_signed);

#endif
