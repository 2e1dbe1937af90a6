/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines of an address, and the functions that the compiler has put into each other there. */
#ifndef SYMBOLS_FRAMES_H
#define SYMBOLS_FRAMES_H

#include "symbols/dwarf.h"

#define FRAMES_MAX 32 /* of one address */

struct source_frame {
	const char
		*function; /* as the linker knows it, or else as the source has it; "": unknown */
	const char *file;  /* its path; "": unknown */
	uint64_t line;	   /* 0: unknown */
};

/*
 * What an address belongs to, innermost first: the last one is the function that was really called,
 * and those before it were inlined. Each has the line that it has come to. Strings are in the
 * arena. 0 when nothing is known.
 */
size_t frames_at(struct debug *d, uint64_t addr, struct arena *arena,
		 struct source_frame frames[FRAMES_MAX]);

#endif
