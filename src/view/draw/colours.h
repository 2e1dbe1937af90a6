/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours of pictures; the same as in web/colours.js and web/theme.css, which a test compares. */
#ifndef VIEW_DRAW_COLOURS_H
#define VIEW_DRAW_COLOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "view/index/index.h"

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

#endif
