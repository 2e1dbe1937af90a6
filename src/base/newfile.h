/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that appears under its name when it is complete, and not before.
 *
 * It is written beside its final place and renamed: whoever reads the old file goes on doing so (it
 * may even be what the new one is made from), and one that was given up leaves nothing behind. What
 * a process that was killed has left, the next one that writes the same file removes; see beside.h.
 */
#ifndef BASE_NEWFILE_H
#define BASE_NEWFILE_H

#include <stddef.h>

#include <spur/error.h>

struct newfile {
	char *path; /* where it will be; owned. NULL: there is none */
	char *temp; /* where it is being written; owned */
	int lock;   /* a descriptor of temp that holds its lock; -1: there is none */
};

/*
 * Creates the file and returns a descriptor open for reading and writing, which is the caller's, or
 * a negative errno. A file that will be replaced passes on its permissions; a link is followed.
 */
int newfile_create(struct newfile *f, const char *path, struct spur_error *err);

/* Gives it its name, once everything has been written. On failure it is removed. */
int newfile_keep(struct newfile *f, struct spur_error *err);

/* All of it: a file of these bytes under that name. */
int newfile_write(const char *path, const void *data, size_t len, struct spur_error *err);

/* Removes it, unless it has been kept. */
void newfile_drop(struct newfile *f);

#endif
