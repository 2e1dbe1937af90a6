/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses: functions of the kernel, and of processes, which may be gone by the time
 * their stacks are printed.
 *
 * Nothing is read before it is needed. What a process has mapped is read at the first look-up, or
 * when symbols_note_pid() says that it will be needed; the files stay open from then on, so that
 * neither an exit nor a deleted file takes the names away. Tables of symbols are read when an
 * address falls into their file, once for all processes.
 */
#ifndef SCRIPT_SYMBOLS_H
#define SCRIPT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;     /* symbols/notes.h */
struct source_frame; /* symbols/frames.h */
struct symbolizer;
struct symbols; /* event/names.h */

/* Views, valid until the next look-up. */
struct symbol_at {
	const char *name;
	uint64_t offset;    /* of the address in it */
	const char *module; /* path of the file, or NULL */
};

/* proc: "/proc", or where it is; NULL: this machine is not asked. NULL without memory. */
struct symbolizer *symbols_open(const char *proc, bool demangle);
void symbols_close(struct symbolizer *s);

/*
 * Debug files are looked for in these places, too (symbols/elf.h); they stay the caller's.
 * `lines`: symbols_source() will be asked.
 */
void symbols_use_debuginfo(struct symbolizer *s, const char *const *places, bool lines);

/* The kernel's symbols, of a recording; they stay the caller's. */
void symbols_use_kernel(struct symbolizer *s, struct symbols *kernel);

bool symbols_kernel(struct symbolizer *s, uint64_t addr, struct symbol_at *at);

/* False when nobody knows; `module` is still set where it is a part of a file without a name. */
bool symbols_user(struct symbolizer *s, uint32_t pid, uint64_t addr, struct symbol_at *at);

/*
 * Source lines of an address, and the functions that were inlined there, innermost first: see
 * symbols/frames.h. 0 when nobody knows. Views, valid as long as the symbolizer.
 */
size_t symbols_source(struct symbolizer *s, uint32_t pid, uint64_t addr,
		      const struct source_frame **frames);

/* The build id of the file that is mapped there, and where in it that is; NULL: nobody knows. */
const struct build_id *symbols_user_file(struct symbolizer *s, uint32_t pid, uint64_t addr,
					 uint64_t *offset);

/* Reads what a process has mapped while it lives: once, or again when it has `changed` (exec). */
void symbols_note_pid(struct symbolizer *s, uint32_t pid, bool changed);

/*
 * A process that was noted had perhaps only begun, its libraries still to come: looks again at
 * those whose turn it is. In how many milliseconds there will be more to do; -1: there is nothing.
 */
int symbols_look_again(struct symbolizer *s);

#endif
