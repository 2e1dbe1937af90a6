/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call graph as text: as gprof prints it, and for graphviz.
 *
 * Times are in the unit in which the whole has four digits at most, which the heads say; of sampled
 * graphs they are numbers of samples, of entries alone there are none.
 */
#ifndef STATS_CALLGRAPH_PRINT_H
#define STATS_CALLGRAPH_PRINT_H

#include "stats/callgraph.h"
#include "base/buf.h"

/* What is too small to be of interest: less of the whole than this, in percent. */
struct callgraph_limits {
	double function, arc;
};

/* gprof's flat profile: functions by their own time. */
void callgraph_put_flat(struct callgraph *g, struct buf *out);

/*
 * gprof's call graph: a block for every function with its callers above and its callees below, and
 * an index.
 */
void callgraph_put_blocks(struct callgraph *g, struct buf *out);

/* A picture for graphviz, the hotter the redder. */
void callgraph_put_dot(struct callgraph *g, const struct callgraph_limits *limits, struct buf *out);

#endif
