/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A switch of tracefs that the kernel itself turns on for what a process does, and leaves on.
 *
 * All processes that use such a switch share a note that it was off, a file in /run/spur. Each of
 * them holds a lock on the file, and the last one turns the switch off. A note without a lock is
 * that of a process that was killed.
 */
#ifndef TRACEFS_KERNELSWITCH_H
#define TRACEFS_KERNELSWITCH_H

#include "tracefs/tracefs.h"

/* bpf_trace:bpf_trace_printk, turned on by programs that write to the trace buffer. */
#define KERNELSWITCH_PRINTK "events/bpf_trace/bpf_trace_printk/enable"

struct kernelswitch {
	int fd; /* -1: the switch is left alone */
};

/* Before the kernel turns it on. */
void kernelswitch_begin(struct kernelswitch *s, const struct tracefs *fs, const char *file);

/* With wait: the kernel is going to turn it on or has done so. */
void kernelswitch_end(struct kernelswitch *s, const struct tracefs *fs, const char *file,
		      bool wait);

/* Whether those that used it were killed. */
bool kernelswitch_is_left(const char *file);

/* Turns it off if those that used it were killed. Returns whether it did. */
bool kernelswitch_clean(const struct tracefs *fs, const char *file);

#endif
