/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts: compiled, then run by the kernel, or over a recording.
 *
 *	struct script *s;
 *
 *	if (script_open(&options, &s, &err) == 0)
 *		script_run(s, &status, &err);
 *	… script_messages(s) are what is wrong with the script, or only odd
 *	script_close(s);
 */
#ifndef SCRIPT_SCRIPT_H
#define SCRIPT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <spur/error.h>

#include "base/arena.h"
#include "base/buf.h"
#include "code/features.h"
#include "script/output.h"

struct spur_trace;
struct script;

/* Which probes run: those that trace, those of the type test, or those of the type bench. */
enum script_mode { SCRIPT_TRACE, SCRIPT_TEST, SCRIPT_BENCH };

struct script_options {
	enum script_mode mode;
	const char *name; /* of the script, for messages: a file's, "stdin" */
	const char *text;
	size_t len;
	const char *const *params; /* $1 …, up to a NULL; or NULL */
	const char *const *named;  /* --NAME[=VALUE] … for getopt(), up to a NULL; or NULL */
	const char *const *include_dirs;
	const char *kernel_source; /* where headers of the kernel are; NULL: the usual places */
	const char *kernel_build;  /* where the headers made by its build are; or NULL */
	const char *const *include_files; /* read before the script, up to a NULL; or NULL */
	char *const *environment;	  /* BPFTRACE_… settings; or NULL */
	const char *max_loop_rounds;	  /* wins over that setting; or NULL */
	const char *probe_filter; /* a regular expression: only probes whose names match; or NULL */
	bool unsafe, no_warnings;
	bool no_kprobe_multi, no_uprobe_multi, no_kprobe_session; /* links not to be used */
	unsigned int check; /* 1: report helpers that fail, 2: also keys that maps do not have */
	bool quiet;	    /* nothing about attached probes */
	struct spur_trace *trace;     /* run over it; NULL: live */
	const char *tracefs, *btf;    /* NULL: the usual places */
	const char *const *debuginfo; /* places of debug files: symbols/elf.h; or NULL */
	const char *traceable; /* a list of functions that can be probed; NULL: the kernel's */
	const pid_t *pids; /* -p: the only processes that are traced; it ends with a single one */
	size_t nr_pids;	   /* 0: all */
	char *const *command; /* -c: run while the script does; or NULL */
	/* Of the kernel, some of them forced; NULL: as they are. */
	const struct bpf_features *features;
	bool json;
	bool clean; /* it goes to a terminal; see output.h */
	enum output_style style;
	int stop_fd;  /* readable: the user wants the end; -1: never */
	int print_fd; /* readable: there was a SIGUSR1; read here; -1: never */
	/* Where the output goes; errors: standard error. A negative errno ends the run. */
	int (*write)(void *arg, const char *data, size_t len, bool errors);
	/*
	 * Called with maps that are to be printed, instead of writing their text; may be NULL.
	 * output_value() appends values to o->to. A negative errno ends the run.
	 */
	int (*map)(void *arg, struct output *o, const struct map_def *m,
		   const struct map_rows *rows);
	/* All probes are attached; may be NULL. */
	void (*attached)(void *arg, size_t nr);
	/* How far it is in a recording; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	/* Something was lost, or another thing the user should know. */
	void (*note)(void *arg, const char *text);
	void *arg;
};

enum script_dump { SCRIPT_AST, SCRIPT_IR, SCRIPT_BPF };

/*
 * Compiles. -EINVAL when the script is wrong: the messages say what. *out is set in either case,
 * unless there is no memory.
 */
int script_open(const struct script_options *opt, struct script **out, struct spur_error *err);
void script_close(struct script *s);

/* Whether something may only be missing because the user lacks permissions. */
bool script_denied(const struct script *s);

/* Errors and warnings, each with the line it is about. */
const char *script_messages(const struct script *s);
size_t script_nr_probes(const struct script *s);
/* The name of probe i; *many: how many it is in one. */
const char *script_probe(const struct script *s, size_t i, uint32_t *many);

int script_dump(struct script *s, enum script_dump what, struct buf *to, struct spur_error *err);

/* Loads everything into the kernel, but attaches nothing. */
int script_try(struct script *s, struct spur_error *err);

/*
 * Runs until exit(), the end of the command or recording, or stop_fd. status: the argument of
 * exit().
 */
int script_run(struct script *s, int *status, struct spur_error *err);

/*
 * What the kernel can do for scripts, in bpftrace's words. Everything is tried, and nothing stays
 * loaded; this takes some tens of milliseconds.
 */
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

/*
 * The options --NAME=VALUE of a script: its getopt() calls. They are found without compiling it, so
 * that the help of a script needs neither privileges nor a kernel with its probes.
 */
enum getopt_kind { GETOPT_FLAG, GETOPT_NUMBER, GETOPT_TEXT };

struct getopt_call {
	const char *name;
	enum getopt_kind kind;
	const char *usual; /* the default; "" for an empty text or false */
	const char *help;  /* or "" */
};

struct getopts {
	struct getopt_call *at; /* in the order of the script, each name once */
	size_t n, cap;
	struct arena arena;
};

/*
 * -EINVAL for what is no script, and where two calls of one name do not agree. The result is to be
 * freed in any case.
 */
int getopts_read(const char *name, const char *text, size_t len, struct getopts *g,
		 struct spur_error *err);
void getopts_free(struct getopts *g);

#endif
