/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latencies of the running kernel. The kernel counts in buckets of which every power of two has 32:
 * quantiles are the ends of these, at most 3.2 % too high; count, average and extremes are exact.
 */
#ifndef MEASURE_LATENCY_LIVE_H
#define MEASURE_LATENCY_LIVE_H

#include "stats/latency.h"
#include "measure/live.h"
#include "table/pairs.h"

struct latency_live {
	const struct latency_kind *kind;
	const struct pairs_options *pairs; /* instead of a kind */
	const char *by;			   /* as of latency_options; NULL: all together */
	struct live_who who;
	uint64_t duration, interval; /* ns; 0: until it is stopped, only at the end */
	enum latency_order order;
	int stop_fd; /* becomes readable to end it; -1: never */
	/* Called with the distributions so far: after every interval, and at the end. */
	void (*show)(void *arg, struct latency *l);
	void (*note)(void *arg, const char *text);
	void *arg;
};

/* Appends the script that would be run, for users who want to see or change it. */
int latency_live_script(const struct latency_live *o, struct buf *to, struct spur_error *err);

int latency_live(const struct latency_live *o, struct spur_error *err);

#endif
