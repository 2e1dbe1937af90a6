/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who has put something into the kernel: everything that spur leaves there for a while carries the
 * process it belongs to.
 *
 *	tag       PID.START, and .PIDNS.TIMENS unless both are the machine's first ones
 *	          START: when it was started, as /proc/PID/stat has it; these three in hex
 *	instance  spur-TAG, spur-TAG-SUFFIX
 *	group     spur_TAG of probes, with _ for each dot
 *
 * A process of the same number is another one when it was started at another time. Nothing can be
 * said about processes of other namespaces: their numbers mean nothing here.
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

/* Reads a tag up to its end, which may be followed by `-`. False: it is none. */
bool owner_parse(const char *tag, struct owner *o);

/* The name of an instance of this process. The suffix may be "". */
void owner_instance(char *name, size_t cap, const char *suffix);

/* The name of a group of probes of this process. */
void owner_group(char *name, size_t cap);

/* The owner of a group of probes; false: it is not one of spur's. */
bool owner_of_group(const char *group, struct owner *o);

/* The kernel's name for the time since it was booted; "" when it has none. */
void owner_boot(char *boot, size_t cap);

/* ---- instances ---- */

/* Names, sorted; each is owned. */
struct instances {
	char **at;
	size_t n, cap;
};

/* All instances; none is no error, nor is a kernel that has no instances. */
int instances_load(const struct tracefs *fs, struct instances *list, struct spur_error *err);
void instances_free(struct instances *list);

/* The process an instance was made by and for (see the top); 0 for any other name. */
pid_t instance_owner(const char *name);

/*
 * Whether it belongs to a process that is no longer, nor is its guardian: a recording was killed
 * with its guardian. False when that cannot be known.
 */
bool instance_is_leftover(const char *name);

#endif
