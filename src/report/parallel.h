/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/report: a report by several threads, each on slices of time. The output is the
 * same as that of one thread.
 */
#ifndef REPORT_PARALLEL_H
#define REPORT_PARALLEL_H

#include "report/report.h"

/* Returns as report_run() does. */
int crew_run(const struct report *rep, unsigned int threads);

#endif
