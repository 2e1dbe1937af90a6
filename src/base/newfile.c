// SPDX-License-Identifier: GPL-2.0-or-later
/* Creating beside, renaming over. */
#include "base/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/error.h"
#include "base/file.h"

static void forget(struct newfile *f)
{
	if (f->path && f->lock >= 0)
		close(f->lock);
	free(f->path);
	free(f->temp);
	*f = (struct newfile){0};
}

/* The file a path means: a link to it stays a link when it is replaced. */
static char *follow(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}

int newfile_create(struct newfile *f, const char *path, struct spur_error *err)
{
	struct stat old;
	bool replaces;
	int fd;

	*f = (struct newfile){.path = follow(path), .lock = -1};
	if (!f->path)
		return error_sys(err, -ENOMEM, "%s", path);
	replaces = stat(f->path, &old) == 0;
	if (replaces && !S_ISREG(old.st_mode)) {
		forget(f);
		return error_set(err, -EINVAL, "%s is not a file that could be written", path);
	}
	fd = beside_file(f->path, replaces ? old.st_mode & 0777 : 0666, &f->temp);
	if (fd < 0) {
		error_sys(err, fd, "%s cannot be written", path);
		forget(f);
		return fd;
	}
	/* Where that is refused the file is the user's own, and no more open than it was. */
	if (replaces && fchown(fd, old.st_uid, old.st_gid) == 0)
		(void)!fchmod(fd, old.st_mode & 07777);
	/* The caller closes the file before it gets its name: until then it stays locked. */
	f->lock = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd;
}

int newfile_keep(struct newfile *f, struct spur_error *err)
{
	if (rename(f->temp, f->path) < 0) {
		int rc = error_sys(err, -errno, "%s cannot be written", f->path);

		newfile_drop(f);
		return rc;
	}
	forget(f);
	return 0;
}

void newfile_drop(struct newfile *f)
{
	if (f->path)
		unlink(f->temp);
	forget(f);
}

int newfile_write(const char *path, const void *data, size_t len, struct spur_error *err)
{
	struct newfile file;
	int fd = newfile_create(&file, path, err), rc = 0;

	if (fd < 0)
		return fd;
	rc = file_write_fd(fd, data, len);
	if (rc < 0)
		error_sys(err, rc, "%s", path);
	if (close(fd) < 0 && rc == 0)
		rc = error_sys(err, -errno, "%s", path);
	if (rc == 0)
		return newfile_keep(&file, err);
	newfile_drop(&file);
	return rc;
}
