/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks: pairs of events that begin and end something, written by a user or stored in a trace.
 *
 *	[SYSTEM:]EVENT,FIELD[,PID_FIELD]/[SYSTEM:]EVENT,FIELD[,FLAGS]
 *
 * The end belongs to the last beginning whose FIELD had the same value. Both events must come from
 * the same task unless the flags say otherwise: PID_FIELD names the field that holds the task of
 * the first event. Flags, in either case: p, both happen on one CPU; g, they do not belong to a
 * task; s, asks the recorder for stacks.
 */
#ifndef STATS_PROFILE_HOOK_H
#define STATS_PROFILE_HOOK_H

#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#include "base/buf.h"
#include "dat/dat.h"

#define HOOK_MAX 1024 /* bytes of a hook, its NUL included */

struct hook_event {
	const char *system; /* NULL: any */
	const char *name;
	const char *field;
};

struct hook {
	struct hook_event start, end;
	const char *pid;   /* field of start with the task, or NULL */
	const char *flags; /* as written, or NULL */
	bool pinned, global;
	char unknown_flag;   /* one that means nothing, or 0 */
	char text[HOOK_MAX]; /* what the others point into: do not copy a hook */
};

/* -EINVAL with words when the text is no hook. It need not be terminated. */
int hook_parse(struct hook *h, const char *text, size_t len, struct spur_error *err);

/* Appends the line that trace-cmd shows for every hook before anything else. */
void hook_put(const struct hook *h, struct buf *out);

/* The same for all of some texts; -EINVAL with words when one is no hook. */
int hook_put_all(const char *const *texts, size_t n, struct buf *out, struct spur_error *err);

/* The same for all hooks stored in a file; what is no hook is left out. */
void hook_put_stored(const struct dat *d, struct buf *out);

#endif
