// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files and folders that are written beside their final place and renamed.
 *
 * A temporary name is ".NAME.PID-N". The writer holds a lock (flock) on it until it is done. One
 * without a lock was left by a process that was killed; the next process that writes the same
 * output removes it.
 */
#include "base/newfile.h"

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

#include "base/error.h"
#include "base/file.h"
#include "base/scoped.h"

/* ---- temporary files and folders ----------------------------------------------------- */

#define LOOKS	   50
#define LOOK_EVERY 5000 /* us */
#define TRIES	   100
#define OPEN_FILES 8   /* while a folder is removed */
#define NAME_BYTES 200 /* of the final name: names of files have a limit of 255 */

/* Length of the path without its last part. */
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

/* Whether make_name() could have made a temporary name from a final one. */
static bool is_temp_of(const char *name, const char *final)
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
 * Locks a file or folder that was just created. -EAGAIN: another process believes that a killed
 * process left it, and has removed it or will do so. Succeeds on file systems without locks.
 */
static int lock_temp(int fd)
{
	struct stat st;

	if (file_lock(fd, NULL) < 0)
		return -EAGAIN;
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

/* Only if this user owns it: in a shared folder anybody may have chosen that name. */
static void remove_left(const char *path)
{
	scoped_fd fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && flock(fd, LOCK_EX | LOCK_NB) == 0)
		beside_remove(path);
}

static void sweep(const char *path)
{
	const size_t folder = folder_len(path);
	char *where = folder ? strndup(path, folder) : strdup(".");
	scoped_dir d = where ? opendir(where) : NULL;
	const struct dirent *e;
	char *left;

	while (d && (e = readdir(d)) != NULL)
		if (is_temp_of(e->d_name, path + folder) &&
		    asprintf(&left, "%.*s%s", (int)folder, path, e->d_name) >= 0) {
			remove_left(left);
			free(left);
		}
	free(where);
}

static int create_temp(const char *temp, bool is_folder, mode_t mode)
{
	int fd;

	if (is_folder && mkdir(temp, 0777) < 0)
		return -errno;
	fd = is_folder ? open(temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		       : open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	/* Before we lock it, another process may remove it as a leftover of a killed process. */
	return fd >= 0 ? fd : is_folder && errno == ENOENT ? -EAGAIN : -errno;
}

static int make_temp(const char *path, bool is_folder, mode_t mode, char **temp)
{
	sweep(path);
	*temp = NULL;
	for (unsigned int n = 0; n < TRIES; n++) {
		int fd, rc;

		free(*temp);
		*temp = make_name(path, n);
		if (!*temp)
			return -ENOMEM;
		fd = create_temp(*temp, is_folder, mode);
		rc = fd < 0 ? fd : lock_temp(fd);
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
	return make_temp(path, false, mode, temp);
}

int beside_folder(const char *path, char **temp)
{
	return make_temp(path, true, 0, temp);
}

/* ---- files --------------------------------------------------------------------------- */

static void forget(struct newfile *f)
{
	if (f->path && f->lock >= 0)
		close(f->lock);
	free(f->path);
	free(f->temp);
	*f = (struct newfile){0};
}

/*
 * The file that a path leads to: if the path is a symbolic link, its target is replaced, not the
 * link.
 */
static char *follow(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}

/*
 * A file that is still being written, for instance by a recorder, is not replaced. A file that has
 * just been renamed is unlocked a moment later.
 */
static int check_unused(const char *path, struct spur_error *err)
{
	scoped_fd fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return 0;
	for (unsigned int i = 0; i < LOOKS && file_check_lock(fd, NULL) < 0; i++)
		usleep(LOOK_EVERY);
	rc = file_check_lock(fd, err);
	if (rc < 0)
		error_prefix(err, "%s", path);
	return rc;
}

int newfile_create(struct newfile *f, const char *path, struct spur_error *err)
{
	struct stat old;
	bool replaces;
	int fd, rc;

	*f = (struct newfile){.path = follow(path), .lock = -1};
	if (!f->path)
		return error_sys(err, -ENOMEM, "%s", path);
	replaces = stat(f->path, &old) == 0;
	if (replaces && !S_ISREG(old.st_mode)) {
		forget(f);
		return error_set(err, -EINVAL, "%s is not a file that could be written", path);
	}
	rc = replaces ? check_unused(f->path, err) : 0;
	if (rc < 0) {
		forget(f);
		return rc;
	}
	fd = beside_file(f->path, replaces ? old.st_mode & 0777 : 0666, &f->temp);
	if (fd < 0) {
		error_sys(err, fd, "%s cannot be written", path);
		forget(f);
		return fd;
	}
	/*
	 * If that fails, the file belongs to this user, with permissions that are not wider than
	 * the old ones.
	 */
	if (replaces && fchown(fd, old.st_uid, old.st_gid) == 0)
		(void)!fchmod(fd, old.st_mode & 07777);
	/*
	 * The caller closes its descriptor before the file is renamed; this one holds the lock
	 * until then.
	 */
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
		beside_remove(f->temp);
	forget(f);
}

int newfile_end(struct newfile *f, int rc, struct spur_error *err)
{
	if (rc == 0)
		return newfile_keep(f, err);
	newfile_drop(f);
	return rc;
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
	return newfile_end(&file, rc, err);
}

/* ---- folders ------------------------------------------------------------------------- */

/* The path without slashes at its end; "/" stays. */
static char *trim(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return strndup(path, len);
}

int newfolder_create(struct newfile *f, const char *path, struct spur_error *err)
{
	int rc;

	*f = (struct newfile){.path = trim(path), .lock = -1};
	if (!f->path)
		return error_set(err, -ENOMEM, "out of memory");
	/* Removes an empty folder, because it would be in the way, and nothing else. */
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
