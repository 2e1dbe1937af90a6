// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel enables bpf_trace:bpf_trace_printk when it loads a program that writes to its trace
 * buffer (debugf), and leaves it enabled. A script that has done so disables it at its end, unless
 * another script still needs it.
 */
#include <stdio.h>

#include "script/run_live.h"

static struct tracefs tracefs_of(const struct script *s)
{
	struct tracefs fs;

	snprintf(fs.path, sizeof(fs.path), "%s", s->world.tracefs);
	return fs;
}

void printk_begin(struct live_run *r)
{
	const struct tracefs fs = tracefs_of(r->s);

	r->printk.fd = -1;
	if (r->s->unit.debugs)
		kernelswitch_begin(&r->printk, &fs, KERNELSWITCH_PRINTK);
}

void printk_end(struct live_run *r)
{
	const struct tracefs fs = tracefs_of(r->s);

	kernelswitch_end(&r->printk, &fs, KERNELSWITCH_PRINTK, r->kernel);
}
