/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file a user means by the name of a program or library, libraries as the loader finds them,
 * and those that a process has loaded.
 *
 * A name with a slash is a path. Any other name is searched in the files that the traced process or
 * command has loaded, in the current directory, in PATH, and as a library ("c", "libc" and
 * "libc.so.6" are the same) in the loader's places: LD_LIBRARY_PATH, ld.so.cache and the usual
 * directories.
 */
#ifndef PROBE_LOADER_H
#define PROBE_LOADER_H

#include <spur/error.h>

#include "probe/probe.h"

struct paths {
	const char **at; /* in the arena */
	size_t n, cap;
};

/* Adds a path unless it is there; false without memory. */
bool paths_add(struct paths *list, struct arena *arena, const char *path);

/* An absolute path for the kernel; name may be NULL for the traced program. -ENOENT. */
int path_find(const char *name, const struct probe_options *opt, const char *machine,
	      struct arena *arena, const char **path, struct spur_error *err);

/* The traced program and its libraries, freed with vec_free(). -EINVAL when nothing is traced. */
int path_loaded(const struct probe_options *opt, const char *machine, struct arena *arena,
		struct paths *list, struct spur_error *err);

/* Whether a file is an ELF file that runs on a kernel of that machine; native: not as a guest. */
bool loader_takes(const char *file, const char *machine, bool native);

/* Whether a user means this file by "c", "libc" or "libc.so.6". */
bool loader_is_called(const char *file, const char *name);

/* The libraries a program would load, itself first. */
int loader_closure(const char *program, const char *machine, struct arena *arena,
		   struct paths *list, struct spur_error *err);

/* The mapped files of a process, its program first; paths are valid for spur. */
int loader_of_process(pid_t pid, struct arena *arena, struct paths *list, struct spur_error *err);

/*
 * The loader's list of libraries, /etc/ld.so.cache.
 *
 *	header   "glibc-ld.so.cache1.1", u32 entries, u32 bytes of strings, 5 * u32
 *	entry    u32 flags, u32 name, u32 path, u32 osversion, u64 hwcap
 *
 * Names and paths are offsets from the header's start. An older list may precede it.
 */
#define LDCACHE "/etc/ld.so.cache"

/*
 * Calls fn() for each library ("libc.so.6" and its path) of a list in memory until it returns
 * something else than 0.
 */
int ldcache_walk(const void *data, size_t size,
		 int (*fn)(void *arg, const char *name, const char *file), void *arg);

#endif
