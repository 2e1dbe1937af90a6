// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines and inlined functions through libdw. The table of lines tells the line of the innermost
 * function; each inlined one tells the line of the call that it stands for.
 */
#include "symbols/frames.h"

#ifdef HAVE_DW

#include <limits.h>
#include <stdio.h>

#include "symbols/dwarf_parts.h"

#define MAX_DEPTH 64 /* of blocks and functions in each other */

/* Where the function that is looked at has come to. */
struct spot {
	const char *file; /* or NULL */
	uint64_t line;
};

/* The unit that an address is in. Compilers may leave out the index of addresses. */
static bool find_unit(struct debug *d, Dwarf_Addr addr, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;

	if (dwarf_addrdie(d->dw, addr, unit))
		return true;
	while (!dwarf_get_units(d->dw, cu, &cu, NULL, NULL, unit, NULL))
		if (dwarf_haspc(unit, addr) == 1)
			return true;
	return false;
}

static struct spot line_at(Dwarf_Die *unit, Dwarf_Addr addr)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, addr);
	int number = 0;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return (struct spot){0};
	return (struct spot){dwarf_linesrc(line, NULL, NULL), (uint64_t)number};
}

static struct spot call_of(Dwarf_Die *unit, Dwarf_Die *inlined)
{
	struct spot s = {0};
	Dwarf_Word file;
	Dwarf_Files *files;
	size_t n;

	if (!debug_attribute(inlined, DW_AT_call_line, &s.line) ||
	    !debug_attribute(inlined, DW_AT_call_file, &file) ||
	    dwarf_getsrcfiles(unit, &files, &n) || file >= n)
		return (struct spot){0};
	s.file = dwarf_filesrc(files, file, NULL, NULL);
	return s;
}

static const char *name_of(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	const char *name =
		dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attr));

	return name ? name : dwarf_diename(function);
}

/* A path that is relative begins where the compiler was started. */
static bool whole_path(Dwarf_Die *unit, const char *file, char *to, size_t size)
{
	Dwarf_Attribute attr;
	const char *dir = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	char joined[PATH_MAX];
	int n;

	if (*file == '/' || !dir || *dir != '/')
		return debug_plain_path(file, to, size);
	n = snprintf(joined, sizeof(joined), "%s/%s", dir, file);
	return n > 0 && (size_t)n < sizeof(joined) && debug_plain_path(joined, to, size);
}

static bool put(struct source_frame *to, const char *name, Dwarf_Die *unit, struct spot at,
		struct arena *arena)
{
	char path[PATH_MAX];

	if (!at.file || !whole_path(unit, at.file, path, sizeof(path)))
		path[0] = '\0';
	to->function = name ? arena_strdup(arena, name) : "";
	to->file = *path ? arena_strdup(arena, path) : "";
	to->line = *path ? at.line : 0;
	return to->function && to->file;
}

/* ---- functions around an address -------------------------------------------------------- */

/* From the one that was called to the innermost. libdw's own search leaks when it fails. */
struct around {
	Dwarf_Die at[FRAMES_MAX];
	size_t n;
};

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Whether functions around the address may be among its children. */
static bool is_around(Dwarf_Die *die, int tag, Dwarf_Addr addr)
{
	if (tag == DW_TAG_namespace)
		return true;
	return (is_function(tag) || tag == DW_TAG_lexical_block) && dwarf_haspc(die, addr) == 1;
}

/* Collects the functions below an entry; true once there is one. */
static bool look_inside(Dwarf_Die *die, Dwarf_Addr addr, struct around *to, unsigned int depth)
{
	Dwarf_Die child;

	if (depth > MAX_DEPTH || dwarf_child(die, &child))
		return to->n > 0;
	do {
		const int tag = dwarf_tag(&child);

		if (!is_around(&child, tag, addr))
			continue;
		if (is_function(tag) && to->n < FRAMES_MAX)
			to->at[to->n++] = child;
		if (look_inside(&child, addr, to, depth + 1) || tag != DW_TAG_namespace)
			break;
	} while (!dwarf_siblingof(&child, &child));
	return to->n > 0;
}

/* Goes outwards to the function that was called. */
static size_t put_all(Dwarf_Die *unit, struct around *around, struct spot at, struct arena *arena,
		      struct source_frame *frames)
{
	size_t n = 0;

	while (n < around->n) {
		Dwarf_Die *function = &around->at[around->n - 1 - n];

		if (!put(&frames[n++], name_of(function), unit, at, arena))
			return 0;
		at = call_of(unit, function);
	}
	return n;
}

size_t frames_at(struct debug *d, uint64_t addr, struct arena *arena,
		 struct source_frame frames[FRAMES_MAX])
{
	struct around around = {.n = 0};
	Dwarf_Die unit, whole;
	struct spot at;

	if (!debug_end_sections(d) || !find_unit(d, addr, &unit))
		return 0;
	/* Lines are in the program itself, functions may be in another file. */
	whole = unit;
	debug_split_unit(d, &whole);
	at = line_at(&unit, addr);
	if (look_inside(&whole, addr, &around, 0))
		return put_all(&whole, &around, at, arena, frames);
	return at.file && put(&frames[0], NULL, &unit, at, arena) ? 1 : 0;
}

#else /* HAVE_DW */

size_t frames_at(struct debug *d, uint64_t addr, struct arena *arena,
		 struct source_frame frames[FRAMES_MAX])
{
	return 0;
}

#endif
