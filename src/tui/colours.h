/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours of the page (view/draw/colours.h) as a terminal has them. */
#ifndef TUI_COLOURS_H
#define TUI_COLOURS_H

#include "tui/screen.h"
#include "view/index/index.h"

/* The nearest of the 240 colours of a terminal with 256 that do not depend on its settings. */
int16_t colour_256(uint32_t rgb);
/* The nearest in hue of a terminal's eight colours, for one of the 256. */
int16_t colour_8(int16_t colour);

int16_t colour_of_name(const char *name); /* NULL is a name, too */
int16_t colour_of_state(enum view_state state);
int16_t colour_of_lost(void);
int16_t colour_of_hits(void);
int16_t colour_of_events(void);
/* Letters on any of these. */
int16_t colour_of_ink(void);

#endif
