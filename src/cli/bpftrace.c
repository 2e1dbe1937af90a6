// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The name bpftrace: its command line as of 0.26, and what 0.17 spells differently. An option that
 * spur cannot honour is refused with the reason.
 *
 * Arguments are read as bpftrace's C library reads them: options may follow the script, "--" ends
 * them, and later words that begin with "--" are for the script's getopt().
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/script.h"

#define MAX_PID	   4194304
#define LONG_FIRST 1000 /* what getopt_long() returns for the first option of the table */

/* What the functions below return unless the program ends; else they return its exit status. */
enum { GO_ON = -1 };

struct bt_options {
	struct script_command script;
	const char *pid;
	bool format;
	bool codegen; /* it is compiled, and nothing else */
};

struct bt_option {
	char letter;
	const char *name;
	const char *arg;  /* NULL: takes none */
	const char *help; /* NULL: it is accepted, but not in the help text */
	int (*take)(struct bt_options *o, const struct bt_option *b, const char *arg);
	size_t offset; /* of a field; without take(): a flag, or a text if it has an argument */
};

static void usage(FILE *to);

/* ---- options that do more than to be remembered ---- */

static int take_help(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	usage(stdout);
	return SPUR_OK;
}

static int take_version(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	printf("bpftrace v0.26.0 (spur %s)\n", SPUR_VERSION);
	return SPUR_OK;
}

static int take_info(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	return script_command_info(&o->script);
}

static int take_word(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	struct string_refs *list = (void *)((char *)o + b->offset);

	return string_refs_add(list, arg) ? GO_ON : SPUR_USAGE;
}

static int take_warnings(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	const bool more = b->letter == 'k';

	if (more ? o->script.no_warnings : o->script.check > 0)
		return script_error(&o->script,
				    "USAGE: -k, --warnings conflicts with --no-warnings");
	o->script.check += more;
	o->script.no_warnings |= !more;
	return GO_ON;
}

static int take_buffering(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	if (strcmp(arg, "line") != 0 && strcmp(arg, "full") != 0 && strcmp(arg, "none") != 0)
		return script_error(&o->script,
				    "USAGE: -B must be either 'line', 'full', or 'none'.");
	o->script.buffering = arg;
	return GO_ON;
}

static int take_no_feature(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	struct bpf_features f;
	int status;

	o->script.features = arg;
	status = script_features(&o->script, &f);
	return status ? status : GO_ON;
}

/* What a stage of bpftrace's compiler is here; "": there is nothing like it. */
static const struct {
	const char *name, *stage;
} stages[] = {
	{"all", "ast"},	       {"ast", "ast"},	  {"types", "ast"},
	{"parse", "ast"},      {"codegen", "ir"}, {"dis", "bpf"},
	{"codegen-opt", "ir"}, {"libbpf", ""},	  {"verifier", ""},
};

static const char *stage_named(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(stages); i++)
		if (strlen(stages[i].name) == len && strncmp(stages[i].name, name, len) == 0)
			return stages[i].stage;
	return NULL;
}

/* Up to 0.19 it took no argument: it shows the tree, and nothing runs. */
static int old_debug(struct bt_options *o, const char *arg)
{
	o->script.dump = "ast";
	o->script.dry_run = true;
	if (arg[0] == '-')
		optind--; /* that was the next option */
	return GO_ON;
}

static int take_debug(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	if (arg[0] == '-' || strcmp(arg, "d") == 0)
		return old_debug(o, arg);
	for (size_t len; *arg; arg += len + (arg[len] == ',')) {
		const char *stage;

		len = strcspn(arg, ",");
		stage = stage_named(arg, len);
		if (!stage)
			return script_error(&o->script, "USAGE: invalid option for -d: %.*s",
					    (int)len, arg);
		if (*stage)
			o->script.dump = stage;
	}
	return GO_ON;
}

/* --fmt, --test, --bench: only one may be given, but --mode overrides those before it. */
static int take_mode_flag(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	if (o->format || o->script.test || o->script.bench || o->codegen)
		return script_error(&o->script, "USAGE: --%s conflicts with existing --mode",
				    b->name);
	*(bool *)((char *)o + b->offset) = true;
	return GO_ON;
}

static int take_refused(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	return script_error(
		&o->script,
		strcmp(b->name, "emit-llvm") == 0
			? "--emit-llvm: there is no LLVM here. -d codegen shows what "
			  "stands between the script and the instructions"
			: "--emit-elf: programs go to the kernel without being an object "
			  "file. -d dis shows their instructions");
}

static int take_mode(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	o->format = o->script.test = o->script.bench = o->codegen = false;
	if (strcmp(arg, "format") == 0)
		o->format = true;
	else if (strcmp(arg, "codegen") == 0 || strcmp(arg, "compiler-bench") == 0)
		o->codegen = true;
	else if (strcmp(arg, "test") == 0)
		o->script.test = true;
	else if (strcmp(arg, "bench") == 0)
		o->script.bench = true;
	else
		return script_error(&o->script,
				    "USAGE: --mode can only be 'codegen', 'compiler-bench', "
				    "'bench', 'test' or 'format'.");
	return GO_ON;
}

