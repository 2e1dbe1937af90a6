// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding programs and libraries by name, near enough as the dynamic loader would: DT_RPATH and
 * DT_RUNPATH with $ORIGIN, LD_LIBRARY_PATH, ld.so.cache (or musl's list of directories), the usual
 * directories.
 */
#include "probe/loader.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "symbols/abi.h"
#include "symbols/elf.h"
#include "symbols/names.h"

#define MAX_CACHE   (64u << 20)
#define HEADER_TAIL 20 /* what follows the two counts and is not needed */

static const char magic[] = "glibc-ld.so.cache1.1";

static const char *string_at(struct cursor list, uint32_t offset)
{
	cursor_skip(&list, offset);
	return cursor_string(&list);
}

int ldcache_walk(const void *data, size_t size,
		 int (*fn)(void *arg, const char *name, const char *file), void *arg)
{
	const uint8_t *start = memmem(data, size, magic, sizeof(magic) - 1);
	struct cursor list, c;
	uint32_t n;
	int ret = 0;

	if (!start)
		return 0;
	/* The list is written by and for this machine. */
	list = cursor_over(start, size - (size_t)(start - (const uint8_t *)data),
			   __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c = list;
	cursor_skip(&c, sizeof(magic) - 1);
	n = cursor_u32(&c);
	cursor_skip(&c, 4 + HEADER_TAIL);
	for (uint32_t i = 0; i < n && !ret; i++) {
		const char *name, *file;

		cursor_skip(&c, 4);
		name = string_at(list, cursor_u32(&c));
		file = string_at(list, cursor_u32(&c));
		cursor_skip(&c, 12);
		if (cursor_failed(&c))
			break;
		if (name && file)
			ret = fn(arg, name, file);
	}
	return ret;
}

/* Calls fn() for each library ("libc.so.6" and its path) until it returns something else than 0. */
static int ldcache_each(const char *path, int (*fn)(void *arg, const char *name, const char *file),
			void *arg)
{
	struct buf text;
	int ret = 0;

	buf_init(&text, MAX_CACHE);
	if (!file_read(path, &text, NULL))
		ret = ldcache_walk(text.data, text.len, fn, arg);
	buf_free(&text);
	return ret;
}

/* ---- libraries as the loader finds them ---- */

#define MAX_LIBRARIES 512
#define MAX_MAPS      (16u << 20)

bool paths_add(struct paths *list, struct arena *arena, const char *path)
{
	const char **slot;

	vec_each (known, list)
		if (!strcmp(*known, path))
			return true;
	if (list->n == MAX_LIBRARIES)
		return true;
	slot = vec_push(list);
	if (slot)
		*slot = arena_strdup(arena, path);
	return slot && *slot;
}

/* ---- files ---- */

bool loader_takes(const char *file, const char *machine, bool native)
{
	uint8_t head[EI_NIDENT + 4];
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const struct abi *abi, *kernel;
	unsigned int elf_machine;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, head, sizeof(head));
	close(fd);
	if (n != sizeof(head) || memcmp(head, ELFMAG, SELFMAG))
		return false;
	elf_machine =
		(unsigned int)load_uint(head + EI_NIDENT + 2, 2, head[EI_DATA] == ELFDATA2MSB);
	abi = abi_of_elf(elf_machine, head[EI_CLASS] == ELFCLASS64, machine);
	kernel = abi_of_kernel(machine);
	/* For a machine that is not in the tables any file may be right. */
	return !native || !kernel || (abi && !strcmp(abi->machine, kernel->machine));
}

/* "libc.so.6" for libc.so.6 itself, and for what begins with it: libc.so, libc-2.36.so. */
static bool is_version_of(const char *base, const char *name, size_t len)
{
	const char *rest = base + len;

	if (strncmp(base, name, len))
		return false;
	if (!strncmp(rest, ".so", 3))
		return !rest[3] || rest[3] == '.';
	return *rest == '-' && rest[1] >= '0' && rest[1] <= '9' && strstr(rest, ".so");
}

bool loader_is_called(const char *file, const char *name)
{
	const char *base = file_name_of(file);

	if (!strcmp(base, name))
		return true;
	if (strstr(name, ".so"))
		return false;
	return is_version_of(base, name, strlen(name)) ||
	       (!strncmp(base, "lib", 3) && is_version_of(base + 3, name, strlen(name)));
}

/* ---- directories ---- */

struct lookup {
	const char *name;
	bool exact; /* a name from a program's list, not from a user */
	const char *machine;
	struct arena *arena;
	struct nearest *near;
	const char *found;
};

static bool fits(const struct lookup *l, const char *base)
{
	return l->exact ? !strcmp(base, l->name) : loader_is_called(base, l->name);
}

static int try_file(void *arg, const char *name, const char *file)
{
	struct lookup *l = arg;

	if (l->near)
		nearest_try(l->near, name, strcspn(name, "."));
	if (!fits(l, name) || !loader_takes(file, l->machine, true))
		return 0;
	l->found = arena_strdup(l->arena, file);
	return 1;
}

static bool try_dir(struct lookup *l, const char *dir, size_t len)
{
	char path[PATH_MAX], file[PATH_MAX];
	struct dirent *entry;
	DIR *d;

	if (snprintf(path, sizeof(path), "%.*s", (int)len, dir) >= (int)sizeof(path) || !len)
		return false;
	if (l->exact) {
		if (snprintf(file, sizeof(file), "%s/%s", path, l->name) < (int)sizeof(file))
			try_file(l, l->name, file);
		return l->found;
	}
	d = opendir(path);
	while (d && !l->found && (entry = readdir(d)))
		if (strstr(entry->d_name, ".so") &&
		    snprintf(file, sizeof(file), "%s/%s", path, entry->d_name) < (int)sizeof(file))
			try_file(l, entry->d_name, file);
	if (d)
		closedir(d);
	return l->found;
}

/* Directories separated by colons, semicolons or line ends. */
static bool try_dirs(struct lookup *l, const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ":;\n");

		if (try_dir(l, list, len))
			return true;
		list += len + !!list[len];
	}
	return false;
}

