/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file a user means by the name of a program or library.
 *
 * A name with a slash is a path. Any other is looked for among what the traced process or command
 * has loaded, in the current directory, in PATH, and as a library ("c", "libc" and "libc.so.6" are
 * the same) where the loader looks: LD_LIBRARY_PATH, ld.so.cache and the usual directories.
 */
#ifndef PROBE_PATH_H
#define PROBE_PATH_H

#include <spur/error.h>

#include "probe/probe.h"

struct paths {
	const char **at; /* in the arena */
	size_t n, cap;
};

/* An absolute path that the kernel takes; name may be NULL for the traced program. -ENOENT. */
int path_find(const char *name, const struct probe_options *opt, const char *machine,
	      struct arena *arena, const char **path, struct spur_error *err);

/* The traced program and its libraries, freed with vec_free(). -EINVAL when nothing is traced. */
int path_loaded(const struct probe_options *opt, const char *machine, struct arena *arena,
		struct paths *list, struct spur_error *err);

#endif
