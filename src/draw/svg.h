/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of statistics as SVG: flame graphs, flame charts, heat maps, call graphs. */
#ifndef DRAW_SVG_H
#define DRAW_SVG_H

#include "stats/callgraph.h"
#include "stats/flame.h"

enum flame_unit {
	FLAME_UNIT_SAMPLES,
	FLAME_UNIT_NS,
	FLAME_UNIT_PLAIN, /* values of a field */
};

enum flame_colours {
	FLAME_HOT,	   /* warm ones, by the function's name */
	FLAME_KERNEL_USER, /* the kernel's functions ("_[k]") apart from the user's */
	FLAME_BY_MODULE,   /* by what the name has in brackets */
	FLAME_COLOURBLIND, /* by name, told apart by lightness and blue against orange */
};

struct flame_look {
	const char *title;    /* NULL: "Flame Graph" and the like */
	const char *subtitle; /* or NULL */
	enum flame_unit unit;
	const char *unit_name; /* of FLAME_UNIT_PLAIN; NULL: none */
	enum flame_colours colours;
	uint32_t width;	  /* pixels; 0: 1200 */
	double min_width; /* pixels: narrower frames are left out; below 0: usual */
	bool icicle;	  /* the root is at the top */
	bool both;	  /* widths of the second side, colours by the change since the first */
};

/* A self-contained SVG document of a finished tree. */
void flame_svg(const struct flame *f, const struct flame_look *look, struct buf *out);

/* ---- the flame chart: calls along the time ---- */

struct flame_chart;

struct flame_chart *flame_chart_new(struct spur_error *err);
void flame_chart_free(struct flame_chart *c);

/* A call by a task; `open`: it took at least that long. */
void flame_chart_call(struct flame_chart *c, int64_t pid, const char *comm, const char *func,
		      uint64_t ts, uint64_t dur, int64_t depth, bool open);
int flame_chart_read(struct flame_chart *c, struct spur_trace *t, const struct flame_wanted *w,
		     struct spur_error *err);
size_t flame_chart_calls(const struct flame_chart *c);
void flame_chart_svg(struct flame_chart *c, const struct flame_look *look, struct buf *out);

/* ---- the heat map: when within each second things happened ---- */

#define FLAME_HEAT_ROWS 50

struct flame_heat;

/* A column is that long; 0: a second. */
struct flame_heat *flame_heat_new(uint64_t column, struct spur_error *err);
void flame_heat_free(struct flame_heat *h);
void flame_heat_add(struct flame_heat *h, uint64_t ts);
/* Events with stacks; if events are named, these, with or without stacks. */
int flame_heat_read(struct flame_heat *h, struct spur_trace *t, const struct flame_wanted *w,
		    struct spur_error *err);
uint64_t flame_heat_events(const struct flame_heat *h);
void flame_heat_svg(const struct flame_heat *h, const struct flame_look *look, struct buf *out);

/* ---- call graphs ---- */

/* A self-contained SVG picture of the largest functions; false without memory. */
bool callgraph_put_svg(struct callgraph *g, const struct callgraph_limits *limits, struct buf *out);

#endif
