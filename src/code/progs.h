/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that are loaded in the kernel, by any program, and what describes them. */
#ifndef CODE_PROGS_H
#define CODE_PROGS_H

#include <stddef.h>
#include <stdint.h>

/* The functions of a program: its own first, then those that it calls. */
struct prog_functions {
	uint32_t btf; /* number of the BTF that describes them; 0: nothing does */
	uint32_t *types;
	size_t n;
};

/* The program after *id, 0 for the first; -ENOENT at the end. */
int progs_next(uint32_t *id);

/* A descriptor of it. */
int progs_open(uint32_t id);

/* types is freed by the caller. */
int progs_functions(int fd, struct prog_functions *to);

/* The bytes of a BTF in the kernel; freed by the caller. */
int progs_btf(uint32_t id, void **data, size_t *size);

#endif
