/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What commands share that ask a trace: the file, and which part of it the answer is about.
 *
 * struct range_options is the first member of the command's options; its struct command has
 * `.shared = range_opts, .nr_shared = RANGE_OPTS`.
 */
#ifndef CLI_RANGE_H
#define CLI_RANGE_H

#include "table/walk.h"
#include "cli/cpus.h"
#include "cli/globs.h"
#include "cli/progress.h"

struct range_options {
	const char *input;
	const char *since, *until;
	struct cpu_list cpus;
	struct {
		const char **at; /* "100,200-210" */
		size_t n, cap;
	} pids;
	struct globs comms;
	struct progress progress;
};

#define RANGE_OPTS 6
extern const struct opt range_opts[RANGE_OPTS];

void range_free(struct range_options *r);

/* Time and CPUs for a walk, with progress on a terminal and Ctrl-C. -EINVAL with words. */
int range_walk(struct range_options *r, struct walk_options *w, struct spur_error *err);

/* Whether only a part was asked for: nothing in that says nothing about the whole. */
bool range_is_part(const struct range_options *r);

/* Whether a task is one that was asked for; everybody is when nobody was. comm may be NULL. */
bool range_task(const struct range_options *r, int64_t pid, const char *comm);

#endif
