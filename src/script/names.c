// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names for numbers: points in time, flags of memory, control groups, errors, signals, system
 * calls, users.
 */
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/pretty_tables.h"
#include "script/show.h"

/* Points in time, as strftime(3) shows them, with %f for microseconds. */

enum { TIME_TEXT = 1024 };

/* The format with %f replaced; %% is stepped over. */
static void replace_micros(struct buf *to, const char *format, unsigned int micros)
{
	for (const char *p = format; *p; p++) {
		if (p[0] != '%' || !p[1]) {
			buf_putc(to, *p);
			continue;
		}
		if (p[1] == 'f')
			buf_u64_pad(to, micros, 6, '0');
		else
			buf_put(to, p, 2);
		p++;
	}
}

void show_time(struct buf *to, const char *format, int64_t wall_ns, bool micros)
{
	int64_t rest = wall_ns % 1000000000, seconds = wall_ns / 1000000000;
	struct buf with;
	struct tm tm;
	time_t t;
	size_t n;

	if (rest < 0) {
		rest += 1000000000;
		seconds--;
	}
	t = (time_t)seconds;
	if (!*format || !localtime_r(&t, &tm))
		return;
	buf_init(&with, TIME_TEXT);
	if (micros && strstr(format, "%f")) {
		replace_micros(&with, format, (unsigned int)(rest / 1000));
		format = buf_str(&with);
	}
	if (buf_room(to, TIME_TEXT)) {
		n = strftime(to->data + to->len, TIME_TEXT, format, &tm);
		if (n)
			to->len += n;
		else
			buf_puts(to, "(?)");
	}
	buf_free(&with);
}

/*
 * Flags of memory allocations, as the kernel's own tracepoints write them: the longest name that
 * fits comes first and its bits are removed. The numbers are those of Linux 5.4 to 6.18.
 */

static const struct {
	uint32_t bits;
	const char *name;
} flags_names[] = {
	{0x1c24ca, "GFP_TRANSHUGE"},
	{0x1c20ca, "GFP_TRANSHUGE_LIGHT"},
	{0x100cca, "GFP_HIGHUSER_MOVABLE"},
	{0x100cc2, "GFP_HIGHUSER"},
	{0x100cc0, "GFP_USER"},
	{0x400cc0, "GFP_KERNEL_ACCOUNT"},
	{0xcc0, "GFP_KERNEL"},
	{0xc40, "GFP_NOFS"},
	{0x820, "GFP_ATOMIC"},
	{0xc00, "GFP_NOIO"},
	{0x2800, "GFP_NOWAIT"},
	{0x1, "GFP_DMA"},
	{0x4, "GFP_DMA32"},
	{0xc00, "__GFP_RECLAIM"},
	{0x2, "__GFP_HIGHMEM"},
	{0x8, "__GFP_MOVABLE"},
	{0x10, "__GFP_RECLAIMABLE"},
	{0x20, "__GFP_HIGH"},
	{0x40, "__GFP_IO"},
	{0x80, "__GFP_FS"},
	{0x100, "__GFP_ZERO"},
	{0x200, "__GFP_ATOMIC"},
	{0x400, "__GFP_DIRECT_RECLAIM"},
	{0x800, "__GFP_KSWAPD_RECLAIM"},
	{0x1000, "__GFP_WRITE"},
	{0x2000, "__GFP_NOWARN"},
	{0x4000, "__GFP_RETRY_MAYFAIL"},
	{0x8000, "__GFP_NOFAIL"},
	{0x10000, "__GFP_NORETRY"},
	{0x20000, "__GFP_MEMALLOC"},
	{0x40000, "__GFP_COMP"},
	{0x80000, "__GFP_NOMEMALLOC"},
	{0x100000, "__GFP_HARDWALL"},
	{0x200000, "__GFP_THISNODE"},
	{0x400000, "__GFP_ACCOUNT"},
	{0x800000, "__GFP_ZEROTAGS"},
	{0x1000000, "__GFP_NO_OBJ_EXT"},
};

