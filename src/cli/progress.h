/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress as a percentage on standard error, updated once a second. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct dat_job;

struct progress {
	time_t last;
	bool shown;
};

void progress_begin(struct progress *p);

/* For a job's `progress`; arg is the struct progress. */
void progress_show(void *arg, uint64_t done, uint64_t total);

/* Wipes what was shown. */
void progress_end(const struct progress *p);

/* A job that Ctrl-C stops; it shows its progress if that is wanted. */
struct dat_job progress_job(struct progress *p, bool wanted);

#endif
