/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of one file, by offset in it, and of what a compiler has made at run time. */
#ifndef SCRIPT_SYMBOLS_FILE_H
#define SCRIPT_SYMBOLS_FILE_H

#include <sys/types.h>

#include "script/symbols.h"

struct build_id; /* symbols/notes.h */
struct symbol_file;
struct symbol_files; /* those of all processes, by device and inode */

struct symbol_files *symbol_files_new(void);
void symbol_files_free(struct symbol_files *f);

/*
 * Debug files are looked for in these places, too: symbols/elf.h. `lines`: files stay open
 * for symbol_file_source().
 */
void symbol_files_use_debuginfo(struct symbol_files *f, const char *const *places, bool lines);

/* The file of that number; opened at `path` when it is new. NULL when it cannot be. */
struct symbol_file *symbol_files_get(struct symbol_files *f, uint64_t dev, uint64_t inode,
				     const char *path);

/*
 * /tmp/perf-PID.map; NULL when there is none, or when what is there is no file of that user's or
 * root's: anybody may write to /tmp. Freed by symbol_file_free().
 */
struct symbol_file *symbol_file_of_jit(const char *path, uid_t owner);
void symbol_file_free(struct symbol_file *f);

/* Fills in name and offset. */
bool symbol_file_find(struct symbol_file *f, uint64_t offset, bool demangle, struct symbol_at *at);

/* See symbols_source(). */
size_t symbol_file_source(struct symbol_file *f, uint64_t offset, bool demangle,
			  const struct source_frame **frames);

/* NULL when it has none. */
const struct build_id *symbol_file_id(struct symbol_file *f);

#endif
