/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: the options of `spur record` and what becomes of them. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "cli/wanted.h"
#include "record/session.h"

struct record_options {
	struct wanted wanted;
	struct session_options session;
	const char *output, *compression;
	int64_t version, interval, priority, threads;
	int64_t rotate_keep;
	bool quiet, no_splice, daemonize, dry_run, verbose, to_stderr, profile, only_given,
		proc_map;
	bool global_irqs, by_comm, poll;
	struct request_names hooks;
	const char *temp;
};

#define NR_RECORD_OPTS 42
extern const struct opt record_opts[NR_RECORD_OPTS];

/* The live line and the summary. */
struct record_show {
	bool live;   /* on a terminal: a line that changes */
	bool shown;  /* it is there now */
	bool flight; /* what was overwritten is not lost but was not wanted */
	struct session_status before;
};

/* Has signals that end or save a recording arrive on descriptors. False after a message. */
bool record_listen(struct session_options *s);

void record_show_status(void *arg, const struct session_status *s);
void record_show_end(struct record_show *show, const struct session_result *res);

#endif
