/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading and writing files whole or in place, and temporary ones. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include <spur/error.h>

#include "base/buf.h"

/*
 * Appends all of a file, and terminates the buffer's content. The size a file says it has does not
 * matter: those of /proc and /sys say 0. -EFBIG when it does not fit into the buffer's limit.
 */
int file_read(const char *path, struct buf *to, struct spur_error *err);

/* The same of one that is open and stays so; the path is for the message. */
int file_read_fd(int fd, const char *path, struct buf *to, struct spur_error *err);

/* Writes all of it, however many turns that takes. 0 or a negative errno. */
int file_write_fd(int fd, const void *data, size_t len);

/* Reads from a place on, up to the end of the file: how many bytes, or a negative errno. */
int64_t file_read_at(int fd, void *to, size_t len, uint64_t at);

/* Writes all of it to a place. 0 or a negative errno; `done` (may be NULL): how much is written. */
int file_write_at(int fd, const void *data, size_t len, uint64_t at, size_t *done);

/* Appends all of a file to another one, from its beginning on. 0 or a negative errno. */
int file_copy(int from, int to);

/* A file without a name in a folder: it is gone when it is closed. A negative errno: none. */
int file_nameless(const char *folder);

/*
 * Makes a new folder below $TMPDIR or /tmp; its name begins with the prefix. 0 or a negative errno,
 * and path is what was tried.
 */
int file_make_folder(const char *prefix, char *path, size_t cap);

/* $TMPDIR if that is an absolute path, else /tmp. */
const char *file_temp(void);

/*
 * The same, open. -EPERM for root when others could put something else in the place of what root
 * makes there: it is somebody else's, or not sticky.
 */
int file_open_temp(void);

/*
 * Makes a new folder in an open one, for its owner only; its name begins with the prefix. It is
 * open: whatever happens to its name, the descriptor is that folder. Or a negative errno.
 */
int file_make_folder_at(int in, const char *prefix, char *name, size_t cap);

/*
 * A name beside a file or folder: the path with this ending instead of its own, "a/trace.txt" and
 * "a/trace/" become "a/trace.dat". To be freed; NULL without memory.
 */
char *file_other_ending(const char *path, const char *ending);

/*
 * "$VARIABLE/spur/FILE" where the variable (XDG_CONFIG_HOME, ...) is an absolute path, otherwise
 * "$HOME/BELOW_HOME/spur/FILE"; false when there is neither.
 */
bool file_of_user(const char *variable, const char *below_home, const char *file, struct buf *path);

/* Makes the folders that lead to a path. Opening the path shows whether that worked. */
void file_make_parents(const char *path, mode_t mode);

/*
 * Locks a file for its only writer, until it is closed everywhere. -EBUSY, with words for the
 * message, when another process writes it; a file system without locks is no reason to fail.
 */
int file_lock(int fd, struct spur_error *err);

/* The same answer for one who will not write to it; any number may ask at a time. */
int file_check_lock(int fd, struct spur_error *err);

/* Whether two paths are one file or one folder; devices may be read and written at once. */
bool file_is_same(const char *a, const char *b);

#endif
