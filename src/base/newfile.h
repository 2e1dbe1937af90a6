/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file or a folder that appears under its name when it is complete, and not before.
 *
 * It is written under a temporary name in the same folder and then renamed. Readers of the old file
 * can continue to read it, even to make the new one from it. If writing fails, the temporary file
 * is removed. If the process is killed, the next process that writes the same output removes it.
 */
#ifndef BASE_NEWFILE_H
#define BASE_NEWFILE_H

#include <stddef.h>
#include <sys/types.h>

#include <spur/error.h>

struct newfile {
	char *path; /* the final path; owned; NULL: nothing is being written */
	char *temp; /* the temporary path; owned */
	int lock;   /* a descriptor of temp that holds its lock, or -1 */
};

/*
 * Creates the file and returns a descriptor for reading and writing, which the caller closes, or a
 * negative errno. The new file gets the permissions of the file that it replaces; symbolic links
 * are followed.
 */
int newfile_create(struct newfile *f, const char *path, struct spur_error *err);

/*
 * The same for a folder, which the caller fills below f->temp. 0 or a negative errno: -EEXIST if
 * there is a file of this name, or a folder that is not empty. Such a folder is never replaced,
 * because it may contain other files.
 */
int newfolder_create(struct newfile *f, const char *path, struct spur_error *err);

/* Renames it to its final name, after everything has been written. On failure it is removed. */
int newfile_keep(struct newfile *f, struct spur_error *err);

/* Keeps it, or drops it after a failure `rc`, which is passed on. */
int newfile_end(struct newfile *f, int rc, struct spur_error *err);

/* All steps: creates a file with this content. */
int newfile_write(const char *path, const void *data, size_t len, struct spur_error *err);

/* Removes it with all of its content, unless newfile_keep() was called. */
void newfile_drop(struct newfile *f);

/* ---- temporary names ---- */

/*
 * Removes what killed processes have left for this path, then creates a temporary file or folder
 * for it. Returns a descriptor that holds the lock (of a file: open for reading and writing) or a
 * negative errno. *temp is its name; the caller frees it.
 */
int beside_file(const char *path, mode_t mode, char **temp);
int beside_folder(const char *path, char **temp);

/* Removes a file, or a folder with all of its content. */
void beside_remove(const char *temp);

#endif
