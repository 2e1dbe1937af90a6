/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the script of a live latency and whoever reads its maps agree on. */
#ifndef MEASURE_LATENCY_LIVE_PARTS_H
#define MEASURE_LATENCY_LIVE_PARTS_H

#include "measure/latency_live.h"

/* What a value of a group becomes for people. */
enum live_shown { SHOWN_AS_IS, SHOWN_SOFTIRQ, SHOWN_DEVICE };

/* A group's column: its expression where the latency ends. */
struct live_column {
	const char *name;
	const char *expr;
	enum live_shown shown;
};

/* What to group by, found by name. */
struct live_columns {
	struct live_column at[LATENCY_KEYS];
	unsigned int n;
};

/* The maps of the script: waits that have begun, and by group its measurements. */
#define LIVE_SINCE "since"
#define LIVE_HIST  "ns"
#define LIVE_STATS "sum"
#define LIVE_MIN   "min"
#define LIVE_MAX   "max"
#define LIVE_BITS  5 /* of a bucket within its power of two */

/* Writes the script, and says what the groups' columns are. */
int latency_live_write(const struct latency_live *o, struct buf *to, struct live_columns *by,
		       struct spur_error *err);

#endif
