/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a buffer is set to: its events, their filters and triggers, its options. */
#ifndef TRACEFS_STATE_H
#define TRACEFS_STATE_H

#include "tracefs/tracefs.h"

/*
 * How much of "events", "events/SYSTEM" or "events/SYSTEM/EVENT" is on: '0' nothing, '1' all, 'X' a
 * part, '?' when it cannot be read.
 */
char state_enabled(const struct tracefs *fs, const char *instance, const char *dir);

/*
 * The text of an event's file, without white space at its ends: false when it cannot be read, or
 * says nothing but "none" or comments.
 */
bool state_event_text(const struct tracefs *fs, const char *instance, const struct tracefs_event *e,
		      const char *file, struct buf *text);

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

#endif
