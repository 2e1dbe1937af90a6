/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF: the kernel's own description of its functions and types, in /sys/kernel/btf.
 *
 *	header    u16 magic 0xeb9f, u8 version, u8 flags, u32 header length,
 *	          u32 offset and length of the types, u32 offset and length of the strings
 *	type      u32 name, u32 info (count, kind, flag), u32 size or type, then what the kind says
 *
 * Types are numbered in their order, from 1; 0 is void. The BTF of a module continues the numbers
 * of types and the offsets of strings of the kernel's.
 */
#ifndef SYMBOLS_BTF_H
#define SYMBOLS_BTF_H

#include <spur/error.h>

#include "symbols/names.h"
#include "symbols/types.h"

struct btf;

/* Reads a file; base is the kernel's when the file is a module's, and must outlive it. */
int btf_open(const char *path, const struct btf *base, struct btf **out, struct spur_error *err);

/* The same from memory, which is copied. -EBADMSG if it is not BTF. */
int btf_parse(const void *data, size_t size, const struct btf *base, struct btf **out,
	      struct spur_error *err);
void btf_free(struct btf *b);

/* The kind of type that btf_type() searches. */
enum btf_want {
	BTF_WANT_STRUCT,
	BTF_WANT_UNION,
	BTF_WANT_ENUM,
	BTF_WANT_TYPEDEF, /* or a base type: "unsigned int", "u64" */
};

/* A type by its name, without "struct " and its like; false when it is not described. */
bool btf_type(const struct btf *b, enum btf_want want, const char *name, struct type *t);

/* The value of an enumerator by its name, and the enum it is in. */
bool btf_enumerator(const struct btf *b, const char *name, int64_t *value, struct type *in);

/* The arguments of a raw tracepoint's programs. Names are "" if the kernel does not have them. */
bool btf_raw_tracepoint(const struct btf *b, const char *name, struct arena *arena,
			struct proto *p);

/* Offers all names of a kind to `near`; slow. */
void btf_nearest(const struct btf *b, enum btf_want want, struct nearest *near);

/* Hands all names of a kind to each(), the kernel's own first, until that returns false. */
bool btf_names(const struct btf *b, enum btf_want want, bool (*each)(void *arg, const char *name),
	       void *arg);

/* Appends a struct, union or enum as C defines it; false when it is not described. */
bool btf_define(const struct btf *b, enum btf_want want, const char *name, struct buf *to);

/*
 * The parameters and the result of a function; false if it is not described. Names are in the BTF.
 */
bool btf_function(const struct btf *b, const char *name, struct arena *arena, struct proto *p);

/* The id of a function, and whether it is in this BTF itself or in its base; 0: none. */
uint32_t btf_function_id(const struct btf *b, const char *name, bool *own);

/* The name of the function with that id; NULL: it is not a function. */
const char *btf_function_name(const struct btf *b, uint32_t id);

/* The parameters and the result of the function with that id; false if it is not one. */
bool btf_function_with_id(const struct btf *b, uint32_t id, struct arena *arena, struct proto *p);

/* The id of the type of a tracepoint's function, in this BTF itself; 0: none. */
uint32_t btf_raw_tracepoint_id(const struct btf *b, const char *name);

/* Appends a function as C declares it; false, with nothing appended, when it is not described. */
bool btf_prototype(const struct btf *b, const char *name, struct buf *to);

/*
 * The BTF of the kernel and of its modules, which is in /sys/kernel/btf. Only the last module stays
 * open: callers go through modules in order.
 */

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
