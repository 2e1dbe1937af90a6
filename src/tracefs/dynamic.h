/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that somebody has added to the kernel: probes, and synthetic events. */
#ifndef TRACEFS_DYNAMIC_H
#define TRACEFS_DYNAMIC_H

#include "tracefs/tracefs.h"

enum dynamic_kind {
	DYNAMIC_KPROBE,
	DYNAMIC_KRETPROBE,
	DYNAMIC_UPROBE,
	DYNAMIC_URETPROBE,
	DYNAMIC_EPROBE,
	DYNAMIC_SYNTH,
	DYNAMIC_FPROBE,	 /* of functions, and of tracepoints: "f" and "t" */
	DYNAMIC_FOREIGN, /* user_events and what is newer than this: left to those who made them */
	DYNAMIC_KINDS,
};

struct dynamic_event {
	enum dynamic_kind kind;
	const char *group, *name; /* in the list's memory */
};

/* In the order in which they were made. */
struct dynamic_events {
	struct dynamic_event *at;
	size_t n, cap;
	char *text; /* owned */
};

/* What dynamic_events says; an empty list where the kernel has no such file. */
int dynamic_load(const struct tracefs *fs, struct dynamic_events *list, struct spur_error *err);
void dynamic_free(struct dynamic_events *list);

/* One line of that file, which is taken apart in place; false when it is no event. */
bool dynamic_parse(char *line, struct dynamic_event *e);

/* The kind of that name ("kprobe", …), DYNAMIC_KINDS when there is none. */
enum dynamic_kind dynamic_kind_named(const char *name);

/*
 * Removes all that `keep` does not have a bit (1 << kind) for, the last ones first. Those that
 * cannot be removed stay and are told to left(): -EBUSY are used by an instance. The number of
 * those that were removed.
 */
int dynamic_remove_all(const struct tracefs *fs, unsigned int keep,
		       void (*left)(void *arg, const struct dynamic_event *e,
				    const struct spur_error *why),
		       void *arg, struct spur_error *err);

#endif
