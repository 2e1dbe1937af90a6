/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The owner of something in the kernel: the names of everything that spur makes there for a while
 * contain its process.
 *
 *	tag       PID.START, and .PIDNS.TIMENS unless both are the machine's first ones
 *	          START: when it was started, as /proc/PID/stat has it; these three in hex
 *	instance  spur-TAG, spur-TAG-SUFFIX
 *	group     spur_TAG of probes, with _ for each dot
 *
 * A process with the same pid but another start time is another process. Pids of other namespaces
 * mean nothing here, so it is unknown whether their processes live. But the first namespace knows
 * whether another one has any process.
 */
#ifndef TRACEFS_OWNER_H
#define TRACEFS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracefs/tracefs.h"

#define OWNER_TAG_CAP 64

struct owner {
	pid_t pid;
	uint64_t start;		/* 0: not known */
	uint64_t pidns, timens; /* 0: not known */
};

enum owner_state { OWNER_ALIVE, OWNER_DEAD, OWNER_UNKNOWN };

/* This process. */
void owner_self(struct owner *o);
enum owner_state owner_state(const struct owner *o);

void owner_tag(const struct owner *o, char *tag, size_t cap);

/* Reads a tag, which ends the text or is followed by `-`. False if it is no tag. */
bool owner_parse(const char *tag, struct owner *o);

/* The name of an instance of this process. The suffix may be "". */
void owner_instance(char *name, size_t cap, const char *suffix);

/* The name of a group of probes of this process. */
void owner_group(char *name, size_t cap);

/* The owner of a group of probes; false if it is not one of spur's. */
bool owner_of_group(const char *group, struct owner *o);

/* The kernel's name for the time since it was booted; "" when it has none. */
void owner_boot(char *boot, size_t cap);

/* ---- instances ---- */

/* Names, sorted; each is owned. */
struct instances {
	char **at;
	size_t n, cap;
};

/*
 * Loads all instances; it is no error if there are none, or if the kernel does not have the
 * feature.
 */
int instances_load(const struct tracefs *fs, struct instances *list, struct spur_error *err);
void instances_free(struct instances *list);

/* The process an instance was made by and for (see the top); 0 for any other name. */
pid_t instance_owner(const char *name);

/*
 * Whether it belongs to a process that is dead, as is its guardian: both were killed. False if that
 * is unknown.
 */
bool instance_is_leftover(const char *name);

/* The same, but only if that is certain, and there is no undo log that says what to do with it. */
bool instance_is_orphan(const char *name);

#endif
