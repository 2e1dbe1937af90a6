// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading and writing that continues after a signal or a short count; temporary files and folders.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scoped.h"

#define STEP  65536
#define TRIES 100 /* to find a name that is free */

int file_read_fd(int fd, const char *path, struct buf *to, struct spur_error *err)
{
	int ret = 0;
	size_t step;
	ssize_t n;

	do {
		/* One byte stays free for the terminator. */
		step = to->limit - to->len < STEP ? to->limit - to->len : STEP;
		if (step < 2 || !buf_room(to, step)) {
			ret = error_sys(err, -EFBIG, "%s", path);
			break;
		}
		n = read(fd, to->data + to->len, step - 1);
		if (n > 0)
			to->len += (size_t)n;
		else if (n < 0 && errno != EINTR)
			ret = error_sys(err, -errno, "%s", path);
	} while (!ret && n);
	buf_str(to);
	return ret;
}

int file_read(const char *path, struct buf *to, struct spur_error *err)
{
	scoped_fd fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? error_sys(err, -errno, "%s", path) : file_read_fd(fd, path, to, err);
}

int file_read_text(int folder, const char *path, char *text, size_t cap)
{
	scoped_fd fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, cap - 1);

	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? -errno : (int)n;
}

int file_write_fd(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		const ssize_t n = write(fd, p, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int64_t file_read_at(int fd, void *to, size_t len, uint64_t at)
{
	size_t done = 0;

	while (done < len) {
		const ssize_t n = pread(fd, (char *)to + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

int file_write_at(int fd, const void *data, size_t len, uint64_t at, size_t *done)
{
	size_t written = 0;
	int rc = 0;

	while (rc == 0 && written < len) {
		const ssize_t n = pwrite(fd, (const char *)data + written, len - written,
					 (off_t)(at + written));

		if (n > 0)
			written += (size_t)n;
		else if (n == 0 || errno != EINTR)
			rc = n == 0 ? -EIO : -errno;
	}
	if (done)
		*done = written;
	return rc;
}

int file_nameless(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[PATH_MAX];

	if (fd >= 0)
		return fd;
	/* Some file systems have no O_TMPFILE: there the file is created and unlinked. */
	if ((size_t)snprintf(path, sizeof(path), "%s/.spur-XXXXXX", folder) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int file_copy(int from, int to)
{
	char *window = malloc(STEP);
	uint64_t at = 0;
	int64_t n = window ? 1 : -ENOMEM;

	while (n > 0) {
		int rc;

		n = file_read_at(from, window, STEP, at);
		rc = n > 0 ? file_write_fd(to, window, (size_t)n) : 0;
		at += n > 0 ? (uint64_t)n : 0;
		n = rc < 0 ? rc : n;
	}
	free(window);
	return (int)n;
}

const char *file_temp(void)
{
	const char *top = getenv("TMPDIR");

	return top && *top == '/' ? top : "/tmp";
}

int file_make_folder(const char *prefix, char *path, size_t cap)
{
	if ((size_t)snprintf(path, cap, "%s/%s-XXXXXX", file_temp(), prefix) >= cap)
		return -ENAMETOOLONG;
	return mkdtemp(path) ? 0 : -errno;
}

int file_open_temp(void)
{
	const int fd = open(file_temp(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		rc = -errno;
	else if (geteuid() == 0 &&
		 (st.st_uid || (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX))))
		rc = -EPERM;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

int file_make_folder_at(int in, const char *prefix, char *name, size_t cap)
{
	for (int i = 0; i < TRIES; i++) {
		uint32_t number;
		int fd;

		if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			return -EIO;
		if ((size_t)snprintf(name, cap, "%s-%08x", prefix, number) >= cap)
			return -ENAMETOOLONG;
		if (mkdirat(in, name, 0700) == 0) {
			fd = openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			return fd < 0 ? -errno : fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

char *file_other_ending(const char *path, const char *ending)
{
	size_t len = strlen(path), dot;
	char *name;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (dot = len; dot > 1 && path[dot - 1] != '.' && path[dot - 1] != '/'; dot--)
		;
	/* ".trace" is a hidden file without an ending. */
	if (dot > 1 && path[dot - 1] == '.' && path[dot - 2] != '/')
		len = dot - 1;
	return asprintf(&name, "%.*s%s", (int)len, path, ending) < 0 ? NULL : name;
}

bool file_of_user(const char *variable, const char *below_home, const char *file, struct buf *path)
{
	const char *top = getenv(variable), *home = getenv("HOME");

	buf_reset(path);
	if (top && *top == '/')
		buf_printf(path, "%s/spur/%s", top, file);
	else if (home && *home == '/')
		buf_printf(path, "%s/%s/spur/%s", home, below_home, file);
	buf_str(path);
	return path->len && !path->full;
}

void file_make_parents(const char *path, mode_t mode)
{
	char *copy = strdup(path);

	for (char *slash = copy && *copy ? strchr(copy + 1, '/') : NULL; slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, mode);
		*slash = '/';
	}
	free(copy);
}

const char *file_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool file_is_same(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino && (S_ISREG(one.st_mode) || S_ISDIR(one.st_mode));
}

char *file_parent(const char *path)
{
	char *real = realpath(path, NULL), *name;

	if (!real) {
		const char *slash = strrchr(path, '/');
		char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

		real = folder ? realpath(folder, NULL) : NULL;
		free(folder);
		return real;
	}
	name = strrchr(real, '/');
	name[name == real] = '\0';
	return real;
}

bool file_is_inside(const char *path, const char *folder)
{
	char *top = realpath(folder, NULL), *parent = file_parent(path);
	const size_t len = top ? strlen(top) : 0;
	bool inside = false;

	if (top && parent && strncmp(parent, top, len) == 0)
		inside = !parent[len] || parent[len] == '/' || top[len - 1] == '/';
	free(parent);
	free(top);
	return inside;
}

/* ---- locks ---- */

/*
 * The process that holds the lock of a file; 0: unknown, for instance a process of another machine.
 */
static long lock_owner(int fd)
{
	scoped_file locks = fopen("/proc/locks", "re");
	unsigned int major, minor;
	unsigned long inode;
	char line[256];
	struct stat st;
	long pid, owner = 0;

	if (!locks || fstat(fd, &st) < 0)
		st.st_ino = 0;
	while (locks && !owner && fgets(line, sizeof(line), locks))
		if (sscanf(line, "%*u: FLOCK ADVISORY WRITE %ld %x:%x:%lu", &pid, &major, &minor,
			   &inode) == 4 &&
		    inode == st.st_ino && major == major(st.st_dev) && minor == minor(st.st_dev))
			owner = pid;
	return owner;
}

static int take_lock(int fd, int how, struct spur_error *err)
{
	long owner;

	if (flock(fd, how | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	owner = err ? lock_owner(fd) : 0;
	if (owner > 0)
		return error_set(err, -EBUSY, "is being written by process %ld", owner);
	return error_set(err, -EBUSY, "is being written by another process");
}

int file_lock(int fd, struct spur_error *err)
{
	return take_lock(fd, LOCK_EX, err);
}

int file_check_lock(int fd, struct spur_error *err)
{
	return take_lock(fd, LOCK_SH, err);
}
