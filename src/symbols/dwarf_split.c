// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Units whose entries are in files of their own: -gsplit-dwarf.
 *
 * libdw opens NAME.dwo by itself, but before 0.191 it does not know packages of them. It has no way
 * to be given a file either. So while it looks for a unit's file, the name of the file is another
 * one: that of a file in memory which has the unit from the package. The name lies in a section
 * that libdw has read, of which spur makes a copy that can be written to.
 */
#ifdef HAVE_DW

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "symbols/dwarf_parts.h"
#include "symbols/dwp.h"

bool debug_copy_section(struct debug *d, Elf_Data *data)
{
	void **copy;

	vec_each (known, &d->copies)
		if (*known == data->d_buf)
			return true;
	copy = vec_push(&d->copies);
	if (!copy)
		return false;
	*copy = calloc(1, data->d_size + DEBUG_ROOM);
	if (!*copy)
		return false;
	data->d_buf = memcpy(*copy, data->d_buf, data->d_size);
	return true;
}

/* Where a name of a section can be written to, and DEBUG_ROOM bytes from there on; or NULL. */
static char *writable(struct debug *d, const char *name)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dwarf_getelf(d->dw), scn)) != NULL;) {
		Elf_Data *data = elf_getdata(scn, NULL);
		const char *from = data ? data->d_buf : NULL;

		if (!from || name < from || name >= from + data->d_size)
			continue;
		return debug_copy_section(d, data) ? (char *)data->d_buf + (name - from) : NULL;
	}
	return NULL;
}

/* Opens the path with this ending instead of the one it may have. */
static struct dwp *open_beside(const char *path, const char *old)
{
	size_t len = strlen(path);
	const size_t end = strlen(old);
	char name[PATH_MAX + 8];

	if (end && (len <= end || strcmp(path + len - end, old) != 0))
		return NULL;
	len -= end;
	snprintf(name, sizeof(name), "%.*s.dwp", (int)len, path);
	return dwp_open(name);
}

/* PROGRAM.dwp; a debug file may have one as well: x.debug has x.debug.dwp or x.dwp. */
static void find_package(struct debug *d)
{
	char path[PATH_MAX];

	d->asked = true;
	d->package = open_beside(binary_path(d->binary), "");
	if (!d->package && binary_real_path(d->binary, false, path, sizeof(path)))
		d->package = open_beside(path, "");
	if (d->package || !binary_real_path(d->binary, true, path, sizeof(path)))
		return;
	d->package = open_beside(path, "");
	if (!d->package)
		d->package = open_beside(path, ".debug");
}

/* Its name in the section; NULL: it has none, or its entry has it, which must stay as it is. */
static const char *name_of_file(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr(unit, DW_AT_dwo_name, &attr) &&
	    !dwarf_attr(unit, DW_AT_GNU_dwo_name, &attr))
		return NULL;
	return dwarf_whatform(&attr) != DW_FORM_string ? dwarf_formstring(&attr) : NULL;
}

static bool find_split(const Dwarf_Die *unit, Dwarf_Die *split)
{
	return !dwarf_cu_info(unit->cu, NULL, NULL, NULL, split, NULL, NULL, NULL) &&
	       dwarf_tag(split) == DW_TAG_compile_unit;
}

/* Has libdw find the unit in the package, if it is there; libdw then remembers it. */
static void attach(struct debug *d, Dwarf_Die *unit, uint64_t id)
{
	const int fd = dwp_unit(d->package, id);
	const char *name = fd >= 0 ? name_of_file(unit) : NULL;
	char *to = name ? writable(d, name) : NULL;
	char before[DEBUG_ROOM];
	Dwarf_Die split;

	if (to) {
		memcpy(before, to, sizeof(before));
		snprintf(to, sizeof(before), "/proc/self/fd/%d", fd);
		find_split(unit, &split);
		memcpy(to, before, sizeof(before));
	}
	if (fd >= 0)
		close(fd);
}

void debug_split_unit(struct debug *d, Dwarf_Die *unit)
{
	Dwarf_Die split;
	uint64_t id = 0;
	uint8_t type = 0;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, &id, NULL, NULL) ||
	    type != DW_UT_skeleton)
		return;
	if (!d->asked)
		find_package(d);
	if (d->package && !map_get(&d->attached, id) && map_set(&d->attached, id, d))
		attach(d, unit, id);
	if (find_split(unit, &split))
		*unit = split;
}

void debug_free_split(struct debug *d)
{
	vec_each (copy, &d->copies)
		free(*copy);
	vec_free(&d->copies);
	map_free(&d->attached);
	dwp_close(d->package);
}

#endif
