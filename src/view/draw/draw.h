/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures of a view without a browser.
 *
 * draw_view() makes a picture of rectangles, hatched areas and texts in the order in which they are
 * painted, in whole pixels; the writers make SVG or PNG of it. What it looks like follows the page:
 * web/layout.js, web/columns.js and web/draw_*.js say the same.
 */
#ifndef VIEW_DRAW_DRAW_H
#define VIEW_DRAW_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "view/index/index.h"
#include "view/view.h"

/* ---- colours ---- */

struct draw_theme {
	bool dark;
	/* As the variables of theme.css; grid: lines of the ruler through the rows. */
	uint32_t bg, panel, row, line, text, dim, accent, lost, ink, grid;
};

struct draw_theme draw_theme(bool dark);

uint32_t draw_state_colour(const struct draw_theme *t, enum view_state state);
/* Of a task or a function. Those that differ in a number only look alike. */
uint32_t draw_name_colour(const struct draw_theme *t, const char *name);
/* Of a class of events; soft: where there are so many that single ones do not matter. */
uint32_t draw_class_colour(const struct draw_theme *t, unsigned int number, bool soft);

/* A part of one colour, the rest of another. */
uint32_t draw_mix(uint32_t a, uint32_t b, double part);

#define DRAW_LEAST_WIDTH  400
#define DRAW_LEAST_HEIGHT 120
#define DRAW_MOST	  20000	   /* pixels of a side */
#define DRAW_MOST_PIXELS  60000000 /* of a picture */

enum draw_kind {
	DRAW_RECT,
	DRAW_HATCH, /* fine dark lines over what is there */
	DRAW_LOST,  /* wide lines of its colour on nothing */
	DRAW_TEXT,  /* y is its middle, h the size of its letters */
};
enum draw_align { DRAW_LEFT, DRAW_RIGHT };

struct draw_shape {
	enum draw_kind kind;
	enum draw_align align;
	int32_t x, y, w, h;
	uint32_t colour; /* 0xrrggbb */
	uint32_t text;	 /* of a DRAW_TEXT: where it is in `texts` */
	bool bold;
};

struct picture {
	int32_t width, height;
	uint32_t background; /* colour of what is not painted */
	vec_of(struct draw_shape) shapes;
	struct buf texts; /* terminated ones, UTF-8, without control characters */
	bool failed;	  /* something did not fit into memory */
};

void picture_init(struct picture *p, int32_t width, int32_t height, uint32_t background);
void picture_free(struct picture *p);
void picture_rect(struct picture *p, int32_t x, int32_t y, int32_t w, int32_t h, uint32_t colour);
void picture_hatch(struct picture *p, enum draw_kind kind, int32_t x, int32_t y, int32_t w,
		   int32_t h, uint32_t colour);
/* Cut off with "…" where it is wider than `room`, or not there at all; its width. */
int32_t picture_text(struct picture *p, struct draw_shape how, int32_t room, const char *text);

/* 0 or -ENOMEM. */
int picture_svg(const struct picture *p, struct buf *out);
int picture_png(const struct picture *p, struct buf *out);

/* ---- what is drawn ---- */

struct draw_options {
	uint64_t since, until; /* relative to the view's origin; until is not in it */
	int32_t width, height; /* height 0: what the rows need */
	bool dark;
	bool processes;	      /* tasks are grouped by process */
	const uint32_t *rows; /* the view's numbers, in this order; NULL: chosen */
	size_t nr_rows;
};

/* Of a view that is complete. 0, -ENOMEM, or -EINVAL with words. */
int draw_view(struct view *v, const struct draw_options *o, struct picture *p,
	      struct spur_error *err);

struct draw_rows {
	uint32_t *at;
	size_t n, cap;
};
/* The rows of "cpu0-3,1234,postgres*": CPUs, pids, names of tasks. -EINVAL: a word fits no row. */
int draw_choose(struct view *v, const char *words, struct draw_rows *out, struct spur_error *err);

/* ---- letters ---- */

/* The number of the character at *text, which it leaves; 0 at the end. */
uint32_t draw_character(const char **text);
/* How wide a text is in letters of this size. */
int32_t draw_text_width(const char *text, int32_t size);

/* Lines of a character: x and y in 1/14 of the height of capitals, y from the baseline up. */
struct draw_glyph {
	const char *strokes; /* two letters a point, a space between lines; see png.c */
	uint8_t width;
};
struct draw_glyph draw_glyph(uint32_t character);
#define DRAW_UNITS_PER_SIZE 19.4 /* how many units are as high as the size of a text */
#define DRAW_APART	    4	 /* units between letters */

#endif
