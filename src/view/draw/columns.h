/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A track as what can be seen of it in some pixels: at most one column each.
 *
 * A slice that is wider than a pixel stays what it is. Narrower ones share columns: a column has
 * the value with most time in it, and how much of it is covered, in eighths. Neighbours that look
 * alike become one. For ticks the value is a mask of classes, and there is a count.
 */
#ifndef VIEW_DRAW_COLUMNS_H
#define VIEW_DRAW_COLUMNS_H

#include "view/view.h"

#define DRAW_EIGHTHS 8

struct draw_column {
	int32_t x0, x1; /* x1 is not in it */
	uint32_t value;
	uint32_t n;    /* records, of ticks */
	uint8_t cover; /* eighths */
	uint8_t flags; /* enum view_flags */
	bool wide;
};

struct draw_columns {
	struct {
		struct draw_column *at;
		size_t n, cap;
	} list;
	struct view_tile tile; /* reused */
};

/* Which time is in how many pixels. */
struct draw_scale {
	uint64_t since, until;
	int32_t width;
	double per_pixel; /* ns */
	uint32_t level;	  /* whose bins are at most as wide as a pixel */
};

struct draw_scale draw_scale(uint64_t since, uint64_t until, int32_t width);

/* 0 or -ENOMEM. */
int draw_columns_from(const struct tile_source *from, const struct draw_scale *s,
		      struct draw_columns *out);
int draw_columns_of(struct view *v, uint32_t row, uint32_t track, const struct draw_scale *s,
		    struct draw_columns *out);
/* The same for ticks: class_of() is the class of an event type. */
int draw_columns_of_ticks(struct view *v, uint32_t row, uint32_t track, const struct draw_scale *s,
			  unsigned int (*class_of)(const void *arg, uint32_t type), const void *arg,
			  struct draw_columns *out);
void draw_columns_free(struct draw_columns *c);

/* Nanoseconds of a range that a track covers, up to half a bin of 1/512 of it at the ends. */
int draw_covered(struct view *v, uint32_t row, uint32_t track, uint64_t since, uint64_t until,
		 struct view_tile *tile, uint64_t *covered);

#endif
