/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counts of fieldhist.h, made in the running kernel. */
#ifndef MEASURE_FIELDHIST_LIVE_H
#define MEASURE_FIELDHIST_LIVE_H

#include "stats/fieldhist.h"
#include "measure/live.h"

struct fieldhist_live {
	struct live_who who;
	uint64_t duration, interval; /* ns; 0: until it is stopped, only at the end */
	int stop_fd;		     /* becomes readable to end it; -1: never */
	/* Called with the counts so far: after every interval, and at the end. */
	int (*show)(void *arg, struct fieldhist *h);
	void (*note)(void *arg, const char *text);
	void *arg;
};

/* Counts in the running kernel. */
int fieldhist_live(struct fieldhist *h, const struct fieldhist_live *o, struct spur_error *err);

#endif
