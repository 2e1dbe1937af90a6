/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder that appears under its name when all of its files are complete, and not before.
 *
 * It is filled beside its final place and renamed, as newfile.h does with a file. A folder that has
 * something in it is never replaced: who knows what else is kept there.
 */
#ifndef BASE_NEWFOLDER_H
#define BASE_NEWFOLDER_H

#include <spur/error.h>

struct newfolder {
	char *path; /* where it will be; owned. NULL: there is none */
	char *temp; /* where it is being filled; owned */
	int lock;   /* a descriptor of temp that holds its lock */
};

/* 0 or a negative errno: -EEXIST when there is such a folder, or a file. */
int newfolder_create(struct newfolder *f, const char *path, struct spur_error *err);

/* Gives it its name. On failure it is removed. */
int newfolder_keep(struct newfolder *f, struct spur_error *err);

/* Removes it with all that is in it, unless it has been kept. */
void newfolder_drop(struct newfolder *f);

#endif
