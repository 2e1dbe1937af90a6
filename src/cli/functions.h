/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of `spur functions` share. */
#ifndef CLI_FUNCTIONS_H
#define CLI_FUNCTIONS_H

#include "stats/callgraph.h"
#include "base/grid.h"
#include "cli/globs.h"
#include "cli/range.h"

enum { BY_NOBODY, BY_TASK, BY_CPU };

struct functions_command {
	struct range_options range;
	const char *columns, *sort, *by, *colour;
	int64_t rows;
	const char *longer;
	uint64_t longer_ns;
	bool on_cpu, ns, json, csv, markdown, use_colour;
	struct globs names;
	int group;
	enum cg_order order;
};

/* A column and the letter that it is chosen by. */
struct letter {
	char letter;
	bool timed; /* makes no sense without durations */
	struct grid_column column;
	void (*put)(const struct functions_command *o, const struct callgraph *cg,
		    const struct cg_function *f, struct grid *g);
};

/* NULL: there is none. F and f are the same, as in fdd; for others case counts. */
const struct letter *functions_letter(char c);

#endif
