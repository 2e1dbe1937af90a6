/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of C as far as probes need them, wherever they are described: BTF, DWARF, an event's
 * format.
 *
 * A struct type is a view: who described it (`in`) and its number there, with what is asked most
 * copied out. Typedefs and qualifiers have been looked through. It is valid as long as its source.
 */
#ifndef USER_TYPES_H
#define USER_TYPES_H

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
	TYPE_TEXT, /* characters that the kernel knows where to find: a field of an event */
};

struct types;

struct type {
	const struct types *in; /* NULL: nobody can be asked for more */
	uint64_t id;
	enum type_kind kind;
	uint64_t size;	/* in bytes; 0 when unknown */
	uint64_t count; /* elements of an array */
	bool is_signed;
	bool is_char;
	bool hex;	   /* an integer that may well be an address */
	bool user;	   /* a pointer into a process, as the kernel marks it */
	bool by_reference; /* passed as a pointer although it is no pointer: classes of C++ */
};

struct member {
	const char *name;  /* "" when it has none */
	uint64_t offset;   /* in bytes; of a bit field: of the integer that holds it */
	unsigned int bit;  /* a bit field's first bit in that integer, counted from the lowest */
	unsigned int bits; /* 0: no bit field */
	struct type type;
};

/* Whoever describes types. */
struct types {
	/* What a pointer points at, or an array consists of. */
	bool (*target)(const struct types *in, const struct type *t, struct type *to);
	/* The member of that number; false when there are no more. */
	bool (*member)(const struct types *in, const struct type *t, size_t number,
		       struct member *m);
};

bool type_target(const struct type *t, struct type *to);

/* A member by its name, also one of a nameless struct or union inside. */
bool type_member(const struct type *t, const char *name, size_t len, struct member *m);

/* The names of the members, separated by commas, the first few of them. */
void type_list_members(const struct type *t, struct buf *to);

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

/* ---- functions ------------------------------------------------------------------------- */

enum place_kind {
	PLACE_BY_ABI,	/* nobody has said where; abi_place() decides */
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
