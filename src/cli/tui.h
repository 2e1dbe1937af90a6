/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: the options of `spur tui`, and what runs it. */
#ifndef CLI_TUI_H
#define CLI_TUI_H

#include "cli/cli.h"
#include "cli/range.h"

struct tui_command {
	const char *filter, *since, *until, *colour, *cache;
	struct cpu_list cpus;
	int64_t threads;
	bool no_cache, ascii;
};

int tui_run(const struct tui_command *o, const char *const *paths, size_t nr);

#endif
