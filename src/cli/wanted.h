/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that say what to trace, common to all commands that set up the kernel: record, start,
 * set, stream, profile.
 */
#ifndef CLI_WANTED_H
#define CLI_WANTED_H

#include "cli/cli.h"
#include "record/session.h"
#include "tracefs/tracefs.h"

/* The first member of the options of every such command. */
struct wanted {
	struct request request;
	bool exclude;  /* -v: events that follow are left out … */
	bool excludes; /* … and there were some */
	bool force;
	int64_t max_graph_depth, cmdlines; /* as given; wanted_check() takes them over */

	/* Instances that -v says are to be removed, and whether that is what the command does. */
	struct request_names removed;
	bool removes;

	/* Texts made for the request. */
	struct {
		char **at;
		size_t n, cap;
	} owned;
};

#define NR_WANTED_OPTS 42
extern const struct opt wanted_opts[NR_WANTED_OPTS];

/* For session_options.note. */
void wanted_note(void *arg, const char *text);

/* What follows the options is a command; a status after a message when one is missing. */
int wanted_command(struct wanted *w, struct session_options *s, int others, char **argv);

/* After the options have been read: whether they make sense. 0, or a status after a message. */
int wanted_check(struct wanted *w);

/* Whether there is anything to record. 0, or a status after a message. */
int wanted_anything(const struct wanted *w);

/*
 * Adds the events that hooks connect and, with `all`, all that a profile is made of. 0, or a status
 * after a message.
 */
int wanted_profile(struct wanted *w, const struct tracefs *fs, const struct request_names *hooks,
		   bool all);

void wanted_free(struct wanted *w);

#endif
