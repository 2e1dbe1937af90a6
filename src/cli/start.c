// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur start` and `spur set`: settings that stay when the program has ended. */
#include <errno.h>
#include <signal.h>

#include "base/array.h"
#include "cli/live.h"
#include "cli/tracing_opts.h"
#include "record/setup.h"

struct start_command {
	struct tracing_options tracing;
	struct start_options start;
	bool dry_run, quiet, to_stderr;
};

#define AT(field) offsetof(struct start_command, field)

static const struct opt start_opts[] = {
	{0, "dry-run", OPT_FLAG, NULL, "only show what would be written to which file",
	 AT(dry_run)},
	{0, "user", OPT_STRING, "USER", "run the command as this user", AT(start.user)},
	{0, "fork", OPT_FLAG, NULL, "do not wait for the command to end", AT(start.leave)},
	{'q', "quiet", OPT_FLAG, NULL, "no notes", AT(quiet)},
	{0, "stderr", OPT_FLAG, NULL, "does nothing; accepted because trace-cmd has it",
	 AT(to_stderr)},
	{0, "verbose", OPT_CALL, "[LEVEL]", "the same", 0, opt_ignore},
};

static int check(struct start_command *o, int others, char **argv)
{
	struct request *r = &o->tracing.request;
	int status = tracing_check(&o->tracing);

	if (status == SPUR_OK && !o->start.additional)
		status = tracing_anything(&o->tracing);
	if (status != SPUR_OK)
		return status;
	r->command = others ? argv[0] : NULL;
	o->start.command = others ? argv : NULL;
	o->start.remove = &o->tracing.removed;
	o->start.note = o->quiet ? NULL : tracing_note;
	if ((!r->only_command && !o->start.user) || others)
		return SPUR_OK;
	cli_error("%s: needs a command", r->only_command ? "-F" : "--user");
	return SPUR_USAGE;
}

static int show(const struct tracefs *fs, const struct start_command *o)
{
	struct spur_error err = {0};
	struct buf text;
	int rc;

	buf_init(&text, 64u << 20);
	rc = start_show(fs, &o->tracing.request, &o->start, &text, &err);
	if (rc == 0)
		rc = cli_write(text.data, text.len);
	buf_free(&text);
	return cli_result(rc, "--dry-run", &err);
}

static int run(const struct command *cmd, struct start_command *o, int argc, char **argv)
{
	int others = opts_parse(cmd, o, argc, argv);
	int status = others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	struct spur_error err = {0};
	struct tracefs fs;

	if (others >= 0)
		status = check(o, others, argv);
	if (others >= 0 && status == SPUR_OK && live_find(&fs, &err) < 0)
		status = cli_fail(&err);
	if (others >= 0 && status == SPUR_OK) {
		signal(SIGPIPE, SIG_IGN);
		if (o->dry_run)
			status = show(&fs, o);
		else if (start_run(&fs, &o->tracing.request, &o->start, &err) < 0)
			status = cli_fail(&err);
	}
	tracing_free(&o->tracing);
	return status;
}

static int run_start(int argc, char **argv)
{
	struct start_command o = {0};

	return run(&command_start, &o, argc, argv);
}

static int run_set(int argc, char **argv)
{
	struct start_command o = {.start = {.additional = true}, .tracing = {.removes = true}};

	return run(&command_set, &o, argc, argv);
}

const struct command command_start = {
	.name = "start",
	.summary = "record into the kernel's buffers, without a file",
	.usage = "[OPTION...] [COMMAND [ARGUMENT...]]",
	.opts = start_opts,
	.nr_opts = ARRAY_SIZE(start_opts),
	.run = run_start,
	.shared = tracing_opts,
	.nr_shared = NR_TRACING_OPTS,
	.takes_command = true,
};

const struct command command_set = {
	.name = "set",
	.summary = "change settings of the tracer",
	.usage = "[OPTION...] [COMMAND [ARGUMENT...]]",
	.opts = start_opts,
	.nr_opts = ARRAY_SIZE(start_opts),
	.run = run_set,
	.shared = tracing_opts,
	.nr_shared = NR_TRACING_OPTS,
	.takes_command = true,
};
