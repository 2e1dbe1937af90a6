/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names on the command line in which * and ? stand for anything. */
#ifndef CLI_GLOBS_H
#define CLI_GLOBS_H

#include "base/pattern.h"
#include "cli/opts.h"

struct globs {
	struct pattern *at;
	size_t n, cap;
};

/* Adds one; 0 or as an OPT_CALL returns. */
int globs_add(struct globs *g, const struct opt *opt, const char *arg);
void globs_free(struct globs *g);

/* Whether one of them matches the name. */
bool globs_match(const struct globs *g, const char *name);

#endif
