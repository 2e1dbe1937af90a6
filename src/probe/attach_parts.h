/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files behind attach.h share. */
#ifndef PROBE_ATTACH_PARTS_H
#define PROBE_ATTACH_PARTS_H

#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "probe/attach.h"

/* Newer than the headers that this may be built with. */
enum {
	ATTACH_PERF_EVENT = 41,
	ATTACH_KPROBE_MULTI = 42,
	ATTACH_UPROBE_MULTI = 48,
	ATTACH_KPROBE_SESSION = 56,
	ATTACH_MULTI_RETURN = 1,
};

/* What BPF_LINK_CREATE is told, as far as it is needed here. */
struct link_request {
	uint32_t prog_fd, target_fd, attach_type, flags;
	union {
		struct {
			uint64_t cookie;
		} perf_event;
		struct {
			uint32_t flags, count;
			uint64_t symbols, addresses, cookies;
		} kprobe_multi;
		struct {
			uint64_t path, offsets, ref_ctr_offsets, cookies;
			uint32_t count, flags, pid, pad;
		} uprobe_multi;
		struct {
			uint32_t target_btf_id, pad;
			uint64_t cookie;
		} tracing;
	};
};

/* Adds a descriptor, which is closed when that fails. */
int attached_add(struct attached *a, struct attached_fd fd, struct spur_error *err);

/* The CPUs that are online. */
int attached_cpus(struct attached *a, struct spur_error *err);

/*
 * Runs a program at an event, which this takes over: by a link where there is a cookie. Events that
 * sample start.
 */
int attach_event(int event, int prog_fd, uint64_t cookie, bool samples, struct attached *a,
		 const struct probe_target *t, struct spur_error *err);

/* The words for what the kernel said, and the code to return. */
int attach_failed(const struct probe_target *t, int code, struct spur_error *err);

int attach_timer(const struct probe_target *t, int prog_fd, uint64_t cookie, struct attached *a,
		 struct spur_error *err);
int attach_counter(const struct probe_target *t, int prog_fd, uint64_t cookie, struct attached *a,
		   struct spur_error *err);
int attach_watchpoint(const struct probe_target *t, int prog_fd, uint64_t cookie,
		      struct attached *a, struct spur_error *err);

#endif
