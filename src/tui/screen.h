/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a terminal shows, as a grid of cells: one character, its colours and attributes each.
 *
 * Every character in it takes one column on a terminal and has no other effect: text
 * goes through screen_text(), which puts '?' in the place of all others.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "view/index/index.h"

enum screen_attribute { SCREEN_BOLD = 1, SCREEN_DIM = 2, SCREEN_REVERSE = 4, SCREEN_UNDERLINE = 8 };

#define SCREEN_USUAL (-1) /* the terminal's own colour */

struct screen_style {
	int16_t fg, bg; /* of xterm's 256 colours, or SCREEN_USUAL */
	uint8_t attributes;
};

struct screen_cell {
	uint32_t character;
	struct screen_style style;
};

struct screen {
	struct screen_cell *at;
	int32_t width, height;
	bool ascii; /* the terminal shows no other characters */
};

/* What is drawn besides text; each has another look where there is only ASCII. */
enum glyph {
	GLYPH_BLOCK, /* and the following: one to eight eighths are covered */
	GLYPH_BLOCK_LAST = GLYPH_BLOCK + 7,
	GLYPH_LINE,   /* across */
	GLYPH_COLUMN, /* down */
	GLYPH_MARK,   /* down, in pieces */
	GLYPH_DOT,
	GLYPH_POINTER,
	GLYPH_RUNNABLE,
	GLYPH_BLOCKED,
	GLYPH_SLEEPING,
	GLYPH_STOPPED,
	GLYPH_UNKNOWN,
	GLYPH_LOST,
	GLYPH_HIT,
	GLYPH_OPEN,
	GLYPH_CUT, /* text that goes on */
	GLYPH_LAST,
};

extern const struct screen_style screen_usual, screen_dim, screen_bold;

/* 0 or -ENOMEM; all blank. What was there is gone. */
int screen_resize(struct screen *s, int32_t width, int32_t height);
void screen_free(struct screen *s);
void screen_clear(struct screen *s);

/* A cell of the screen, NULL: it is not on it. */
struct screen_cell *screen_cell(const struct screen *s, int32_t x, int32_t y);

uint32_t screen_glyph(const struct screen *s, enum glyph g);
void screen_put(struct screen *s, int32_t x, int32_t y, enum glyph g, struct screen_style style);
void screen_fill(struct screen *s, int32_t x, int32_t y, int32_t width, uint32_t character,
		 struct screen_style style);

/*
 * Writes untrusted text into at most `room` columns; longer text is cut off with a sign. Returns
 * the column after it.
 */
int32_t screen_text(struct screen *s, int32_t x, int32_t y, int32_t room, const char *text,
		    struct screen_style style);
int32_t screen_printf(struct screen *s, int32_t x, int32_t y, int32_t room,
		      struct screen_style style, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* How many columns a text needs. */
int32_t screen_columns(const struct screen *s, const char *text);

/* The characters as lines of UTF-8, without blanks at their ends: for tests. */
void screen_dump(const struct screen *s, struct buf *out);

/* ---- colours of the page (view/draw/draw.h) as a terminal has them ---- */

/* The nearest of the 240 colours of a terminal with 256 that do not depend on its settings. */
int16_t colour_256(uint32_t rgb);
/* The nearest in hue of a terminal's eight colours, for one of the 256. */
int16_t colour_8(int16_t colour);

int16_t colour_of_name(const char *name); /* NULL is a name, too */
int16_t colour_of_state(enum view_state state);
int16_t colour_of_lost(void);
#define COLOUR_HITS   0xe6c200 /* for colour_256() */
#define COLOUR_EVENTS 0x7d9cc9
#define COLOUR_INK    16 /* letters on any of these */

#endif
