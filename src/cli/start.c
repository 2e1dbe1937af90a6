// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Driving the kernel without recording: `spur start` and `spur set` make settings that stay when
 * the program has ended; `spur stop`, `spur restart` and `spur clear` act on buffers.
 */
#include <errno.h>
#include <signal.h>

#include "base/array.h"
#include "base/vec.h"
#include "cli/live.h"
#include "cli/tracing_opts.h"
#include "record/setup.h"
#include "tracefs/state.h"

/* ---- settings that stay ---- */

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

/* ---- one thing done to some buffers ---- */

struct drive_options {
	struct picks picks;
};

struct action {
	const struct command *command;
	int (*act)(const struct tracefs *fs, const char *instance, struct spur_error *err);
	bool all_has_top; /* -a means the top buffer as well */
};

#define PICKS offsetof(struct drive_options, picks)

static const struct opt switch_opts[] = {
	{'B', NULL, OPT_CALL, "NAME", "this instance; may be given several times", PICKS,
	 live_take_buffer},
	{'a', NULL, OPT_CALL, NULL, "all instances, but not the top buffer", PICKS, live_take_all},
	{'t', NULL, OPT_CALL, NULL, "the top buffer too, with -B or -a", PICKS, live_take_top},
};

static const struct opt clear_opts[] = {
	{'B', NULL, OPT_CALL, "NAME", "this instance; may be given several times", PICKS,
	 live_take_buffer},
	{'a', "all", OPT_CALL, NULL, "all instances and the top buffer", PICKS, live_take_all},
	{'t', NULL, OPT_CALL, NULL, "the top buffer too, with -B", PICKS, live_take_top},
};

static int act_on(const struct action *action, const struct tracefs *fs, struct picks *picks)
{
	struct targets targets;
	int status;
	bool all = false;

	vec_each (p, picks)
		all |= p->kind == PICK_ALL;
	if (all && action->all_has_top) {
		struct pick *top = vec_push(picks);

		if (!top) {
			cli_error("out of memory");
			return SPUR_ENVIRONMENT;
		}
		top->kind = PICK_TOP;
	}
	status = live_targets(fs, picks, &targets);
	if (status != SPUR_OK)
		return status;
	vec_each (t, &targets) {
		struct spur_error err = {0};

		if (action->act(fs, t->instance, &err) < 0)
			status = cli_fail(&err);
	}
	live_targets_free(&targets);
	return status;
}

static int drive(const struct action *action, int argc, char **argv)
{
	struct drive_options o = {0};
	int others = opts_parse(action->command, &o, argc, argv), status = SPUR_USAGE;
	struct tracefs fs;

	if (others == -ECANCELED) {
		status = SPUR_OK;
	} else if (others > 0) {
		cli_error("%s takes no arguments; an instance is named with -B",
			  action->command->name);
	} else if (others == 0) {
		status = live_open(&fs);
		if (status == SPUR_OK)
			status = act_on(action, &fs, &o.picks);
	}
	vec_free(&o.picks);
	return status;
}

static int stop(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	return tracefs_write(fs, instance, "tracing_on", TRACEFS_REPLACE, "0", err);
}

static int restart(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	return tracefs_write(fs, instance, "tracing_on", TRACEFS_REPLACE, "1", err);
}

static int run_stop(int argc, char **argv)
{
	return drive(&(struct action){&command_stop, stop}, argc, argv);
}

static int run_restart(int argc, char **argv)
{
	return drive(&(struct action){&command_restart, restart}, argc, argv);
}

static int run_clear(int argc, char **argv)
{
	return drive(&(struct action){&command_clear, reset_trace, true}, argc, argv);
}

const struct command command_stop = {
	.name = "stop",
	.summary = "stop recording into the kernel's buffers",
	.usage = "[-B NAME]... [-a] [-t]",
	.opts = switch_opts,
	.nr_opts = ARRAY_SIZE(switch_opts),
	.run = run_stop,
};

const struct command command_restart = {
	.name = "restart",
	.summary = "record into the kernel's buffers again",
	.usage = "[-B NAME]... [-a] [-t]",
	.opts = switch_opts,
	.nr_opts = ARRAY_SIZE(switch_opts),
	.run = run_restart,
};

const struct command command_clear = {
	.name = "clear",
	.summary = "empty the kernel's buffers",
	.usage = "[-B NAME]... [-a] [-t]",
	.opts = clear_opts,
	.nr_opts = ARRAY_SIZE(clear_opts),
	.run = run_clear,
};
