/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses: functions of the kernel, and of processes, which may be gone by the time
 * their stacks are printed.
 *
 * Nothing is read before it is needed. The mappings of a process are read at the first look-up, or
 * when symbols_note_pid() announces one; the files stay open from then on, so that names are still
 * known after an exit or after a file was deleted. The symbols of a file are read at the first
 * address in it, once for all processes.
 *
 * Private to src/script.
 */
#ifndef SCRIPT_SYMBOLS_H
#define SCRIPT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;     /* symbols/elf.h */
struct source_frame; /* symbols/lines.h */
struct symbolizer;
struct symbols; /* event/names.h */

/* Views, valid until the next look-up. */
struct symbol_at {
	const char *name;
	uint64_t offset;    /* of the address in it */
	const char *module; /* path of the file, or NULL */
};

/* proc: "/proc", or where it is mounted; NULL: processes are not read. NULL without memory. */
struct symbolizer *symbols_open(const char *proc, bool demangle);
void symbols_close(struct symbolizer *s);

/*
 * Debug files are searched in these places, too (symbols/elf.h); the list must outlive it. `lines`:
 * symbols_source() will be called.
 */
void symbols_use_debuginfo(struct symbolizer *s, const char *const *places, bool lines);

/* The kernel's symbols, of a recording; they stay the caller's. */
void symbols_use_kernel(struct symbolizer *s, struct symbols *kernel);

bool symbols_kernel(struct symbolizer *s, uint64_t addr, struct symbol_at *at);

/* False if there is no name; `module` is still set if the address is in a file. */
bool symbols_user(struct symbolizer *s, uint32_t pid, uint64_t addr, struct symbol_at *at);

/*
 * Source lines of an address, and the functions that were inlined there, innermost first: see
 * symbols/lines.h. 0 if they are not known. Views, valid as long as the symbolizer.
 */
size_t symbols_source(struct symbolizer *s, uint32_t pid, uint64_t addr,
		      const struct source_frame **frames);

/* The build id of the mapped file, and the offset in it; NULL: not known. */
const struct build_id *symbols_user_file(struct symbolizer *s, uint32_t pid, uint64_t addr,
					 uint64_t *offset);

/* Reads what a process has mapped while it lives: once, or again when it has `changed` (exec). */
void symbols_note_pid(struct symbolizer *s, uint32_t pid, bool changed);

/*
 * A process that was noted may have just started, before it mapped its libraries: reads the
 * mappings of such processes again when it is time. Returns the milliseconds until the next one;
 * -1: there is none.
 */
int symbols_look_again(struct symbolizer *s);

#endif