void show_gfp(struct buf *to, uint64_t flags)
{
	const char *between = "";

	if (!flags) {
		buf_puts(to, "none");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(flags_names); i++) {
		if ((flags & flags_names[i].bits) != flags_names[i].bits)
			continue;
		flags &= ~(uint64_t)flags_names[i].bits;
		buf_puts(to, between);
		buf_puts(to, flags_names[i].name);
		between = "|";
	}
	if (flags) {
		buf_puts(to, between);
		buf_puts(to, "0x");
		buf_hex(to, flags);
	}
}

/*
 * The path of a control group by its number, in every hierarchy that is mounted:
 *
 *	unified:/system.slice/ssh.service
 *
 * A group's number is the inode of its folder. The second version is always called "unified";
 * one of the first has the name of the folder it is mounted at.
 */

enum {
	MAX_DEPTH = 24,
	MAX_FOLDERS = 100000,
	MOUNTS_LIMIT = 4 << 20,
	KERNFS_HANDLE = 0xfe, /* FILEID_KERNFS */
};

struct search {
	uint64_t inode;
	char path[PATH_MAX]; /* of the result, below the mount */
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

/* Searches a folder and closes it. */
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
 * The kernel can open a folder by its number, if that is permitted; searching thousands of folders
 * is slow.
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
	bool found;
	int fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	s->len = 0;
	s->path[0] = '\0';
	if (fd < 0)
		return false;
	found = open_by_number(s, fd, mount);
	if (!found && !fstat(fd, &st) && st.st_ino == s->inode) {
		snprintf(s->path, sizeof(s->path), "/");
		found = true;
	}
	if (!found)
		return search_folder(s, fd, 0);
	close(fd);
	return true;
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

/* ---- errors, signals, system calls ---- */

void show_errno(struct buf *to, int64_t code)
{
	char room[128];
	const char *text;

	/* The number of a result is negative, that of errno is not; both mean the same. */
	if (code < 0 && code > -4096)
		code = -code;
	if (code < INT32_MIN || code > INT32_MAX) {
		buf_printf(to, "Unknown error %lld", (long long)code);
		return;
	}
	text = strerror_r((int)code, room, sizeof(room));
	buf_puts(to, text);
}

void show_signal(struct buf *to, int64_t number)
{
	buf_puts(to, number >= 0 && number <= 64 ? strsignal((int)number) : "N/A");
}

void show_syscall(struct buf *to, int64_t number)
{
	struct utsname u;
	struct arch_walk w = {0};

	w.arch = uname(&u) ? NULL : pretty_arch_find(u.machine);
	while (number >= 0 && w.arch && pretty_arch_next_call(&w)) {
		if (w.nr == (uint64_t)number) {
			buf_put(to, w.name, w.len);
			return;
		}
	}
	buf_printf(to, "unknown syscall: %lld", (long long)number);
}

/* ---- users ---- */

enum { PASSWD_LIMIT = 4 << 20 };

/* /etc/passwd once, its lines cut at their colons, by number. */
struct users {
	struct buf text;
	struct map by_uid;
};

/* "name:password:number:…" */
static void add_user(struct users *u, char *line)
{
	char *colon = strchr(line, ':'), *number = colon ? strchr(colon + 1, ':') : NULL, *end;
	unsigned long uid;

	if (!number)
		return;
	*colon = '\0';
	uid = strtoul(number + 1, &end, 10);
	if (end == number + 1 || *end != ':' || uid > UINT32_MAX || map_get(&u->by_uid, uid))
		return;
	map_set(&u->by_uid, uid, line);
}

static struct users *users_read(void)
{
	struct users *u = calloc(1, sizeof(*u));
	char *line, *rest;

	if (!u)
		return NULL;
	buf_init(&u->text, PASSWD_LIMIT);
	if (file_read("/etc/passwd", &u->text, NULL))
		buf_reset(&u->text);
	buf_str(&u->text);
	for (rest = u->text.data; (line = strsep(&rest, "\n"));)
		add_user(u, line);
	return u;
}

const char *users_name(struct users **u, uint32_t uid)
{
	const char *name;

	if (!*u)
		*u = users_read();
	name = *u ? map_get(&(*u)->by_uid, uid) : NULL;
	return name ? name : "";
}

void users_free(struct users *u)
{
	if (!u)
		return;
	map_free(&u->by_uid);
	buf_free(&u->text);
	free(u);
}
