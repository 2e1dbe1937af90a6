// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "probe/loader.h"
#include "symbols/nearest.h"

#define MAX_LISTED 100000 /* files looked at for a name that is near */

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

/* ---- paths ----------------------------------------------------------------------------- */

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

/* ---- what is traced -------------------------------------------------------------------- */

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

/* ---- names ----------------------------------------------------------------------------- */

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
