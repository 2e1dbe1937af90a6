/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines of an address, and the functions that were inlined there. */
#ifndef SYMBOLS_FRAMES_H
#define SYMBOLS_FRAMES_H

#include "symbols/dwarf.h"

#define FRAMES_MAX 32 /* of one address */

struct source_frame {
	const char *function; /* the name for the linker, or else in the source; "": unknown */
	const char *file;     /* its path; "": unknown */
	uint64_t line;	      /* 0: unknown */
};

/*
 * The functions of an address, innermost first: the last one was really called, those before it
 * were inlined. Each has its current line. Strings are in the arena. 0 when nothing is known.
 */
size_t frames_at(struct debug *d, uint64_t addr, struct arena *arena,
		 struct source_frame frames[FRAMES_MAX]);

#endif
