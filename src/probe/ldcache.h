/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader's list of libraries, /etc/ld.so.cache.
 *
 *	header   "glibc-ld.so.cache1.1", u32 entries, u32 bytes of strings, 5 * u32
 *	entry    u32 flags, u32 name, u32 path, u32 osversion, u64 hwcap
 *
 * Names and paths are offsets from the header's start. An older list may stand in front of it.
 */
#ifndef PROBE_LDCACHE_H
#define PROBE_LDCACHE_H

#include <stddef.h>

#define LDCACHE "/etc/ld.so.cache"

/* Calls fn() for each library ("libc.so.6" and its path) until it returns something else than 0. */
int ldcache_each(const char *path, int (*fn)(void *arg, const char *name, const char *file),
		 void *arg);

/* The same for a list in memory. */
int ldcache_walk(const void *data, size_t size,
		 int (*fn)(void *arg, const char *name, const char *file), void *arg);

#endif
