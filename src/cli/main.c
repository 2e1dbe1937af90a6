// SPDX-License-Identifier: GPL-2.0-or-later
/* The program: a table of commands and what they share. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "cli/cli.h"
#include "dat/dat.h"
#include "import/sources.h"
#include "scan/run.h"

/* The groups of `spur --help` stand together here. */
const struct command *const commands[] = {
	/* clang-format off */
	&command_record,
	&command_stream,
	&command_profile,
	&command_check,
	&command_report,
	&command_view,
	&command_tui,
	&command_info,
	&command_dump,
	&command_options,
	&command_top,
	&command_latency,
	&command_why,
	&command_hist,
	&command_sql,
	&command_functions,
	&command_calls,
	&command_flame,
	&command_mem,
	&command_diff,
	&command_script,
	&command_tool,
	&command_export,
	&command_import,
	&command_convert,
	&command_split,
	&command_attach,
	&command_restore,
	&command_list,
	&command_show,
	&command_stat,
	&command_start,
	&command_set,
	&command_stop,
	&command_restart,
	&command_extract,
	&command_clear,
	&command_reset,
	&command_snapshot,
	&command_stack,
	&command_sqlhist,
	&command_check_events,
	NULL,
	/* clang-format on */
};

/* The title of each group, and the command it begins with. */
static const struct {
	const char *title;
	const struct command *first;
} groups[] = {
	{"Record what happens", &command_record},
	{"Look at a trace", &command_report},
	{"Ask what happened", &command_top},
	{"Run scripts", &command_script},
	{"Exchange and rewrite files", &command_export},
	{"Drive the kernel's tracer", &command_list},
};

volatile int cli_stop;

int cli_fail(const struct spur_error *err)
{
	cli_error("%s", err->text);
	return (int)spur_error_status(err->code);
}

int cli_result(int rc, const char *doing, struct spur_error *err)
{
	if (rc == -EINTR)
		return 128 + cli_stop;
	if (rc >= 0 || rc == -EPIPE)
		return SPUR_OK;
	error_sys(err, rc, "%s", doing);
	return cli_fail(err);
}

int cli_damage(const struct dat *d)
{
	if (!d->damage.code)
		return SPUR_OK;
	if (d->damage.offset == DAT_NOWHERE)
		cli_error("%s: %s", d->path, d->damage.text);
	else
		cli_error("%s: %s (at offset %llu)", d->path, d->damage.text,
			  (unsigned long long)d->damage.offset);
	return (int)spur_error_status(d->damage.code);
}

int cli_spare(const char *path, const char *how)
{
	struct spur_error err = {0};

	return source_spare(path, how, &err) < 0 ? cli_fail(&err) : SPUR_OK;
}

bool cli_colour(const char *when, bool *colour)
{
	const char *terminal = getenv("TERM");

	*colour = strcmp(when, "always") == 0;
	if (*colour || strcmp(when, "never") == 0)
		return true;
	if (strcmp(when, "auto") != 0)
		return cli_complain("--color: auto, always or never, not '%s'", when);
	*colour = cli_on_terminal() && !getenv("NO_COLOR") && terminal &&
		  strcmp(terminal, "dumb") != 0;
	return true;
}

bool cli_threads(int64_t *threads)
{
	if (*threads < 0 || *threads > MAX_THREADS)
		return cli_complain("--threads: between 1 and %d", MAX_THREADS);
	if (!*threads)
		*threads = sysconf(_SC_NPROCESSORS_ONLN);
	if (*threads < 1)
		*threads = 1;
	if (*threads > MAX_THREADS)
		*threads = MAX_THREADS;
	return true;
}

unsigned int cli_scan_threads(int64_t threads)
{
	return threads ? (unsigned int)threads : SCAN_ALL_CPUS;
}

static void on_signal(int sig)
{
	cli_stop = sig;
}

void cli_catch_signals(void)
{
	/* A second signal ends the program at once. */
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* A closed pipe becomes an error of write() and does not kill the program. */
	signal(SIGPIPE, SIG_IGN);
}

void cli_usage(FILE *to)
{
	size_t group = 0;

	fprintf(to, "usage: spur COMMAND [options]\n");
	for (size_t i = 0; commands[i]; i++) {
		if (group < ARRAY_SIZE(groups) && commands[i] == groups[group].first)
			fprintf(to, "\n%s:\n", groups[group++].title);
		fprintf(to, "  %-13s %s\n", commands[i]->name, commands[i]->summary);
	}
	fprintf(to,
		"\n'spur COMMAND --help' shows a command's options, 'man spur-COMMAND' says more.\n"
		"spur --version, spur --completion bash|zsh\n");
}

const struct command *cli_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/* A failed write to standard output is an error, unless its reader has closed the pipe. */
static int finish(int status)
{
	struct spur_error err = {0};
	int rc = fflush(stdout) != 0 ? -errno : ferror(stdout) ? -EIO : 0;

	return status ? status : cli_result(rc, "standard output", &err);
}

/* Programs whose command lines spur understands when it is called by their names. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const struct command *command; /* without run() */
} names[] = {
	{"trace-cmd", cli_as_trace_cmd},
	{"bpftrace", cli_as_bpftrace},
	{"fdd", NULL, &fdd_command},
	{"kernelshark", NULL, &kernelshark_command},
};

static int run(int argc, char **argv)
{
	const struct command *cmd;

	for (size_t i = 0; argc > 0 && i < ARRAY_SIZE(names); i++)
		if (strcmp(basename(argv[0]), names[i].name) == 0)
			return names[i].run ? names[i].run(argc, argv)
					    : command_run(names[i].command, argc, argv);
	if (argc < 2) {
		cli_usage(stderr);
		return SPUR_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		cmd = argc > 2 ? cli_command(argv[2]) : NULL;
		if (cmd)
			opts_help(cmd);
		else
			cli_usage(stdout);
		return SPUR_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("spur %s\n", SPUR_VERSION);
		return SPUR_OK;
	}
	if (strcmp(argv[1], "--completion") == 0) {
		if (argc > 2 && cli_completion(argv[2]))
			return SPUR_OK;
		return cli_wrong("--completion needs a shell: bash or zsh");
	}
	cmd = cli_command(argv[1]);
	if (!cmd)
		return cli_wrong("there is no command '%s'; 'spur --help' lists them", argv[1]);
	return command_run(cmd, argc - 1, argv + 1);
}

/*
 * If spur is started with a standard stream closed, the next file that is opened would get its
 * number and be written to. /dev/null takes the number, read-only, so that writing still fails.
 */
static void occupy_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			return;
}

int main(int argc, char **argv)
{
	occupy_standard_streams();
	/* A limit of file sizes becomes an error of write(), as a full disk is. */
	signal(SIGXFSZ, SIG_IGN);
	return finish(run(argc, argv));
}
