/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/draw: what the pictures of stacks in svg.h share: the page around the frames,
 * texts and colours.
 */
#ifndef DRAW_FLAME_PAGE_H
#define DRAW_FLAME_PAGE_H

#include "draw/svg.h"

#define FLAME_LEFT   10 /* pixels beside the frames */
#define FLAME_TOP    64 /* above them */
#define FLAME_BOTTOM 30
#define FLAME_ROW    17 /* from a frame to the next above it */

struct flame_page {
	const char *kind;  /* "flame", "chart", "heat": what the script does */
	const char *title; /* when the user gives none */
	const char *subtitle;
	uint32_t width, height;
	double left, inner; /* where frames lie */
	uint64_t ns;	    /* time from the left to the right of a chart */
	bool down;	    /* callees are below their callers */
};

struct flame_box {
	double x, y, w, h;
	uint32_t colour; /* 0xrrggbb */
	const char *name;
};

uint32_t flame_width(const struct flame_look *look);

/* What comes before the frames and after them. */
void flame_page_begin(struct buf *out, const struct flame_look *look, const struct flame_page *p);
void flame_page_end(struct buf *out, const struct flame_page *p);

/* A frame; `numbers` stands in parentheses after its name where the pointer is. */
void flame_put_box(struct buf *out, const struct flame_box *b, struct buf *numbers);

/* A line of text at a place. */
void flame_put_text(struct buf *out, const char *classes, const char *anchor, double x, double y,
		    const char *text);

/* A number of that many digits after the point, whatever the locale. */
void flame_put_fixed(struct buf *out, double v, unsigned int digits);

/* Removes zeros at the end of a number with a decimal point, and the point if it is last then. */
void flame_drop_zeros(struct buf *out);

uint32_t flame_colour(enum flame_colours c, const char *name);
/* For an amount between 0 and 1. */
uint32_t flame_colour_of_heat(enum flame_colours c, double amount);

extern const char flame_js[], flame_css[];

#endif
