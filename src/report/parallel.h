/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report by several threads, each on slices of time; what comes out is what one would print. */
#ifndef REPORT_PARALLEL_H
#define REPORT_PARALLEL_H

#include "report/report.h"

#define CREW_SLICE (1536u << 10) /* bytes of ring buffer data in a slice, unless the report says */

/* Returns as report_run() does. */
int crew_run(const struct report *rep, unsigned int threads);

#endif
