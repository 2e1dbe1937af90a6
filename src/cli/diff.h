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

/* What is compared, and the result. */
struct diff_work {
	struct diff_command *o;
	const char *path[DIFF_SIDES]; /* NULL: there is none */
	struct spur_trace *trace[DIFF_SIDES];
	struct pairs_options pairs;
	char about[1024]; /* of these */
	struct diff diff;
	struct buf file; /* of requirements */
	vec_of(struct diff_requirement) requirements;
	struct diff_verdict *verdicts; /* of each of these */
	bool failed;		       /* one of them */
};

void diff_put_text(const struct diff_work *s, struct buf *to);
void diff_put_json(const struct diff_work *s, struct buf *to);
void diff_put_csv(const struct diff_work *s, struct buf *to);

#define DIFF_WARNING (DAT_MISSING_WORDS + 100) /* bytes of a warning at most */

/*
 * The warning of that number, of what makes the comparison unsafe; false: there are fewer. `shown`
 * is a struct diff_work, so that this is a callback, too.
 */
bool diff_warning(const void *shown, unsigned int number, char *text, size_t cap);

#endif
