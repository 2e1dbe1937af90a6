// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The path of a control group by its number, in every hierarchy that is mounted:
 *
 *	unified:/system.slice/ssh.service
 *
 * A group's number is the inode of its folder. The second version is always called "unified";
 * one of the first has the name of the folder it is mounted at.
 */
#include "script/show.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"

enum {
	MAX_DEPTH = 24,
	MAX_FOLDERS = 100000,
	MOUNTS_LIMIT = 4 << 20,
	KERNFS_HANDLE = 0xfe, /* FILEID_KERNFS */
};

struct search {
	uint64_t inode;
	char path[PATH_MAX]; /* below the mount; of what was found */
	size_t len;
	unsigned int folders;
};

static bool enter(struct search *s, const char *name)
{
	size_t n = strlen(name);

	if (n + 1 >= sizeof(s->path) - s->len)
		return false;
	s->path[s->len++] = '/';
	memcpy(s->path + s->len, name, n + 1);
	s->len += n;
	return true;
}

/* Looks through a folder, which it closes. */
static bool search_folder(struct search *s, int fd, unsigned int depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;
	bool found = false;

	if (!dir) {
		close(fd);
		return false;
	}
	while (!found && (e = readdir(dir))) {
		size_t before = s->len;
		int sub;

		if (e->d_type != DT_DIR || e->d_name[0] == '.' || ++s->folders > MAX_FOLDERS ||
		    !enter(s, e->d_name))
			continue;
		found = e->d_ino == s->inode;
		if (!found && depth < MAX_DEPTH) {
			sub = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			found = sub >= 0 && search_folder(s, sub, depth + 1);
		}
		if (!found) {
			s->len = before;
			s->path[before] = '\0';
		}
	}
	closedir(dir);
	return found;
}

/*
 * The kernel opens a folder by its number, where that is permitted; looking through all of them
 * takes a while where there are thousands.
 */
static bool open_by_number(struct search *s, int mount_fd, const char *mount)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} h = {.handle = {.handle_bytes = sizeof(uint64_t), .handle_type = KERNFS_HANDLE}};
	char link[64], path[PATH_MAX];
	size_t skip = strlen(mount);
	ssize_t n;
	int fd;

	memcpy(h.handle.f_handle, &s->inode, sizeof(s->inode));
	fd = open_by_handle_at(mount_fd, &h.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (n < 0 || (size_t)n < skip || strncmp(path, mount, skip))
		return false;
	path[n] = '\0';
	snprintf(s->path, sizeof(s->path), "%s", path[skip] ? path + skip : "/");
	return true;
}

static bool search_mount(struct search *s, const char *mount)
{
	struct stat st;
	int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	s->len = 0;
	s->path[0] = '\0';
	if (fd < 0)
		return false;
	if (open_by_number(s, fd, mount)) {
		close(fd);
		return true;
	}
	if (!fstat(fd, &st) && st.st_ino == s->inode) {
		close(fd);
		snprintf(s->path, sizeof(s->path), "/");
		return true;
	}
	return search_folder(s, fd, 0);
}

struct hierarchy {
	char name[64];
	char *mount;
};

struct hierarchies {
	struct hierarchy *at;
	size_t n, cap;
};

/* "cgroup2 /sys/fs/cgroup cgroup2 rw,…": what is mounted where, as what. */
static void add_hierarchy(struct hierarchies *all, const char *line, const char *glob)
{
	char mount[PATH_MAX], type[32];
	struct hierarchy *h;
	const char *name;

	if (sscanf(line, "%*s %4095s %31s", mount, type) != 2)
		return;
	if (!strcmp(type, "cgroup2"))
		name = "unified";
	else if (!strcmp(type, "cgroup") && strrchr(mount, '/'))
		name = strrchr(mount, '/') + 1;
	else
		return;
	if (glob && *glob && fnmatch(glob, name, 0))
		return;
	h = vec_push(all);
	if (!h)
		return;
	snprintf(h->name, sizeof(h->name), "%.63s", name);
	h->mount = strdup(mount);
}

/* The second version first, the others by name. */
static int compare_hierarchies(const void *a, const void *b)
{
	const struct hierarchy *x = a, *y = b;
	bool p = !strcmp(x->name, "unified"), q = !strcmp(y->name, "unified");

	return p != q ? (p ? -1 : 1) : strcmp(x->name, y->name);
}

static void read_hierarchies(struct hierarchies *all, const char *glob)
{
	struct buf mounts;

	buf_init(&mounts, MOUNTS_LIMIT);
	if (!file_read("/proc/self/mounts", &mounts, NULL)) {
		for (const char *p = mounts.data; *p;) {
			add_hierarchy(all, p, glob);
			p += strcspn(p, "\n");
			p += *p == '\n';
		}
	}
	buf_free(&mounts);
	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), compare_hierarchies);
}

void show_cgroup(struct buf *to, uint64_t id, const char *glob)
{
	struct search *s = calloc(1, sizeof(*s));
	struct hierarchies all = {0};
	const char *between = "";

	if (!s)
		return;
	s->inode = id;
	read_hierarchies(&all, glob);
	vec_each (h, &all) {
		if (h->mount && search_mount(s, h->mount)) {
			buf_printf(to, "%s%s:%s", between, h->name, s->path);
			between = ",";
		}
		free(h->mount);
	}
	vec_free(&all);
	free(s);
}