static int take_nothing(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	return GO_ON;
}

#define AT(field) offsetof(struct bt_options, field)

static const struct bt_option options[] = {
	{'e', NULL, "'program'", "run this program", NULL, AT(script.program)},
	{'l', "list", NULL, "list probes: of a [search] pattern, or of a script's file", NULL,
	 AT(script.list)},
	{'v', "verbose", NULL, "print more; with -l, arguments of probes", NULL,
	 AT(script.verbose)},
	{'h', "help", NULL, "show this", take_help},
	{'V', "version", NULL, "show the version", take_version},
	{0, "info", NULL, "show what the kernel's BPF can do", take_info},
	{'p', "pid", "PID", "trace only this process", NULL, AT(pid)},
	{'c', "cmd", "CMD", "run a command, and end with it", NULL, AT(script.command)},
	{0, "usdt-file-activation", NULL, "accepted; semaphores are activated anyway",
	 take_nothing},
	{'o', "output", "FILE", "write to FILE", NULL, AT(script.output)},
	{'f', NULL, "FORMAT", "'text' or 'json'", NULL, AT(script.format)},
	{'B', NULL, "MODE", "buffering of the output: 'line', 'full' or 'none'", take_buffering},
	{'q', "quiet", NULL, "only what the script shows", NULL, AT(script.quiet)},
	{'k', "warnings", NULL, "warn when a helper fails; -kk: and when a map has no entry",
	 take_warnings},
	{0, "no-warnings", NULL, "no warnings", take_warnings},
	{'I', NULL, "DIR", "look for included files in DIR", take_word, AT(script.include_dirs)},
	{0, "include", "FILE", "include FILE before the script", take_word,
	 AT(script.include_files)},
	{0, "debuginfo", "DIR", "look for debug information in DIR[:DIR...], too", take_word,
	 AT(script.debuginfo)},
	{0, "probe-filter", "REGEX", "only probes whose names match", NULL,
	 AT(script.probe_filter)},
	{0, "traceable-functions", "FILE", "functions that patterns match", NULL,
	 AT(script.traceable)},
	{0, "unsafe", NULL, "allow functions that change the system", NULL, AT(script.unsafe)},
	{0, "no-feature", "LIST", "do without these: kprobe_multi,kprobe_session,uprobe_multi",
	 take_no_feature},
	{0, "dry-run", NULL, "compile and load it, and end", NULL, AT(script.dry_run)},
	{'d', "debug", "STAGE", "show what the script becomes: 'ast', 'codegen', 'dis', ...",
	 take_debug},
	{0, "fmt", NULL, "print the script as it should look", take_mode_flag, AT(format)},
	{0, "mode", "MODE", "'codegen', 'compiler-bench', 'bench', 'test' or 'format'", take_mode},
	{0, "test", NULL, "run probes of the type test", take_mode_flag, AT(script.test)},
	{0, "bench", NULL, "measure probes of the type bench", take_mode_flag, AT(script.bench)},
	{0, "dwarf-pid", "PID", "accepted; dw_ustack() unwinds all processes anyway", take_nothing},
	{0, "aot", "FILE", "refused: a compiled script would fit one kernel only", NULL,
	 AT(script.aot)},
	{0, "emit-elf", "FILE", "refused: there is no object file", take_refused},
	{0, "emit-llvm", "FILE", "refused: there is no LLVM", take_refused},
	/* Nothing is to be done: there is no LLVM, and BTF is used anyway. */
	{0, "verify-llvm-ir", NULL, NULL, take_nothing},
	{'b', "btf", NULL, NULL, take_nothing},
	{0, "no-blazesym", NULL, NULL, take_nothing},
};

static void usage(FILE *to)
{
	fputs("USAGE:\n"
	      "    bpftrace [options] filename\n"
	      "    bpftrace [options] - <stdin input>\n"
	      "    bpftrace [options] -e 'program'\n"
	      "    named parameters of the script follow a --\n"
	      "\n"
	      "OPTIONS:\n",
	      to);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct bt_option *b = &options[i];
		char left[40];
		int n = 0;

		if (!b->help)
			continue;
		if (b->letter)
			n = snprintf(left, sizeof(left), "-%c%s", b->letter, b->name ? ", " : "");
		if (b->name)
			n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s", b->name);
		if (b->arg)
			snprintf(left + n, sizeof(left) - (size_t)n, " %s", b->arg);
		fprintf(to, "    %-22s %s\n", left, b->help);
	}
	fputs("\nThis is spur under the name bpftrace; spur-script(1) and spur-lang(7) say more.\n",
	      to);
}

