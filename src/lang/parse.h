/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From text to tree: bpftrace's language as of 0.26, with the spellings of older versions. Macros
 * are expanded in the tree, definitions of the preprocessor in the text.
 */
#ifndef LANG_PARSE_H
#define LANG_PARSE_H

#include "lang/ast.h"

struct parse_options {
	const char *const *include_dirs;  /* for import and #include "…", up to a NULL; or NULL */
	const char *const *include_files; /* read before the script, up to a NULL; or NULL */
	const char *kernel_source; /* where the kernel's headers are; NULL: the usual places */
	const char *kernel_build;  /* where the headers made by its build are; or NULL */
	bool no_files;		   /* read no other files: the text is not trusted */
	bool no_headers; /* read no headers in angle brackets, and miss none: types do not matter */
	/* $1, $2, … in attach points, up to a NULL; NULL: not known, they stay as they are. */
	const char *const *params;
};

/* 0, or -EINVAL with the first few errors as messages in the source. */
int parse_bpftrace(struct source *source, const struct parse_options *opt, struct script_ast *ast);

/*
 * Formats a script: one statement a line, tabs, 100 columns. Only blanks, line ends and optional
 * semicolons change; comments stay next to the code they are about. Definitions in C and lines of
 * the preprocessor stay as they are. Formatting the result again changes nothing. The text must be
 * a script that the parser accepts; -EINVAL if it is not.
 */
int format_script(const char *text, size_t len, struct buf *to, struct spur_error *err);

#endif
