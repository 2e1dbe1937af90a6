/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF: the kernel's own description of its functions and types, in /sys/kernel/btf.
 *
 *	header    u16 magic 0xeb9f, u8 version, u8 flags, u32 header length,
 *	          u32 offset and length of the types, u32 offset and length of the strings
 *	type      u32 name, u32 info (count, kind, flag), u32 size or type, then what the kind says
 *
 * Types are numbered in the order in which they stand, from 1; 0 is void. A module's BTF goes on
 * counting, types and strings, where the kernel's ends.
 */
#ifndef SYMBOLS_BTF_H
#define SYMBOLS_BTF_H

#include <spur/error.h>

#include "symbols/nearest.h"
#include "symbols/types.h"

struct btf;

/* Reads a file; base is the kernel's when the file is a module's, and must outlive it. */
int btf_open(const char *path, const struct btf *base, struct btf **out, struct spur_error *err);

/* The same from memory, which is copied. -EBADMSG when it is no BTF. */
int btf_parse(const void *data, size_t size, const struct btf *base, struct btf **out,
	      struct spur_error *err);
void btf_free(struct btf *b);

/* What btf_type() looks for. */
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

/*
 * What the programs of a raw tracepoint are given. Names are "" where the kernel does not tell
 * them.
 */
bool btf_raw_tracepoint(const struct btf *b, const char *name, struct arena *arena,
			struct proto *p);

/* Shows all names of a kind to `near`; takes a while. */
void btf_nearest(const struct btf *b, enum btf_want want, struct nearest *near);

/* Hands all names of a kind to each(), the kernel's own first, until that returns false. */
bool btf_names(const struct btf *b, enum btf_want want, bool (*each)(void *arg, const char *name),
	       void *arg);

/* Appends a struct, union or enum as C defines it; false when it is not described. */
bool btf_define(const struct btf *b, enum btf_want want, const char *name, struct buf *to);

/* What a function takes and returns; false when it is not described. Names live in the BTF. */
bool btf_function(const struct btf *b, const char *name, struct arena *arena, struct proto *p);

/*
 * Its number, and whether it is of this BTF's own functions or those of what it builds on; 0: none.
 */
uint32_t btf_function_id(const struct btf *b, const char *name, bool *own);

/* The number of the type of what is called at a tracepoint, among this BTF's own; 0: none. */
uint32_t btf_raw_tracepoint_id(const struct btf *b, const char *name);

/* Appends a function as C declares it; false, with nothing appended, when it is not described. */
bool btf_prototype(const struct btf *b, const char *name, struct buf *to);

#endif
