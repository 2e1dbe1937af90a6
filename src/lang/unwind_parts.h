/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files share that lower dw_ustack(). What is known of a frame lies in the scratch area
 * (struct state), the frames behind it.
 */
#ifndef LANG_UNWIND_PARTS_H
#define LANG_UNWIND_PARTS_H

#include <stddef.h>

#include "lang/lower.h"
#include "lang/unwind.h"

struct state {
	uint64_t ip, sp, bp, bx;
	uint64_t exact; /* ip is not what a call left */
	uint64_t now;
	uint64_t n, hash;
	uint64_t cfa;
	struct unwind_page_key key;
	struct unwind_page page;
	struct unwind_file_key file;
	uint64_t start, word;
	struct unwind_file none;
	struct action_record head; /* of what is sent, and then: */
	struct unwind_note note;
};

struct unwinder {
	struct lower *l;
	struct mem state; /* offsets hold in all functions, the base is each one's scratch area */
	uint32_t depth;
	uint32_t rows, rules, files, pages; /* maps */
	const struct action *note;
};

/* ---- the state ---- */

static inline struct mem at_offset(const struct unwinder *u, size_t offset)
{
	return (struct mem){lower_scratch(u->l), u->state.offset + (int64_t)offset};
}

static inline ir_reg get_word(const struct unwinder *u, size_t offset)
{
	return mem_load(u->l, at_offset(u, offset), 8, false);
}

static inline void put_word(const struct unwinder *u, size_t offset, ir_reg v)
{
	mem_store(u->l, at_offset(u, offset), 8, v);
}

static inline ir_reg address_of(const struct unwinder *u, size_t offset)
{
	return mem_address(u->l, at_offset(u, offset));
}

#define GET(field)	    get_word(u, offsetof(struct state, field))
#define PUT(field, v)	    put_word(u, offsetof(struct state, field), v)
#define PUT_CONST(field, v) mem_store_const(u->l, at_offset(u, offsetof(struct state, field)), 8, v)
#define AT(field)	    address_of(u, offsetof(struct state, field))

/* ---- what it reads of the kernel ---- */

enum unwind_field {
	TASK_MM,
	MM_STACK,
	VMA_START,
	VMA_PGOFF,
	VMA_FILE,
	FILE_INODE,
	INODE_INO,
	INODE_SIZE,
	UNWIND_FIELDS
};

/* Where a field is; false, with its name in *name, when the kernel does not say. */
bool unwind_field(struct env *e, enum unwind_field which, struct member *m, const char **name);

/* A field of an object of the kernel's, to a word of the state; what cannot be read is 0. */
ir_reg unwind_read(const struct unwinder *u, ir_reg object, enum unwind_field which, size_t to);

/* ---- the parts ---- */

/* Leaves the table for an address in the state; goes to `end` when there is none. */
void lower_unwind_page(const struct unwinder *u, ir_reg addr, ir_label end);

/* Makes the function that goes from one frame to the next; its number. */
uint32_t lower_unwind_step(const struct unwinder *u);

#endif
