/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What commands that ask a trace share: the file, and which part of it the answer is about.
 *
 * struct range_options is the first member of the command's options; its struct command has
 * COMMAND_SHARED(range_opts).
 */
#ifndef CLI_RANGE_H
#define CLI_RANGE_H

#include "cli/cli.h"
#include "cli/opts.h"
#include "table/walk.h"

struct range_options {
	const char *input;
	const char *since, *until;
	struct cpu_list cpus;
	struct string_refs pids; /* "100,200-210" */
	struct globs comms;
	int64_t threads; /* 0: one per CPU */
	struct progress progress;
};

#define RANGE_OPTS 7
extern const struct opt range_opts[RANGE_OPTS];

/*
 * Time, CPUs and threads for a walk, with progress on a terminal and Ctrl-C. The trace says how
 * times are counted. -EINVAL with words.
 */
int range_walk(struct range_options *r, const struct spur_trace *t, struct walk_options *w,
	       struct spur_error *err);

/* The two parts of that, for commands that open traces later or several; NULL: no trace. */
int range_walk_any(struct range_options *r, struct walk_options *w, struct spur_error *err);
int range_times(const struct range_options *r, const struct spur_trace *t, struct walk_options *w,
		struct spur_error *err);

/* Whether only a part was asked for; an empty part says nothing about the whole trace. */
bool range_is_part(const struct range_options *r);

/*
 * Whether a task was asked for; without --pid and --task every one was. comm may be NULL. `range`
 * is a struct range_options, so that this is a callback, too.
 */
bool range_task(const void *range, int64_t pid, const char *comm);

/* The same for what measures the running kernel. */
struct live_who;
struct live_who range_who(const struct range_options *r);

#endif
