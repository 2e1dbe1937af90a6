/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Temporary files and folders for output that is not complete yet: ".NAME.PID-N", in the folder of
 * the final name.
 *
 * The writer holds a lock (flock) on it until it is done. One without a lock was left by a process
 * that was killed; the next process that writes the same output removes it.
 */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H

#include <sys/types.h>

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
