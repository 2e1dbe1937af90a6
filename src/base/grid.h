/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small table, filled cell by cell, row by row, and written as aligned text, CSV, JSON or
 * Markdown. A cell may have one form for people ("1.5 ms") and another for programs (1500000).
 */
#ifndef BASE_GRID_H
#define BASE_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum grid_format {
	GRID_TEXT,
	GRID_RULED, /* text with a line of dashes under the heads */
	GRID_CSV,
	GRID_JSON, /* an array of objects */
	GRID_MARKDOWN,
};

struct grid_cell {
	const char *text; /* NULL: empty */
	bool is_number;	  /* for programs it is this: */
	int64_t number;
	bool is_decimal; /* the text is a number for programs as well */
};

struct grid_column {
	const char *title; /* for people */
	const char *name;  /* for programs */
	bool right;	   /* aligned to the right */
};

struct grid {
	const struct grid_column *columns;
	size_t nr_columns;
	struct {
		struct grid_cell *at;
		size_t n, cap;
	} cells; /* row after row */
	struct arena arena;
	bool failed; /* no memory: the table is incomplete */
};

/* The columns must outlive the grid. */
void grid_init(struct grid *g, const struct grid_column *columns, size_t nr);
void grid_free(struct grid *g);

static inline struct grid grid_of(const struct grid_column *columns, size_t nr)
{
	struct grid g;

	grid_init(&g, columns, nr);
	return g;
}

/* A local grid, freed where its scope ends: `scoped_grid g = grid_of(columns, nr);` */
#define scoped_grid struct grid __attribute__((cleanup(grid_free)))

/* Adds a cell. The text is copied; control characters are replaced. */
void grid_text(struct grid *g, const char *text);
void grid_number(struct grid *g, int64_t number);
void grid_shown(struct grid *g, const char *text, int64_t number);
void grid_decimal(struct grid *g, double number, int digits); /* after the point */
void grid_empty(struct grid *g);

/* Heads and rows; `bold`: the heads of GRID_TEXT are. */
void grid_put(const struct grid *g, enum grid_format format, bool bold, struct buf *out);

#endif
