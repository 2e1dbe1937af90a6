/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's current settings (a buffer's events, their filters and triggers, its options;
 * dynamic events), and resetting a buffer.
 */
#ifndef TRACEFS_STATE_H
#define TRACEFS_STATE_H

#include "tracefs/tracefs.h"

/*
 * How much of "events", "events/SYSTEM" or "events/SYSTEM/EVENT" is on: '0' nothing, '1' all, 'X' a
 * part, '?' when it cannot be read.
 */
char state_enabled(const struct tracefs *fs, const char *instance, const char *dir);

/* Calls found() for every event whose file ("filter", "trigger") says something. */
int state_each_event(const struct tracefs *fs, const char *instance, const char *file,
		     int (*found)(void *arg, const struct tracefs_event *e, const char *text),
		     void *arg, struct spur_error *err);

/* Calls found() for every system of events, sorted; "ftrace", which cannot be enabled, too. */
int state_each_system(const struct tracefs *fs, const char *instance,
		      int (*found)(void *arg, const char *system), void *arg,
		      struct spur_error *err);

/*
 * Calls found() for every option, sorted: "stacktrace" when it is on, "nostacktrace" when not.
 * Those of tracers that are not in use are among them.
 */
int state_each_option(const struct tracefs *fs, const char *instance,
		      int (*found)(void *arg, const char *option), void *arg,
		      struct spur_error *err);

/* Makes a text end with its last character that is no white space, and begin with its first. */
void state_trim(struct buf *text);

/* The CPUs a buffer may have, by their directories: the highest number plus one. */
unsigned int state_nr_cpus(const struct tracefs *fs, const char *instance);

/* Whether a mask as of tracing_cpumask ("f", "ffffffff,ffffffff") has all of the first n CPUs. */
bool state_mask_has_all(const char *mask, unsigned int n);

/* The mask of the first n CPUs. */
void state_mask_of_all(unsigned int n, struct buf *mask);

/* ---- dynamic events: probes and synthetic events that were added to the kernel ---- */

enum dynamic_kind {
	DYNAMIC_KPROBE,
	DYNAMIC_KRETPROBE,
	DYNAMIC_UPROBE,
	DYNAMIC_URETPROBE,
	DYNAMIC_EPROBE,
	DYNAMIC_SYNTH,
	DYNAMIC_FPROBE,	 /* of functions, and of tracepoints: "f" and "t" */
	DYNAMIC_FOREIGN, /* user_events and newer kinds: they are not removed */
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

/* Parses one line of that file in place; false if it is no event. */
bool dynamic_parse(char *line, struct dynamic_event *e);

/* The kind of that name ("kprobe", …), DYNAMIC_KINDS when there is none. */
enum dynamic_kind dynamic_kind_named(const char *name);

/*
 * Removes all events of kinds whose bit (1 << kind) is not set in `keep`, the last ones first.
 * Events that cannot be removed stay and are reported to left() (-EBUSY: an instance uses the
 * event). Returns how many were removed.
 */
int dynamic_remove_all(const struct tracefs *fs, unsigned int keep,
		       void (*left)(void *arg, const struct dynamic_event *e,
				    const struct spur_error *why),
		       void *arg, struct spur_error *err);

/*
 * Turns everything off: a buffer as it is after boot, without its data.
 *
 * Settings that are correct already are not written. If the kernel refuses the function tracer, its
 * files are not changed. All steps are done, even after errors; the first error is returned.
 * Options, sizes and dynamic events (see dynamic_remove_all()) stay.
 */
int reset_buffer(const struct tracefs *fs, const char *instance, struct spur_error *err);

/* Empties the ring buffer. */
int reset_trace(const struct tracefs *fs, const char *instance, struct spur_error *err);

#endif
