/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The descriptions of the kernel and of its modules, which lie beside each other in
 * /sys/kernel/btf. Only that of the module asked for last is kept: they are asked for in order.
 */
#ifndef SYMBOLS_BTF_SET_H
#define SYMBOLS_BTF_SET_H

#include "symbols/btf.h"

#define BTF_SET_NAME 64 /* bytes of a module's name; the kernel takes 56 */

struct btf_set {
	const char *path; /* of the kernel's */
	struct btf *kernel, *module;
	char loaded[BTF_SET_NAME]; /* the module */
};

/* path: NULL for the running kernel. When it fails the set is empty, and may still be asked. */
int btf_set_open(struct btf_set *s, const char *path, struct spur_error *err);
void btf_set_close(struct btf_set *s);

/* What describes a module, or the kernel itself when its name is NULL or ""; NULL: nothing does. */
const struct btf *btf_set_of(struct btf_set *s, const char *module);

#endif