static bool try_usual(struct lookup *l)
{
	char dirs[400], musl[PATH_MAX];
	struct buf text;
	bool found;

	if (ldcache_each(LDCACHE, try_file, l))
		return true;
	buf_init(&text, 65536);
	snprintf(musl, sizeof(musl), "/etc/ld-musl-%s.path", l->machine);
	found = !file_read(musl, &text, NULL) && try_dirs(l, buf_str(&text));
	buf_free(&text);
	if (found || try_dirs(l, "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib"))
		return true;
	snprintf(dirs, sizeof(dirs), "/lib/%1$.80s-linux-gnu:/usr/lib/%1$.80s-linux-gnu",
		 l->machine);
	return try_dirs(l, dirs);
}

/*
 * A library by the name that a user gives it; *near, when it is not NULL, is shown all names. NULL
 * when there is none.
 */
static const char *loader_find(const char *name, const char *machine, struct arena *arena,
			       struct nearest *near)
{
	struct lookup l = {.name = name, .machine = machine, .arena = arena, .near = near};

	if (!try_dirs(&l, getenv("LD_LIBRARY_PATH")))
		try_usual(&l);
	return l.found;
}

/* ---- what a program needs ---- */

struct needs {
	struct arena *arena;
	struct paths names; /* DT_NEEDED */
	const char *dirs;   /* DT_RUNPATH or DT_RPATH */
};

static int take_dynamic(void *arg, int tag, const char *text)
{
	struct needs *n = arg;

	if (tag == DT_NEEDED)
		return paths_add(&n->names, n->arena, text) ? 0 : -ENOMEM;
	n->dirs = arena_strdup(n->arena, text);
	return n->dirs ? 0 : -ENOMEM;
}

/* A program's own directories, $ORIGIN being the one it is in. */
static bool try_own_dirs(struct lookup *l, const char *dirs, const char *program)
{
	const char *slash = strrchr(program, '/');
	char full[PATH_MAX];

	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":"), origin = 0;

		if (!strncmp(dirs, "$ORIGIN", 7))
			origin = 7;
		else if (!strncmp(dirs, "${ORIGIN}", 9))
			origin = 9;
		if (origin && slash) {
			if (snprintf(full, sizeof(full), "%.*s%.*s", (int)(slash - program),
				     program, (int)(len - origin),
				     dirs + origin) < (int)sizeof(full) &&
			    try_dir(l, full, strlen(full)))
				return true;
		} else if (try_dir(l, dirs, len)) {
			return true;
		}
		dirs += len + !!dirs[len];
	}
	return false;
}

static const char *find_needed(const char *name, const struct needs *n, const char *program,
			       const char *machine)
{
	struct lookup l = {.name = name, .exact = true, .machine = machine, .arena = n->arena};

	if (strchr(name, '/'))
		return access(name, R_OK) ? NULL : name;
	if (!try_own_dirs(&l, n->dirs, program) && !try_dirs(&l, getenv("LD_LIBRARY_PATH")))
		try_usual(&l);
	return l.found;
}

/* Without symbolic links, so that the same library is not there twice. */
static int add_real(const char *file, struct arena *arena, struct paths *list)
{
	char full[PATH_MAX];

	return !realpath(file, full) || paths_add(list, arena, full) ? 0 : -ENOMEM;
}

