/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the tasks of a host that ran the CPUs of its guests, from its kvm events. */
#ifndef SCAN_VCPUS_H
#define SCAN_VCPUS_H

#include "dat/copy.h"
#include "scan/trace.h"

struct vcpus {
	struct dat_vcpu *at; /* by CPU */
	size_t n, cap;
};

/*
 * Searches a host's trace for entries into the guest and exits from it. Only tasks with one of the
 * given pids count; without pids all do. `most` is the number of CPUs, 0 if it is unknown. -EINVAL
 * if the trace has no such events, or if two tasks ran the same CPU.
 */
int vcpus_find(struct spur_trace *host, const int32_t *pids, size_t nr_pids, size_t most,
	       const volatile int *stop, struct vcpus *v, struct spur_error *err);

#endif
