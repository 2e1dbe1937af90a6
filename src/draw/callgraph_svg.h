/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call graph as a picture. */
#ifndef DRAW_CALLGRAPH_SVG_H
#define DRAW_CALLGRAPH_SVG_H

#include "stats/callgraph.h"

/* A self-contained SVG picture of the largest functions; false without memory. */
bool callgraph_put_svg(struct callgraph *g, const struct callgraph_limits *limits, struct buf *out);

#endif
