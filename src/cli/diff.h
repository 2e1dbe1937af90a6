/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: `spur diff`, its options and what it shows. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "base/strings.h"
#include "cli/range.h"
#include "stats/diff.h"
#include "stats/diff_require.h"

#define DIFF_FAILED 5 /* exit status: a requirement does not hold */

struct diff_command {
	struct range_options range; /* first: options that other commands have too */
	struct string_refs require, focus;
	const char *requirements; /* a file of them */
	const char *from, *to, *match, *period;
	bool first, all, json, csv, force;
	int64_t rows, worst;
	uint64_t around;
	const char *html, *colour;
	bool use_colour;
};

/* What is shown. */
struct diff_shown {
	const struct diff_command *o;
	struct diff *diff;
	const char *path[DIFF_SIDES]; /* NULL: there is none */
	const struct diff_requirement *requirements;
	const struct diff_verdict *verdicts;
	size_t nr_requirements;
};

void diff_put_text(const struct diff_shown *s, struct buf *to);
void diff_put_json(const struct diff_shown *s, struct buf *to);
void diff_put_csv(const struct diff_shown *s, struct buf *to);

/*
 * The warning of that number, of what makes the comparison unsafe; false: there are fewer. `shown`
 * is a struct diff_shown, so that this is a callback, too.
 */
bool diff_warning(const void *shown, unsigned int number, char *text, size_t cap);

#endif
