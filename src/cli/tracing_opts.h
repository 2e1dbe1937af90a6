/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that say what to trace, common to all commands that set up the kernel: record, start,
 * set, stream, profile.
 */
#ifndef CLI_TRACING_OPTS_H
#define CLI_TRACING_OPTS_H

#include "base/vec.h"
#include "cli/cli.h"
#include "record/session.h"
#include "tracefs/tracefs.h"

/* The first member of the options of every such command. */
struct tracing_options {
	struct request request;
	bool exclude;  /* -v: events that follow are left out … */
	bool excludes; /* … and there were some */
	bool force;
	int64_t max_graph_depth, cmdlines; /* as given; tracing_check() copies them */

	/* Instances that -v says are to be removed, and whether that is what the command does. */
	struct string_refs removed;
	bool removes;

	/* Texts made for the request. */
	vec_of(char *) owned;
};

#define NR_TRACING_OPTS 42
extern const struct opt tracing_opts[NR_TRACING_OPTS];

/* For session_options.note. */
void tracing_note(void *arg, const char *text);

/*
 * What follows the options is a command, which -F and --user need. SPUR_OK, or a status after a
 * message.
 */
int tracing_command(struct tracing_options *w, const char *user, int others, char **argv);

/* The same for a session, which is also told of --force. */
int tracing_session(struct tracing_options *w, struct session_options *s, int others, char **argv);

/* After the options have been read: whether they make sense. 0, or a status after a message. */
int tracing_check(struct tracing_options *w);

/* Whether there is anything to record. 0, or a status after a message. */
int tracing_anything(const struct tracing_options *w);

/*
 * Adds the events that hooks connect and, with `all`, all that a profile is made of. 0, or a status
 * after a message.
 */
int tracing_profile(struct tracing_options *w, const struct tracefs *fs,
		    const struct string_refs *hooks, bool all);

/* For the release() of these commands. */
void tracing_free(void *options);

#endif
