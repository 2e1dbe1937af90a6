/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options --NAME=VALUE of a script: its getopt() calls. They are found without compiling it, so
 * that the help of a script needs neither privileges nor a kernel with its probes.
 */
#ifndef SCRIPT_GETOPTS_H
#define SCRIPT_GETOPTS_H

#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#include "base/arena.h"

enum getopt_kind { GETOPT_FLAG, GETOPT_NUMBER, GETOPT_TEXT };

struct getopt_call {
	const char *name;
	enum getopt_kind kind;
	const char *usual; /* the default; "" for an empty text or false */
	const char *help;  /* or "" */
};

struct getopts {
	struct getopt_call *at; /* in the order of the script, each name once */
	size_t n, cap;
	struct arena arena;
};

/*
 * -EINVAL for what is no script, and where two calls of one name do not agree. The result is to be
 * freed in any case.
 */
int getopts_read(const char *name, const char *text, size_t len, struct getopts *g,
		 struct spur_error *err);
void getopts_free(struct getopts *g);

#endif
