/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/tracefs: what the files of capabilities share. */
#ifndef TRACEFS_CAPS_PARTS_H
#define TRACEFS_CAPS_PARTS_H

#include "tracefs/caps.h"

struct caps {
	const struct tracefs *fs;  /* NULL: none */
	struct spur_error why_not; /* then: why */
	char instance[80];	   /* the one that was made, "" before and when it cannot be */
	struct spur_error refused; /* why it cannot */
	bool tried;
};

/* Fill an answer. Texts that do not fit are cut. */
void cap_yes(struct cap_answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cap_partly(struct cap_answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cap_no(struct cap_answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cap_advice(struct cap_answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The kernel does not have it: because of how it was built, or because it is too old. */
void cap_absent(const struct cap *cap, struct cap_answer *a);

/* The name of an instance to try things in, or NULL. */
const char *caps_instance(struct caps *c);

/* A file of tracefs, or of the machine, is there; `config` says what it takes. */
void probe_file(struct caps *c, const struct cap *cap, struct cap_answer *a);

/* In caps_tracers.c. */
void probe_function(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_graph_instance(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_tracers(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_stack(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_readme(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_kprobes(struct caps *c, const struct cap *cap, struct cap_answer *a);

/* In caps_system.c. */
void probe_privileges(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_lockdown(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_kallsyms(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_bpf(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_bpf_user(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_bpf_jit(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_bpf_ringbuf(struct caps *c, const struct cap *cap, struct cap_answer *a);
void probe_perf(struct caps *c, const struct cap *cap, struct cap_answer *a);

#endif
