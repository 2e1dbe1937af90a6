/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a whole file into memory, and writing all of something. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

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

#endif
