/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a syntax tree to a unit: finds and checks types, and lowers programs to the IR. */
#ifndef LANG_COMPILE_H
#define LANG_COMPILE_H

#include <regex.h>
#include <sys/types.h>

#include "lang/ast.h"
#include "lang/env.h"
#include "code/features.h"
#include "code/unit.h"

struct probe_world;

/* Without a kernel (NULL) there are all features. */
static inline bool compile_has(struct bpf_features *f, enum bpf_feature what)
{
	return !f || bpf_has(f, what);
}

static inline bool compile_has_helper(struct bpf_features *f, uint32_t prog_type, int helper)
{
	return !f || bpf_has_helper(f, prog_type, helper);
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
	bool knows_tasks;	       /* offline: the recording lists its tasks */
	bool swapped;		       /* the byte order of the recording is not this machine's */
	bool no_raw;		       /* do not attach tracepoints as raw tracepoints */
	pid_t child;		       /* the process of -c: cpid; 0: none */
	pid_t own;		       /* this process */
	struct bpf_features *features; /* of the kernel; NULL: all */
	unsigned int nr_cpus;
};

/* ---- the settings of a script: config = { max_strlen = 64; }, or BPFTRACE_MAX_STRLEN=64 ---- */

/* Applies the config block; errors are reported to the source. */
int config_script(const struct script_ast *ast, struct unit *u);

/*
 * Applies an environment ("NAME=value" up to a NULL). It is called before compile(), and its
 * settings win.
 */
int config_environment(char *const *environment, struct unit *u, struct spur_error *err);

/* One setting, as of a command line: it wins over the environment if it is applied later. */
int config_option(const char *name, const char *value, struct unit *u, struct spur_error *err);

/* 0, or a negative errno with messages in the source. The unit has no pointers into the tree. */
int compile(struct script_ast *ast, struct env *env, struct probe_world *world,
	    const struct compile_options *opt, struct unit *unit);

#endif
