/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF: the parameters and results of a program's functions. Without libdw nothing is known. */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include "symbols/abi.h"
#include "symbols/elf.h"

struct debug;

/* NULL when the program has no debug information. The binary must outlive it. */
struct debug *debug_open(const struct binary *b);
void debug_close(struct debug *d);

/*
 * The function that contains an address, and where its parameters are there. At its entry,
 * parameters without a place are PLACE_BY_ABI, unless the function is a clone: a copy that the
 * compiler made with other parameters. False if nothing is known about it. p is valid as long as d
 * and the arena.
 */
bool debug_function(struct debug *d, uint64_t addr, bool clone, const struct abi *abi,
		    struct arena *arena, struct proto *p);

/*
 * A type by its name: "struct NAME", "union NAME", "enum NAME", or that of a typedef, a class or a
 * base type. False when the program does not describe it. Goes through all of its files.
 */
bool debug_type_named(struct debug *d, const char *name, struct type *t);

/* Why debug_open() returns NULL, for a message. */
const char *debug_missing(void);

#endif
