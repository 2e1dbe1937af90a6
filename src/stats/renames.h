/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that tasks get while a feed is read. A slice has the name that the task had when it got the
 * CPU; what happens in the middle of it may belong to a later name.
 *
 * Private to src/stats.
 */
#ifndef STATS_RENAMES_H
#define STATS_RENAMES_H

#include "base/intern.h"
#include "base/vec.h"
#include "table/feed.h"

struct renaming;

struct renames {
	const struct events *events;
	struct intern names;
	vec_of(struct renaming) all; /* in order of time */
	int rc;			     /* -ENOMEM: some are missing */
};

void renames_init(struct renames *r, const struct events *ev);
void renames_free(struct renames *r);

/* Collects what is read by a feed that has not begun. */
void renames_watch(struct renames *r, struct feed *f);

/*
 * The last name that a task got from one time to another, including both; NULL: it got none. Lives
 * as long as `r`.
 */
const char *renames_last(const struct renames *r, int64_t pid, uint64_t from, uint64_t to);

/* Gives `take` the records that comm_given() is about. */
void watch_renames(struct feed *f,
		   void (*take)(void *arg, struct event *e, const struct spur_record *rec),
		   void *arg);

#endif
