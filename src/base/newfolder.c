// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/newfolder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/error.h"

static void forget(struct newfolder *f)
{
	if (f->path && f->lock >= 0)
		close(f->lock);
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

int newfolder_create(struct newfolder *f, const char *path, struct spur_error *err)
{
	int rc;

	*f = (struct newfolder){.path = trim(path), .lock = -1};
	if (!f->path)
		return error_set(err, -ENOMEM, "out of memory");
	/* Removes an empty folder, which would only be in the way, and nothing else. */
	if (rmdir(f->path) < 0 && errno != ENOENT) {
		rc = errno == ENOTDIR || errno == ENOTEMPTY || errno == EBUSY ? -EEXIST : -errno;
		error_sys(err, rc, "%s cannot be written", path);
		forget(f);
		return rc;
	}
	rc = beside_folder(f->path, &f->temp);
	if (rc < 0) {
		error_sys(err, rc, "%s cannot be written", path);
		forget(f);
		return rc;
	}
	f->lock = rc;
	return 0;
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

void newfolder_drop(struct newfolder *f)
{
	if (f->path)
		beside_remove(f->temp);
	forget(f);
}
