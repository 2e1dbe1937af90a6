// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: a package of split debug information, and the files that are made of its units. */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/debug.h"

enum { MAX_SLOTS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What libdw may rely on: sections lie in the file, and names have an end. */
static void check_file(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	bool has_names = false;
	size_t titles;

	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &titles))
		abort();
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
		Elf_Data *content = elf_getdata(scn, NULL);
		GElf_Shdr head;
		const char *name;

		if (!gelf_getshdr(scn, &head) || !content || content->d_size != head.sh_size)
			abort();
		name = elf_strptr(elf, titles, head.sh_name);
		if (!name || !*name)
			abort();
		if (strcmp(name, ".debug_str.dwo") != 0)
			continue;
		has_names = true;
		if (!content->d_size || ((const char *)content->d_buf)[content->d_size - 1])
			abort();
	}
	if (!has_names)
		abort();
	elf_end(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct dwp *p;
	uint64_t id;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	p = dwp_open_fd(fd);
	for (uint32_t slot = 0; p && slot < MAX_SLOTS && dwp_slot(p, slot, &id); slot++) {
		const int unit = dwp_unit(p, id);

		if (unit < 0)
			continue;
		check_file(unit);
		close(unit);
	}
	dwp_close(p);
	return 0;
}
