/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of source files, and where in a program their statements begin: DWARF's table of lines. */
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

#endif
