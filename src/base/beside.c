// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/beside.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES	   100
#define OPEN_FILES 8   /* while a folder is removed */
#define NAME_BYTES 200 /* of the final name: names of files have a limit of 255 */

/* Bytes of the path up to its last part. */
static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash + 1 - path) : 0;
}

static char *make_name(const char *path, unsigned int n)
{
	const size_t folder = folder_len(path);
	char *temp;

	if (asprintf(&temp, "%.*s.%.*s.%d-%u", (int)folder, path, NAME_BYTES, path + folder,
		     (int)getpid(), n) < 0)
		return NULL;
	return temp;
}

/* Whether a name is what make_name() gives to a final one. */
static bool is_of(const char *name, const char *final)
{
	const size_t len = strnlen(final, NAME_BYTES);
	const char *p = name + 1 + len + 1;

	if (name[0] != '.' || strncmp(name + 1, final, len) != 0 || name[1 + len] != '.')
		return false;
	if (!isdigit((unsigned char)*p))
		return false;
	p += strspn(p, "0123456789");
	if (*p != '-' || !isdigit((unsigned char)p[1]))
		return false;
	return p[1 + strspn(p + 1, "0123456789")] == '\0';
}

/*
 * Locks a file or folder that was just created. -EAGAIN: another process took it for one that was
 * left by a killed process, and has removed it or is about to. A file system without locks is no
 * reason not to write.
 */
static int lock(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : 0;
	return fstat(fd, &st) == 0 && st.st_nlink ? 0 : -EAGAIN;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	remove(path);
	return 0;
}

void beside_remove(const char *temp)
{
	nftw(temp, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
}

/* Only if this user owns it: in a folder that others write to, a name proves nothing. */
static void remove_left(const char *path)
{
	const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && flock(fd, LOCK_EX | LOCK_NB) == 0)
		beside_remove(path);
	close(fd);
}

static void sweep(const char *path)
{
	const size_t folder = folder_len(path);
	char *where = folder ? strndup(path, folder) : strdup(".");
	DIR *d = where ? opendir(where) : NULL;
	const struct dirent *e;
	char *left;

	while (d && (e = readdir(d)) != NULL)
		if (is_of(e->d_name, path + folder) &&
		    asprintf(&left, "%.*s%s", (int)folder, path, e->d_name) >= 0) {
			remove_left(left);
			free(left);
		}
	if (d)
		closedir(d);
	free(where);
}

static int create(const char *temp, bool is_folder, mode_t mode)
{
	int fd;

	if (is_folder && mkdir(temp, 0777) < 0)
		return -errno;
	fd = is_folder ? open(temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		       : open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	/* Before it is locked, another process may take the folder for one that was left. */
	return fd >= 0 ? fd : is_folder && errno == ENOENT ? -EAGAIN : -errno;
}

static int make(const char *path, bool is_folder, mode_t mode, char **temp)
{
	sweep(path);
	*temp = NULL;
	for (unsigned int n = 0; n < TRIES; n++) {
		int fd, rc;

		free(*temp);
		*temp = make_name(path, n);
		if (!*temp)
			return -ENOMEM;
		fd = create(*temp, is_folder, mode);
		rc = fd < 0 ? fd : lock(fd);
		if (rc == 0)
			return fd;
		if (fd >= 0)
			close(fd);
		if (rc == -EEXIST || rc == -EAGAIN)
			continue;
		free(*temp);
		*temp = NULL;
		return rc;
	}
	free(*temp);
	*temp = NULL;
	return -EEXIST;
}

int beside_file(const char *path, mode_t mode, char **temp)
{
	return make(path, false, mode, temp);
}

int beside_folder(const char *path, char **temp)
{
	return make(path, true, 0, temp);
}
