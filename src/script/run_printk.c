// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel enables bpf_trace:bpf_trace_printk when it loads a program that writes to its trace
 * buffer (debugf), and leaves it enabled. A script that has done so disables it at its end. Newer
 * kernels enable it some time after loading, from a work queue: that has to be waited for.
 */
#include <stdio.h>
#include <unistd.h>

#include "script/run_live.h"
#include "tracefs/tracefs.h"

#define ENABLE "events/bpf_trace/bpf_trace_printk/enable"
#define TRIES  100
#define EVERY  10000 /* us */

static struct tracefs tracefs_of(const struct script *s)
{
	struct tracefs fs;

	snprintf(fs.path, sizeof(fs.path), "%s", s->world.tracefs);
	return fs;
}

void printk_begin(struct live_run *r)
{
	const struct tracefs fs = tracefs_of(r->s);
	int64_t enabled = 1;

	if (r->s->unit.debugs && tracefs_read_number(&fs, NULL, ENABLE, &enabled, NULL) == 0)
		r->printk_off = !enabled;
}

void printk_end(struct live_run *r)
{
	const struct tracefs fs = tracefs_of(r->s);
	int64_t enabled = 0;

	if (!r->printk_off)
		return;
	for (int i = 0; r->kernel && i < TRIES && !enabled; i++) {
		if (i)
			usleep(EVERY);
		tracefs_read_number(&fs, NULL, ENABLE, &enabled, NULL);
	}
	tracefs_write(&fs, NULL, ENABLE, TRACEFS_REPLACE, "0", NULL);
}
