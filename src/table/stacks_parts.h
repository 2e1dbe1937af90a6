/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks as text; private to stacks*.c. */
#ifndef TABLE_STACKS_PARTS_H
#define TABLE_STACKS_PARTS_H

#include "table/parts.h"
#include "table/stacks.h"

/* A stack with names. Equal stacks are one. */
struct folded {
	const char *text; /* "outer;…;inner" */
	const char *top;
	uint32_t depth;
	uint32_t nr;		 /* of addresses */
	int tgid;		 /* of a stack of a program whose mappings are known, else 0 */
	const uint64_t *address; /* the innermost first */
};

struct folder;

/* `suffix` is put behind every function of the kernel. NULL without memory. */
struct folder *folder_new(struct events *ev, const char *suffix);
void folder_free(struct folder *f);

/* The stack that a record of kernel_stack or user_stack holds; NULL: none, or beyond the limit. */
const struct folded *folder_kernel(struct folder *f, struct event *e, const struct spur_record *r);
const struct folded *folder_user(struct folder *f, struct event *e, const struct spur_record *r);

/* "user's;kernel's", of which one may be NULL. It lives as long as the folder. */
const char *folder_join(struct folder *f, const struct folded *user, const struct folded *kernel);

#endif
