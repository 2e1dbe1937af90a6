/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creating a trace.dat by its name. */
#ifndef UNIT_OUT_FILE_H
#define UNIT_OUT_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "dat/write.h"

/* Creates (or replaces) the file and writes all of `c`. */
static inline int create_file(const char *path, const struct dat_out_options *opt,
			      const struct dat_contents *c, struct dat_out **out,
			      struct spur_error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644), rc;
	const bool created = fd >= 0;

	*out = NULL;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_sys(err, -errno, "%s", path);
	rc = dat_out_create_fd(fd, path, opt, c, out, err);
	if (rc && created)
		unlink(path);
	return rc;
}

#endif