/* ---- reading the command line ---- */

static int apply(struct bt_options *o, const struct bt_option *b, const char *arg)
{
	char *field = (char *)o + b->offset;

	if (b->take)
		return b->take(o, b, arg);
	if (b->arg)
		*(const char **)(void *)field = arg;
	else
		*(bool *)(void *)field = true;
	return GO_ON;
}

/* The same table as getopt_long() wants it. */
static void make_tables(char *letters, struct option *names)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct bt_option *b = &options[i];

		if (b->letter) {
			*letters++ = b->letter;
			if (b->arg)
				*letters++ = ':';
		}
		if (b->name)
			*names++ =
				(struct option){b->name, b->arg ? 1 : 0, NULL, LONG_FIRST + (int)i};
	}
	*letters = '\0';
	*names = (struct option){0};
}

static const struct bt_option *option_of(int c)
{
	if (c >= LONG_FIRST)
		return &options[c - LONG_FIRST];
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].letter == c && c)
			return &options[i];
	return NULL;
}

static int read_options(struct bt_options *o, int argc, char **argv)
{
	char letters[2 * ARRAY_SIZE(options) + 1];
	struct option names[ARRAY_SIZE(options) + 1];
	int c, rc = GO_ON;

	make_tables(letters, names);
	while (rc == GO_ON && (c = getopt_long(argc, argv, letters, names, NULL)) != -1) {
		const struct bt_option *b = option_of(c);

		if (!b) {
			usage(stderr);
			return SPUR_USAGE;
		}
		rc = apply(o, b, optarg);
	}
	return rc;
}

/* ---- what the options ask for together ---- */

static int check_pid(struct bt_options *o)
{
	char *end;
	long pid;

	if (!o->pid)
		return GO_ON;
	errno = 0;
	pid = strtol(o->pid, &end, 10);
	if (end == o->pid || pid < 0)
		return script_error(&o->script, "Failed to parse pid: invalid integer: %s", o->pid);
	if (*end)
		return script_error(&o->script, "Failed to parse pid: invalid trailing bytes: %s",
				    o->pid);
	if (errno || pid > MAX_PID)
		return script_error(&o->script, "Pid out of range: %s", o->pid);
	if (!pid || (kill((pid_t)pid, 0) != 0 && errno == ESRCH))
		return script_error(&o->script,
				    "Failed to attach to pid: Unable to open pidfd (%s)",
				    strerror(pid ? ESRCH : EINVAL));
	if (!vec_add(&o->script.pids, &(pid_t){(pid_t)pid}))
		return script_error(&o->script, "out of memory");
	return GO_ON;
}

/* The script and its parameters, or what is to be listed. */
static int find_script(struct bt_options *o, int argc, char **argv)
{
	struct script_command *s = &o->script;

	/* Empty ones count as not given. */
	if (s->program && !*s->program)
		s->program = NULL;
	if (s->command && !*s->command)
		s->command = NULL;
	if (argc == 1) {
		usage(stderr);
		return SPUR_USAGE;
	}
	if (s->command && o->pid) {
		script_error(s, "USAGE: Cannot use both -c and -p.");
		usage(stderr);
		return SPUR_USAGE;
	}
	if (s->list && optind < argc - 1) {
		usage(stderr);
		return SPUR_USAGE;
	}
	if (s->list && optind < argc)
		s->pattern = argv[optind++];
	else if (!s->list && !s->program && optind < argc)
		s->file = argv[optind++];
	if (!s->list && !s->program && !s->file)
		return script_error(s, "USAGE: filename or -e 'program' required.");
	return script_params(s, argv + optind) ? GO_ON : script_error(s, "out of memory");
}

static int run(struct bt_options *o)
{
	struct script_command *s = &o->script;
	int status;

	s->dry_run |= o->codegen;
	s->compile_only = o->codegen;
	status = script_check_options(s);
	if (status != SPUR_OK)
		return status;
	if (o->format)
		return script_command_format(s);
	if (s->list)
		return script_command_list(s);
	return script_command_run(s);
}

/* A setting of 0.17 whose meaning was inverted since. */
static void translate_environment(void)
{
	const char *no = getenv("BPFTRACE_NO_CPP_DEMANGLE");

	if (no && strcmp(no, "1") == 0)
		setenv("BPFTRACE_CPP_DEMANGLE", "0", 0);
}

int cli_as_bpftrace(int argc, char **argv)
{
	struct bt_options o = {.script.bpftrace = true, .script.btf = getenv("BPFTRACE_BTF")};
	int rc = read_options(&o, argc, argv);

	if (rc == GO_ON)
		rc = find_script(&o, argc, argv);
	if (rc == GO_ON)
		rc = check_pid(&o);
	translate_environment();
	if (rc == GO_ON)
		rc = run(&o);
	script_command_free(&o.script);
	return rc;
}
