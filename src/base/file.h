/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading and writing files whole or in place, and temporary ones. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include <spur/error.h>

#include "base/buf.h"

/*
 * Appends all of a file, and terminates the buffer's content. The size from stat() is not used: it
 * is 0 for files of /proc and /sys. -EFBIG if the file is larger than the buffer's limit.
 */
int file_read(const char *path, struct buf *to, struct spur_error *err);

/* The same for an open file, which stays open; the path is for the message. */
int file_read_fd(int fd, const char *path, struct buf *to, struct spur_error *err);

/*
 * Reads up to cap - 1 bytes of a file below an open folder as a string, by one read(), which is
 * enough for the small files of /proc and /sys. The length or a negative errno.
 */
int file_read_text(int folder, const char *path, char *text, size_t cap);

/* Writes all bytes, also by several calls of write(). 0 or a negative errno. */
int file_write_fd(int fd, const void *data, size_t len);

/*
 * Reads up to `len` bytes from an offset on; fewer only at the end of the file. Returns how many,
 * or a negative errno.
 */
int64_t file_read_at(int fd, void *to, size_t len, uint64_t at);

/*
 * Writes all bytes to an offset. 0 or a negative errno; `done` (may be NULL): how many were
 * written.
 */
int file_write_at(int fd, const void *data, size_t len, uint64_t at, size_t *done);

/* Appends the whole content of a file to another one. 0 or a negative errno. */
int file_copy(int from, int to);

/*
 * Creates a file without a name in a folder; it disappears when it is closed. A descriptor or a
 * negative errno.
 */
int file_nameless(const char *folder);

/*
 * Makes a new folder below $TMPDIR or /tmp; its name begins with the prefix. 0 or a negative errno;
 * path is set in any case.
 */
int file_make_folder(const char *prefix, char *path, size_t cap);

/* $TMPDIR if that is an absolute path, else /tmp. */
const char *file_temp(void);

/*
 * Opens that folder. For root -EPERM if another user could replace what root creates there: the
 * folder belongs to that user, or is writable and not sticky.
 */
int file_open_temp(void);

/*
 * Makes a new folder in an open one, for its owner only; its name begins with the prefix. Returns a
 * descriptor, which is the new folder even if another process changes its name, or a negative
 * errno.
 */
int file_make_folder_at(int in, const char *prefix, char *name, size_t cap);

/*
 * The path with another ending: "a/trace.txt" and "a/trace/" become "a/trace.dat". The caller frees
 * it; NULL without memory.
 */
char *file_other_ending(const char *path, const char *ending);

/*
 * "$VARIABLE/spur/FILE" where the variable (XDG_CONFIG_HOME, ...) is an absolute path, otherwise
 * "$HOME/BELOW_HOME/spur/FILE"; false when there is neither.
 */
bool file_of_user(const char *variable, const char *below_home, const char *file, struct buf *path);

/* Creates the parent folders of a path. Errors are not reported: opening the path shows them. */
void file_make_parents(const char *path, mode_t mode);

/*
 * Locks a file for writing, until all descriptors of it are closed. -EBUSY, with a message, if
 * another process writes it. Succeeds on file systems without locks.
 */
int file_lock(int fd, struct spur_error *err);

/* The same for a process that will not write to the file; several may hold such a lock. */
int file_check_lock(int fd, struct spur_error *err);

/* The last part of a path: what follows the last slash, or all of it. */
const char *file_name_of(const char *path);

/*
 * Whether two paths are the same file or folder. False for devices: they may be read and written at
 * once.
 */
bool file_is_same(const char *a, const char *b);

/*
 * The folder that a path is in, without links; the path itself need not exist. The caller frees it.
 * NULL if there is no such folder.
 */
char *file_parent(const char *path);

/* Whether a path is below a folder, at any depth. */
bool file_is_inside(const char *path, const char *folder);

#endif
