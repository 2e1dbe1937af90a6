/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of C as far as probes and scripts need them, wherever they are described: BTF, DWARF, an
 * event's format, a script.
 *
 * A struct type is a view: its source (`in`) and its id there, and copies of the properties that
 * are used most. Typedefs and qualifiers have been removed. It is valid as long as its source.
 */
#ifndef SYMBOLS_TYPES_H
#define SYMBOLS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum type_kind {
	TYPE_UNKNOWN,
	TYPE_VOID,
	TYPE_INTEGER, /* bool, char and enum as well */
	TYPE_FLOAT,
	TYPE_POINTER,
	TYPE_ARRAY,
	TYPE_STRUCT, /* or union, or class */
	TYPE_FUNCTION,
	TYPE_TEXT, /* characters whose place only the kernel knows: a field of an event */
};

struct types;

struct type {
	const struct types *in; /* NULL: there is nothing more to query */
	uint64_t id;
	enum type_kind kind;
	uint64_t size;	/* in bytes; 0 when unknown */
	uint64_t count; /* elements of an array */
	bool is_signed;
	bool is_char;
	bool is_bool;
	bool is_enum;
	bool is_union;
	bool hex;	   /* an integer that may well be an address */
	bool user;	   /* a pointer into a process, as the kernel marks it */
	bool by_reference; /* passed as a pointer although it is no pointer: classes of C++ */
};

struct member {
	const char *name;  /* "" when it has none */
	uint64_t offset;   /* in bytes; of a bit field: of its integer */
	unsigned int bit;  /* a bit field's first bit in that integer, counted from the lowest */
	unsigned int bits; /* 0: no bit field */
	struct type type;
};

struct enumerator {
	const char *name;
	int64_t value;
};

/* Whoever describes types. What is NULL is not known there. */
struct types {
	/* The target of a pointer, or the element of an array. */
	bool (*target)(const struct types *in, const struct type *t, struct type *to);
	/* The member of that number; false when there are no more. */
	bool (*member)(const struct types *in, const struct type *t, size_t number,
		       struct member *m);
	/* Its name, without "struct " and the like; "" or NULL if it has none. */
	const char *(*name)(const struct types *in, const struct type *t);
	/* The enumerator of that number of an enum; false when there are no more. */
	bool (*enumerator)(const struct types *in, const struct type *t, size_t number,
			   struct enumerator *e);
	/* The explicit alignment of a struct; 0: that of its members. */
	uint64_t (*align)(const struct types *in, const struct type *t);
};

bool type_target(const struct type *t, struct type *to);

/*
 * Bytes it takes in memory, arrays and pointers included; 0: not known. A pointer whose
 * size is not said is as large as here.
 */
uint64_t type_size(const struct type *t);

/* How C aligns it: as the largest scalar inside. Never 0. */
uint64_t type_align(const struct type *t);

/* Whether both are the same: described by the same entry, or alike in all that can be asked. */
bool type_same(const struct type *a, const struct type *b);

/* As C writes it: "struct task_struct *", "int[4]", "unsigned long". */
void type_name(const struct type *t, struct buf *to);

/* The name of the enumerator with that value, NULL: none has it. */
const char *type_enumerator_name(const struct type *t, int64_t value);

/* Makes the type of a pointer to t, or of an array of it; false without memory. */
bool type_pointer_to(const struct type *t, struct arena *arena, struct type *to);
bool type_array_of(const struct type *t, uint64_t count, struct arena *arena, struct type *to);

/* A member by its name, also one of a nameless struct or union inside. */
bool type_member(const struct type *t, const char *name, size_t len, struct member *m);

/* The names of the members, separated by commas, the first few of them. */
void type_list_members(const struct type *t, struct buf *to);

/*
 * The names of the few members nearest to one that is not there, separated by commas; those of the
 * first members when none is near.
 */
void type_near_members(const struct type *t, const char *name, struct buf *to);

/* What the words of a small struct hold, for the question how it is passed. */
enum type_words {
	WORDS_UNSURE,
	WORDS_INTEGER,
	WORDS_FLOAT,
};

/* Also the size of its largest scalar, which is how it is aligned. */
enum type_words type_words(const struct type *t, uint64_t *largest);

/* Makes a bit field's place from the number of its first bit in the struct, little endian. */
void member_set_bits(struct member *m, uint64_t first_bit, unsigned int bits);

/* ---- functions ---- */

enum place_kind {
	PLACE_BY_ABI,	/* not said; abi_place() decides */
	PLACE_REGISTER, /* reg, and reg2 when it takes two */
	PLACE_MEMORY,	/* at the address reg + offset */
	PLACE_FILE,	/* at the address where `offset` of the probed file is mapped */
	PLACE_CONSTANT, /* it is always `offset` */
	PLACE_FIELD,	/* the event's field of that name */
	PLACE_NOWHERE,	/* the kernel cannot fetch it; `why` */
};

struct place {
	enum place_kind kind;
	const char *reg, *reg2; /* as the kernel names them, without the percent sign */
	int64_t offset;
	bool reference; /* what is there is the address of the value */
	const char *why;
};

struct param {
	const char *name; /* "" when it has none */
	struct type type;
	struct place place;
};

/* Everything a probe may fetch by name. */
struct proto {
	struct param *at; /* in an arena */
	size_t n;
	struct type ret;
	bool certain; /* what is said about places is true, whatever the ABI says */
};

#define PROTO_MAX_PARAMS 128 /* as many as the kernel takes */

#endif
