// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef HAVE_ELF

#include "symbols/sections.h"

Elf_Scn *section_of_type(Elf *elf, Elf_Scn *after, uint32_t type, GElf_Shdr *head)
{
	Elf_Scn *scn = after;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, head) && head->sh_type == type)
			return scn;
	return NULL;
}

Elf_Scn *section_named(Elf *elf, const char *name, GElf_Shdr *head)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *text;

		if (!gelf_getshdr(scn, head))
			continue;
		text = elf_strptr(elf, names, head->sh_name);
		if (text && !strcmp(text, name))
			return scn;
	}
	return NULL;
}

struct cursor section_bytes(Elf *elf, Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	struct cursor c = cursor_over("", 0, false);
	GElf_Ehdr head;

	if (!data || !data->d_buf || !gelf_getehdr(elf, &head)) {
		c.failed = true;
		return c;
	}
	return cursor_over(data->d_buf, data->d_size, head.e_ident[EI_DATA] == ELFDATA2MSB);
}

#endif
