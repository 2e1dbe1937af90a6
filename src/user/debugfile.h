/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the separate file with a program's debug information and symbols. */
#ifndef USER_DEBUGFILE_H
#define USER_DEBUGFILE_H

struct Elf;

#define DEBUGFILE_ROOT "/usr/lib/debug"

/*
 * Opens the file that belongs to an ELF file: by its build id below DEBUGFILE_ROOT, or by the name
 * in its .gnu_debuglink beside it, in .debug and below DEBUGFILE_ROOT. -1 when there is none.
 */
int debugfile_open(const char *path, struct Elf *elf);

#endif
