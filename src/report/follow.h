/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report of traces that are still being recorded: what is known to be complete is emitted, again
 * and again, and nothing is parsed or learned twice.
 *
 * The text is that of a report over all of it, with one exception: a function whose return is the
 * next event in its buffer, but has not come for some rounds, is shown as one that calls others.
 */
#ifndef REPORT_FOLLOW_H
#define REPORT_FOLLOW_H

#include "report/report.h"

struct follow;

/* The report's sources share a clock and get their pages from feeds (dat.h). It must stay. */
int follow_new(const struct report *rep, struct follow **out);
void follow_free(struct follow *f);

/* Whom to ask for names of tasks: see overlay_ask(). */
void follow_ask(struct follow *f, bool (*ask)(void *arg, int pid, char *name, size_t cap),
		void *arg);

/*
 * Puts the names of tasks learned so far into the tables of their traces and forgets all that was
 * kept about them: before those tables are changed.
 */
void follow_forget(struct follow *f);

/*
 * Emits the records up to that time, all of which are there by now, and writes them. 1 when the
 * report's head has been shown, 0, or a negative errno as report_run().
 */
int follow_emit(struct follow *f, uint64_t until);

/* The same with all that is left, when nothing will come any more. */
int follow_end(struct follow *f);

#endif
