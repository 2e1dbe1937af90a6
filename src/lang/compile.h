/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a syntax tree to a unit: finds and checks types, and lowers programs to the IR. */
#ifndef LANG_COMPILE_H
#define LANG_COMPILE_H

#include <regex.h>
#include <sys/types.h>

#include "lang/ast.h"
#include "lang/env.h"
#include "code/unit.h"

struct probe_world;

/* Features that a kernel may lack. */
enum compile_feature {
	COMPILE_RINGBUF,       /* bpf_ringbuf_*() */
	COMPILE_LOOP,	       /* bpf_loop() */
	COMPILE_FOR_EACH,      /* bpf_for_each_map_elem() */
	COMPILE_READ_SPLIT,    /* bpf_probe_read_{user,kernel}() */
	COMPILE_BOOT_CLOCK,    /* bpf_ktime_get_boot_ns() */
	COMPILE_PERCPU_LOOKUP, /* bpf_map_lookup_percpu_elem() */
};

/* Only what a script needs is queried: each query may cost a system call. */
struct compile_features {
	bool (*has)(void *arg, enum compile_feature what); /* NULL: all are there */
	unsigned int nr_cpus;
	/* Whether programs of that type (BPF_PROG_TYPE_…) may call a helper; NULL: yes. */
	bool (*has_helper)(void *arg, uint32_t prog_type, int helper);
	void *arg;
};

static inline bool compile_has(const struct compile_features *f, enum compile_feature what)
{
	return !f->has || f->has(f->arg, what);
}

struct compile_options {
	const char *const *params; /* $1, $2, …, up to a NULL */
	size_t nr_params;
	const char *const *named; /* --NAME[=VALUE] … for getopt(), up to a NULL; or NULL */
	const pid_t *pids;	  /* -p: probes see only these processes; none: all */
	size_t nr_pids;
	const char *script;  /* $0 */
	const regex_t *only; /* matches the names of probes to keep; NULL: all */
	bool unsafe;
	unsigned int check; /* -k: report helpers that fail; 2: also keys that maps do not have */
	bool offline;
	bool knows_tasks; /* offline: the recording lists its tasks */
	bool swapped;	  /* the byte order of the recording is not this machine's */
	bool no_raw;	  /* do not attach tracepoints as raw tracepoints */
	pid_t child;	  /* the process of -c: cpid; 0: none */
	pid_t own;	  /* this process */
	struct compile_features features;
};

/* 0, or a negative errno with messages in the source. The unit has no pointers into the tree. */
int compile(struct script_ast *ast, struct env *env, struct probe_world *world,
	    const struct compile_options *opt, struct unit *unit);

#endif
