/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the separate file with a program's debug information and symbols. */
#ifndef SYMBOLS_DEBUGFILE_H
#define SYMBOLS_DEBUGFILE_H

struct Elf;

#define DEBUGFILE_ROOT "/usr/lib/debug"

/*
 * Opens the file that belongs to an ELF file: by its build id below DEBUGFILE_ROOT, or by the name
 * in its .gnu_debuglink beside it, in .debug and below DEBUGFILE_ROOT. -1 when there is none.
 *
 * Before these, it is looked for in the places (up to a NULL; may be NULL): lists of folders or
 * files with colons between them; what does not begin with a slash is beside the program. A file
 * has to have the program's build id, or the checksum in .gnu_debuglink if there is no id; a '+' in
 * front of a place asks for that checksum, too.
 */
int debugfile_open(const char *path, struct Elf *elf, const char *const *places);

#endif
