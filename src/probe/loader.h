/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries as the loader finds them, and those a process has loaded. */
#ifndef PROBE_LOADER_H
#define PROBE_LOADER_H

#include "probe/path.h"

/* Whether a file is an ELF file that runs on a kernel of that machine; native: not as a guest. */
bool loader_takes(const char *file, const char *machine, bool native);

/* Whether a file is called what a user means by "c", "libc" or "libc.so.6". */
bool loader_is_called(const char *file, const char *name);

/*
 * A library by such a name; *near, when it is not NULL, is shown all names. NULL when there is
 * none.
 */
struct nearest;
const char *loader_find(const char *name, const char *machine, struct arena *arena,
			struct nearest *near);

/* The libraries a program would load, itself first. */
int loader_closure(const char *program, const char *machine, struct arena *arena,
		   struct paths *list, struct spur_error *err);

/* What a process has mapped, its program first; as seen from here. */
int loader_of_process(pid_t pid, struct arena *arena, struct paths *list, struct spur_error *err);

/* Adds a path unless it is there; false without memory. */
bool paths_add(struct paths *list, struct arena *arena, const char *path);

#endif