static int add_needed(const char *program, const char *machine, struct arena *arena,
		      struct paths *list, struct spur_error *err)
{
	struct needs n = {.arena = arena};
	struct binary *b;
	char *interpreter;
	int ret = binary_open(program, &b, err);

	if (ret)
		return ret;
	ret = binary_each_dynamic(b, take_dynamic, &n);
	interpreter = binary_interpreter(b, arena);
	binary_close(b);
	vec_each (name, &n.names) {
		const char *file = find_needed(*name, &n, program, machine);

		if (!ret && file)
			ret = add_real(file, arena, list);
	}
	if (!ret && interpreter)
		ret = add_real(interpreter, arena, list);
	vec_free(&n.names);
	return ret ? error_sys(err, ret, "%s", program) : 0;
}

int loader_closure(const char *program, const char *machine, struct arena *arena,
		   struct paths *list, struct spur_error *err)
{
	int ret = paths_add(list, arena, program) ? 0 : error_sys(err, -ENOMEM, "%s", program);

	for (size_t i = 0; i < list->n && !ret; i++) {
		struct spur_error ignored = {0};

		ret = add_needed(list->at[i], machine, arena, list, i ? &ignored : err);
		/* A library that cannot be read still counts as found. */
		if (i && ret != -ENOMEM)
			ret = 0;
	}
	return ret;
}

/* ---- what a process has ---- */

/* The root of the files of a process: "" when it sees the same files as we do. */
static void root_of(pid_t pid, char *root, size_t cap)
{
	struct stat ours, theirs;
	char path[64];

	root[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (!stat("/", &ours) && !stat(path, &theirs) &&
	    (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino))
		snprintf(root, cap, "%s", path);
}

static int add_mapped(const char *root, const char *file, struct arena *arena, struct paths *list)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", root, file) >= (int)sizeof(full) ||
	    !loader_takes(full, "", false))
		return 0;
	return paths_add(list, arena, full) ? 0 : -ENOMEM;
}

/*
 * The program of a process: by its name, unless it was deleted, or another file has that name now;
 * then by the link that leads to it as long as it runs.
 */
static int add_program(pid_t pid, const char *root, struct arena *arena, struct paths *list,
		       struct spur_error *err)
{
	char link[64], exe[PATH_MAX], full[PATH_MAX];
	struct stat running, named;
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	len = readlink(link, exe, sizeof(exe) - 1);
	if (len < 0 || stat(link, &running) < 0)
		return error_sys(err, -errno, "%s", link);
	exe[len] = '\0';
	if (snprintf(full, sizeof(full), "%s%s", root, exe) < (int)sizeof(full) &&
	    stat(full, &named) == 0 && named.st_dev == running.st_dev &&
	    named.st_ino == running.st_ino)
		return add_mapped("", full, arena, list);
	return add_mapped("", link, arena, list);
}

int loader_of_process(pid_t pid, struct arena *arena, struct paths *list, struct spur_error *err)
{
	char path[64], root[64];
	struct buf text;
	int ret;

	root_of(pid, root, sizeof(root));
	ret = add_program(pid, root, arena, list, err);
	if (ret)
		return error_sys(err, ret, "process %d", (int)pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	buf_init(&text, MAX_MAPS);
	ret = file_read(path, &text, err);
	/* "START-END FLAGS OFFSET DEVICE INODE  PATH" */
	for (const char *s = text.len ? text.data : ""; *s && !ret;) {
		size_t line = strcspn(s, "\n");
		const char *slash = memchr(s, '/', line);
		char file[PATH_MAX];

		if (slash && snprintf(file, sizeof(file), "%.*s", (int)(s + line - slash), slash) <
				     (int)sizeof(file))
			ret = add_mapped(root, file, arena, list);
		s += line + !!s[line];
	}
	buf_free(&text);
	return ret ? error_sys(err, ret, "%s", path) : 0;
}

#define MAX_LISTED 100000 /* files that are searched for similar names */

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* The kernel splits a line at blanks, and what follows a '#' is a comment to it. */
static int take(const char *path, struct arena *arena, const char **out, struct spur_error *err)
{
	if (strpbrk(path, " \t\n#"))
		return error_set(err, -EINVAL,
				 "the kernel takes no path with a blank or '#' in it: '%s'", path);
	*out = arena_strdup(arena, path);
	return *out ? 0 : error_sys(err, -ENOMEM, "%s", path);
}

/* ---- paths ---- */

static int by_path(const char *name, const struct probe_options *opt, struct arena *arena,
		   const char **path, struct spur_error *err)
{
	char full[PATH_MAX];

	/* A process may see other files under the same names. */
	if (opt->pid && *name == '/' &&
	    snprintf(full, sizeof(full), "/proc/%d/root%s", (int)opt->pid, name) <
		    (int)sizeof(full) &&
	    is_file(full) && !is_same_file(name, full))
		return take(full, arena, path, err);
	if (!realpath(name, full)) {
		if (*name == '/' && is_file(name))
			return take(name, arena, path, err);
		return error_sys(err, -errno, "%s", name);
	}
	/* /proc/PID/root reads as "/", but leads to the root of that process. */
	if (*name == '/' && is_file(name) && !is_same_file(name, full))
		return take(name, arena, path, err);
	if (!is_file(full))
		return error_set(err, -ENOENT, "%s is no file", name);
	return take(full, arena, path, err);
}

/* In the current directory, then in PATH. */
static bool by_command(const char *name, char *full, size_t cap)
{
	const char *dirs = getenv("PATH");

	if (is_file(name) && loader_takes(name, "", false))
		return snprintf(full, cap, "./%s", name) < (int)cap;
	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");
		int n = snprintf(full, cap, "%.*s/%s", (int)len, dirs, name);

		if (len && n > 0 && (size_t)n < cap && is_file(full) && !access(full, X_OK))
			return true;
		dirs += len + !!dirs[len];
	}
	return false;
}

