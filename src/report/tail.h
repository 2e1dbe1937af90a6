/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last records of a report, without reading what comes before them. */
#ifndef REPORT_TAIL_H
#define REPORT_TAIL_H

#include "report/report.h"

/* Emits the last n records that the report selects. Returns as report_run() does. */
int report_tail(const struct report *rep, uint64_t n, struct spur_error *err);

#endif
