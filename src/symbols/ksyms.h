/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the running kernel and its modules, as /proc/kallsyms lists them. */
#ifndef SYMBOLS_KSYMS_H
#define SYMBOLS_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "symbols/names.h"

struct ksym {
	const char *name;
	const char *module; /* NULL: the kernel itself */
	uint64_t addr;	    /* 0 without permission */
	bool repeated;	    /* another one has the same name */
};

struct ksyms {
	struct ksym *at;
	size_t n, cap;
	uint64_t text;	    /* the address of _stext; 0: not known */
	bool module_loaded; /* the given module has symbols */
};

/* The module, in patterns, of functions of the kernel itself. */
#define KSYMS_KERNEL "vmlinux"

/* Functions that can be probed: what the function tracer lists. */
struct traceable {
	struct hash_seed seed;
	struct map names;
	bool known; /* or else any function may be one */
};

void traceable_load(struct traceable *t, const char *path);
void traceable_free(struct traceable *t);

/*
 * Finds functions: by name or pattern, anywhere (module NULL) or in modules of a name or pattern;
 * the kernel itself is the module "vmlinux" to a pattern, and "" by name. Names are in the arena;
 * the list is freed with vec_free(). `near`, if it is not NULL, is offered all names, which is
 * slow. A pattern only matches traceable functions. -EINVAL if there are more than `most`.
 */
int ksyms_find(const char *path, const char *module, const char *pattern, size_t most,
	       const struct traceable *traceable, struct arena *arena, struct ksyms *found,
	       struct nearest *near, struct spur_error *err);

#endif
