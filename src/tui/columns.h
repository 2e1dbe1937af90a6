/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A track as columns of a terminal: of each how much of its time is covered, by what, and how many
 * records are in it.
 *
 * A column of a terminal is a hundredth of the picture: much more happens in it than in one of
 * pixels (view/draw/columns.h), so times are summed up by value, and slices are not rounded to it.
 */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "view/view.h"

#define COLUMN_VALUES 4 /* that are distinguished in a column */

struct tui_column {
	uint64_t busy;	/* nanoseconds that are covered */
	uint64_t count; /* of ticks: records */
	uint32_t value; /* that covers most, … */
	uint64_t most;	/* … and how much */
	bool whole;	/* by one slice from end to end */
	struct {
		uint32_t value;
		uint64_t ns;
	} parts[COLUMN_VALUES];
};

/* Which time is in how many columns. `until` is not in it and is more than `since`. */
struct column_scale {
	uint64_t since, until;
	int32_t width;
};

/* The column that a time is in, below 0 or beyond the width where it is none. */
int32_t column_at(const struct column_scale *s, uint64_t ts);
/* The first time that is in a column, or would be if it is on no screen. */
uint64_t column_time(const struct column_scale *s, int32_t column);

/* Values are those of the track, `map` of them if it is not NULL. 0 or -ENOMEM. */
int columns_fill(struct view *v, uint32_t row, uint32_t track, const struct column_scale *s,
		 uint32_t (*map)(uint32_t value), struct view_tile *tile, struct tui_column *out);

#endif
