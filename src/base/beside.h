/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is being written, beside the place where it will be: ".NAME.PID-N" in the same folder.
 *
 * Whoever writes holds a lock (flock) on it for as long. What nobody holds was left by a process
 * that was killed, and the next one that writes to the same place removes it.
 */
#ifndef BASE_BESIDE_H
#define BASE_BESIDE_H

#include <sys/types.h>

/*
 * Removes what killed processes have left beside the path, then creates a file or a folder there.
 * Returns a descriptor that holds the lock, of a file one for reading and writing, or a negative
 * errno; *temp is its name, which the caller frees.
 */
int beside_file(const char *path, mode_t mode, char **temp);
int beside_folder(const char *path, char **temp);

/* Removes a file, or a folder with all that is in it. */
void beside_remove(const char *temp);

#endif
