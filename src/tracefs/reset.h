/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turning everything off: a buffer as it is after boot, without its data.
 *
 * Nothing is written that says already what it should; on a kernel that refuses the function tracer
 * its files are left alone. Every step is done whatever became of the ones before it; the first
 * error is returned.
 */
#ifndef TRACEFS_RESET_H
#define TRACEFS_RESET_H

#include "tracefs/tracefs.h"

/* One buffer. Options and sizes stay, dynamic events too: dynamic_remove_all(). */
int reset_buffer(const struct tracefs *fs, const char *instance, struct spur_error *err);

/* Empties the ring buffer. */
int reset_trace(const struct tracefs *fs, const char *instance, struct spur_error *err);

/*
 * Removes the instances whose process is gone (instance_is_leftover()), each told to removed(). One
 * that somebody still reads from stays.
 */
int reset_leftovers(const struct tracefs *fs, void (*removed)(void *arg, const char *instance),
		    void *arg, struct spur_error *err);

#endif
