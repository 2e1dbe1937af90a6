/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/cli: a script from the command line to its end, for `spur script` and for the name
 * bpftrace, which differ in their options, in how they say what is wrong and in exit statuses.
 */
#ifndef CLI_SCRIPT_H
#define CLI_SCRIPT_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/strings.h"
#include "cli/cli.h"
#include "cli/opts.h"
#include "script/script.h"

struct script_command {
	bool bpftrace;	     /* that is the name it was called by */
	const char *program; /* -e */
	const char *name;    /* of that program, for messages; NULL: "stdin" */
	const char *file;    /* or a file, "-": standard input */
	struct string_refs positional, named;
	const char *input, *output, *format, *buffering, *dump, *command, *features, *btf,
		*probe_filter, *traceable, *aot, *max_loop_rounds;
	struct string_refs include_dirs, include_files, debuginfo;
	vec_of(pid_t) pids;
	const char *pattern; /* of -l; NULL: the script's probes, or all */
	uint64_t duration;   /* ns from when all is attached; 0: without end */
	unsigned int check;  /* how often -k was given */
	bool test, bench;    /* what of the script is run */
	bool list, info, unsafe, no_warnings, dry_run, fmt, quiet, verbose;
	bool compile_only; /* … of dry_run: nothing is loaded */

	/* While it runs. */
	int out_fd;
	bool begun; /* something was written: what the file had before is gone */
	bool full;  /* buffering: what is written waits in `held` */
	struct buf held;
	struct progress progress;
	size_t told; /* of the script's messages, in bytes */
};

/* For the release() of commands whose options begin with a struct script_command. */
void script_command_free(void *options);

/* For an option: one process, or several with commas between them. */
int script_take_pids(void *options, const struct opt *o, const char *arg);

/* "--name" words are for getopt(), the others are $1 …; false without memory. */
bool script_params(struct script_command *o, char **argv);
/* Up to a NULL: $1 is empty without parameters, and not unknown. */
const char *const *script_positional(const struct script_command *o);

/* "spur: …", or "ERROR: …" under the name bpftrace; returns 1, wrong usage under either name. */
int script_error(const struct script_command *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void script_warning(const struct script_command *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Checks options that spur cannot honour. 0 or an exit status after a message. */
int script_check_options(const struct script_command *o);
/* The same for an error of the library, with the exit status that belongs to it. */
int script_fail(const struct script_command *o, int rc, const char *doing, struct spur_error *err);

/* Prints what a script says about itself on standard error, without control characters. */
void script_print(const char *text, size_t len);

/* Reads the script; and its name for messages. 0 or an exit status after a message. */
int script_read(const struct script_command *o, struct buf *text);
const char *script_name(const struct script_command *o);

/* Do what the options say; they return the exit status. */
int script_command_run(struct script_command *o);
int script_command_list(struct script_command *o);
int script_command_info(const struct script_command *o);
/* Prints a script as it should look. */
int script_command_format(struct script_command *o);

/* Sets the features of --no-feature. 0 or an exit status after a message. */
int script_features(const struct script_command *o, struct bpf_features *f);

/*
 * The descriptors that become readable at the first Ctrl-C, SIGTERM or SIGHUP, and at a SIGUSR1. A
 * second such signal ends the program at once.
 */
bool script_signals(int *stop, int *print);

/* ---- tool.c ---- */

struct tool {
	const char *name;
	const char *summary; /* the first sentence of its head comment */
	const char *text;
};

/* By name; one without a name at the end. Written by tools/embed. */
extern const struct tool tools[];

/*
 * The options of a tool: what its script asks for by getopt(), then those of every tool. Freed with
 * tool_options_free(). NULL after a message.
 */
struct tool_options;
struct tool_options *tool_options(const struct tool *t, const struct opt **opts, size_t *nr);
void tool_options_free(struct tool_options *o);

#endif
