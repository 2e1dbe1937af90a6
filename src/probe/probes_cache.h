/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a struct probe_world keeps between attach points: lists that are read once. */
#ifndef PROBE_PROBES_CACHE_H
#define PROBE_PROBES_CACHE_H

#include "probe/probes.h"
#include "tracefs/tracefs.h"
#include "symbols/btf.h"
#include "symbols/ksyms.h"

struct probe_cache {
	struct tracefs_events events;
	bool has_events;
	struct traceable traceable;
	bool has_traceable;
	struct btf *btf;
	bool looked_for_btf;
};

/* NULL without memory. */
struct probe_cache *world_cache(struct probe_world *w);

/* The functions that the kernel lets be traced. */
const struct traceable *world_traceable(struct probe_world *w);

/* The kernel's types; NULL when there are none. */
const struct btf *world_btf(struct probe_world *w);

#endif
