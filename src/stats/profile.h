/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles (`report --profile`): per task, how often every event came and how long what it began
 * took: scheduled out, waiting to run, in a system call, an interrupt, a function.
 *
 * Every buffer of every trace is profiled by itself. What is printed has one order whatever the
 * order in which records came:
 *
 * - buffers in the order of the traces, each with: what belongs to all tasks, then to each CPU,
 *   groups of tasks by name (by_comm), tasks by pid;
 * - within a task sched_switch by state, then sched_wakeup, then events by id; those of one id by
 *   total time, count (larger first) and value;
 * - callers of an event by time, then by count.
 *
 * The text is trace-cmd's, line by line; trace-cmd leaves the order of groups and of equal times to
 * chance. Memory grows with the number of distinct tasks, events, values and stacks and ends at a
 * limit: what comes beyond it is counted as dropped and otherwise ignored.
 */
#ifndef STATS_PROFILE_H
#define STATS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "report/emit.h"
#include "scan/select.h"
#include "scan/trace.h"

struct profile;

struct profile_options {
	bool global;  /* interrupts belong to their CPU and not to the task they hit */
	bool by_comm; /* tasks of one name are counted together */

	const char *const *hooks; /* further pairs of events, see hook.h; in the order given */
	size_t nr_hooks;

	/* Names of the traces, shown when there are several; as many as traces, or NULL. The
	   strings must stay. */
	const char *const *names;

	size_t memory_limit; /* 0: 256 MiB */

	/* Called with what cannot be done although the profile continues; may be NULL. */
	void (*warn)(void *arg, const char *text);
	void *warn_arg;
};

/*
 * A profile of these traces, which must stay open. Pairs of events stored in a trace (its HOOK
 * options) count as well. NULL with the reason in err: -EINVAL when an option makes no sense.
 */
struct profile *profile_new(struct spur_trace *const *traces, size_t n,
			    const struct profile_options *opt, struct spur_error *err);
void profile_free(struct profile *p);

/*
 * Takes a record, of which the event type may be NULL. Records of one trace come in time order; the
 * record's bytes are not needed afterwards.
 */
void profile_record(struct profile *p, const struct spur_trace *t, struct event *e,
		    const struct spur_record *r);

/* What profile_run() reads. */
struct profile_input {
	const struct emit_source *sources; /* in merge order */
	size_t nr_sources;
	const struct selection *select; /* NULL: all records */
	const volatile int *stop;	/* when it becomes non-zero reading ends; may be NULL */
};

/* Takes all records that are selected. 0, -EINTR after a stop, or -ENOMEM with words in err. */
int profile_run(struct profile *p, const struct profile_input *in, struct spur_error *err);

/* How much was left out because the memory limit was reached; 0 in all sane cases. */
uint64_t profile_dropped(const struct profile *p);

/* Appends the text; to be called once, after which nothing may be recorded. */
void profile_print(struct profile *p, struct buf *out);

#endif
