/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of source files: where in a program their statements begin (DWARF's table of lines), and
 * the lines and inlined functions of an address.
 */
#ifndef SYMBOLS_LINES_H
#define SYMBOLS_LINES_H

#include <spur/error.h>

#include "symbols/dwarf.h"

struct line_wanted {
	const char *file; /* a whole path, or the end of one: "main.c", "src/main.c" */
	uint64_t line;
	uint64_t column; /* 0: whatever begins first */
};

struct line_place {
	uint64_t addr;
	const char
		*function; /* that it is in, also when that is inlined; "" when that is unknown */
};

struct line_places {
	struct line_place *at;
	size_t n, cap;
};

/*
 * Finds where a line begins: one place in every function that contains it (several if it was
 * inlined), and in copies that the compiler made of it. Strings are in the arena, the list is freed
 * with vec_free(). -ENOENT with the nearest file, lines or columns when there is no such one;
 * -EINVAL when several files end like that.
 */
int lines_find(struct debug *d, const struct line_wanted *wanted, struct arena *arena,
	       struct line_places *found, struct spur_error *err);

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
