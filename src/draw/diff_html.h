/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison as a page: one file that needs nothing else. It is well-formed XML, all texts of
 * traces in it are escaped, and its policy keeps scripts from running.
 */
#ifndef DRAW_DIFF_HTML_H
#define DRAW_DIFF_HTML_H

#include "stats/diff_require.h"

#define DIFF_LIMITS 8 /* lines in a picture */

struct diff_page {
	struct diff *diff; /* finished */
	const char *path[DIFF_SIDES];
	const struct diff_requirement *requirements;
	const struct diff_verdict *verdicts;
	size_t nr_requirements;
	/* What makes the comparison unsafe; false after the last one. */
	bool (*warning)(const void *arg, unsigned int number, char *text, size_t cap);
	const void *warning_arg;
	/* Whether a task's stacks are drawn; NULL: those of all tasks are. */
	bool (*task)(const void *arg, int64_t pid, const char *comm);
	const void *task_arg;
};

/* Reads the traces once more for flame graphs. 0 or a negative errno. */
int diff_html(const struct diff_page *p, struct buf *out, struct spur_error *err);

/* ---- its pictures ---- */

/* Two distributions: how much of each is at most that long, and a histogram. */
struct diff_chart {
	struct dist *dist[DIFF_SIDES]; /* NULL: there is none */
	bool ticks;
	double limits[DIFF_LIMITS]; /* of requirements */
	size_t nr_limits;
};
void diff_chart_cumulative(const struct diff_chart *c, struct buf *out);
void diff_chart_histogram(const struct diff_chart *c, struct buf *out);

/* A task, interrupt or softirq by its name. */
void diff_put_who(enum diff_layer layer, const char *name, int64_t pid, struct buf *out);
/* The CPUs around a case. */
void diff_timeline(const struct diff_case *c, uint64_t around, bool ticks, struct buf *out);

#endif
