/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watching for a task that has to wait for its CPU.
 *
 * An instance of its own records wake-ups and switches with the monotonic clock; a thread follows
 * them and tells when a task that was woken ran later than allowed.
 */
#ifndef RECORD_WATCH_H
#define RECORD_WATCH_H

#include "tracefs/undo.h"

struct watch;

/* What was seen. */
struct watch_hit {
	int pid;
	uint64_t ns; /* between waking and running */
};

/* Sets up the instance; the log removes it. */
int watch_new(const struct tracefs *fs, struct undo *undo, const uint32_t *cpus, uint32_t nr_cpus,
	      uint64_t limit, struct watch **out, struct spur_error *err);
int watch_start(struct watch *w, struct spur_error *err);

/* Readable once there was a hit. */
int watch_event(const struct watch *w);
void watch_result(const struct watch *w, struct watch_hit *hit);

/* Ends the thread. */
void watch_free(struct watch *w);

#endif
