/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/record: small instances beside the recording, whose events the recorder reads
 * itself. They are in the undo log.
 */
#ifndef RECORD_SIDE_H
#define RECORD_SIDE_H

#include "event/event.h"
#include "ring/ring.h"
#include "tracefs/undo.h"

#define SIDE_NAME_CAP 64

struct side {
	const struct tracefs *fs;
	char instance[SIDE_NAME_CAP];
	struct events *events;
	struct {
		char **at;
		size_t n, cap;
	} formats;
	int *fds; /* one per CPU */
	uint32_t nr_fds;
	struct ring_layout layout;
	uint8_t *page;
};

/*
 * Makes an instance named after its owner and `what`, with that clock and so many kB for each CPU,
 * 0: as many as the kernel gives it. side_free() also after a failure; the undo log removes the
 * instance.
 */
int side_make(struct side *s, const struct tracefs *fs, struct undo *undo, const char *what,
	      const char *clock, uint32_t kb, struct spur_error *err);

/* Reads the format of an event and turns it on; NULL when the kernel does not have it. */
struct event *side_add(struct side *s, const char *system, const char *name,
		       struct spur_error *err);

/* Opens the buffers of these CPUs, once all events have been added. */
int side_open(struct side *s, const uint32_t *cpus, uint32_t nr, struct spur_error *err);

/* Calls fn for every available record, CPU by CPU; returns how many the kernel has lost. */
uint64_t side_read(struct side *s, void (*fn)(void *arg, const struct spur_record *r), void *arg);

void side_free(struct side *s);

/*
 * Watches for tasks that wait too long for their CPU: one such instance records wake-ups and
 * switches with the monotonic clock; a thread follows them and reports when a woken task ran later
 * than allowed.
 */
struct watch;
struct watch_hit;

/* Sets up the instance; the log removes it. */
int watch_new(const struct tracefs *fs, struct undo *undo, const uint32_t *cpus, uint32_t nr_cpus,
	      uint64_t limit, struct watch **out, struct spur_error *err);
int watch_start(struct watch *w, struct spur_error *err);

/* Becomes readable when a task has waited too long. */
int watch_event(const struct watch *w);
void watch_result(const struct watch *w, struct watch_hit *hit);

/* Ends the thread. */
void watch_free(struct watch *w);

#endif
