/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of `spur list` share. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "cli/live.h"

struct list_words {
	const char **at;
	size_t n, cap;
};

struct list_options {
	/* What to list; the order of the sections is fixed. */
	bool events, tracers, options, plugins, plugin_options, functions, instances, clocks,
		systems, compression;
	bool all;
	bool formats, full, filters, triggers;
	bool prototypes;
	struct list_words event_patterns, function_patterns;
	const char *colour;
	bool no_pager;

	bool use_colour;
};

/* Everything here returns an exit status, after a message where one is due. */
int list_events(const struct tracefs *fs, const struct list_options *o);
int list_systems(const struct tracefs *fs, const struct list_options *o);
int list_functions(const struct tracefs *fs, const struct list_options *o);

/* How much there is of everything. */
int list_overview(const struct tracefs *fs, const struct list_options *o);

#endif
