/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/view/draw: a picture while it is made. */
#ifndef VIEW_DRAW_INTERNAL_H
#define VIEW_DRAW_INTERNAL_H

#include "view/draw/draw.h"
#include "view/draw/colours.h"
#include "view/draw/columns.h"

#define DRAW_GUTTER 200
#define DRAW_HEAD   34 /* the title */
#define DRAW_RULER  26
#define DRAW_FOOT   30 /* what colours mean */
#define DRAW_PAD    10

enum draw_lane_kind { DRAW_MAIN, DRAW_NESTED, DRAW_TICKS, DRAW_COUNTER };

/* Tracks of a lane are drawn into the same place: a task either runs or is in some other state. */
struct draw_lane {
	enum draw_lane_kind kind;
	int32_t y, h; /* in the row */
	uint32_t tracks[2];
	uint32_t nr;
};

/* A line of the picture: a row with its lanes, or the heading of some. */
struct draw_item {
	int32_t y, h;
	bool is_row;
	uint32_t row;
	struct view_row info;
	size_t lane, nr_lanes;
	char title[128]; /* of a heading */
	char note[64];
};

struct draw_layout {
	struct {
		struct draw_item *at;
		size_t n, cap;
	} items;
	struct {
		struct draw_lane *at;
		size_t n, cap;
	} lanes;
	int32_t height;
};

struct draw_frame {
	struct view *view;
	const struct draw_options *o;
	struct picture *picture;
	struct draw_theme theme;
	struct draw_scale scale;
	struct draw_columns columns;
	struct draw_layout layout;
	int32_t top;		/* where the first row begins */
	unsigned char rank[32]; /* of classes of events, the rarest first */
	int rc;			/* the first failure */
};

/* Which rows there are and where. `room`: pixels for them; exact: they cannot be more. */
int draw_lay_out(struct draw_frame *f, int32_t room, bool exact);
void draw_layout_free(struct draw_layout *l);

/* The lanes of a row whose top is at y. */
void draw_row(struct draw_frame *f, const struct draw_item *item, int32_t y);

/* A task as text: "name 1234"; "?" where it has no name. */
const char *draw_task_text(const struct view_row *r, bool number, char *text, size_t size);

#endif
