/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BTF of the kernel and of its modules, which is in /sys/kernel/btf. Only the last module stays
 * open: callers go through modules in order.
 */
#ifndef SYMBOLS_BTF_SET_H
#define SYMBOLS_BTF_SET_H

#include "symbols/btf.h"

#define BTF_SET_NAME 64 /* bytes of a module's name; the kernel's limit is 56 */

struct btf_set {
	const char *path; /* of the kernel's */
	struct btf *kernel, *module;
	char loaded[BTF_SET_NAME]; /* the module */
};

/* path: NULL for the running kernel. On failure the set is empty, but can be used. */
int btf_set_open(struct btf_set *s, const char *path, struct spur_error *err);
void btf_set_close(struct btf_set *s);

/* The BTF of a module, or of the kernel if its name is NULL or ""; NULL: there is none. */
const struct btf *btf_set_of(struct btf_set *s, const char *module);

#endif
