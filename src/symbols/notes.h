/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes in ELF files: name length, content length, type, name, content, each to 4 bytes. */
#ifndef SYMBOLS_NOTES_H
#define SYMBOLS_NOTES_H

#include <stdbool.h>

#include "base/cursor.h"

struct note {
	uint32_t type;
	struct cursor content;
	const char *name; /* of name_len bytes, a NUL at its end counted */
	size_t name_len;
};

/* The next note of a section; false at its end, and at a wrong note. */
bool note_next(struct cursor *notes, struct note *n);

/* Whether it is of that owner and type. */
bool note_is(const struct note *n, const char *owner, uint32_t type);

/* The linker's hash of a program's contents, which identifies it. */
struct build_id {
	uint8_t bytes[64];
	size_t len; /* 0: there is none */
};

/* Searches it in the notes of a section; false if it is not there. */
bool note_build_id(struct cursor notes, struct build_id *id);

#endif
