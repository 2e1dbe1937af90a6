/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What commands that ask a trace share: the file, and which part of it the answer is about.
 *
 * struct range_options is the first member of the command's options; its struct command has
 * `.shared = range_opts, .nr_shared = RANGE_OPTS`.
 */
#ifndef CLI_RANGE_H
#define CLI_RANGE_H

#include "base/pattern.h"
#include "base/strings.h"
#include "cli/cli.h"
#include "cli/opts.h"
#include "table/walk.h"

/* A list of CPUs: "0,2-4". */
struct cpu_list {
	uint64_t *bits; /* NULL: none was given */
	uint32_t nr;	/* bits there are; CPUs beyond are not in the list */
};

/*
 * Adds CPUs separated by commas or colons, ranges upwards. Returns 0 or what an OPT_CALL returns.
 */
int cpu_list_add(struct cpu_list *list, const struct opt *opt, const char *arg);
void cpu_list_free(struct cpu_list *list);

/* Names in which * and ? stand for anything. */
struct globs {
	struct pattern *at;
	size_t n, cap;
};

/* Adds one; returns 0 or what an OPT_CALL returns. */
int globs_add(struct globs *g, const struct opt *opt, const char *arg);
void globs_free(struct globs *g);
bool globs_match(const struct globs *g, const char *name);

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

void range_free(struct range_options *r);

/* Time, CPUs and threads for a walk, with progress on a terminal and Ctrl-C. -EINVAL with words. */
int range_walk(struct range_options *r, struct walk_options *w, struct spur_error *err);

/* Whether only a part was asked for; an empty part says nothing about the whole trace. */
bool range_is_part(const struct range_options *r);

/* Whether a task was asked for; without --pid and --task every one was. comm may be NULL. */
bool range_task(const struct range_options *r, int64_t pid, const char *comm);

#endif
