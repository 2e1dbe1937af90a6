/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of `spur hist EVENT.field` share. */
#ifndef CLI_FIELDHIST_H
#define CLI_FIELDHIST_H

#include "stats/fieldhist.h"
#include "cli/range.h"

struct hist_command {
	struct range_options range; /* first: options that other commands have too */
	const char *by, *filter, *sort;
	bool log2, count, json, csv, is_live;
	int64_t top, linear;
	uint64_t live, interval;
};

struct hist_shown {
	const struct hist_command *o;
	const struct fieldhist *h;
	bool stopped;
};

/* Writes it to standard output, as the options say. 0 or a negative errno. */
int hist_print(const struct hist_shown *s);

#endif
