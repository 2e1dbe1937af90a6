/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Local variables that own something, which is closed where their scope ends:
 *
 *	scoped_fd fd = open(path, O_RDONLY | O_CLOEXEC);
 *	scoped_dir dir = opendir(path);
 *
 * Nothing is closed if opening failed. A value that is returned is computed before. See also
 * scoped_buf (base/buf.h), scoped_arena (base/arena.h) and mutex_hold() (base/mutex.h).
 */
#ifndef BASE_SCOPED_H
#define BASE_SCOPED_H

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

static inline void scoped_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void scoped_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void scoped_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define scoped_fd   int __attribute__((cleanup(scoped_close)))
#define scoped_dir  DIR *__attribute__((cleanup(scoped_closedir)))
#define scoped_file FILE *__attribute__((cleanup(scoped_fclose)))

#endif
