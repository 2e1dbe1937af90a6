/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An attach point as a script writes it. probes.h finds what it matches. */
#ifndef PROBE_ATTACH_POINT_H
#define PROBE_ATTACH_POINT_H

#include "base/source.h"

/* One attach point of a probe: "tracepoint:sched:sched_switch". */
struct attach_point {
	struct attach_point *next;
	struct span at;
	const char *text; /* the whole of it, as written, unquoted */
	const char *name; /* in front of "=", or NULL: `name = probe` */
	const char *
		parts[8]; /* text between colons; parts[0] is the kind as written ("t", "kprobe") */
	unsigned int nr_parts;
};

#endif
