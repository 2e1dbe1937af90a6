/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs and libraries: their functions, and where in the file these are.
 *
 * A separate file of debug information is found by build id or .gnu_debuglink and its symbols are
 * added. Addresses are those the file was linked for; the kernel needs offsets in the file:
 * binary_offset(). Without libelf, binary_open() reports that.
 */
#ifndef SYMBOLS_ELF_H
#define SYMBOLS_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/arena.h"
#include "base/cursor.h"

struct binary;
struct Elf;

struct binary_info {
	unsigned int machine; /* e_machine */
	bool is_64, big_endian;
};

struct binary_symbol {
	const char *name;    /* valid during the call; what follows '@' is the version */
	size_t name_len;     /* without it */
	const char *version; /* "GLIBC_2.14", or NULL */
	bool old_version;    /* there is, or may be, a newer symbol of that name */
	bool function;	     /* or else a variable */
	bool indirect;	     /* what is called is what the function returns: STT_GNU_IFUNC */
	uint64_t addr, size;
};

/* -EBADMSG when it is no ELF file. */
int binary_open(const char *path, struct binary **out, struct spur_error *err);

/*
 * The same. Its debug file is searched by its build id below /usr/lib/debug, or by the name in its
 * .gnu_debuglink next to it, in .debug and below /usr/lib/debug.
 *
 * Before these, the places are searched (up to a NULL; may be NULL): lists of folders or files with
 * colons between them; relative paths are relative to the program's folder. A file must have the
 * program's build id, or the checksum in .gnu_debuglink if there is no id; after a '+' before a
 * place it must have that checksum, too.
 */
int binary_open_debug(const char *path, const char *const *places, struct binary **out,
		      struct spur_error *err);

void binary_close(struct binary *b);

struct binary_info binary_info(const struct binary *b);

/* The path that it was opened by. */
const char *binary_path(const struct binary *b);

/* The path that the kernel has for it, or for its debug file; false when there is none. */
bool binary_real_path(const struct binary *b, bool debug, char *path, size_t size);

/* The offset of an address in the file; false if it is not in the file. */
bool binary_offset(const struct binary *b, uint64_t addr, uint64_t *offset);

/* The same for instructions only. */
bool binary_code_offset(const struct binary *b, uint64_t addr, uint64_t *offset);

/* Whether it, or its debug file, has debug information. */
bool binary_has_debug(const struct binary *b);

/* The address that a byte of the file has, if it is code. */
bool binary_code_addr(const struct binary *b, uint64_t offset, uint64_t *addr);

/* Calls fn() for every function and variable the file defines, until it does not return 0. */
int binary_each_symbol(const struct binary *b,
		       int (*fn)(void *arg, const struct binary_symbol *symbol), void *arg);

/* Calls fn() for the content of each section of notes; the cursor has the file's byte order. */
int binary_each_notes(const struct binary *b, int (*fn)(void *arg, struct cursor notes), void *arg);

/* The address of a section, by its name; false when there is none. */
bool binary_section(const struct binary *b, const char *name, uint64_t *addr);

/* Its content, too; false also when the file has none of it. */
bool binary_section_bytes(const struct binary *b, const char *name, uint64_t *addr,
			  struct cursor *bytes);

/* The dynamic section: calls fn() with a DT_ tag and its text (DT_NEEDED, DT_RPATH, …). */
int binary_each_dynamic(const struct binary *b, int (*fn)(void *arg, int tag, const char *text),
			void *arg);

/* The loader's path, into the arena; NULL when there is none. */
char *binary_interpreter(const struct binary *b, struct arena *arena);

/* For DWARF: the file that has it, itself or the separate one. */
struct Elf *binary_debug_elf(const struct binary *b);

/* Whether there is a table of all symbols, not only of the exported ones. */
bool binary_has_symtab(const struct binary *b);

/* Notes in ELF files: name length, content length, type, name, content, each to 4 bytes. */

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
