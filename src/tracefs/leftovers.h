/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leftovers in the kernel of processes that were killed together with their guardians: undo logs
 * (journal.h) without a lock.
 *
 * A list holds the locks of its logs. So only one process cleans up a log, and meanwhile the log
 * looks as if its owner was alive.
 */
#ifndef TRACEFS_LEFTOVERS_H
#define TRACEFS_LEFTOVERS_H

#include "tracefs/owner.h"
#include "tracefs/tracefs.h"
#include "tracefs/undo.h"

struct backs;
struct dynamic_event;

struct leftover {
	struct owner owner;
	char tag[OWNER_TAG_CAP];		    /* of the owner */
	char *note;				    /* of undo_note(), "" for none */
	size_t nr_settings, nr_instances, nr_lines; /* lines: probes and triggers */
	int fd;
	char path[96];
	struct backs *backs;
};

struct leftovers {
	struct leftover *at;
	size_t n, cap;
};

/*
 * Loads all leftovers of this tracefs. Removes logs of an earlier boot. 0 also if there is no
 * folder of logs.
 */
int leftovers_load(const struct tracefs *fs, struct leftovers *list, struct spur_error *err);
void leftovers_free(struct leftovers *list);

/*
 * Undoes the changes in a log and removes the log; on failure the log stays. A setting that was
 * changed since then stays, and is reported to left().
 */
int leftover_undo(struct leftover *l, const struct tracefs *fs,
		  void (*left)(void *arg, const char *instance, const char *file), void *arg,
		  struct spur_error *err);

/*
 * Removes the instances whose process is dead (instance_is_leftover()) and calls removed() for
 * each. An instance that a process still reads stays.
 */
int leftovers_instances(const struct tracefs *fs, void (*removed)(void *arg, const char *instance),
			void *arg, struct spur_error *err);

/* Whether a probe's owner is dead and has no log. */
bool probe_is_leftover(const struct dynamic_event *e);

/* Removes probes that are leftovers, and calls removed() for each. A probe in use stays. */
int leftovers_probes(const struct tracefs *fs, void (*removed)(void *arg, const char *probe),
		     void *arg, struct spur_error *err);

/*
 * Removes the instances and probes whose owner is certainly dead and has no log, and calls
 * removed() for each. Errors do not matter: what stays is listed by `spur check`.
 */
void leftovers_orphans(const struct tracefs *fs, void (*removed)(void *arg, const char *name),
		       void *arg);

/* "process 12: 1 instance, 2 settings" */
void leftover_describe(const struct leftover *l, char *text, size_t cap);

/*
 * The event bpf_trace:bpf_trace_printk, which the kernel itself turns on for programs that write to
 * the trace buffer, and leaves on.
 *
 * All processes with such programs share a note that it was off, a file in /run/spur. Each of them
 * holds a lock on the file, and the last one turns the event off. A note without a lock was left by
 * killed processes.
 */
struct kernelswitch {
	int fd; /* -1: the event is not changed */
};

/* To be called before the kernel turns it on. */
void kernelswitch_begin(struct kernelswitch *s, const struct tracefs *fs);

/* wait: the kernel has turned it on, or will do so soon. */
void kernelswitch_end(struct kernelswitch *s, const struct tracefs *fs, bool wait);

/* Whether its users were killed. */
bool kernelswitch_is_left(void);

/* Turns it off if its users were killed. Returns whether it did. */
bool kernelswitch_clean(const struct tracefs *fs);

#endif