/* ---- what is traced ---- */

static int traced_program(const struct probe_options *opt, struct arena *arena, const char **path,
			  struct spur_error *err)
{
	char full[PATH_MAX];

	if (!opt->command)
		return error_set(
			err, -EINVAL,
			"say which program: PROGRAM:FUNCTION, or a command or process to trace");
	if (strchr(opt->command, '/'))
		return by_path(opt->command, opt, arena, path, err);
	if (!by_command(opt->command, full, sizeof(full)))
		return error_set(err, -ENOENT, "there is no command '%s'", opt->command);
	return by_path(full, opt, arena, path, err);
}

int path_loaded(const struct probe_options *opt, const char *machine, struct arena *arena,
		struct paths *list, struct spur_error *err)
{
	const char *program;
	int ret;

	if (opt->pid)
		return loader_of_process(opt->pid, arena, list, err);
	ret = traced_program(opt, arena, &program, err);
	return ret ? ret : loader_closure(program, machine, arena, list, err);
}

static int by_loaded(const char *name, const struct probe_options *opt, const char *machine,
		     struct arena *arena, const char **path)
{
	struct spur_error ignored = {0};
	struct paths list = {0};
	int ret = -ENOENT;

	if (!opt->pid && !opt->command)
		return ret;
	path_loaded(opt, machine, arena, &list, &ignored);
	vec_each (file, &list) {
		if (!loader_is_called(*file, name))
			continue;
		*path = *file;
		ret = 0;
		break;
	}
	vec_free(&list);
	return ret;
}

/* ---- names ---- */

static void try_commands(struct nearest *near)
{
	const char *dirs = getenv("PATH");
	size_t seen = 0;

	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");
		char path[PATH_MAX];
		struct dirent *entry;
		DIR *d = NULL;

		if (snprintf(path, sizeof(path), "%.*s", (int)len, dirs) < (int)sizeof(path))
			d = opendir(path);
		while (d && seen++ < MAX_LISTED && (entry = readdir(d)))
			nearest_try(near, entry->d_name, strlen(entry->d_name));
		if (d)
			closedir(d);
		dirs += len + !!dirs[len];
	}
}

int path_find(const char *name, const struct probe_options *opt, const char *machine,
	      struct arena *arena, const char **path, struct spur_error *err)
{
	struct nearest near;
	const char *library;
	char full[PATH_MAX];

	if (!name && opt->pid) {
		struct paths list = {0};
		int ret = loader_of_process(opt->pid, arena, &list, err);

		if (!ret && !list.n)
			ret = error_set(err, -ENOENT, "process %d has no program", (int)opt->pid);
		if (!ret)
			ret = take(list.at[0], arena, path, err);
		vec_free(&list);
		return ret;
	}
	if (!name)
		return traced_program(opt, arena, path, err);
	if (strchr(name, '/'))
		return by_path(name, opt, arena, path, err);
	if (!by_loaded(name, opt, machine, arena, path))
		return take(*path, arena, path, err);
	if (by_command(name, full, sizeof(full)))
		return by_path(full, opt, arena, path, err);
	near = nearest_to(name, strlen(name));
	library = loader_find(name, machine, arena, &near);
	if (library)
		return by_path(library, opt, arena, path, err);
	try_commands(&near);
	return error_set(err, -ENOENT, "there is no program or library '%s'%s", name,
			 nearest_words(&near));
}
