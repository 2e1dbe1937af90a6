/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaches loaded programs to their probes, and detaches them again without waiting.
 *
 * How a program must be loaded depends on its probe: see attach_needs(). struct attached collects
 * everything that is attached, in order.
 */
#ifndef PROBE_ATTACH_H
#define PROBE_ATTACH_H

#include "probe/probes.h"

struct attached_fd {
	int fd;
	bool samples;	  /* stops when it is disabled */
	bool quick;	  /* closing it does not wait */
	uint64_t address; /* that it watches, or 0 */
};

/* All zero at the beginning, but for tracefs. */
struct attached {
	const char *tracefs; /* NULL: where it usually is */
	struct {
		struct attached_fd *at;
		size_t n, cap;
	} fds;
	struct {
		int *at;
		size_t n, cap;
	} cpus;				 /* those that are online; read when first needed */
	uint32_t kprobe_pmu, uprobe_pmu; /* types for perf_event_open(2); 0: not looked up yet */
};

/* What bpf(2) needs to load a program. */
struct attach_needs {
	uint32_t prog_type;	    /* BPF_PROG_TYPE_… */
	uint32_t expected_type;	    /* expected_attach_type, 0: none */
	const char *btf_function;   /* attach_btf_id is that function's; or NULL */
	const char *btf_tracepoint; /* … or of the function that a tracepoint calls; or NULL */
	uint32_t bpf_prog; /* attach_btf_id is of that program's function: bpf_type; 0: none */
	uint32_t bpf_type;
	const char *btf_module; /* … in the BTF of that module (attach_btf_obj_fd); NULL: vmlinux */
};

/* False if such a probe runs in user space. `multi`: for attach_multi(). */
bool attach_needs(const struct probe_target *t, bool multi, struct attach_needs *needs);

/*
 * Attaches a program to one target. bpf_get_attach_cookie() returns the cookie, if it is not 0;
 * -EOPNOTSUPP if the kernel has none for such probes. -ENOENT if there is no such function,
 * tracepoint or file.
 */
int attach_probe(const struct probe_target *t, int prog_fd, uint64_t cookie, struct attached *a,
		 struct spur_error *err);

/*
 * Attaches one program to any number of functions at once: kprobes, kretprobes, or uprobes and
 * uretprobes of one binary. They must be of one type and without offsets (kernel) or PIDs that
 * differ. cookies may be NULL. -EOPNOTSUPP when the kernel has no such link.
 */
int attach_multi(const struct probe_target *const *t, size_t n, const uint64_t *cookies,
		 int prog_fd, struct attached *a, struct spur_error *err);

/*
 * The same for kprobes whose program also runs when their functions return: it was loaded for a
 * session.
 */
int attach_session(const struct probe_target *const *t, size_t n, int prog_fd, struct attached *a,
		   struct spur_error *err);

/* Whether there are such links for probes of its kind, in some kernels. */
bool attach_can_multi(const struct probe_target *t);

/*
 * Runs an iterator's program over everything it iterates, and hands what it prints to each().
 * Nothing stays attached.
 */
int attach_iterate(const struct probe_target *t, int prog_fd,
		   int (*each)(void *arg, const char *text, size_t len), void *arg,
		   struct spur_error *err);

/* Stops watching an address. */
void attach_unwatch(struct attached *a, uint64_t address);

/*
 * Detaches everything and returns at once: another process waits for the kernel. Timers and
 * counters stop immediately; programs of tracepoints, kprobes and uprobes may still run for some
 * tens of milliseconds each, so a flag in a map must stop them. Nothing stays attached, even if
 * that process is killed.
 */
void attach_end(struct attached *a);

/* Newer than the headers that this may be built with. */
enum {
	ATTACH_PERF_EVENT = 41,
	ATTACH_KPROBE_MULTI = 42,
	ATTACH_UPROBE_MULTI = 48,
	ATTACH_KPROBE_SESSION = 56,
	ATTACH_MULTI_RETURN = 1,
};

/* The arguments of BPF_LINK_CREATE, as far as they are needed here. */
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

#endif
