/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes that were killed together with their guardians have left in the kernel: undo logs
 * (journal.h) without a lock.
 *
 * A list holds the locks of its logs. So no two processes clean up the same one, and while it is
 * cleaned up it looks as if its owner were alive.
 */
#ifndef TRACEFS_LEFTOVERS_H
#define TRACEFS_LEFTOVERS_H

#include "tracefs/owner.h"
#include "tracefs/tracefs.h"
#include "tracefs/undo.h"

struct backs;

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

/* All of this tracefs. Logs of another boot are removed. 0 also when there is no folder of logs. */
int leftovers_load(const struct tracefs *fs, struct leftovers *list, struct spur_error *err);
void leftovers_free(struct leftovers *list);

/*
 * Undoes what one log says and removes the log; on failure the log stays. A setting that was
 * changed since then stays, and left() is called with it.
 */
int leftover_undo(struct leftover *l, const struct tracefs *fs,
		  void (*left)(void *arg, const char *instance, const char *file), void *arg,
		  struct spur_error *err);

/*
 * Removes the instances whose process is gone (instance_is_leftover()), each told to removed(). One
 * that a process still reads stays.
 */
int leftovers_instances(const struct tracefs *fs, void (*removed)(void *arg, const char *instance),
			void *arg, struct spur_error *err);

/*
 * Removes probes whose owner is gone and has no log, each told to removed(). One that is in use
 * stays.
 */
int leftovers_probes(const struct tracefs *fs, void (*removed)(void *arg, const char *probe),
		     void *arg, struct spur_error *err);

/* "process 12: 1 instance, 2 settings" */
void leftover_describe(const struct leftover *l, char *text, size_t cap);

/*
 * The event bpf_trace:bpf_trace_printk, which the kernel itself turns on for programs that write to
 * the trace buffer, and leaves on.
 *
 * All processes with such programs share a note that it was off, a file in /run/spur. Each of them
 * holds a lock on the file, and the last one turns the event off. A note without a lock is that of
 * processes that were killed.
 */
struct kernelswitch {
	int fd; /* -1: the switch is left alone */
};

/* Before the kernel turns it on. */
void kernelswitch_begin(struct kernelswitch *s, const struct tracefs *fs);

/* With wait: the kernel is going to turn it on or has done so. */
void kernelswitch_end(struct kernelswitch *s, const struct tracefs *fs, bool wait);

/* Whether those that used it were killed. */
bool kernelswitch_is_left(void);

/* Turns it off if those that used it were killed. Returns whether it did. */
bool kernelswitch_clean(const struct tracefs *fs);

#endif
