/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/view/draw: a picture while it is made. */
#ifndef VIEW_DRAW_INTERNAL_H
#define VIEW_DRAW_INTERNAL_H

#include "base/vec.h"
#include "view/draw/draw.h"
#include "view/view.h"

/*
 * ---- columns.c: a track as what can be seen of it in some pixels ----
 *
 * There is at most one column for each pixel. A slice that is wider than a pixel stays what it is.
 * Narrower ones share columns: a column has the value with most time in it, and how much of it is
 * covered, in eighths. Neighbours that look alike become one. For ticks the value is a mask of
 * classes, and there is a count.
 */

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
	vec_of(struct draw_column) list;
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
/* The same for ticks. */
int draw_columns_of_ticks(struct view *v, uint32_t row, uint32_t track, const struct draw_scale *s,
			  struct draw_columns *out);
void draw_columns_free(struct draw_columns *c);

/* Nanoseconds of a range that a track covers, up to half a bin of 1/512 of it at the ends. */
int draw_covered(struct view *v, uint32_t row, uint32_t track, uint64_t since, uint64_t until,
		 struct view_tile *tile, uint64_t *covered);

/* ---- the picture ---- */

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
	vec_of(struct draw_item) items;
	vec_of(struct draw_lane) lanes;
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

/* Reads a track into f->columns, or sets f->rc; whether anything is there. */
bool draw_read_columns(struct draw_frame *f, uint32_t row, uint32_t track);

/* Which rows there are and where. `room`: pixels for them; exact: they cannot be more. */
int draw_lay_out(struct draw_frame *f, int32_t room, bool exact);
void draw_layout_free(struct draw_layout *l);

/* The lanes of a row whose top is at y. */
void draw_row(struct draw_frame *f, const struct draw_item *item, int32_t y);

/* What a lane is, beside it. */
void draw_lane_label(struct draw_frame *f, int32_t middle, const char *text);

/* A task as text: "name 1234"; "?" where it has no name. */
const char *draw_task_text(const struct view_row *r, bool number, char *text, size_t size);

#endif
