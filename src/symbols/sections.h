/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/symbols: sections of an ELF file, for the files that use libelf. */
#ifndef SYMBOLS_SECTIONS_H
#define SYMBOLS_SECTIONS_H

#include <gelf.h>

#include "base/cursor.h"

/* The next section of that type after `after` (NULL: the first one), or NULL. */
Elf_Scn *section_of_type(Elf *elf, Elf_Scn *after, uint32_t type, GElf_Shdr *head);

Elf_Scn *section_named(Elf *elf, const char *name, GElf_Shdr *head);

/* Its bytes as they are in the file, in the file's byte order; failed when they are not there. */
struct cursor section_bytes(Elf *elf, Elf_Scn *scn);

#endif
