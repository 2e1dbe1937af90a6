// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/newfolder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define TRIES	   100
#define OPEN_FILES 8 /* while it is removed */

static void forget(struct newfolder *f)
{
	free(f->path);
	free(f->temp);
	*f = (struct newfolder){0};
}

/* The path without slashes at its end, but for the one that is all of it. */
static char *trim(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return strndup(path, len);
}

/* ".NAME.PID-N" in the folder of the path: hidden, and next to where it will be. */
static char *beside(const char *path, unsigned int n)
{
	const char *slash = strrchr(path, '/');
	const int above = slash ? (int)(slash + 1 - path) : 0;
	char *temp;

	if (asprintf(&temp, "%.*s.%.200s.%d-%u", above, path, path + above, (int)getpid(), n) < 0)
		return NULL;
	return temp;
}

static int make(struct newfolder *f)
{
	for (unsigned int n = 0; n < TRIES; n++) {
		free(f->temp);
		f->temp = beside(f->path, n);
		if (!f->temp)
			return -ENOMEM;
		if (mkdir(f->temp, 0777) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int newfolder_create(struct newfolder *f, const char *path, struct spur_error *err)
{
	int rc;

	*f = (struct newfolder){.path = trim(path)};
	if (!f->path)
		return error_set(err, -ENOMEM, "out of memory");
	/* Removes an empty folder, which would only be in the way, and nothing else. */
	if (rmdir(f->path) < 0 && errno != ENOENT) {
		rc = errno == ENOTDIR || errno == ENOTEMPTY || errno == EBUSY ? -EEXIST : -errno;
		error_sys(err, rc, "%s cannot be written", path);
		forget(f);
		return rc;
	}
	rc = make(f);
	if (rc < 0) {
		error_sys(err, rc, "%s cannot be written", path);
		forget(f);
	}
	return rc;
}

int newfolder_keep(struct newfolder *f, struct spur_error *err)
{
	if (rename(f->temp, f->path) < 0) {
		int rc = error_sys(err, -errno, "%s cannot be written", f->path);

		newfolder_drop(f);
		return rc;
	}
	forget(f);
	return 0;
}

static int drop_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	remove(path);
	return 0;
}

void newfolder_drop(struct newfolder *f)
{
	if (f->path)
		nftw(f->temp, drop_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
	forget(f);
}
