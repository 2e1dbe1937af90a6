/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: the scripts of tools/, which the build puts into the program. */
#ifndef CLI_TOOL_H
#define CLI_TOOL_H

#include "cli/opts.h"

struct tool {
	const char *name;
	const char *summary; /* the first sentence of its head comment */
	const char *text;
};

/* By name; one without a name at the end. Written by tools/embed. */
extern const struct tool tools[];

/*
 * The options of a tool: what its script asks for by getopt(), then those of every tool. Freed with
 * tool_options_free(). False after a message.
 */
struct tool_options;
struct tool_options *tool_options(const struct tool *t, const struct opt **opts, size_t *nr);
void tool_options_free(struct tool_options *o);

#endif
