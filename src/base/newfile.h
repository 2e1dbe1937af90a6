/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file or a folder that appears under its name when it is complete, and not before.
 *
 * It is written beside its final place and renamed. Whoever reads the old file goes on doing so (it
 * may even be what the new one is made from), and nothing is left of one that was given up. What a
 * process that was killed has left, the next one that writes the same output removes.
 */
#ifndef BASE_NEWFILE_H
#define BASE_NEWFILE_H

#include <stddef.h>
#include <sys/types.h>

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

/*
 * The same for a folder, which is filled below f->temp. 0 or a negative errno: -EEXIST when there
 * is such a folder with something in it, or a file. Such a folder is never replaced, because it may
 * have other things in it.
 */
int newfolder_create(struct newfile *f, const char *path, struct spur_error *err);

/* Gives it its name, once everything has been written. On failure it is removed. */
int newfile_keep(struct newfile *f, struct spur_error *err);

/* All of it: a file of these bytes under that name. */
int newfile_write(const char *path, const void *data, size_t len, struct spur_error *err);

/* Removes it with all that is in it, unless it has been kept. */
void newfile_drop(struct newfile *f);

/* ---- temporary names ---- */

/*
 * Removes what killed processes have left for this path, then creates a file or a folder for it.
 * Returns a descriptor that holds the lock (of a file: open for reading and writing) or a negative
 * errno. *temp is its name; the caller frees it.
 */
int beside_file(const char *path, mode_t mode, char **temp);
int beside_folder(const char *path, char **temp);

/* Removes a file, or a folder with all that is in it. */
void beside_remove(const char *temp);

#endif
