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

#include "base/error.h"
#include "base/file.h"

#define TRIES 100

static void forget(struct newfile *f)
{
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

/* ".NAME.PID-N" in the directory of the path: hidden, and next to where it will be. */
static char *beside(const char *path, unsigned int n)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - path) : 0;
	char *temp;

	if (asprintf(&temp, "%.*s.%.200s.%d-%u", folder, path, path + folder, (int)getpid(), n) < 0)
		return NULL;
	return temp;
}

static int create(struct newfile *f, mode_t mode)
{
	for (unsigned int n = 0; n < TRIES; n++) {
		int fd;

		free(f->temp);
		f->temp = beside(f->path, n);
		if (!f->temp)
			return -ENOMEM;
		fd = open(f->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int newfile_create(struct newfile *f, const char *path, struct spur_error *err)
{
	struct stat old;
	bool replaces;
	int fd;

	*f = (struct newfile){.path = follow(path)};
	if (!f->path)
		return error_sys(err, -ENOMEM, "%s", path);
	replaces = stat(f->path, &old) == 0;
	if (replaces && !S_ISREG(old.st_mode)) {
		forget(f);
		return error_set(err, -EINVAL, "%s is not a file that could be written", path);
	}
	fd = create(f, replaces ? old.st_mode & 0777 : 0666);
	if (fd < 0) {
		error_sys(err, fd, "%s cannot be written", path);
		forget(f);
		return fd;
	}
	/* Where that is refused the file is the user's own, and no more open than it was. */
	if (replaces && fchown(fd, old.st_uid, old.st_gid) == 0)
		(void)!fchmod(fd, old.st_mode & 07777);
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
