/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/symbols: BTF in memory, and its records. Other folders use btf.h. */
#ifndef SYMBOLS_BTF_RECORD_H
#define SYMBOLS_BTF_RECORD_H

#include "base/cursor.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "symbols/btf.h"

#define BTF_MAX_STEPS 32 /* typedefs and qualifiers in front of a type */

enum btf_kind {
	BTF_INT = 1,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_KINDS
};

/* A cache for look-ups: the rest of a struct btf does not change. */
struct btf_index {
	unsigned int lookups; /* of functions, so far */
	bool built;
	struct hash_seed seed;
	struct map functions; /* by the hash of their names; the value is the number of the type */
};

struct btf {
	struct types types; /* first: its address is that of the whole struct */
	const struct btf *base;
	bool big_endian;
	uint8_t *data;		/* owned … */
	size_t mapped;		/* … as a mapping of so many bytes, or 0: as memory */
	const uint8_t *section; /* the types */
	size_t section_len;
	const char *strings;
	size_t strings_len;
	uint32_t first;	       /* the number of at[0] */
	uint32_t first_string; /* the offset of strings[0] */
	vec_of(uint32_t) where;
	struct btf_index *index; /* owned */
};

struct btf_record {
	uint32_t name, count, size; /* `size` is the number of a type for most kinds */
	enum btf_kind kind;
	bool flag;
	struct cursor tail;
};

/* A type by its number, of the kernel's too when b is a module's. */
bool btf_read(const struct btf *b, uint32_t id, struct btf_record *r);

/* The text at an offset; never NULL. */
const char *btf_string(const struct btf *b, uint32_t offset);

/* The function or other type of that name in this BTF itself; 0: there is none. */
uint32_t btf_find(const struct btf *b, const char *name, uint32_t kinds);

/* One bit for each wanted kind. */
#define BTF_KIND_BIT(kind) (1u << (kind))

/* The prototype of a function; false when it is not described. */
bool btf_function_record(const struct btf *b, const char *name, const struct btf **in,
			 struct btf_record *r);

#endif
