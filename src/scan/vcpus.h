/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which tasks of a host ran which CPUs of its guests, as its kvm events tell. */
#ifndef SCAN_VCPUS_H
#define SCAN_VCPUS_H

#include "dat/copy.h"
#include "scan/trace.h"

struct vcpus {
	struct dat_vcpu *at; /* by CPU */
	size_t n, cap;
};

/*
 * Looks through a host's trace for entries into the guest and exits from it. Only tasks with one of
 * the given pids count, with none given all of them. `most`: how many CPUs there are, 0 when that
 * is not known. -EINVAL when the trace has no such events, or when two tasks ran the same CPU.
 */
int vcpus_find(struct spur_trace *host, const int32_t *pids, size_t nr_pids, size_t most,
	       const volatile int *stop, struct vcpus *v, struct spur_error *err);

#endif
