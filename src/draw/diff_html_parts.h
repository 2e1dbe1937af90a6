/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the page share. */
#ifndef DRAW_DIFF_HTML_PARTS_H
#define DRAW_DIFF_HTML_PARTS_H

#include "draw/diff_html.h"

/* "A" and "B", which are also classes of the style sheet. */
extern const char *const diff_letters[DIFF_SIDES];

/* Whether times are ticks of a clock. */
bool diff_html_ticks(const struct diff_page *p);

void diff_html_text(struct buf *out, const char *text);
void diff_html_name(const struct diff_family *f, const char *key, struct buf *out);
/* A cell of a table, empty when there is no value. */
void diff_html_cell(const struct diff_page *p, enum diff_unit unit, bool there, double value,
		    struct buf *out);

void diff_html_focus(const struct diff_page *p, struct diff_focus *f, struct buf *out);
/* The distributions that changed most, but those that are looked at anyway. */
void diff_html_others(const struct diff_page *p, struct buf *out);

#endif
