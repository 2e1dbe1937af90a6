/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report of traces that are still being recorded: emits, repeatedly, the records that are known
 * to be complete. Nothing is parsed or learned twice.
 *
 * The text is that of a report over all of it, with one exception: a function whose return is the
 * next event in its buffer, but has not come for some rounds, is shown as one that calls others.
 */
#ifndef REPORT_FOLLOW_H
#define REPORT_FOLLOW_H

#include "report/report.h"

struct follow;

/*
 * The report's sources have the same clock and get their pages from feeds (dat.h). The report must
 * outlive the result.
 */
int follow_new(const struct report *rep, struct follow **out);
void follow_free(struct follow *f);

/* Sets a function that knows names of tasks: see overlay_ask(). */
void follow_ask(struct follow *f, bool (*ask)(void *arg, int pid, char *name, size_t cap),
		void *arg);

/*
 * Adds the names of tasks learned so far to the tables of their traces and clears caches of names;
 * to be called before those tables are changed.
 */
void follow_forget(struct follow *f);

/*
 * Emits the records up to that time, all of which are there by now, and writes them. 1 when `head`
 * records have been emitted, 0, or a negative errno as from report_run().
 */
int follow_emit(struct follow *f, uint64_t until);

/* The same for all remaining records, when no more will come. */
int follow_end(struct follow *f);

#endif
