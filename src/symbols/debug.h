/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/symbols: for the files that read DWARF. Others use dwarf.h. */
#ifndef SYMBOLS_DEBUG_H
#define SYMBOLS_DEBUG_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"

/* Bytes after a copy of a section. */
enum { DEBUG_ROOM = 32 };

struct debug {
	struct types types; /* first: its address is that of the whole struct */
	Dwarf *dw;
	const struct binary *binary;
	struct dwp *package; /* of split debug information, opened when needed; or NULL */
	bool asked;
	struct map attached; /* units that were searched in it, by id */
	struct arena dies;
	vec_of(void *) copies; /* of sections, which libdw reads in their place */
	bool ended;	       /* those that names are in have a NUL after them */
	/* The last member: the next one is its sibling, which avoids counting from the first. */
	struct {
		uint64_t type;
		size_t number;
		Dwarf_Die die;
	} last;
};

/* A number among the attributes of an entry; false when it is not there. */
bool debug_attribute(Dwarf_Die *die, unsigned int name, Dwarf_Word *value);

/*
 * Replaces a unit whose entries are in a file of their own (-gsplit-dwarf, NAME.dwo) by the one
 * that is there: in a package beside the program (PROGRAM.dwp), or in the file if libdw finds it by
 * its name, in the directory of the compilation or of the program.
 */
void debug_split_unit(struct debug *d, Dwarf_Die *unit);
void debug_free_split(struct debug *d);

/* Has libdw use a copy of a section, with DEBUG_ROOM zeros after it. False without memory. */
bool debug_copy_section(struct debug *d, Elf_Data *data);

/*
 * Packages of split debug information, PROGRAM.dwp, into which the .dwo files of a program were put
 * (DWARF 5 section 7.3.5, and the form that GNU's tools had before). Libraries that only know .dwo
 * files get one for each unit they need.
 */

struct dwp;

/* A package of an open file, which it closes; NULL: it is none. */
struct dwp *dwp_open_fd(int fd);

void dwp_close(struct dwp *p);

/*
 * Makes a .dwo file of a unit, and of the types that were compiled with it; in memory, so that
 * nothing is left when it is closed. An open file, or a negative errno: -ENOENT, it has none.
 */
int dwp_unit(struct dwp *p, uint64_t id);

/* The ids of all units, in no order: the one in a slot, if there is one; false beyond the last. */
bool dwp_slot(const struct dwp *p, uint32_t slot, uint64_t *id);

#endif
