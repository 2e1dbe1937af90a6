/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instances of tracefs, and whose they are. */
#ifndef TRACEFS_INSTANCES_H
#define TRACEFS_INSTANCES_H

#include <sys/types.h>

#include "tracefs/tracefs.h"

/* Names, sorted; each is owned. */
struct instances {
	char **at;
	size_t n, cap;
};

/* All instances; none is no error, nor is a kernel that has no instances. */
int instances_load(const struct tracefs *fs, struct instances *list, struct spur_error *err);
void instances_free(struct instances *list);

/* The process an instance was made by and for (see owner.h); 0 for any other name. */
pid_t instance_owner(const char *name);

/*
 * Whether it belongs to a process that is no longer, nor is its guardian: a recording was killed
 * with its guardian. False when that cannot be known.
 */
bool instance_is_leftover(const char *name);

#endif
