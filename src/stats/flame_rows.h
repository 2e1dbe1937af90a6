/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows of a trace belong to a flame graph, and where in its tree. */
#ifndef STATS_FLAME_ROWS_H
#define STATS_FLAME_ROWS_H

#include "table/feed.h"
#include "stats/flame.h"

/* Whether a row is one of those that were asked for. */
bool flame_wants(const struct flame_wanted *w, int64_t cpu, int64_t pid, const char *comm,
		 const char *buffer);
bool flame_wants_time(const struct flame_wanted *w, uint64_t ts);

/* How long a task was off the CPU, from the sched_switch at ts on. */
struct off_cpu_row {
	uint64_t ts;
	int64_t dur;
	int64_t pid;
	int64_t cpu;
	const char *buffer;
};

extern const struct table off_cpu_table;

#endif
