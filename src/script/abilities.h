/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel can do for scripts, in bpftrace's words. Everything is tried, and nothing stays
 * loaded; this takes some tens of milliseconds.
 */
#ifndef SCRIPT_ABILITIES_H
#define SCRIPT_ABILITIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ability_group { ABILITY_HELPER, ABILITY_FEATURE, ABILITY_MAP, ABILITY_PROBE, ABILITY_GROUPS };

struct ability {
	const char *name;
	bool yes;
	int64_t number; /* in the place of yes or no, when it is not 0 */
};

struct bpf_features;

/* The one of that number in a group; false when there are no more. */
bool ability_try(struct bpf_features *f, enum ability_group group, size_t number,
		 struct ability *out);

#endif
