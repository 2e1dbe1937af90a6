// SPDX-License-Identifier: GPL-2.0-or-later
/* spur script: bpftrace's language, live or over a recording. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/script.h"

#define MAX_PID 4194304

#define AT(field) offsetof(struct script_command, field)

static int take_check(void *options, const struct opt *o, const char *arg)
{
	struct script_command *c = options;

	c->check++;
	return 0;
}

int script_take_pids(void *options, const struct opt *o, const char *arg)
{
	struct script_command *c = options;
	char *end;

	do {
		const long pid = strtol(arg, &end, 10);
		pid_t *slot;

		if (end == arg || (*end && *end != ',') || pid < 1 || pid > MAX_PID)
			return opt_error(o, "'%s' is not the number of a process", arg);
		slot = vec_push(&c->pids);
		if (!slot)
			return -ENOMEM;
		*slot = (pid_t)pid;
		arg = end + (*end == ',');
	} while (*arg);
	return 0;
}

static const struct opt opts[] = {
	{'e', NULL, OPT_STRING, "PROGRAM", "the script itself, instead of a file", AT(program)},
	{'i', "input", OPT_STRING, "TRACE", "run it over a recording instead of the running kernel",
	 AT(input), NULL, "FILE"},
	{'p', "pid", OPT_CALL, "PID[,PID...]", "trace only these processes", 0, script_take_pids},
	{'c', "cmd", OPT_STRING, "COMMAND", "run the command, and end with it", AT(command)},
	{'o', "output", OPT_STRING, "FILE", "write to a file", AT(output), NULL, "FILE"},
	{'f', "format", OPT_STRING, "FORMAT", "text or json", AT(format), NULL, "text json"},
	{'B', "buffer", OPT_STRING, "MODE", "when output is written: none, line or full",
	 AT(buffering), NULL, "none line full"},
	{'q', "quiet", OPT_FLAG, NULL, "only what the script shows", AT(quiet)},
	{'v', "verbose", OPT_FLAG, NULL, "print more; with -l, arguments and members too",
	 AT(verbose)},
	{'I', NULL, OPT_CALL, "DIR", "look for included files here, too", AT(include_dirs),
	 opt_add_string, "FILE"},
	{0, "include", OPT_CALL, "FILE", "include a file before the script", AT(include_files),
	 opt_add_string, "FILE"},
	{0, "debuginfo", OPT_CALL, "DIR[:DIR...]", "look for programs' debug information here, too",
	 AT(debuginfo), opt_add_string, "FILE"},
	{0, "probe-filter", OPT_STRING, "REGEX", "only probes whose names match", AT(probe_filter)},
	{0, "unsafe", OPT_FLAG, NULL,
	 "allow functions that change the system: system(), signal(), ...", AT(unsafe)},
	{0, "no-warnings", OPT_FLAG, NULL, "no warnings about the script", AT(no_warnings)},
	{'k', "warnings", OPT_CALL, NULL,
	 "warn when a helper fails while it runs; -kk: and when a map has no entry", 0, take_check},
	{0, "no-feature", OPT_STRING, "NAME[,NAME...]", "act as if the kernel did not have these",
	 AT(features)},
	{0, "traceable-functions", OPT_STRING, "FILE",
	 "functions that patterns match, instead of the kernel's own list", AT(traceable), NULL,
	 "FILE"},
	{0, NULL, OPT_GROUP, NULL, "Instead of running it", 0},
	{'l', "list", OPT_FLAG, NULL,
	 "list probes or types that match a pattern, or those of the script", AT(list)},
	{0, "test", OPT_FLAG, NULL, "run the script's probes of the type test", AT(test)},
	{0, "bench", OPT_FLAG, NULL, "measure those of the type bench", AT(bench)},
	{0, "dry-run", OPT_FLAG, NULL, "compile and load it, attach nothing", AT(dry_run)},
	{0, "dump", OPT_STRING, "STAGE", "show what the script becomes: ast, ir or bpf", AT(dump),
	 NULL, "ast ir bpf"},
	{0, "fmt", OPT_FLAG, NULL, "print the script as it should look", AT(fmt)},
	{0, "aot", OPT_STRING, "FILE", "refused: a compiled script would fit one kernel only",
	 AT(aot)},
	{0, "info", OPT_FLAG, NULL, "show what the kernel can do for scripts", AT(info)},
};

static int run_options(struct script_command *o, int others, char **argv)
{
	int status;

	if (!o->program && others)
		*(o->list ? &o->pattern : &o->file) = *argv++;
	if (!script_params(o, argv))
		return script_error(o, "out of memory");
	status = script_check_options(o);
	if (status != SPUR_OK)
		return status;
	if (o->info)
		return script_command_info(o);
	if (o->command && o->pids.n)
		return script_error(o, "-c and -p: a command, or processes that run already");
	if (o->input && (o->command || (o->pids.n && o->list)))
		return script_error(
			o, "-c, and -p with -l, are for the running kernel, not for a recording");
	if (o->list)
		return script_command_list(o);
	if (!o->program && !o->file)
		return script_error(o, "which script? -e 'PROGRAM', or the name of a file");
	return o->fmt ? script_command_format(o) : script_command_run(o);
}

static int run(int argc, char **argv)
{
	struct script_command o = {0};
	int others = opts_parse(&command_script, &o, argc, argv), status;

	if (others < 0)
		status = others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	else
		status = run_options(&o, others, argv);
	script_command_free(&o);
	return status;
}

const struct command command_script = {
	.name = "script",
	.summary = "run a bpftrace script, live or over a recording",
	.usage = "[OPTION...] -e PROGRAM | FILE [PARAMETER...] [-- --NAME=VALUE...], or -l "
		 "[PATTERN]",
	.opts = opts,
	.nr_opts = ARRAY_SIZE(opts),
	.run = run,
};
