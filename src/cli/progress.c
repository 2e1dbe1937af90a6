// SPDX-License-Identifier: GPL-2.0-or-later
/* The percentage on standard error. */
#include "cli/progress.h"

#include <stdio.h>

#include "cli/cli.h"
#include "dat/copy.h"

void progress_begin(struct progress *p)
{
	*p = (struct progress){.last = time(NULL)};
}

void progress_show(void *arg, uint64_t done, uint64_t total)
{
	struct progress *p = arg;
	time_t now = time(NULL);

	if (now == p->last || !total)
		return;
	p->last = now;
	p->shown = true;
	fprintf(stderr, "\r%3u%%", (unsigned int)(100.0 * (double)done / (double)total));
	fflush(stderr);
}

void progress_end(const struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r    \r");
}

struct dat_job progress_job(struct progress *p, bool wanted)
{
	struct dat_job job = {.stop = &cli_stop};

	progress_begin(p);
	if (wanted) {
		job.progress = progress_show;
		job.arg = p;
	}
	return job;
}
