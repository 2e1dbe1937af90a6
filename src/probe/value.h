/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/probe: a value that a probe can fetch, where it is, in the kernel's words, and
 * what it is.
 */
#ifndef PROBE_VALUE_H
#define PROBE_VALUE_H

#include "probe/fetch.h"

struct fetch_value {
	char base[FETCH_MAX + 1]; /* a fetch argument without its type */
	const char *second;	  /* the register of the second word, if there are two */
	bool memory;		  /* it is at the address base + offset; otherwise it is base */
	bool file;		  /* it is where `offset` of the file is mapped; base is unused */
	bool user;		  /* its memory is a process's, and the probe the kernel's */
	int64_t offset;
	unsigned int word; /* bytes of a register and of a pointer */
	bool kernel;	   /* the probe is the kernel's */
	bool typed;
	struct type type;
	unsigned int bit, bits; /* of a bit field, as in struct member */
	const char *name;	/* what to call it: a parameter or member; or NULL */
	size_t name_len;
};

/* The value of a parameter; -EINVAL with the reason when the kernel cannot fetch it. */
int value_of_param(const struct fetch_scope *scope, const struct param *p, struct fetch_value *v,
		   struct spur_error *err);

/* Follows "->NAME", ".NAME" or "[N]" at *text, which is advanced. */
int value_step(struct fetch_value *v, const char **text, struct spur_error *err);

/* The fetch argument that yields it, into FETCH_MAX + 1 bytes; false when it is too long. */
bool value_text(const struct fetch_value *v, char *text);

/* The same with the kernel's type after it: the given one, or the most suitable. */
int value_with_type(const struct fetch_value *v, const char *type, char *text,
		    struct spur_error *err);

#endif
