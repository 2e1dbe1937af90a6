/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tying the trace of a guest to that of its host afterwards, as if they had been recorded together.
 *
 * The host's file gets an option GUEST: which of its tasks ran which CPU of the guest. The guest's
 * gets TIME_SHIFT, how its times become the host's, and TSC2NSEC when the host has it. Both refer
 * to the other by its TRACEID, which is made up where there is none.
 */
#ifndef DAT_ATTACH_H
#define DAT_ATTACH_H

#include "dat/copy.h"
#include "dat/dat.h"

/* A CPU of the guest and the host's task that ran it. */
struct dat_vcpu {
	uint32_t cpu;
	int32_t pid;
};

struct dat_attach {
	struct dat *host, *guest;
	const struct dat_vcpu *vcpus;
	uint32_t nr_vcpus;
	/* The correction of each of the guest's CPUs; the last one holds for those that follow. */
	const struct dat_time_sample *shifts;
	uint32_t nr_shifts; /* at least 1 */
	uint32_t nr_cpus;   /* of the guest; 0: as many as its file says */
	const char *name;   /* of the guest; "" for none */
	struct dat_job job;
};

/*
 * Writes both files again. What they said about each other before is replaced. Neither is unless
 * both could be written. The opened files go on being the old ones.
 */
int dat_attach(const struct dat_attach *a, struct spur_error *err);

#endif
