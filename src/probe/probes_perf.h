/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of perf_event_open(2) by bpftrace's names. */
#ifndef PROBE_PROBES_PERF_H
#define PROBE_PROBES_PERF_H

#include "probe/probes.h"

struct perf_counter {
	const char *name, *alias;
	uint64_t config;
	uint64_t usual; /* count when the script says none */
};

/* Of software or hardware probes, by name or alias; NULL when there is none. */
const struct perf_counter *perf_counter_named(enum probe_type type, const char *name);

#endif
