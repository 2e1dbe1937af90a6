/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's BPF can do. Each feature is tried when it is first queried, which costs one or
 * two system calls.
 */
#ifndef CODE_FEATURES_H
#define CODE_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

enum bpf_feature {
	FEATURE_SDIV,	     /* signed division and remainder as instructions */
	FEATURE_RINGBUF,     /* BPF_MAP_TYPE_RINGBUF */
	FEATURE_LOOP,	     /* bpf_loop() */
	FEATURE_FOR_EACH,    /* bpf_for_each_map_elem() */
	FEATURE_PROBE_READ,  /* bpf_probe_read_{user,kernel}{,_str}() */
	FEATURE_COOKIE,	     /* bpf_get_attach_cookie() in tracing programs */
	FEATURE_BOOT_TIME,   /* bpf_ktime_get_boot_ns() */
	FEATURE_PERCPU_ELEM, /* bpf_map_lookup_percpu_elem() */
	FEATURE_TEST_RUN,    /* BPF_PROG_TEST_RUN of raw tracepoint programs */
	FEATURE_MMAPABLE,    /* BPF_F_MMAPABLE arrays */
	FEATURE_MAP_VALUE,   /* addresses of values of arrays in instructions */
	FEATURE_BATCH,	     /* BPF_MAP_LOOKUP_BATCH of per-CPU hashes */
	FEATURE_LATE_ALLOC,  /* hashes whose entries are allocated when they are created */
	FEATURES
};

enum feature_state { FEATURE_UNKNOWN, FEATURE_NO, FEATURE_YES };

struct bpf_features {
	uint8_t state[FEATURES]; /* enum feature_state; tests and --no-feature set it beforehand */
	/* The same for helpers of raw tracepoint, tracepoint, kprobe and perf event programs. */
	uint8_t helper[4][256];
};

/* All unknown. */
void bpf_features_init(struct bpf_features *f);
/* The features of spur's own executor: all of them. */
void bpf_features_user(struct bpf_features *f);

bool bpf_has(struct bpf_features *f, enum bpf_feature what);

/* Whether programs of that type (BPF_PROG_TYPE_…) may call the helper. */
bool bpf_has_helper(struct bpf_features *f, uint32_t prog_type, int helper);

/* "ringbuf", …: for --info and --no-feature. */
const char *bpf_feature_name(enum bpf_feature what);

#endif
